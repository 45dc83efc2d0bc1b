"""Diets end to end, and the grid: restart, selection, merge, choice."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import small

from fairjax import config as conf
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.sets import planted
from fairjax.recipes import train
from fairjax.recipes.diet import algorithm, claims, grid, overlap, rank
from fairjax.recipes.diet import experiment as recipe
from fairjax.report import verdict
from fairjax.stages import Experiment, classifier
from fairjax.train.progress import Log

SMALL = small.config(scoring=conf.Scoring(names=('ge', 'el2n'), epochs=1.0))
GRID = dataclasses.replace(
  SMALL,
  recipe='rank',
  grid=conf.Grid(
    rankings=('healthy_random',),
    factual=(0.5,),
    counterfactual=(0.25,),
    augment=('ge', 'random'),
    shares=(0.0, 1.0),
  ),
)
CELLS, DISTINCT = 8, 4  # b=0 is none and b=1 is CDA, whatever the score


def some(cells: str) -> conf.Config:
  return dataclasses.replace(
    GRID, grid=dataclasses.replace(GRID.grid, cells=cells)
  )


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
  """A grid that nothing interrupted."""
  folder = tmp_path_factory.mktemp('whole')
  return rank.run(GRID, folder), folder


def test_a_diet_from_end_to_end(tmp_path, remade):
  config = dataclasses.replace(
    SMALL,
    recipe='diet',
    train=dataclasses.replace(SMALL.train, export=True),
    diet=conf.Diet(compare=('unhealthy_random', 'none', 'cda')),
  )
  results = recipe.run(config, tmp_path)
  remade(tmp_path, results)
  sizes = {name: one['facts'] for name, one in results.contenders.items()}
  assert sizes['healthy_random']['total'] == 2 * int(96 * 0.4)
  assert sizes['none'] | {'of CDA': 0} == {
    'rows': 96,
    'twins': 0,
    'equal twins': 0,
    'total': 96,
    'distinct': 96,
    'of CDA': 0,
  }
  assert sizes['cda']['of CDA'] == 1.0
  pairs = {(t['ours'], t['theirs']) for t in results.tests}
  assert pairs == {
    ('healthy_random', name) for name in ('unhealthy_random', 'none', 'cda')
  }
  assert all(
    c['verdict'] in verdict.__dict__.values() for c in results.verdicts
  )
  report = (tmp_path / 'report.html').read_text()
  for words in ('The claims', 'What the scores measure'):
    assert words in report
  scores = artefacts.read_table(tmp_path / 'scores.parquet')
  beside = artefacts.read_table(tmp_path / 'predictions' / 'cda.parquet')
  own = artefacts.read_table(tmp_path / 'predictions.parquet')
  assert len(scores) == 96 and list(beside['id']) == list(own['id'])
  assert (beside['p0'] != own['p0']).any()
  diet = classifier.load(tmp_path / 'export' / 'seed_0')  # was not written
  texts = planted.load(SMALL)['test'].set_index('id')['text']
  p = diet.predict_proba(texts[own['id']].tolist())[:, 1]
  np.testing.assert_allclose(p, own['p0'], atol=1e-5)


def test_methods_beside_diets_are_those_of_their_own_runs(tmp_path):
  """Blind and balanced, as the recipe `train` has them; sentences go on."""
  config = dataclasses.replace(
    SMALL,
    recipe='diet',
    scoring=conf.Scoring(names=()),
    diet=conf.Diet(ranking='none', compare=('blind', 'balance')),
  )
  earlier = tmp_path / 'diet' / 'predictions' / 'cds.parquet'
  earlier.parent.mkdir(parents=True)
  earlier.write_bytes(b'of another run')
  results = recipe.run(config, tmp_path / 'diet')
  assert [*results.contenders] == ['none', 'blind', 'balance']
  assert not earlier.exists()
  said = ' '.join(results.notes)
  assert 'blind: ' in said and 'texts lost words' in said
  for name in ('blind', 'balance'):
    own = dataclasses.replace(
      config, recipe='train', method=conf.Method(name=name), diet=conf.Diet()
    )
    alone = train.run(own, tmp_path / name)
    kept = tmp_path / 'diet' / 'predictions' / f'{name}.parquet'
    one, other = map(
      artefacts.read_table, (kept, tmp_path / name / 'predictions.parquet')
    )
    np.testing.assert_array_equal(one['p1'], other['p1'])
    assert results.measured(name, 'test') == alone.measured(name, 'test')
    assert {(t['ours'], t['theirs']) for t in results.tests} >= {('none', name)}
  rows = [one['facts']['rows'] for one in results.contenders.values()]
  assert rows[0] == rows[1] == 96 > rows[2]  # balance cuts to equal cells
  wrong = dataclasses.replace(config, method=conf.Method(how='up'))
  with pytest.raises(UserError, match="how is 'up'; blind knows"):
    recipe.run(wrong, tmp_path / 'wrong')  # before anything is trained
  assert not (tmp_path / 'wrong' / 'training').exists()
  with pytest.raises(UserError, match="no ranking 'blnd'"):
    recipe.run(
      dataclasses.replace(config, diet=conf.Diet(compare=('blnd',))), tmp_path
    )


def test_the_grid(whole, remade):
  results, folder = whole
  remade(folder, results)
  assert list(results.contenders) == [*GRID.grid.rankings, *rank.BASELINES]
  facts = {name: one['facts'] for name, one in results.contenders.items()}
  assert facts['none']['a'] is facts['cda']['b'] is None  # no ratios
  assert 'of the rows have a twin that differs' in results.notes[-1]
  best, _, front = results.sections[:3]
  rows = front['parts'][-1]['parts'][0]['rows']
  assert len(rows) == CELLS and all(row['done'] for row in rows)
  by_title = {row['title']: row for row in rows}
  for one, other in (('augment_ge b=0', 'none'), ('augment_random b=1', 'cda')):
    for key in ('test dp', 'test auc', 'test eqodd'):
      assert by_title[one][key] == by_title[other][key]
    kept = results.measured(other, 'test')['dp']
    assert by_title[one]['test dp'] == kept
  assert len(list((folder / 'cells').glob('*.made.json'))) == DISTINCT
  # Weights go when a cell is done.
  assert not [*(folder / 'cells').rglob('*.safetensors')]
  assert 'parity on valid (validation rows) among' in best['parts'][0]['text']
  chosen = best['parts'][1]['rows']
  assert [row['ranking'] for row in chosen] == [*GRID.grid.rankings]
  assert (folder / 'report.html').exists()
  lines = (folder / 'grid.csv').read_text().splitlines()
  assert len(lines) == CELLS + 1 and 'test dp' in lines[0]


@pytest.mark.slow
def test_a_killed_grid_goes_on_where_it_was(whole, tmp_path, monkeypatch):
  results, _ = whole
  ran, work = [], rank.work

  def killed(e, inputs, cell, *rest):
    if len(ran) == 2:
      raise KeyboardInterrupt
    ran.append(cell)
    work(e, inputs, cell, *rest)

  monkeypatch.setattr(rank, 'work', killed)
  with pytest.raises(KeyboardInterrupt):
    rank.run(GRID, tmp_path)
  first = {
    p: p.stat().st_mtime_ns for p in (tmp_path / 'cells').glob('*.made.json')
  }
  assert len(first) == 2
  count = []

  def counted(e, inputs, cell, *rest):
    count.append(cell)
    work(e, inputs, cell, *rest)

  monkeypatch.setattr(rank, 'work', counted)
  again = rank.run(GRID, tmp_path)
  assert len(count) == DISTINCT - 2 and not set(count) & set(ran)
  assert all(p.stat().st_mtime_ns == then for p, then in first.items())
  assert again == results


@pytest.mark.slow
def test_processes_share_a_folder_and_merge(whole, tmp_path, monkeypatch):
  results, _ = whole
  every = {'cells': CELLS, 'left': [*range(CELLS)]}
  assert rank.run(some('none'), tmp_path).facts == every
  assert (tmp_path / 'scores.parquet').exists()
  left = rank.run(some('0,3-5'), tmp_path).facts['left']
  assert left == [2, 7]  # cell 4 was CDA too, so that cds and the diet are left
  assert not (tmp_path / 'report.html').exists()
  rank.run(some('2,6-7'), tmp_path)
  monkeypatch.setattr(rank, 'work', None)  # nothing is left to do
  assert rank.run(GRID, tmp_path) == results


def test_a_diet_without_scores_needs_no_probe(tmp_path):
  config = dataclasses.replace(
    SMALL,
    recipe='diet',
    scoring=conf.Scoring(names=()),
    diet=conf.Diet(ranking='random', compare=('none',)),
  )
  assert set(recipe.run(config, tmp_path).contenders) == {'random', 'none'}
  assert not (tmp_path / 'probe').exists()


def test_picking_cells():
  assert rank.pick('0,3,5-9, 3', 12) == [0, 3, 5, 6, 7, 8, 9]
  assert rank.pick('', 3) == [0, 1, 2] and rank.pick('none', 3) == []
  for wrong in ('3', '0,x', '2-1', '1-3', '-1', ','):
    with pytest.raises(UserError, match='is no cell or range of cells'):
      rank.pick(wrong, 3)


def test_the_grids_of_the_paper():
  cells = rank.cells(conf.Config())
  assert len(cells) == 3 + 5 * 8 + 4 * 3 * 6
  assert len(set(cells)) == len(cells)


def cell(k, ranking, dp, auc, total=100, experiment=2):
  return {
    'cell': k,
    'title': ranking if not experiment else f'{ranking} {k}',
    'experiment': experiment,
    'ranking': ranking,
    'a': 0.4,
    'b': 0.4,
    'total': total,
    'sets': {
      'valid': {
        'quality': {'auc': {'value': auc}},
        'fairness': {'dp': {'value': dp}},
      }
    },
  }


def test_the_fairest_within_the_budget_is_chosen():
  none = cell(0, 'none', 0.5, 0.90, experiment=0)
  cells = [
    none,
    cell(1, 'x', 0.99, 0.872),  # fairest, below 0.873 = 0.97 × 0.9
    cell(2, 'x', 0.80, 0.874),
    cell(3, 'x', 0.80, 0.880, total=90),
    cell(4, 'x', 0.80, 0.880, total=80),
    cell(5, 'x', 0.70, 0.95),
    cell(6, 'y', 0.99, 0.6),
    cell(7, 'y', 0.60, 0.7),
    cell(8, 'z', None, 0.95),
    cell(9, 'z', 0.1, 0.9),
  ]
  found, notes = grid.choose(cells, 'valid', 'valid', 0.03)
  assert {name: c['cell'] for name, c in found.items()} == {
    'x': 4,
    'y': 7,  # none is within the budget: the best AUC
    'z': 9,
  }
  (note,) = notes
  assert note.startswith('y: no cell keeps 97%')
  _, (note,) = grid.choose(cells, 'valid', 'valid', 0.025)
  assert note.startswith('y: no cell keeps 97.5% of the AUC')
  stuck = cell(10, 'x', 1.0, 0.95)
  stuck['sets']['valid']['fairness']['dp']['note'] = 'constant predictor'
  found, _ = grid.choose([*cells, stuck], 'valid', 'valid', 0.03)
  assert found['x']['cell'] == 4
  _, notes = grid.choose([none, stuck], 'valid', 'valid', 0.03)
  assert 'constant predictor' in notes[0]
  loose, _ = grid.choose(cells, 'valid', 'valid', 0.5)
  assert loose['x']['cell'] == 1 and loose['y']['cell'] == 6


def test_validation_rows_are_read_in_both_ways(tmp_path):
  valid = pd.DataFrame(
    {
      'id': ['a', 'b', 'c'],
      'text': ['she left early', 'it rained', 'his car broke'],
      'label': [1, 0, 0],
    }
  )
  found = rank.choosing(conf.Config(), {'valid': valid})
  read = found[rank.READINGS]
  assert list(found) == ['valid', rank.READINGS]
  assert list(read['text']) == [
    'he left early',
    'his car broke',
    'she left early',
    'her car broke',
  ]
  assert list(read['group']) == ['male'] * 2 + ['female'] * 2
  assert list(read['label']) == [1, 0, 1, 0] and read['id'].is_unique
  with pytest.raises(UserError, match='no validation row speaks'):
    rank.choosing(conf.Config(), {'valid': valid[1:2]})
  grouped = valid.assign(group=['male', '', 'female'])
  assert list(rank.choosing(conf.Config(), {'valid': grouped})) == ['valid']


def test_verdicts():
  sure = lambda low, high: {'value': (low + high) / 2, 'low': low, 'high': high}
  assert verdict.of_interval(sure(0.01, 0.2)) == 'holds'
  assert verdict.of_interval(sure(-0.2, -0.1)) == 'does not hold'
  assert verdict.of_interval(sure(-0.1, 0.2)) == 'undecided'
  assert (
    verdict.of_interval({'value': 0.3, 'low': None, 'high': None})
    == 'undecided'
  )
  assert verdict.of_interval(sure(0.61, 0.7), 0.6) == 'holds'
  half = lambda rows: claims.at_most_half('x', rows, 100)['verdict']
  assert (half(50), half(51)) == ('holds', 'does not hold')
  test = {'set': 'test', 'ours': 'x', 'theirs': 'none', 'p': 0.1, 'test': 't'}
  auc = test | {'measure': 'auc', 'difference': sure(-0.026, -0.01)}
  aucs = {'test': {'value': 0.9}}
  loses = lambda budget: claims.costs_little([auc], 'x', aucs, budget)[0]
  assert loses(0.03)['verdict'] == 'holds'  # at most 2.9 % of 0.9
  assert loses(0.028)['verdict'] == 'undecided'
  assert loses(0.01)['verdict'] == 'does not hold'
  # A budget is told with all of its digits: 99 % is not what .995 keeps.
  for budget, kept in ((0.03, '97%'), (0.005, '99.5%'), (0.0005, '99.95%')):
    assert (
      loses(budget)['claim'] == f'x keeps {kept} of the AUC of none on test'
    )
  # Student's interval of three values, by the textbook, and all shares x that
  # it reaches where it is as wide as that at .7 and 0 at the ends: by a grid.
  values = [0.5, 0.7, 0.9]
  found = claims.over_seeds(values, 0.95)
  reach, x = 4.302653 * 0.2 / 3**0.5, np.linspace(0, 1, 100_001)
  wide = np.sqrt((1 - (2 * x - 1) ** 2) / (1 - 0.4**2))
  inside = x[np.abs(0.7 - x) <= reach * wide]
  ends = [found['low'], found['high']]
  np.testing.assert_allclose(ends, inside[[0, -1]], atol=2e-5)
  rows = [{'fraction': 0.1, 'fair': v} for v in (0.7, 0.72, 0.74)]
  (claim,) = claims.seeds_agree(rows, 0.95)
  assert claim['verdict'] == 'holds' and claim['bound'] == 0.6
  (claim,) = claims.seeds_agree(
    [{'fraction': 0.1, 'fair': v} for v in (0.3, 0.9)], 0.95
  )  # Student's interval of a share, which there is only from 0 to 1
  assert 0 < claim['effect']['low'] < 0.2 and 0.9 < claim['effect']['high'] < 1


@pytest.mark.parametrize('share', [0.8, 0.95])
def test_seeds_interval_holds_shares_near_an_end(share):
  """Ten seeds that scatter by a beta of mean .95: .65 of intervals before."""
  rng = np.random.default_rng(0)
  inside = 0
  for _ in range(400):
    values = rng.beta(share * 30, (1 - share) * 30, 10).tolist()
    one = claims.over_seeds(values, 0.95)
    inside += one['low'] <= share <= one['high']
  assert inside / 400 > 0.91


def test_a_cell_is_known_by_all_that_its_numbers_are_of(tmp_path):
  """Of clusters, of another column of groups, of weights by a column."""
  config = dataclasses.replace(GRID, scoring=conf.Scoring(names=()))
  with Log(tmp_path, config) as log:
    e = Experiment(config, tmp_path, log)
    inputs = algorithm.prepare(e, ['none'])
  rows = np.arange(8, dtype=np.int32)[None]
  test = e.sets['test'].assign(age='old')

  def key(table=test, made=inputs, **sections):
    own = dataclasses.replace(config, **sections)
    return rank.key(own, made, {'test': table}, rows)

  assert key() == key(test.assign(remark='x'))  # nobody reads it
  assert key() != key(test.assign(cluster='one'))
  assert key() != key(test.assign(template='one'))
  assert key() != key(test.assign(text_pair='and this'))
  # What CDA holds is another.
  assert key() != key(method=conf.Method(keep_equal=True))
  ages = conf.Measures(resamples=50, groups='age')
  assert key(measures=ages) != key(test.assign(age='young'), measures=ages)
  aged = lambda age: inputs._replace(every=inputs.every.assign(age=age))
  for name, alike in (('none', True), ('reweight', False)):
    two = (key(made=aged(a), method=conf.Method(name=name)) for a in 'xy')
    assert (next(two) == next(two)) == alike, name


def test_both_texts_of_a_pair_are_read_as_either_side():
  rows = pd.DataFrame(
    {
      'id': ['a', 'b'],
      'text': ['It rained.', 'It rained.'],
      'text_pair': ['She got wet.', 'The dog got wet.'],
      'label': [0, 1],
    }
  )
  read = rank.choosing(conf.Config(), {'valid': rows})[rank.READINGS]
  assert list(read['text_pair']) == ['He got wet.', 'She got wet.']
  assert list(read['group']) == ['male', 'female']


def test_the_worst_ranking_is_compared_with_the_others():
  grids = lambda *names: dataclasses.replace(
    GRID, grid=conf.Grid(rankings=names)
  )
  assert rank.above_worst(conf.Config()) == ['vanilla_ge', 'random']
  assert rank.above_worst(grids('healthy_random', 'random')) == []
  assert rank.above_worst(grids('unhealthy_random', 'random')) == []


def test_two_models_agree_more_than_chance():
  rows = [
    {'a': 'x', 'b': 'y', 'fraction': q, 'fair': 0.5, 'chance': q}
    for q in (0.1, 0.4)
  ]
  claim = overlap.more_than_chance('x', 'y', rows)
  assert claim['effect']['low'] == pytest.approx(0.1)
  assert claim['verdict'] == 'holds'
  rows[1]['chance'] = 0.6
  assert overlap.more_than_chance('x', 'y', rows)['verdict'] == 'undecided'


@pytest.mark.parametrize(
  ('epochs', 'words'), [(2.0, '2 epochs'), (3.5, '2 to 3'), (9.0, '2 to 5')]
)
def test_the_claim_of_epochs_names_those_that_were_trained(epochs, words):
  config = conf.Config(train=conf.Train(epochs=epochs))
  rows = [{'fraction': 0.3, 'fair': 0.9}]
  (claim,) = overlap.verdicts(config, {'epochs': rows})
  assert claim['claim'].startswith(f'GE after {words}')


@pytest.mark.parametrize(
  ('gaps', 'says'),
  [
    ([0.03, 0.05, -0.02], 'undecided'),
    ([-0.05, -0.04, -0.06], 'does not hold'),
    ([0.05, 0.04, 0.06], 'holds'),
  ],
)
def test_ge_rises_faster_by_student_s_interval_of_a_difference(gaps, says):
  """Read as a share from 0 to 1 the first held, and the second was open."""
  cells = [
    {
      'experiment': 1,
      'ranking': ranking,
      'b': 0.5,
      'sets': {'test': {'fairness': {'dp': {'value': 0.5, 'seeds': seeds}}}},
    }
    for ranking, seeds in (
      ('augment_ge', [0.5 + gap for gap in gaps]),
      ('augment_random', [0.5] * 3),
    )
  ]
  (claim,) = grid.rises_faster(cells, 'test', 0.95)
  effect = claim['effect']
  reach = 4.302653 * np.std(gaps, ddof=1) / 3**0.5
  assert effect['low'] == pytest.approx(np.mean(gaps) - reach, abs=0.01)
  assert effect['high'] == pytest.approx(np.mean(gaps) + reach, abs=0.01)
  assert claim['verdict'] == says


@pytest.mark.slow
def test_overlap_of_seeds_epochs_models_scores(tmp_path, remade):
  config = dataclasses.replace(
    SMALL,
    recipe='overlap',
    train=dataclasses.replace(SMALL.train, epochs=2.0),
    grid=conf.Grid(models=('mini',)),
  )
  results = overlap.run(config, tmp_path)
  remade(tmp_path, results)
  found = {
    name: section['parts'][-1]['parts'][0]['rows']
    for name, section in zip(overlap.ABOUT, results.sections)
  }
  assert {(r['a'], r['b']) for r in found['seeds']} == {
    ('mean', 'seed 0'),
    ('mean', 'seed 1'),
  }
  assert {(r['a'], r['b']) for r in found['epochs']} == {('epoch 1', 'epoch 2')}
  assert {(r['a'], r['b']) for r in found['models']} == {('tiny', 'mini')}
  assert {(r['a'], r['b']) for r in found['scores']} == {('ge', 'el2n')}
  assert any('tiny and of mini' in c['claim'] for c in results.verdicts)
  for name in found:
    assert (tmp_path / 'plots' / f'overlap_{name}.png').exists()
