"""A probe of texts that no eraser saw, and an eraser that takes nothing out."""

import numpy as np
import pytest

from fairjax.benchmarks.shared import erasing
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.methods import leace
from fairjax.metrics.inference.intervals import IntervalOptions
from fairjax.models.reading.judge import Judge
from fairjax.recipes.benchmarks import mitigations

HOW = IntervalOptions(0.95, 100, 0)


class Vectors:
  """Vectors of texts that tell a text's gender by one direction, and noise."""

  def __init__(self, gap, eraser=None):
    self.gap, self.eraser, self.kind, self.name = gap, eraser, 'mask', 'toy'

  def vectors(self, texts, how='mean'):
    seeds = [[*text.encode()] for text in texts]
    x = np.array([np.random.default_rng(s).normal(size=8) for s in seeds])
    x[:, 0] += self.gap * np.array([text.startswith('She') for text in texts])
    return x if self.eraser is None else self.eraser(x)

  def without(self, eraser):
    return Vectors(self.gap, eraser)


def people(n, start=0):
  """As many texts of women as of men, and one in ten of nobody."""
  who = ('He', 'She') * 4 + ('He', 'They')
  return [f'{who[k % 10]} wrote line {k}.' for k in range(start, start + n)]


def test_a_probe_reads_before_and_after_on_texts_that_were_held_out():
  toy, held = Vectors(6.0), people(300, 2000)
  before = erasing.probe(toy, held, HOW)
  assert before['rows'] == 240 and not before['warnings']
  told = before['quality']['probe_accuracy']
  assert told['value'] > 0.98 and told['null'] == 0.5
  for kind in ('leace', 'inlp'):
    eraser = erasing.fit(toy, people(1500), kind, Config())
    after = erasing.probe(toy.without(eraser), held, HOW)
    assert after['quality']['probe_accuracy']['value'] < 0.65
  # An eraser of other texts' direction leaves it, and that is said.
  x, z = np.random.default_rng(0).normal(size=(400, 8)), np.arange(400) % 2
  x[:, 5] += 3 * z
  after = erasing.probe(toy.without(leace.fit(x, z)), held, HOW)
  assert after['quality']['probe_accuracy']['value'] > 0.9
  assert 'still tells the gender' in after['warnings'][0]
  few = erasing.probe(toy, people(30), HOW)
  assert not few['quality'] and 'needs 20 of each' in few['warnings'][0]


def test_an_eraser_that_takes_nothing_out_is_said_and_not_exported(tmp_path):
  lines = []

  class Log:
    line = lines.append

  toy = Vectors(0.0)
  after = mitigations.inlp(toy, people(300), Config(), tmp_path / 'inlp', Log)
  warnings = erasing.probe(after, people(300, 2000), HOW)['warnings']
  assert 'so the model is as it was' in warnings[0]
  assert lines[0] == 'inlp: 0 directions taken out'
  assert lines[1].startswith('WARNING') and not (tmp_path / 'inlp').exists()


def faithful(n, start=0):
  """As many texts of Muslims, Jews and Hindus, and one in ten of nobody."""
  who = ('Muslims', 'Jews', 'Hindus') * 3 + ('They',)
  return [f'{who[k % 10]} wrote line {k}.' for k in range(start, start + n)]


class Faiths(Vectors):
  def vectors(self, texts, how='mean'):
    x = Vectors(0.0).vectors(texts)
    for at, who in enumerate(('Muslims', 'Jews', 'Hindus')):
      x[:, at] += self.gap * np.array([who in text for text in texts])
    return x if self.eraser is None else self.eraser(x)

  def without(self, eraser):
    return Faiths(self.gap, eraser)


def test_an_eraser_and_its_probe_are_of_any_axis():
  """Three of ten values are named: a probe tells one in three by chance."""
  toy, held, config = Faiths(6.0), faithful(300, 2000), Config()
  config.method.axis = 'religion'
  before = erasing.probe(toy, held, HOW, 'religion')
  told = before['quality']['probe_accuracy']
  assert told['value'] > 0.97 and told['null'] == 1 / 3
  assert before['rows'] == 270 and not before['warnings']
  for kind in ('leace', 'inlp'):
    eraser = erasing.fit(toy, faithful(1000), kind, config)
    assert eraser.rank >= 2
    after = erasing.probe(toy.without(eraser), held, HOW, 'religion')
    assert after['quality']['probe_accuracy']['value'] < 0.6
  # Ten versions of each text; one direction is taken out.
  eraser = erasing.fit(toy, faithful(100), 'sentence', config)
  assert eraser.rank == 1
  few = erasing.probe(toy, faithful(20), HOW, 'religion')
  assert not few['quality']
  assert '6 muslim, 6 jewish, 6 hindu' in few['warnings'][0]
  config.method.axis = 'race'
  with pytest.raises(UserError, match='speak of one race alone, none of any'):
    erasing.fit(toy, faithful(100), 'leace', config)


def test_self_debias_is_told_the_axis_and_cda_says_that_it_is_of_gender():
  config = Config()
  judge = Judge('toy', 'mask', None, {}, None, 8)
  told = lambda: mitigations.self_debias(judge, [], config, None, None).contrast
  assert told() == ('gender',)
  config.method.axis = 'orientation'
  assert told() == ('sexual orientation',)
  config.benchmarks.self_debias = ('race', 'religion')
  assert told() == ('race', 'religion')
  with pytest.raises(UserError, match="take 'counterfactual'"):
    mitigations.cda(judge, ['A gay man.'], config, None, None)
  assert mitigations._twins(['A gay man.', 'Rain.'], config)[1] == 'Rain.'
  assert mitigations._twins(['A gay man.'], config) != ['A gay man.']
