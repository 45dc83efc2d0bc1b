"""FairFlow's stages, small: from a seed pair to a dictionary that swaps."""

import dataclasses
import shutil
import types

import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax.config import shipped, validate
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, instances
from fairjax.data.batching.tokens import Ragged
from fairjax.pairs import attributes
from fairjax.recipes.fairflow import (
  algorithm,
  attribute_words,
  experiment,
  flow_training,
)
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.stages import Experiment
from fairjax.train.progress import Log


def small() -> c.Config:
  config = shipped('fairflow_planted')
  config.planted.rows, config.seeds = 400, 2
  config.pretrain.steps, config.tokens.vocab_size = 12, 600
  config.fairflow.cap, config.fairflow.head_epochs = 8, 2.0
  config.fairflow.threshold, config.fairflow.word_share = 0.0, 0.1
  config.fairflow.steps, config.fairflow.hidden = 2, 8
  config.fairflow.min_along = -1.0
  config.train.epochs, config.measures.resamples = 1.0, 100
  return config


@pytest.fixture(scope='module')
def run(tmp_path_factory):
  folder = tmp_path_factory.mktemp('fairflow')
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(attributes, 'LEAST', 0.0)  # else so small a corpus has none
    return experiment.run(small(), folder), folder


def test_every_contender_is_measured_on_the_known_pairs(run):
  results, folder = run
  assert set(results.contenders) == set(algorithm.TITLES.values())
  for one in results.contenders.values():
    quality = one['sets']['known pairs']['quality']
    assert set(quality) == {'precision', 'recall', 'coverage'}
  raced = ['flow', 'difference', 'discriminant', 'procrustes']
  for name in raced:
    sets = results.contenders[algorithm.TITLES[name]]['sets']
    assert len(sets['known words']['quality']['top_vote']['seeds']) == 2
  assert [t['theirs'] for t in results.tests] == [
    algorithm.TITLES[name] for name in raced[1:]
  ]
  assert all('permutation' in test for test in results.tests)  # McNemar's
  assert results.verdicts == []  # the tests say it
  headings = [part['heading'] for part in results.sections]
  assert headings[0] == 'Right words'
  assert 'words right' in results.contenders['flow']['facts']
  assert (folder / 'report.html').is_file()
  assert results.facts['dimensions of the factor'] == 8
  parts = next(s for s in results.sections if s['heading'].startswith('What'))
  words, losses = parts['parts']
  assert words['plot'] == 'word_map' and len(words['data']['pairs']) > 1
  first = words['data']['pairs'][0]
  assert first['first'] != first['moved_first']
  assert losses['data']['series']['held out']['y']


def test_a_second_run_makes_nothing_again(run, capsys):
  results, folder = run
  before = (folder / 'dictionary.csv').read_bytes()
  again = experiment.run(small(), folder)
  assert capsys.readouterr().err.count('taken from') >= 4
  assert (folder / 'dictionary.csv').read_bytes() == before
  assert again.contenders == results.contenders


def test_the_head_s_interval_is_of_this_run_s_level(run):
  """It was kept with the stage, at the level of the run that fitted it."""
  _, folder = run
  wide = []
  for level in (0.95, 0.5):
    config = small()
    config.measures.confidence_level = level
    with Log(folder, config, main=False) as log:
      e = Experiment(config, folder, log)
      algorithm.corpus_of(e)
      algorithm.model_of(e)
      one = algorithm.attribute_of(e).quality['accuracy']
    wide.append(one['high'] - one['low'])
  assert wide[1] < 0.8 * wide[0]


def test_a_corpus_of_yours_is_called_by_its_folder(run, tmp_path):
  """Its page, and the table of claims, said 'planted'."""
  made, folder = run
  assert made.data == 'planted'
  with Log(folder, main=False) as log:
    e = Experiment(small(), folder, log)
    algorithm.corpus_of(e)
    algorithm.model_of(e)
  config = e.config
  shutil.copytree(config.corpus.path, tmp_path / 'books')
  config.corpus.path = str(tmp_path / 'books')
  config.fairflow.way, config.fairflow.rivals = 'difference', ()
  config.reuse = str(folder)
  assert experiment.run(config, tmp_path / 'run').data == 'books'


def test_long_texts_are_cut_into_framed_windows():
  words = corruption.Vocabulary(9, 4, 0, (2,), (3,), *[np.zeros(9, bool)] * 4)
  ids = Ragged(np.arange(10, 20, dtype=np.int32), np.int64([0, 7, 7, 10]))
  cut, first = attribute_words.windows(ids, 3, words)
  rows = np.split(cut.flat, cut.offsets[1:-1])
  assert [list(row) for row in rows] == [
    [2, 10, 11, 12, 3],
    [2, 13, 14, 15, 3],
    [2, 16, 3],
    [2, 3],
    [2, 17, 18, 19, 3],
  ]
  assert list(first) == [0, 3, 4]


def test_judged_is_counted_by_hand():
  config = c.Config()
  config.measures.resamples = 200
  pairs = lambda *rows: pd.DataFrame(rows, columns=['first', 'second'])
  known = [('a', 'A'), ('b', 'B'), ('x', 'X')]
  counts = {'a': 6, 'A': 2, 'b': 1, 'B': 1}  # the corpus has no x
  made = [
    pairs(('a', 'A'), ('b', 'C'), ('q', 'r')),
    pairs(('a', 'A'), ('b', 'B')),
  ]
  marks = moves.against_known(made, known, counts, config, complete=False)
  assert marks['precision']['seeds'] == [0.5, 1.0]
  assert marks['recall']['seeds'] == [0.5, 1.0]
  assert marks['coverage']['seeds'] == [0.8, 1.0]
  # A one-way pair from the second side is an entry, and finds no first word.
  turned = [one.assign(**{'from': ''}) for one in made]
  turned[1].loc[2] = ['b', 'A', 'second']
  one_way = moves.against_known(turned, known, counts, config, complete=False)
  assert one_way['precision']['seeds'] == [0.5, pytest.approx(2 / 3)]
  assert one_way['recall']['seeds'] == marks['recall']['seeds']
  closed = moves.against_known(made, known, counts, config, complete=True)
  assert closed['precision']['seeds'] == [pytest.approx(1 / 3), 1.0]
  assert all(
    m['low'] is None or 0 <= m['low'] <= m['value'] <= m['high'] <= 1
    for m in marks.values()
  )


@pytest.mark.parametrize('right', [False, True])
def test_few_pairs_of_one_kind_are_no_proof_of_all(right):
  """Three of three, or none, is between the exact ends of a share of three."""
  config = c.Config()
  known = [('a', 'A'), ('b', 'B'), ('c', 'C')]
  seconds = 'ABC' if right else 'BCA'
  made = pd.DataFrame(list(zip('abc', seconds)), columns=['first', 'second'])
  counts = dict.fromkeys('aAbBcC', 5)
  for seeds in (1, 3):
    marks = moves.against_known([made] * seeds, known, counts, config, False)
    for one in marks.values():
      assert one['value'] == right
      reach = one['high'] - one['low']
      assert 0.45 < reach < 0.75  # Clopper and Pearson's is .708


@pytest.mark.parametrize(
  ('change', 'says'),
  [
    ({'second': ''}, 'fairflow.second is empty'),
    ({'first': 'he'}, 'on both sides'),
    ({'second': 'hexagon'}, "'hexagon' 0"),
  ],
)
def test_wrong_seed_words_are_one_sentence(run, tmp_path, change, says):
  _, folder = run
  config = small()
  config.corpus.path = str(folder / 'corpus')
  config.model = str(folder / 'pretraining' / 'export' / 'seed_0')
  options = {'first': 'the', 'second': 'he'} | change
  config.fairflow = dataclasses.replace(config.fairflow, **options)
  validate(config)
  with pytest.raises(UserError, match=says):
    experiment.run(config, tmp_path)


@pytest.mark.parametrize(
  ('factor', 'width', 'expected'), [(-1, 768, 77), (-1, 1024, 103), (5, 768, 5)]
)
def test_the_factor_s_size_is_given_estimated_or_the_program_s(
  factor, width, expected
):
  """Golden fact 19: the first of ten chunks of 768 has 77."""
  config = c.Config()
  config.fairflow.factor = factor
  draw = np.random.default_rng(0)
  vector = np.float32(draw.normal(size=(20, width)))
  side = np.int8(np.arange(20) % 2 * 2 - 1)
  size, estimate = flow_training.factor_size(config, vector, side)
  assert size == expected and 0 < estimate < width
  config.fairflow.factor = 0
  assert flow_training.factor_size(config, vector, side) == (estimate,) * 2


def test_a_flow_of_another_width_is_not_taken_up(tmp_path):
  """A flow is known by the vectors that it was trained on, not by its folder:
  in the folder of one of 8 dimensions one of 10 is trained anew."""
  config = small()
  config.seeds, config.train.batch, config.fairflow.factor = 1, 16, 2
  config.fairflow.steps = 1
  draw, side = np.random.default_rng(0), np.tile([-1, 1], 32)
  held = np.arange(64) >= 48
  with Log(tmp_path, main=False) as log:
    for width in (8, 10):
      x = np.float32(draw.normal(size=(64, width)))
      e = Experiment(config, tmp_path, log)
      model, params, _ = flow_training.fit_flow(e, x, side, held)
      assert model.module.shape.width == width
      assert params['bias'].shape == (1, config.fairflow.steps, width)


def test_known_pairs_without_a_corpus_are_told(tmp_path):
  """The file was not read: a made corpus has pairs of its own."""
  config = c.Config(recipe='fairflow')
  config.fairflow.known = str(tmp_path / 'known.csv')
  with pytest.raises(UserError, match='is made, whose pairs are known; name'):
    algorithm.corpus_of(Experiment(config, tmp_path, None))


@pytest.mark.parametrize('name', ['fairflow_gender', 'fairflow_planted'])
def test_the_flow_of_least_held_out_loss_is_kept(name):
  """The last weights were kept: 245 where the best had 172."""
  train = shipped(name).train
  assert train.load_best and train.metric_for_best == 'loss'


def test_each_half_is_marked_by_the_best_setting_of_the_other():
  half = np.array([0, 0, 1, 1])
  marks = np.array(
    [
      [[1, 1, 0, 0]],  # best on half 0, so it marks half 1
      [[0, 0, 1, 1]],
      [[0, 0, 0, 0]],
    ],
    bool,
  )
  right, best = experiment.crossed(marks, half)
  assert best == [1, 0]  # half 0 by the best of half 1
  assert not right.any()  # chosen on all words either would have half
  same, best = experiment.crossed(marks[2:], half)
  assert best == [0, 0] and not same.any()


def test_the_coordinate_of_a_diagonal_lda_becomes_the_other_side_s():
  rng = np.random.default_rng(1)
  side = np.repeat([-1, 1], 30)
  x = np.float32(rng.normal(size=(60, 3)) * [1, 2, 3] + side[:, None] * 0.7)
  some = type('some', (), {'vector': x, 'side': side})
  m = type('material', (), {'some': some, 'typical': None})
  out = moves.by_discriminant(m, 1.0)
  mean = {s: x[side == s].mean(0) for s in (-1, 1)}
  for k in range(60):  # by loops
    w, gap = [], []
    for j in range(3):
      spread = [(x[i, j] - mean[side[i]][j]) ** 2 for i in range(60)]
      gap.append(mean[1][j] - mean[-1][j])
      w.append(gap[-1] / (sum(spread) / 60))
    along = lambda v, w=w: sum(a * b for a, b in zip(w, v))
    assert along(out[k]) == pytest.approx(along(mean[-side[k]]), abs=1e-4)
    move = (out[k] - x[k]) / gap
    assert move == pytest.approx(np.full(3, move[0]), abs=1e-4)  # along the gap


def test_a_head_is_sure_of_its_texts_not_of_their_words():
  """Five occurrences in each text that agree are one, not five."""
  config, draw = small(), np.random.default_rng(0)
  config.fairflow.head, config.measures.resamples = 'lda', 2000
  label = np.arange(120) % 2
  vector = draw.normal(size=(120, 4)) + label[:, None]
  word = np.where(label, 'he', 'she').astype(object)
  wide = {}
  for copies in (1, 5):
    id = [f'a:{row}:{k}' for row in range(120) for k in range(copies)]
    *each, labels = (np.repeat(x, copies, 0) for x in (word, vector, label))
    some = instances.unread(id, *each)
    fitted = flow_training.fit_head(
      Experiment(config, None, None), some, labels
    )
    one = flow_training.share(fitted.right['accuracy'], fitted.texts, config)
    wide[copies] = one['value'], one['high'] - one['low']
  assert wide[5][0] == wide[1][0]
  assert wide[5][1] > 0.9 * wide[1][1]  # .18 and .38 before


def test_a_side_whose_texts_are_all_held_out_is_told(monkeypatch):
  """A traceback of lda, and of the perceptron a head of one side."""
  config, label = small(), np.arange(40) % 2
  vector = np.random.default_rng(0).normal(size=(40, 4))
  # One document has every word of the second side.
  id = np.array([f'a:{0 if side else k}:{k}' for k, side in enumerate(label)])
  word = np.where(label, 'he', 'she').astype(object)
  monkeypatch.setattr(flow_training, 'HELD_OUT', 0.5)
  config.seed = 0
  while not attributes.held_out(np.array(['a:0:1']), config.seed, 0.5)[0]:
    config.seed += 1
  some = instances.unread(id, word, vector)
  with pytest.raises(UserError, match='the second side are held out'):
    flow_training.fit_head(Experiment(config, None, None), some, label)


def test_the_factor_that_is_told_is_that_of_the_flow(tmp_path):
  """Estimated over partners alone, as the flow was, not over every word."""
  draw, side = np.random.default_rng(0), np.repeat([-1, 1], 200)
  typical = np.arange(400) % 10 == 0
  vector = draw.normal(size=(400, 8)).astype(np.float32)
  vector[typical] = 4 * side[typical, None] + 0.1 * vector[typical]
  config = small()
  config.fairflow.factor, config.seeds = 0, 1
  words = np.array([f'w{k % 20}' for k in range(400)], object)
  some = instances.Instances(
    np.array([f'a:{k}:0' for k in range(400)], object),
    words,
    vector,
    side.astype(np.float32),
    side.astype(np.int8),
  )
  table = pd.DataFrame({'word': sorted({*words}), 'side': 0})
  mean = np.zeros((len(table), 8), np.float32)
  config.fairflow.decoder = 'nearest'
  bare = types.SimpleNamespace(size=0, ordinary=())  # no token is asked
  m = moves.FlowInputs(config, None, bare, some, table, mean, typical)
  with Log(tmp_path, config, main=False) as log:
    fitted = algorithm.fit(Experiment(config, tmp_path, log), m)
    _, facts = algorithm.flow_ballots(m, fitted)
  assert facts['dimensions of the factor'] == fitted.model.module.shape.factor
