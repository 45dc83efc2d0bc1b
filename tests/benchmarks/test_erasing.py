"""A probe of texts that no eraser saw, and an eraser that takes nothing out."""

import re

import numpy as np
import pytest
import small

from fairjax.benchmarks.shared import erasing
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.methods import leace
from fairjax.metrics.inference.sample import RowSample
from fairjax.models.reading.judge import Judge
from fairjax.pairs.axes import exchange
from fairjax.recipes.benchmarks import mitigations
from fairjax.stages import Experiment

HOW = RowSample(0.95, 100, 0)


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
  # Copies add nothing that is told: each text is asked about once.
  again = erasing.probe(toy, held * 3, HOW)
  assert again['quality'] == before['quality'] and again['rows'] == 240
  few = erasing.probe(toy, people(30), HOW)
  assert not few['quality'] and 'needs 20 of each' in few['warnings'][0]


def test_an_eraser_that_takes_nothing_out_is_said_and_not_exported(tmp_path):
  log, lines = small.heard()
  toy, e = Vectors(0.0), Experiment(Config(), tmp_path, log)
  (tmp_path / 'inlp').mkdir()  # what an earlier run exported stayed there
  after = mitigations.inlp(toy, people(300), e, tmp_path / 'inlp')
  warnings = erasing.probe(after, people(300, 2000), HOW)['warnings']
  assert 'so the model is as it was' in warnings[0]
  assert lines[0] == 'inlp: 0 directions taken out'
  assert lines[1] == f'{tmp_path / "inlp"} was of an earlier run and is removed'
  assert lines[2].startswith('WARNING') and not (tmp_path / 'inlp').exists()


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


def test_self_debias_and_twins_are_of_the_axis():
  config = Config()
  judge = Judge('toy', 'mask', None, {}, None, 8)
  asks = Experiment(config, None, None)
  told = lambda: mitigations.self_debias(judge, [], asks, None).contrast
  assert told() == ('gender',)
  config.method.axis = 'orientation'
  assert told() == ('sexual orientation',)
  texts = ['A gay man.', 'Rain.']
  text, twin = mitigations.lines_of('counterfactual', texts, config)
  assert text == texts[0] != twin


def test_cda_goes_word_by_word_whatever_the_sense():
  told = mitigations.word_by_word
  assert told(['He hit her, his MOTHER.']) == ['She hit his, her FATHER.']
  texts = ['A Muslim, a Jew!', 'The Christian church of muslims', 'Rain.']
  texts += [f'Muslims sang {k}.' for k in range(30)]
  found = told(texts, 'religion', 0)
  assert found == told(texts, 'religion', 0) != told(texts, 'religion', 1)
  assert found[2] == 'Rain.'
  # A sentence that names a church is exchanged as well, and in one step all.
  values = table.load('religion').values
  value = lambda word: values.index(exchange.reader('religion')(word))
  muslim, jew = (value(w) for w in re.findall('[A-Za-z]{3,}', found[0]))
  assert (muslim - 3) % 10 == (jew - 4) % 10 != 0
  assert found[1].split()[2] == 'church' and 'Christian' not in found[1]
  plural = [text.split()[0] for text in found[3:]]
  assert len(set(plural)) > 4 and 'Muslims' not in plural
  # What is trained on: each text that has a word, beside its twin.
  config = Config()
  config.method.axis = 'religion'
  seen = mitigations.lines_of('cda', texts[:3], config)
  assert seen == [texts[0], found[0], texts[1], found[1]]


def test_a_text_is_not_both_fitted_on_and_held_out(tmp_path):
  """Perplexity was measured on copies of texts that had been tuned on."""
  lines = [f'text {i % 25}' for i in range(100)]
  (tmp_path / 'a.txt').write_text('\n'.join(lines))
  config = Config()
  config.data.path = str(tmp_path / 'a.txt')
  own, held = mitigations.parts(config)
  assert set(own).isdisjoint(held) and len(own) + len(held) == 100
  assert len(set(held)) == 5
  (tmp_path / 'a.txt').write_text('one\n' * 9)
  with pytest.raises(UserError, match='1 different text'):
    mitigations.parts(config)
