"""Perturbed training, fairscore beside its floor, paired files reused."""

import dataclasses

import jax
import numpy as np
import pandas as pd
import pytest
import small
from scipy import stats

from fairjax import config as c
from fairjax import results as stored
from fairjax import stages
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.sets import planted
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import fairscore
from fairjax.recipes import train
from fairjax.recipes.perturbation import fairscore as recipe
from fairjax.recipes.perturbation import fairtune, paired_file, perturbing
from fairjax.recipes.perturbation import glue as glue_tasks
from fairjax.stages import Experiment, classifier
from fairjax.train import loop
from fairjax.train.progress import Log


def config(**changes):
  made = c.Config(
    recipe='fairtune',
    model='tiny',
    seeds=2,
    tokens=c.Tokens(vocab_size=300),
    planted=c.Planted(rows=160, test_rows=60),
    train=c.Train(lr=1e-3, batch=32, epochs=1, patience=0),
    measures=c.Measures(resamples=100),
  )
  return small.changed(made, **changes)


@pytest.fixture(scope='module')
def ran(tmp_path_factory):
  folder = tmp_path_factory.mktemp('fairtune')
  return folder, fairtune.run(config(train__export=True), folder)


def test_both_contenders_have_fairscores_floors_and_tests(ran, remade):
  folder, results = ran
  assert set(results.contenders) == {'original', 'fairtuned'}
  sets = results.contenders['fairtuned']['sets']
  for by in ('rules', 'dictionary'):
    quality = sets[f'perturbed by {by}']['quality']
    assert set(fairscore.MEASURES) | {'floor', 'excess'} == set(quality)
    of = lambda name, quality=quality: quality[name]['value']
    total = of('both_correct') + of('neither_correct') + of('different')
    assert total == pytest.approx(1)
  measures = [t['measure'] for t in results.tests]
  assert measures.count('different') == 2
  assert results.facts['training rows perturbed'] > 20
  remade(folder, results)


def test_what_is_exported_is_the_fairtuned_model(ran):
  folder, _ = ran
  own = pd.read_parquet(folder / 'predictions.parquet')
  other = pd.read_parquet(folder / 'predictions' / 'original.parquet')
  texts = planted.load(config())['test'].set_index('id')['text']
  exported = sorted((folder / 'export').glob('seed_*'))
  assert [one.name for one in exported] == ['seed_0', 'seed_1']
  for k, one in enumerate(exported):
    p = classifier.load(one).predict_proba(texts[own['id']].tolist())[:, 1]
    np.testing.assert_allclose(p, own[f'p{k}'], atol=2e-6)
    assert np.abs(p - other[f'p{k}']).max() > 2e-5


def test_a_paired_file_gives_the_same_fairscore_for_any_model(ran, tmp_path):
  folder, results = ran
  path = folder / 'paired.parquet'
  pairs = pd.read_parquet(path)
  assert (pairs['text'] != pairs['perturbed']).all()
  asked = config(fairscore__path=str(path))
  asked.reuse = str(folder)
  again = fairtune.run(asked, tmp_path)
  for name in ('original', 'fairtuned'):
    for by in ('rules', 'dictionary'):
      of = lambda r, name=name, by=by: r.contenders[name]['sets'][
        f'perturbed by {by}'
      ]['quality']['different']['value']
      assert of(again) == of(results)


def test_models_that_exist_are_scored_without_training(ran, tmp_path):
  folder, _ = ran
  models = [folder / name / 'export' / 'seed_0' for name in ('one', 'other')]
  with Log(tmp_path, main=False) as log:
    asked = config()
    tables = stages.load(asked, tmp_path, log)
    model = stages.prepare(asked, tables, log)
    params = loop.initial(model, [0, 1])
    for k, place in enumerate(models):
      one = jax.tree.map(lambda leaf, k=k: leaf[k : k + 1], params)
      own = dataclasses.replace(asked, seeds=1)
      stages.write_models(own, model, one, place.parent)
  asked = config(fairscore__path=str(folder / 'paired.parquet'))
  asked.recipe, asked.model = 'fairscore', str(models[0])
  asked.audit.against = str(models[1])
  results = recipe.run(asked, tmp_path / 'run')
  assert [*results.contenders] == ['other', 'one'] and len(results.tests) == 2
  again = recipe.run(asked, tmp_path / 'again')
  assert again.contenders == results.contenders


def test_texts_are_perturbed_as_a_function_of_seed_and_text():
  texts = ['He met his elderly aunt.', 'The tall house is white.']
  texts = [*texts, 'A young Black doctor smiled. She left.'] * 3
  asked = config()
  one = perturbing.perturbed(asked, texts)
  other = perturbing.perturbed(asked, texts[::-1])
  assert list(one['perturbed']) == list(other['perturbed'])[::-1]
  assert not one['changed'][1] and one['perturbed'][1] == texts[1]
  assert one['changed'][0] and set(one['axis']) <= {'gender', 'age', 'race', ''}
  only = dataclasses.replace(asked.perturb, axes=('asian',))
  made = perturbing.perturbed(dataclasses.replace(asked, perturb=only), texts)
  assert made['perturbed'][2] == 'A young Asian doctor smiled. She left.'
  assert list(made['changed'][:3]) == [False, False, True]


def test_long_texts_are_cut_into_windows_and_joined_again(monkeypatch):
  monkeypatch.setattr(perturbing, 'WINDOW', 30)
  text = ' '.join(f'He said no {i}.' for i in range(40)) + '  '
  parts = perturbing.windows(text, 30)
  assert ''.join(parts) == text and len(parts) > 4
  assert all(len(part.split()) <= 30 for part in parts)
  assert all(part.rstrip().endswith('.') for part in parts)
  made = perturbing.perturbed(config(), [text])
  assert made['windows'][0] == len(parts) and made['changed'][0]
  assert len(made['perturbed'][0].split()) == len(text.split())


def test_pairs_are_perturbed_alike():
  made = perturbing.pairs_perturbed(
    config(perturb__axes=('woman', 'man')),
    ['Thomas sold his house.', 'It rains.'],
    ['Thomas has no house.', 'It pours.'],
  )
  assert not made['broken'].any() and list(made['changed']) == [True, False]
  name = made['perturbed'][0].split()[0]
  assert name != 'Thomas'
  assert made['perturbed_pair'][0] == f'{name} has no house.'
  assert made['perturbed_pair'][1] == 'It pours.'


def test_a_neutral_rewrite_is_no_perturbation():
  one = {'text': 'Mary saw a big house.', 'perturbed': 'James saw a big house.'}
  pairs = pd.DataFrame([one | {'text_pair': '', 'perturbed_pair': ''}])
  control = paired_file.controlled(pairs, 0)['control'][0]
  assert control not in ('', *pairs['text'], *pairs['perturbed'])
  assert control.endswith('saw a big house.')


def test_no_row_to_perturb_is_said(tmp_path, monkeypatch):
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path))
  rows = pd.DataFrame({'id': ['a'], 'text': ['It rains.'], 'label': [0]})
  with pytest.raises(UserError, match='no test row holds a word'):
    e = Experiment(config(), tmp_path, small.heard()[0])
    paired_file.read_pairs(e, rows)


def test_test_rows_that_no_perturber_could_read_are_counted(
  tmp_path, monkeypatch
):
  """Only training rows were: of test rows the fairscore left some unsaid."""
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path))
  texts = ['He ran.', 'She sang.', 'He left.', 'It rains.']
  rows = pd.DataFrame({'id': [*'abcd'], 'text': texts, 'label': 0})
  made = perturbing.perturbed(config(), texts)
  made.loc[1, 'perturbed'], made.loc[1, 'changed'] = texts[1], False
  made['too_long'] = [False, True, False, False]
  monkeypatch.setattr(paired_file, 'of_table', lambda *_: made)
  log, lines = small.heard()
  asked = config(fairscore__by=('rules',))
  paired_file.read_pairs(Experiment(asked, tmp_path, log), rows)
  said = '50.0% of 4 test rows perturbed by rules, 1 too long for the perturber'
  assert said in lines


def test_a_regression_s_prediction_changes_by_more_than_a_tolerance():
  """Mean grades by hand: 1.0 to 1.4 moves .4, whatever the class does."""
  one = np.array([[[0.0, 1.0, 0.0], [0.5, 0.4, 0.1]]])
  two = np.array([[[0.1, 0.4, 0.5], [0.4, 0.5, 0.1]]])
  assert fairscore.changed(one, two).tolist() == [[True, True]]
  assert fairscore.changed(one, two, 0.3).tolist() == [[True, False]]
  assert fairscore.changed(one, two, 0.5).tolist() == [[False, False]]


def test_labels_after_perturbation_are_accuracies_of_both_models():
  asked = config()
  pairs = pd.DataFrame({'perturber': ['rules'] * 4, 'label': [0, 1, 1, 0]})
  seeds = lambda *row: np.array([row, row])
  decided = {
    'original': {'text': seeds(0, 1, 1, 0), 'perturbed': seeds(0, 0, 0, 0)},
    'fairtuned': {'text': seeds(0, 1, 1, 1), 'perturbed': seeds(0, 1, 1, 0)},
  }
  some = paired_file.Some(pairs, decided, intervals.options_of(asked))
  rows = [paired_file.preserved(some, 'rules', name) for name in decided]
  of = lambda row, name: row[name]['value']
  assert [of(r, 'accuracy, original text') for r in rows] == [1, 0.75]
  assert [of(r, 'accuracy, perturbed text') for r in rows] == [0.5, 1]
  assert [of(r, 'difference') for r in rows] == [-0.5, 0.25]


def test_perturbations_of_one_text_are_no_new_evidence():
  """A file that turns each text three ways is as sure as one of each text."""
  rng = np.random.default_rng(0)

  def scored(times):
    n = 40 * times
    pairs = pd.DataFrame(
      {
        'id': [f'{k}' for k in range(n)],
        'text': np.repeat([f'text {k}' for k in range(40)], times),
        **{'perturber': 'file', 'label': 0, 'control': 'c'},
        **{'axis': '', 'attribute': ''},
      }
    )
    seed = lambda row: np.repeat(np.array([row], int), times, 1)
    made = lambda flips: {
      **{'text': seed(0 * flips), 'perturbed': seed(flips)},
      **{'flips': seed(flips) > 0, 'floor': seed(0 * flips) > 0},
    }
    both = {'one': made(once[0]), 'two': made(once[1])}
    e = Experiment(config(measures__resamples=2000), None, None)
    paired_file.measure(e, pairs, both)
    return e.contenders, e.tests

  once = rng.random((2, 40)) < [[0.2], [0.4]]
  (one, (test,)), (many, (tripled,)) = scored(1), scored(3)
  assert test['p'] == tripled['p']
  quality = lambda run: run['two']['sets']['perturbed by file']['quality']
  width = lambda of: of['high'] - of['low']
  for name in ('different', 'excess', 'both_correct'):
    a, b = quality(one)[name], quality(many)[name]
    assert a['value'] == pytest.approx(b['value'])
    assert width(b) == pytest.approx(width(a), rel=0.15)


def test_grades_have_pearson_s_r_and_a_test_of_the_two():
  asked = config(data__labels='round')
  rng = np.random.default_rng(0)
  rows = pd.DataFrame({'label': rng.integers(0, 6, 80)})
  near = np.eye(6)[rows['label']] * 0.5 + rng.dirichlet(np.ones(6), 80) * 0.5
  far = rng.dirichlet(np.ones(6), 80)
  chances = {'original': {'test': far[None]}, 'fairtuned': {'test': near[None]}}
  e = Experiment(asked, None, None)
  e.sets, e.chances = {'test': rows}, chances
  for name in chances:
    e.add(name, 'test', {'quality': {}})
  fairtune.graded(e)
  (one,) = e.tests
  r = {
    name: stats.pearsonr(rows['label'], p @ np.arange(6)).statistic
    for name, p in (('original', far), ('fairtuned', near))
  }
  for name, value in r.items():
    quality = e.contenders[name]['sets']['test']['quality']
    assert quality['pearson']['value'] == pytest.approx(value)
  gap = r['fairtuned'] - r['original']
  assert one['difference']['value'] == pytest.approx(gap)
  assert one['p'] < 0.05
  e.config, e.tests = config(), []
  fairtune.graded(e)
  assert not e.tests


def finished(folder, name, export, **more):
  """A run of recipe train with two seeds, exported or not."""
  made = config(recipe='train', train__export=export, **more)
  train.run(made, folder / name)
  artefacts.write_json(folder / name / 'config.json', dataclasses.asdict(made))
  return folder / name


def test_an_encoder_that_stayed_is_that_of_an_unexported_run_too(tmp_path):
  base = finished(tmp_path, 'base', True) / 'export' / 'seed_0'
  stays = {'model': str(base), 'net__init': 'frozen'}
  asked = config()
  asked.model, asked.audit.against = (
    str(finished(tmp_path, f'run{e:d}', e, **stays)) for e in (True, False)
  )
  table = pd.DataFrame({'text': ['She met him.', 'He is rude.'], 'label': 0})
  one, other = (
    stages.probabilities(asked, *model, table)
    for model in recipe.models(asked).values()
  )
  np.testing.assert_allclose(one, other, atol=1e-6)


def test_every_row_of_a_file_is_scored_by_a_run_s_seeds(tmp_path):
  """Nothing is trained: of 40 rows all are asked, not a tenth of them."""
  runs = [finished(tmp_path, f'run{int(e)}', e) for e in (True, False)]
  rows = [f'{"He She They".split()[i % 3]} met row {i}.' for i in range(40)]
  frame = pd.DataFrame({'text': rows, 'label': [i % 2 for i in range(40)]})
  frame.to_csv(tmp_path / 'mine.csv', index=False)
  asked = config(data__name='file', data__path=str(tmp_path / 'mine.csv'))
  asked.recipe, asked.seeds = 'fairscore', 1
  asked.model, asked.audit.against = str(runs[0]), str(runs[1])
  found = recipe.run(asked, tmp_path / 'all')
  of = lambda found, k: found.contenders[f'run{k}']['sets'][
    'perturbed by rules'
  ]
  people = sum('They' not in text for text in rows)
  assert of(found, 1)['rows'] == people == 27
  # The fit of a run and its exported seeds are one model.
  assert len(of(found, 1)['quality']['different']['seeds']) == 2
  assert of(found, 0) == of(found, 1)
  # Test rows that the file names are those that are asked.
  frame['part'] = ['train', 'test'] * 20
  frame.to_csv(tmp_path / 'mine.csv', index=False)
  asked.data.split, asked.audit.against = 'part', ''
  found = recipe.run(asked, tmp_path / 'named')
  assert of(found, 1)['rows'] == sum('They' not in t for t in rows[1::2])
  frame['part'] = 'train'
  frame.to_csv(tmp_path / 'mine.csv', index=False)
  with pytest.raises(UserError, match="no 'test' row in column 'part'"):
    recipe.run(asked, tmp_path / 'none')
  (runs[0] / 'other').mkdir()
  (runs[0] / 'export').rename(runs[0] / 'other' / 'export')
  kept = runs[0] / 'results.json'
  kept.write_text(kept.read_text().replace('"train"', '"fairtune"', 1))
  asked.data.split = ''
  with pytest.raises(UserError, match=r"'fairtune', which left 2 models; name"):
    recipe.run(asked, tmp_path / 'several')


@pytest.fixture(scope='module')
def glue(tmp_path_factory):
  """Three small tasks in GLUE's folders and columns."""
  folder = tmp_path_factory.mktemp('glue')
  rng = np.random.default_rng(0)
  for place, count in (('train', 96), ('dev', 48)):
    who, what = rng.choice(['he', 'she'], count), rng.integers(0, 2, count)
    texts = [
      f'{w} was {("kind", "cruel")[k]} on day {i} .'
      for i, (w, k) in enumerate(zip(who, what))
    ]
    said = [('entailment', 'not_entailment')[k] for k in what]
    pair = {'sentence1': texts, 'sentence2': [f'so {t}' for t in texts]}
    for name, frame in (
      ('CoLA', {'label': what, 'sentence': texts}),
      ('RTE', {**pair, 'label': said}),
      ('STS-B', {**pair, 'score': what * 1.3}),
    ):
      (folder / name).mkdir(exist_ok=True)
      path = folder / name / f'{place}.tsv'
      pd.DataFrame(frame).to_csv(path, sep='\t', index=False)
  return folder


def test_tasks_joined_have_the_averages_of_each(ran):
  """One run stood for two tasks: every average is its own number."""
  _, results = ran
  one = Experiment(config(), None, None)
  one.contenders, one.tests = results.contenders, results.tests
  parts, e = {'sst2': one, 'qqp': one}, Experiment(config(), None, None)
  glue_tasks.join(e, parts)
  tests, contenders = glue_tasks.tests(parts, 0.95), e.contenders
  for name, one in results.contenders.items():
    own, sets = one['sets'], contenders[name]['sets']
    whole = sets['average']['quality']['glue']['value']
    accuracy = own['test']['quality']['accuracy']
    assert whole == pytest.approx(accuracy['value'])
    for by in ('perturbed by rules', 'perturbed by dictionary'):
      different = own[by]['quality']['different']['value']
      mean = sets[f'average, {by}']['quality']['different']['value']
      assert mean == pytest.approx(different)
    for key in parts:
      quality = {'accuracy': accuracy}
      assert sets[key] == {'rows': own['test']['rows'], 'quality': quality}
  of = {(test['set'], test['measure']): test['difference'] for test in tests}
  assert of['average', 'glue']['value'] == of['sst2', 'accuracy']['value']
  assert of['average', 'glue']['low'] > of['sst2', 'accuracy']['low']


@pytest.mark.parametrize('keys', [('cola', 'stsb'), ('cola', 'rte', 'stsb')])
def test_tasks_of_glue_stand_side_by_side_with_averages(glue, tmp_path, keys):
  asked = config(
    data__path=str(glue), fairscore__tasks=keys, fairscore__by=('rules',)
  )
  results = fairtune.run(asked, tmp_path)
  metrics = {'cola': 'mcc', 'rte': 'accuracy', 'stsb': 'pearson'}
  tasks = {key: metrics[key] for key in keys}
  for name in ('original', 'fairtuned'):
    alone = {
      key: stored.read(tmp_path / key).contenders[name]['sets'] for key in tasks
    }
    sets = results.contenders[name]['sets']
    for key, metric in tasks.items():
      own = alone[key]['test']['quality'][metric]
      assert sets[key] == {'rows': 48, 'quality': {metric: own}}
    scores = [
      alone[key]['perturbed by rules']['quality']['different']['value']
      for key in keys[:-1]  # Table 3 has no STS-B
    ]
    whole = sets['average, perturbed by rules']['quality']['different']
    assert whole['value'] == pytest.approx(np.mean(scores))
    each = [alone[k]['test']['quality'][m]['value'] for k, m in tasks.items()]
    if None not in each:
      assert sets['average']['quality']['glue']['value'] == pytest.approx(
        np.mean(each)
      )
  tested = {(test['set'], test['measure']) for test in results.tests}
  assert tested == {
    *tasks.items(),
    *((f'{key}, perturbed by rules', 'different') for key in tasks),
    ('average', 'glue'),
    ('average, perturbed by rules', 'different'),
  }
  assert (tmp_path / 'cola' / 'report.html').is_file()


def test_a_task_without_files_is_told_before_any_is_run(glue, tmp_path):
  asked = config(data__path=str(glue), fairscore__tasks=('cola', 'qnli'))
  with pytest.raises(UserError, match=r'QNLI has no train\.tsv, .csv'):
    fairtune.run(asked, tmp_path)
  assert not (tmp_path / 'cola').exists()
  asked = config(fairscore__tasks=('cola',))
  asked.fairscore.path = 'paired.parquet'
  with pytest.raises(UserError, match='each task needs its own'):
    fairtune.run(asked, tmp_path)
