"""The table of claims: from results.json of any number of runs to markdown."""

import ast
import json
import pathlib
import re
import runpy

import numpy as np
import pandas as pd
import pytest

from fairjax import config as config_lib
from fairjax import recipes, results
from fairjax.recipes.diet import overlap
from fairjax.report import __main__ as command
from fairjax.report import claims, verdict
from fairjax.scores import rank_overlap

PAPERS = recipes.papers()


def difference(ours, theirs, measure, value, reach, test='paired bootstrap'):
  return {
    'set': 'test',
    'measure': measure,
    'ours': ours,
    'theirs': theirs,
    'difference': {
      'value': value,
      'low': value - reach,
      'high': value + reach,
    },
    'p': 0.01,
    'test': test,
  }


@pytest.fixture
def folders(tmp_path):
  """Two runs: gaps that fall, rise and stay; AUC that may be lost."""
  runs = {
    'weighting': [
      difference('weight', 'baseline', 'fped', -0.3, 0.1),
      # Of two tests of one measure the first, over examples, decides.
      difference('weight', 'baseline', 'fped', 0.9, 0.1, 't-test over seeds'),
      difference('weight', 'baseline', 'fned', 0.2, 0.1),
      difference('weight', 'baseline', 'auc', -0.01, 0.02),
      difference('swap', 'baseline', 'fped', -0.3, 0.1),
    ],
    'fairtune': [difference('fairtuned', 'original', 'different', -0.1, 0.2)],
  }
  share = {'value': 0.4, 'low': None, 'high': None}
  count = verdict.at_most_half('diet', 2, 'cda', 5)[0] | {'effect': share}
  out = []
  for recipe, tests in runs.items():
    folder = tmp_path / recipe
    folder.mkdir()
    one = results.Results(
      recipe=recipe, data='a|b', model='tiny', seeds=[0, 1], tests=tests
    )
    one.verdicts = [count]
    results.write(folder, one)
    words = ['/x/main.py', f'--config=configs/{recipe}.py', '--workdir=/tmp/y']
    words.append('--config.data.path=/home/me/SST-2/train.csv')
    (folder / 'versions.json').write_text(json.dumps({'command': words}))
    out.append(str(folder))
  return out


def test_each_claim_has_its_verdict_data_and_command(folders):
  rows = claims.rows(folders, PAPERS)
  known = {row['claim']: row for row in rows}
  of = lambda words: [
    row['verdict'] for claim, row in known.items() if claim.startswith(words)
  ]
  assert of('lower gap of false positives') == ['holds']
  assert of('lower gap of false negatives') == ['does not hold']
  assert of('at most 2 points of AUC lost') == ['undecided']
  assert of('fairtuning lowers') == ['undecided']
  assert of('diet takes at most half') == ['holds']
  assert {row['verdict'] for row in rows if 'data' not in row} == {'not run'}
  assert {row['paper'] for row in rows} == {paper.title for paper in PAPERS}
  one = known['lower gap of false positives (weight against baseline, test)']
  assert 'lower by 0.300 [0.200, 0.400]' in one['by']
  assert 'to be' not in one['by']  # above 0, as most are
  cost = next(
    row
    for claim, row in known.items()
    if claim.startswith('at most 2 points of AUC') and 'by' in row
  )
  assert 'to be above -0.02' in cost['by']
  assert one['data'] == 'a|b, tiny, 2 seeds'
  assert one['command'] == (
    '--config=configs/weighting.py --config.data.path=SST-2/train.csv'
  )


def test_a_test_the_other_way_round_decides_a_claim_too(tmp_path):
  """A run led by the unhealthy diet was said not to be run."""
  gap = difference('unhealthy_random', 'healthy_random', 'dp', -0.3, 0.1)
  one = results.Results(recipe='diet', data='d', model='tiny', tests=[gap])
  results.write(tmp_path, one)
  (row,) = (
    row
    for row in claims.rows([tmp_path], PAPERS)
    if row['claim'].startswith('fairer than the unhealthy')
  )
  assert row['verdict'] == 'holds' and '0.300 [0.200, 0.400]' in row['by']


def judged(claim):
  effect = {'value': 0.2, 'low': 0.1, 'high': 0.3}
  return verdict.claim(claim, effect, 0.0, 'paired bootstrap', 0.01)


def test_a_paper_s_own_contenders_speak_for_it(tmp_path):
  """Of rivals' verdicts none, unless there is nothing else."""
  rival, own = (
    'flow is below original',
    'flow + repair + BART is below original',
  )
  for name, lines in (('both', [rival, own]), ('rival', [rival])):
    one = results.Results(recipe='fairflow', data='d', model='/a/b/models/m')
    one.verdicts = [judged(line) for line in lines]
    (tmp_path / name).mkdir()
    results.write(tmp_path / name, one)
  of = lambda name: [
    row
    for row in claims.rows([tmp_path / name], PAPERS)
    if 'FairFlow' in row['paper']
  ]
  assert [row['claim'] for row in of('both')] == [own]
  assert [row['claim'] for row in of('rival')] == [rival]
  assert of('both')[0]['data'] == 'd, models/m'


def test_what_no_paired_test_decides_is_a_line_by_whatever_decides_it(tmp_path):
  """Figures 6 and 7: the range over epochs was in no table of claims."""
  epochs = {'fraction': 0.3, 'fair': 0.9, 'a': 'x', 'b': 'y', 'chance': 0.3}
  config = config_lib.Config()
  one = results.Results(
    recipe='overlap',
    data='d',
    model='m',
    tests=[difference('x', 'none', 'dp', 0.1, 0.2)],
  )
  (own,) = overlap.verdicts(config, {'epochs': [epochs]})
  one.verdicts = [own, judged('x is above none')]
  results.write(tmp_path, one)
  rows = [row for row in claims.rows([tmp_path], PAPERS) if 'by' in row]
  assert [row['claim'] for row in rows if 'Healthy' in row['paper']] == [
    own['claim']
  ]


def test_a_command_is_written_once(folders):
  table = claims.markdown(folders[:1], PAPERS).splitlines()
  cells = [line.split(' | ')[-1] for line in table if '`--config' in line]
  assert len(cells) == 1
  assert sum(line.endswith('| as above |') for line in table) == 3


def test_the_command_prints_markdown_of_any_number_of_runs(folders, capsys):
  assert command.main(['--claims', *folders]) == 0
  lines = capsys.readouterr().out.splitlines()
  bare = [line.replace('\\|', '') for line in lines]
  assert {line.count('|') for line in bare} == {8}
  assert any('a\\|b, tiny' in line for line in lines)
  assert command.main(['--claims']) == 0
  empty = capsys.readouterr().out.splitlines()[2:]
  assert empty and all('| not run |' in line for line in empty)
  assert command.main(['--claims', folders[0] + '/none']) == 2


def test_a_perturber_s_data_is_its_parallel_text(tmp_path):
  one = results.Results(
    recipe='perturber',
    data='text',
    model='m',
    seeds=[0],
    tests=[difference('perturber', 'dictionary', 'exact', 0.5, 0.1)],
  )
  results.write(tmp_path, one)
  config = {'recipe': 'perturber', 'perturb': {'sources': ['geco', 'gap']}}
  (tmp_path / 'config.json').write_text(json.dumps(config))
  table = claims.markdown([tmp_path], PAPERS)
  assert '| geco and gap, m, 1 seed |' in table


def test_kept_runs_make_the_same_table(folders, tmp_path):
  """Without rows of data, values of seeds, or anybody's paths."""
  kept = tmp_path / 'kept'
  for folder in folders:
    assert command.main(['--keep', folder, f'{kept}/{folder[-7:]}']) == 0
  assert claims.markdown([str(kept)], PAPERS) == claims.markdown(
    sorted(folders), PAPERS
  )
  texts = [path.read_text() for path in kept.rglob('*.json')]
  assert len(texts) == 4 and not any('/home/me' in text for text in texts)


def test_what_is_kept_has_no_rows(tmp_path):
  from fairjax.report import kept

  estimate = {'value': 0.5, 'low': 0.4, 'high': 0.6, 'seeds': [0.4, 0.6]}
  measured = {
    'rows': 7,
    'quality': {'auc': estimate},
    'groups': {'women': {'rows': 3, 'tpr': estimate}},
  }
  whole = results.Results(
    recipe='train',
    model='/home/me/packages/mini/model',
    title='train of /home/me/packages/mini/model on file',
    notes=['9 rows of ~/own/my.csv (see https://a.b/c/d), w = P(y)/P(y|z)/2'],
    facts={'from': '/home/me/own/my.csv', 'rows': 9},
    contenders={'none': {'sets': {'test': measured}, 'facts': {'rows': 9}}},
    tests=[difference('a', 'b', 'auc', 0.1, 0.1)],
    sections=[results.section('Rows', results.text('a private text'))],
  )
  results.write(tmp_path / 'run', whole)
  # As stages/run_files.py leaves it: the processor is a part of its own.
  machine = {'cpu': 'EPYC', 'class': 'AVX2', 'instructions': ['avx2']}
  facts = {'seconds': 9.5, 'backend': 'gpu', 'device': 'H200', 'x': 1}
  versions = json.dumps(facts | {'processor': machine})
  (tmp_path / 'run' / 'versions.json').write_text(versions)
  kept.keep(tmp_path / 'run', tmp_path / 'kept')
  run = json.loads((tmp_path / 'kept' / 'run.json').read_text())
  del run['data'], run['command'], facts['x'], machine['instructions']
  assert run == facts | machine
  found = results.read(tmp_path / 'kept')
  (one,) = found.contenders.values()
  assert one['facts'] == {'rows': 9} and found.tests == whole.tests
  assert one['sets']['test'] == {
    'rows': 7,
    'quality': {'auc': {'value': 0.5, 'low': 0.4, 'high': 0.6}},
  }
  assert 'private' not in (tmp_path / 'kept' / 'results.json').read_text()
  # Nor anybody's folders.
  assert found.model == 'mini/model'
  assert found.title == 'train of mini/model on file'
  assert found.facts == {'from': 'own/my.csv', 'rows': 9}
  assert found.notes == [
    '9 rows of own/my.csv (see https://a.b/c/d), w = P(y)/P(y|z)/2'
  ]


@pytest.mark.parametrize('level, z', [(0.95, 1.96), (0.8, 1.2816)])
def test_what_a_size_decides_and_what_a_claim_takes(level, z):
  """By simulation: at that distance, and at that size, four of five."""
  rng = np.random.default_rng(0)
  rows, runs, bound = 40, 20_000, 0.3

  def decided(value, rows):
    means = rng.normal(value, 2 / rows**0.5, runs)
    lows = means - z * 2 / rows**0.5
    return np.mean(lows > bound)

  reach = z * 2 / rows**0.5
  effect = {'value': 0.8, 'low': 0.8 - reach, 'high': 0.8 + reach}
  distance = verdict.decided_from(effect, level)
  assert decided(bound + distance, rows) == pytest.approx(0.8, abs=0.01)
  times = verdict.times_larger(effect, bound, level)
  one = {'effect': effect, 'bound': bound, 'verdict': verdict.HOLDS}
  assert claims._decides(one, level, None) == f'±{distance:.2g}'
  assert decided(0.8, rows * times) == pytest.approx(0.8, abs=0.01)
  # An interval of another level says what its own needs.
  wide = {'value': 0.8, 'low': 0.8 - reach * 2.5758 / z}
  wide['high'] = 1.6 - wide['low']
  z = 2.5758 + 0.8416
  want = (z * 2 / rows**0.5 / 0.5) ** 2
  assert verdict.times_larger(wide, bound, 0.99) == pytest.approx(want, 1e-3)
  assert verdict.times_larger(effect, 0.8, level) is None  # right at its bound
  count = {'value': 0.4, 'low': None, 'high': None}
  assert verdict.decided_from(count, level) is None
  assert verdict.times_larger(count, 0.5, level) is None


def test_seeds_that_agree_make_no_interval_of_no_width():
  one = verdict.over_seeds([0.91, 0.91, 0.91], 0.95)
  assert one['value'] == pytest.approx(0.91) and one['note']
  assert one['low'] is None and one['high'] is None
  assert verdict.of_interval(one, 0.8) == verdict.OPEN
  two = verdict.over_seeds([0.91, 0.91, 0.92], 0.95)
  assert two['low'] < 0.91 < two['high']


def test_seeds_that_agree_by_ties_have_the_interval_of_the_rows():
  """What is beyond the rows with a score is by lot, alike for every seed."""
  rng = np.random.default_rng(0)
  inside = []
  # Of all texts .36 have a score, in the seeds' own order, and a share of .4 is
  # chosen: these, and .04 of the other .64.
  want = (0.36 + 0.04**2 / 0.64) / 0.4
  for _ in range(200):
    scored = rng.random(500) < 0.36
    seeds = {
      f'ge_s{s}': np.where(scored, rng.random(500) + 1, 0) for s in range(3)
    }
    table = pd.DataFrame({'id': [str(i) for i in range(500)]} | seeds)
    table['ge'] = np.mean(list(seeds.values()), 0)
    found = verdict.seeds_agree(rank_overlap.seeds(table, 'ge'), 0.95)
    (one,) = (c for c in found if c['claim'].endswith('40%'))
    if one['test'] == 'interval over rows':
      effect = one['effect']
      inside.append(effect['low'] <= want <= effect['high'])
  # Agreement that no ties make tells nothing of a spread, as before.
  rows = [{'fraction': 0.4, 'fair': 0.9, 'above': 3, 'rows': 50, 'chance': 0.4}]
  (one,) = verdict.seeds_agree(rows * 3, 0.95)
  assert one['effect']['low'] is None and one['verdict'] == verdict.OPEN
  assert len(inside) > 180 and np.mean(inside) > 0.93


def test_an_effect_that_a_seed_lacks_is_turned_and_scaled():
  effect = {'value': 0.2, 'low': 0.1, 'high': 0.4, 'seeds': [0.2, None]}
  assert verdict.negated(effect)['seeds'] == [-0.2, None]
  assert verdict.negated(effect)['low'] == -0.4
  assert verdict.scaled(effect, 2)['seeds'] == [0.4, None]


def test_an_undecided_line_says_what_it_takes():
  one = verdict.claim('c', {'value': 0.1, 'low': -0.1, 'high': 0.3}, 0.0, 't')
  said = '±0.29; as measured it takes 8.2 times the size'
  assert claims._decides(one, 0.95, None) == said
  assert claims._decides(one, 0.95, 900.0) == f'{said}, 2 h'
  assert claims._decides(one, 0.95, 9e5) == f'{said}, 2,000 h'  # no 2e+03
  assert claims._decides(one, 0.95, 900.0, 'a GPU') == f'{said}, 2 h of a GPU'
  of_seeds = one | {'test': verdict.OVER_SEEDS}
  assert claims._decides(of_seeds, 0.95, None) == said.replace('size', 'seeds')
  near = one | {'bound': 0.099}
  assert 'over 100 times' in claims._decides(near, 0.95, 900.0)
  sure = verdict.claim('c', {'value': 0.1, 'low': 0.05, 'high': 0.2}, 0.0, 't')
  assert claims._decides(sure, 0.95, 900.0) == '±0.11'
  assert claims._decides(sure, 0.68, 900.0) == '±0.14'


# What this project says of its own runs

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = re.compile(r'(?<![\d.\w])-?0?\.\d+')


def test_on_a_terminal_each_claim_is_a_few_short_lines():
  kept = [str(ROOT / 'configs/claims/results')]
  said = claims.for_people(kept, PAPERS)
  assert max(map(len, said.splitlines())) <= 80
  assert (
    '  holds           fairer than the unhealthy diet (healthy_random' in said
  )
  table = claims.markdown(kept, PAPERS)
  for verdict_ in ('holds', 'undecided', 'does not hold', 'not run'):
    heads = [
      line for line in said.splitlines() if line[2:17].strip() == verdict_
    ]
    assert len(heads) == table.count(f'| {verdict_} |')


def test_the_shipped_table_is_what_the_kept_runs_make():
  made = claims.markdown([str(ROOT / 'configs/claims/results')], PAPERS)
  shipped = (ROOT / 'fairjax/report/CLAIMS.md').read_text(encoding='utf-8')
  assert shipped[shipped.index('| paper |') :].strip() == made.strip()


ROOTED = re.compile(r'(?:(?<=[\s\'"(=`])|^)~?/[\w.~-]+/')


@pytest.mark.parametrize(
  'path',
  sorted((ROOT / 'configs/claims/results').rglob('*.json')),
  ids=lambda path: f'{path.parent.name}-{path.stem}',
)
def test_a_kept_run_names_no_folder_of_whoever_ran_it(path):
  assert not ROOTED.search(path.read_text(encoding='utf-8'))


@pytest.mark.parametrize(
  'name', sorted(p.name for p in (ROOT / 'configs/claims/results').iterdir())
)
def test_a_config_of_claims_says_what_its_size_decides(name):
  """Every kind of number, by what CLAIMS.md has of its kept run."""
  folder = ROOT / 'configs/claims'
  path = folder / f'{name}.py'
  path = path if path.exists() else ROOT / f'configs/{name}.py'
  words = ast.get_docstring(ast.parse(path.read_text('utf-8')))
  (said,) = re.findall(
    r'What its size decides,([^±]*±.*?)\.(?:\n|$)', words, re.S
  )
  reaches = lambda text: {float(k) for k in re.findall(r'±([\d.]*\d)', text)}
  found = [
    reaches(row['decides'])
    for row in claims.rows([folder / 'results' / name], PAPERS)
    if row.get('decides')
  ]
  assert reaches(said) <= set().union(*found)
  assert {min(map(min, found)), max(map(max, found))} <= reaches(said)


def test_the_tables_of_results_are_made_from_the_kept_runs():
  """The command changes nothing, and each kept run has its table."""
  path = ROOT / 'configs/claims/kept_tables.py'
  made = runpy.run_path(str(path))
  text = (ROOT / 'configs/RESULTS.md').read_text('utf-8')
  assert made['page'](text) == text
  names = {path.name for path in (ROOT / 'configs/claims/results').iterdir()}
  assert {match[2] for match in made['BLOCK'].finditer(text)} == names


def test_each_number_of_readmes_papers_is_in_results():
  """A run that is kept anew may not leave README behind."""
  read = lambda path: (ROOT / path).read_text(encoding='utf-8')
  known = set(NUMBER.findall(read('configs/RESULTS.md')))
  known |= {one.lstrip('-') for one in known}
  table = read('README.md').partition('| paper |')[2].partition('\n\n')[0]
  assert set(NUMBER.findall(table)) <= known


def test_the_map_has_the_hours_of_kept_runs_and_configs_that_are_there():
  place = ROOT / 'configs'
  words = (place / 'MAP.md').read_text(encoding='utf-8')
  rows = [line.split(' | ') for line in words.splitlines() if '.py' in line]
  for name in re.findall(r'`(?:configs/)?([\w/]+\.py)', words):
    assert (place / name).exists(), name
  for path in sorted((place / 'claims' / 'results').glob('*/run.json')):
    hours = json.loads(path.read_text(encoding='utf-8'))['seconds'] / 3600
    named = re.compile(rf'\b(claims/)?{path.parent.name}\.py')
    cells = [row[3] for row in rows if len(row) == 5 and named.search(row[1])]
    assert any(f'{hours:.2f}'.lstrip('0') in cell for cell in cells), path
  assert all(len(row) == 5 for row in rows if row[0].startswith('| '))
