"""scores.parquet: computed, kept, taken from files; the step asked for."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from small import bundle_of, place, shape_of

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.artefacts import read_table
from fairjax.core.errors import UserError
from fairjax.data.sets import planted
from fairjax.data.tables import score_table as table
from fairjax.models import families
from fairjax.recipes.diet import score_page
from fairjax.report import render
from fairjax.scores import SCORES, describe, error_scores, forgetting
from fairjax.stages import scoring
from fairjax.stages.model_outputs import Predictions
from fairjax.train import loop
from fairjax.train.progress import Log


def make_config(**scoring) -> Config:
  config = Config(seeds=2, seed=3)
  config.planted.rows, config.planted.test_rows = 40, 20
  config.tokens.vocab_size = 200
  config.train.batch, config.train.epochs, config.train.lr = 16, 2.0, 1e-2
  config.mesh.seed = 1
  config.scoring = dataclasses.replace(config.scoring, **scoring)
  return config


@pytest.fixture(scope='module')
def world(tmp_path_factory):
  """Tables and a tiny model, made once."""
  config = make_config()
  tables = planted.load(config)
  with Log(tmp_path_factory.mktemp('world'), main=False) as log:
    bundle = stages.prepare(
      dataclasses.replace(config, model='tiny'), tables, log
    )
  words = bundle.tokenizer
  shape = shape_of('bert', words.get_vocab_size(), 64, deviation=0.25)
  module = families.module(shape, 'classify', classes=2)
  more = {'tokenizer': words, 'device_mesh': place(), 'longest': 64}
  return tables, bundle_of(module, **more)


def probe(config, world, folder):
  tables, bundle = world
  with Log(folder, main=False) as log:
    return scoring.probe(config, bundle, tables, folder, log)


def test_probe_trains_scores_and_keeps(world, tmp_path, monkeypatch):
  config = make_config(names=tuple(SCORES), epochs=2.0)
  scores = probe(config, world, tmp_path)
  rows = world[0]['train']
  assert list(scores['id']) == list(rows['id'])
  assert table.names(scores) == list(SCORES)
  assert scores.attrs['step'] == 6 and scores.attrs['seeds'] == [3, 4]
  for name in SCORES:
    own = scores[[f'{name}_s3', f'{name}_s4']].to_numpy()
    np.testing.assert_allclose(scores[name], own.mean(1))
    order = sorted(
      range(len(scores)), key=lambda i: (-scores[name][i], scores['id'][i])
    )
    np.testing.assert_array_equal(
      scores[f'{name}_rank'].to_numpy()[order], np.arange(1, len(scores) + 1)
    )
  # Rows without a twin are exactly 0, the others are not.
  twins = (rows['twin'] != rows['text']).to_numpy()
  assert 0 < twins.sum() < len(twins)
  for column in ('ge', 'stereotype', 'logit_gap', 'probability_gap'):
    np.testing.assert_array_equal(scores[column][~twins], 0)
  assert (scores['ge'][twins] > 0).all()
  # EL2N and the scores over epochs are those of the files the run left.
  (fit,) = (tmp_path / 'probe' / 'training').glob('*/tracks')
  tracks = [np.load(fit / f'epoch_{e}.npy') for e in (1, 2)]
  label = rows['label'].to_numpy()
  np.testing.assert_allclose(
    scores['el2n'], error_scores.el2n(tracks[-1], label).mean(0), rtol=1e-4
  )
  correct = np.stack([t.argmax(-1) == label for t in tracks], 1)
  np.testing.assert_array_equal(
    scores['forgetting'], forgetting.forgetting(correct).mean(0)
  )
  # The second call reads: nothing is trained or computed.
  monkeypatch.setattr(scoring, 'compute', None)
  monkeypatch.setattr(loop, 'fit', None)
  again = probe(config, world, tmp_path)
  pd.testing.assert_frame_equal(again, scores)
  assert again.attrs == scores.attrs
  # And so do a csv and a parquet file of it, in any order of rows.
  mixed = scores.sample(frac=1, random_state=0)
  mixed.to_csv(tmp_path / 'mine.csv', index=False)
  artefacts.write_table(tmp_path / 'mine.parquet', mixed)
  for name in ('mine.csv', 'mine.parquet'):
    path = str(tmp_path / name)
    read = probe(make_config(names=('ge', 'grand'), path=path), world, tmp_path)
    np.testing.assert_allclose(read['grand'], scores['grand'])
    pd.testing.assert_series_equal(read['ge_rank'], scores['ge_rank'])
    assert table.seed_columns(read, 'ge') == {'3': 'ge_s3', '4': 'ge_s4'}
  assert list(read_table(tmp_path / 'scores.parquet')) == list(read)


def test_the_step_scored_is_the_step_asked_for(world, tmp_path):
  """Against runs that stop there; with a constant rate they are the same."""
  tables, bundle = world
  at = {}
  for name in ('start', 'epoch 0', 'epoch 1', 'epoch 2'):
    config = make_config(names=('el2n',), at=name)
    config.train.schedule = 'constant'
    at[name] = probe(config, world, tmp_path / name)
    assert at[name].attrs['at'] == name
  assert [s.attrs['step'] for s in at.values()] == [0, 0, 3, 6]
  values = {name: scores['el2n'].to_numpy() for name, scores in at.items()}
  # Step 0: the model before any training.
  params = loop.initial(bundle, [3, 4])
  seen = Predictions(make_config(), bundle, params, tables['train'])
  first = error_scores.el2n(seen.logits, seen.label).mean(0)
  np.testing.assert_allclose(values['start'], first, rtol=1e-6)
  np.testing.assert_allclose(values['epoch 0'], first, rtol=1e-6)
  # Step 3 and 6: runs of their own of that length, to their end.
  for epochs in (1.0, 2.0):
    config = make_config(names=('el2n',), epochs=epochs)
    config.train.schedule = 'constant'
    end = probe(config, world, tmp_path / f'end{epochs}')
    assert end.attrs['step'] == 3 * epochs
    np.testing.assert_allclose(
      values[f'epoch {epochs:.0f}'], end['el2n'], rtol=1e-5
    )
  moved = np.abs(values['epoch 1'] - values['epoch 2']).max()
  assert moved > 1e-3 and np.abs(first - values['epoch 1']).max() > 1e-3
  # The same again from one run with several snapshots.
  config.scoring.at = 'end'
  with Log(tmp_path, main=False) as log:
    every = scoring.over_epochs(
      config, bundle, tables, tmp_path, log, epochs=(0, 1, 2)
    )
  for epoch, scores in every.items():
    np.testing.assert_allclose(
      scores['el2n'], values[f'epoch {epoch}'], rtol=1e-5
    )


def test_twins_with_the_same_ids_are_not_run(world, monkeypatch):
  """A twin that the tokenizer cannot tell from its original scores 0."""
  tables, bundle = world
  rows = tables['train'].head(4).copy()
  rows['twin'] = ['  ' + text for text in rows['text']]
  params = loop.initial(bundle, [3])
  seen = Predictions(make_config(), bundle, params, rows)
  assert seen.logits.shape == (1, 4, 2)
  monkeypatch.setattr(loop, 'predict', None)
  np.testing.assert_array_equal(error_scores.ge(seen.logits, seen.twins), 0)


def test_the_twin_of_a_pair_is_read_with_its_own_second_text(world):
  """It was read with the row's: no score told of a pair that it alone turns."""
  tables, bundle = world
  rows = tables['train'].head(4).copy()
  rows['twin'] = rows['text']
  rows['text_pair'] = ['she slept', 'it rained', 'she left', 'it rained']
  turned = ['he slept', 'it rained', 'he left', 'it rained']
  params = loop.initial(bundle, [3])
  seen = Predictions(
    make_config(), bundle, params, rows.assign(twin_pair=turned)
  )
  other = Predictions(
    make_config(), bundle, params, rows.assign(text_pair=turned)
  )
  np.testing.assert_allclose(seen.twins, other.logits, rtol=1e-5)
  ge = error_scores.ge(seen.logits, seen.twins)[0]
  assert (ge > 0).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
  'change, sentence',
  [
    ({'names': ('ge', 'eln')}, "no score 'eln'; did you mean 'el2n'"),
    ({'at': 'epoch x'}, "scoring.at is 'epoch x'"),
    ({'at': 'epoch 3'}, r'K from 0 to train.epochs \(2\)'),
    ({'path': 'no.csv'}, 'no.csv does not exist'),
    ({'path': 'no.parquet'}, 'no.parquet does not exist'),
  ],
)
def test_mistakes_are_told_before_training(world, tmp_path, change, sentence):
  with pytest.raises(UserError, match=sentence):
    probe(make_config(**change), world, tmp_path)


def test_one_epoch_has_no_scores_over_epochs(world, tmp_path):
  config = make_config(names=('forgetting',))
  config.train.epochs = 1.0
  with pytest.raises(UserError, match='compares epochs'):
    probe(config, world, tmp_path)


@pytest.mark.parametrize(
  'spoil, sentence',
  [
    (lambda f: f.drop(columns='id'), "has no column 'id'"),
    (lambda f: f.drop(columns='ge'), "has no column 'ge'"),
    (lambda f: f.iloc[1:], r"no row for id 'a' \(1 of 3 rows"),
    (lambda f: pd.concat([f, f.iloc[:1]]), "has id 'a' twice"),
    (
      lambda f: f.assign(ge=['1', 'x', '2']),
      "no number in column 'ge' of id 'b'",
    ),
  ],
)
def test_a_bad_file_of_scores_is_told(tmp_path, spoil, sentence):
  frame = pd.DataFrame({'id': list('abc'), 'ge': [1.0, 2.0, 3.0]})
  path = str(tmp_path / 'mine.csv')
  spoil(frame).to_csv(path, index=False)
  with pytest.raises(UserError, match=sentence):
    table.read(path, frame[['id']], ['ge'])


def test_description_says_what_a_score_measures(tmp_path):
  rng = np.random.default_rng(0)
  n = 60
  words = rng.integers(3, 30, n)
  rows = pd.DataFrame(
    {
      'id': [f'{i:03d}' for i in range(n)],
      'text': [' '.join(['he'] * w) + ' <script>' for w in words],
      'label': np.arange(n) % 2,
    }
  )
  rows['twin'] = rows['text'].where(rows.index % 3 > 0, 'she <b>')
  scores = pd.DataFrame({'id': rows['id']})
  for name, values in {
    'ge': words.astype(float),
    'el2n': rows['label'] + 0.1 * rng.random(n),
  }.items():
    scores[name] = values
    scores[f'{name}_rank'] = table.rank(scores[name].to_numpy(), rows['id'])
  scores.attrs = {'model': 'tiny', 'step': 9, 'seeds': [0, 1]}
  scores.attrs |= {'predicted': [[n, 0], [20, 40]], 'auc': [0.5, 0.52]}
  found = describe.describe(scores, rows)
  assert found['twins'] == pytest.approx(1 / 3)
  assert found['auc']['el2n'] == 1.0
  # Every text has one word more than `words`.
  assert found['length']['ge'] == pytest.approx(1.0)
  from scipy.stats import spearmanr

  assert found['between']['ge']['el2n'] == pytest.approx(
    spearmanr(scores['ge'], scores['el2n'])[0]
  )
  top = found['ends']['ge']['top'][0]
  assert top['ge'] == words.max()
  few = describe.describe(scores[:6], rows)['ends']['ge']
  assert len(few['top']) == len(few['bottom']) == 3
  said = ' '.join(score_page.warnings(found, {}))
  assert 'one class only (class 0; seeds 0)' in said
  assert 'AUC of 0.510' in said
  assert 'el2n separates the labels (AUC 1.000)' in said
  section = score_page.section(scores, rows)
  shown = lambda one: render.page('x', [one], render.Pictures(tmp_path))
  body = shown(section)
  assert '<script>' not in body and '&lt;script&gt;' in body
  assert '<mark>' in body and ' checked' not in body
  rows.attrs['classes'] = ['ok', 'Toxic comment']  # hidden until asked for
  hidden = shown(score_page.section(scores, rows))
  assert hidden.count(' checked') == 2 * len(found['ends'])
  assert 'puts ‘Toxic comment’ rows first' in hidden
  # A healthy scoring model is not warned of.
  scores.attrs |= {'predicted': [[30, 30]] * 2, 'auc': [0.9, 0.9]}
  scores['el2n'] = rng.random(n)
  assert score_page.warnings(describe.describe(scores, rows), {}) == []


def test_a_constant_score_has_no_correlation():
  assert describe.spearman(np.zeros(3), np.arange(3.0)) is None
