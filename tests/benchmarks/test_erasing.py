"""A probe of texts that no eraser saw, and an eraser that takes nothing out."""

import numpy as np

from fairjax.benchmarks.shared import erasing
from fairjax.config import Config
from fairjax.methods import leace
from fairjax.metrics.inference.intervals import IntervalOptions
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
