"""Claims: named before a run, corrected as one family, tabled from results."""

import json
import pathlib
import re
import runpy
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from fairjax import config as config_lib
from fairjax import recipes, results
from fairjax.core import artefacts
from fairjax.metrics.inference import significance
from fairjax.recipes.diet import claims as diet_claims
from fairjax.report import __main__ as command
from fairjax.report import claims, findings, run_archive, verdict
from fairjax.scores import rank_overlap
from fairjax.stages import Experiment, runs

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = recipes.PAPERS


def difference(ours, theirs, measure, value, reach, p=0.01, test='bootstrap'):
  ends = {'value': value, 'low': value - reach, 'high': value + reach}
  return {
    **{'set': 'test', 'measure': measure, 'ours': ours, 'theirs': theirs},
    **{'difference': ends, 'p': p, 'test': test},
  }


TESTS = [
  difference('weight', 'baseline', 'fped', -0.3, 0.1, 0.001),
  # Of two tests of one measure the first, over examples, decides.
  difference('weight', 'baseline', 'fped', 0.9, 0.1, test='t-test over seeds'),
  difference('weight', 'baseline', 'fned', 0.2, 0.1, 0.004),
  difference('weight', 'baseline', 'auc', -0.01, 0.02),
  difference('baseline', 'swap', 'fped', 0.12, 0.11, 0.04),
]
SPECS = [
  *(f'weight against baseline: {name} on test' for name in ('fped', 'fned')),
  'weight against baseline: auc on test above -0.02',
  'swap against baseline: fped on test',
]


def run_of(primary=(), **more):
  given = {'recipe': 'weighting', 'data': 'a|b', 'model': 'tiny'}
  given |= {'seeds': [0, 1], 'tests': TESTS, 'primary': list(primary)}
  return results.Results(**given | more)


def judged(said):
  effect = {'value': 0.2, 'low': 0.1, 'high': 0.3}
  return verdict.claim(said, effect, 0.0, 'bootstrap', 0.01)


def test_what_was_named_is_one_family():
  """Lower is better of fped; the swap's claim holds alone, not among four."""
  found = verdict.settled(run_of(SPECS, verdicts=[judged('other')]))
  assert [one['verdict'] for one in found] == [
    *('holds', 'does not hold', 'undecided', 'undecided', 'exploratory')
  ]
  assert [one['family'] for one in found] == ['primary'] * 4 + ['exploratory']
  p = [0.001, 0.004, verdict.p_of(found[2], 0.95), 0.04]
  assert [one['adjusted'] for one in found[:3]] == (
    significance.adjusted([*p[:2], found[2]['p'] or 1.0, p[3]])[:2]
    + [found[2]['adjusted']]
  )
  assert found[0]['effect']['low'] < 0.2  # wider than its own, .2 to .4
  (alone,) = verdict.settled(run_of(SPECS[3:]))
  assert alone['verdict'] == 'holds' and alone['adjusted'] == 0.04
  (none,) = verdict.settled(run_of(verdicts=[judged('other')]))
  assert none['verdict'] == 'exploratory' and none['adjusted'] is None
  assert verdict.settled(run_of(SPECS, verdicts=found)) == found
  assert verdict.settled(run_of(['weight against swap: typo on test'])) == []


def test_a_family_errs_as_often_as_agreed():
  """Of six claims without an effect some is decided in 5 % of the runs."""
  rng, wrong, runs = np.random.default_rng(0), 0, 600
  specs = [f'a against {k}: dp on test' for k in range(6)]
  for _ in range(runs):
    z = rng.normal(0, 1, 6)
    tests = [
      difference('a', str(k), 'dp', z[k], 1.96, p)
      for k, p in enumerate(2 * (1 - ndtr(abs(z))))
    ]
    found = verdict.settled(results.Results(tests=tests, primary=specs))
    wrong += any(one['verdict'] != 'undecided' for one in found)
    assert max(one['effect']['high'] for one in found) <= 1
  assert wrong / runs < 0.07


def test_a_claim_of_another_bound_has_the_p_of_its_interval():
  spec = ['weight against baseline: auc on test above -0.02']
  (one,) = verdict.settled(run_of(spec))
  z = 0.01 / (0.02 / 1.959964)
  assert one['adjusted'] == pytest.approx(2 * (1 - ndtr(z)), 1e-4)
  assert one['bound'] == -0.02 and one['verdict'] == 'undecided'


def test_a_count_decides_itself():
  count = diet_claims.at_most_half('diet', 2, 5)
  (one,) = verdict.settled(run_of(verdicts=[count]))
  assert one['verdict'] == 'holds' and one['family'] == 'exploratory'
  assert diet_claims.at_most_half('diet', 3, 5)['verdict'] == 'does not hold'


@pytest.fixture
def folder(tmp_path):
  found = run_of(SPECS, verdicts=[judged('other')])
  results.write(tmp_path / 'run', found)
  flags = ['/x/main.py', '--config=configs/w.py', '--workdir=/tmp/y']
  flags.append('--config.data.path=/home/me/SST-2/train.csv')
  text = json.dumps({'command': flags})
  (tmp_path / 'run/versions.json').write_text(text)
  return tmp_path / 'run'


def test_the_table_has_a_row_a_claim_and_counts_the_rest(folder, capsys):
  rows = [r for r in claims.rows([folder], PAPERS) if 'size' in r]
  assert [row['verdict'] for row in rows] == [
    *('holds', 'does not hold', 'undecided', 'undecided')
  ]
  assert {row['kind'] for row in rows} == {'primary'}
  assert rows[0]['size'] == 'a|b, tiny, 2 seeds'
  assert rows[0]['command'] == (
    '--config=configs/w.py --config.data.path=SST-2/train.csv'
  )
  assert command.main(['--claims', str(folder)]) == 0
  lines = capsys.readouterr().out.splitlines()
  bare = [line.replace('\\|', '') for line in lines]
  assert {line.count('|') for line in bare} == {len(claims.HEADS) + 1}
  assert sum('`--config' in line for line in lines) == 1
  assert any('a\\|b, tiny' in line for line in lines)
  assert command.main(['--claims', f'{folder}/none']) == 2


def test_kept_runs_make_the_same_table(folder, tmp_path):
  """Without rows of data, values of seeds, or anybody's paths."""
  place = tmp_path / 'kept'
  assert command.main(['--keep', str(folder), f'{place}/run']) == 0
  assert claims.markdown([str(place)], PAPERS) == claims.markdown(
    [str(folder)], PAPERS
  )
  texts = [path.read_text() for path in place.rglob('*.json')]
  assert len(texts) == 2 and not any('/home/me' in text for text in texts)


def test_a_perturber_s_data_is_its_parallel_text(tmp_path):
  results.write(tmp_path, run_of(data='text', recipe='perturber'))
  config = {'recipe': 'perturber', 'perturb': {'sources': ['geco', 'gap']}}
  (tmp_path / 'config.json').write_text(json.dumps(config))
  assert '| geco and gap, tiny, ' in claims.markdown([tmp_path], PAPERS)


def test_what_is_kept_is_judged_again_as_the_run_was(tmp_path):
  """To the bit where float16 has the answers; two rows of a text are one."""
  rng, run, here = np.random.default_rng(0), tmp_path / 'run', tmp_path / 'kept'
  named = SPECS[0], 'weight against swap: typo on test'
  own = config_lib.Measures(resamples=50, min_group=2, primary=named)
  config = config_lib.Config(seed=3, seeds=2, measures=own)
  e, label = Experiment(config, run, None), rng.integers(0, 2, 60)
  ids, text = map(str, range(60)), label.cumsum().astype(str)
  table = pd.DataFrame({'id': ids, 'label': label, 'text': text})
  e.sets = {'test': table.assign(group=rng.choice(['a', 'b'], 60))}
  for name in ('weight', 'baseline'):
    p = rng.random((2, 60)).astype(np.float16).astype(float)
    e.answer(name, {'test': np.stack([1 - p, p], -1)}, {'n': 9}, ('eer',))
  e.compare([('weight', 'baseline')], 'weight', ('eer',))
  told = runs.publish(run, e.results(), mock.Mock()).notes
  assert [one for one in told if 'names no comparison' in one] == told[:1]
  assert told[0].endswith(named[1])  # it was not said
  artefacts.write_json(run / 'config.json', config)
  run_archive.keep(run, here)
  judged = runpy.run_path(f'{ROOT}/configs/claims/judged.py')
  judged['keep'](run, here)
  answers = artefacts.read_table(here / 'predictions/baseline.parquet')
  assert [*answers] == ['set', 'label', 'group', 'cluster', 'p0', 'p1']
  for one in results.read(here).contenders.values():
    assert one['facts'] == {'n': 9} and 'groups' not in one['sets']['test']
    assert {*one['sets']['test']['quality']['auc']} == {'value', 'low', 'high'}
  before = (here / results.FILE).read_text().replace('equal texts', 'cluster')
  assert judged['again'](here) and (here / results.FILE).read_text() == before
  # A run whose groups are not in its answers stays as it is.
  about = artefacts.read_json(here / 'run.json')
  about['measures']['groups'] = 'terms:words.txt'
  artefacts.write_json(here / 'run.json', about)
  assert not judged['again'](here)


def test_what_is_kept_has_no_rows(tmp_path):
  whole = results.Results(
    recipe='train',
    model='/home/me/packages/mini/model',
    title='train of /home/me/packages/mini/model on file',
    notes=['9 rows of ~/own/my.csv (see https://a.b/c/d), w = P(y)/P(y|z)/2'],
    facts={'from': '/home/me/own/my.csv', 'rows': 9},
    sections=[results.section('Rows', results.text('a private text'))],
  )
  results.write(tmp_path / 'run', whole)
  # As stages/run_files.py leaves it: the processor is a part of its own.
  machine = {'cpu': 'EPYC', 'class': 'AVX2', 'instructions': ['avx2']}
  facts = {'seconds': 9.5, 'backend': 'gpu', 'device': 'H200', 'x': 1}
  versions = json.dumps(facts | {'processor': machine})
  (tmp_path / 'run' / 'versions.json').write_text(versions)
  run_archive.keep(tmp_path / 'run', tmp_path / 'kept')
  run = json.loads((tmp_path / 'kept' / 'run.json').read_text())
  del run['data'], run['command'], facts['x'], machine['instructions']
  assert run == facts | machine
  found = results.read(tmp_path / 'kept')
  assert 'private' not in (tmp_path / 'kept' / 'results.json').read_text()
  # Nor anybody's folders.
  assert found.model == 'mini/model'
  assert found.title == 'train of mini/model on file'
  assert found.facts == {'from': 'own/my.csv', 'rows': 9}
  assert found.notes == [whole.notes[0].replace('~/', '')]


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
  assert claims.decides(one, level, None) == f'±{distance:.2g}'
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
  one = diet_claims.over_seeds([0.91, 0.91, 0.91], 0.95)
  assert one['value'] == pytest.approx(0.91) and one['note']
  assert one['low'] is None and one['high'] is None
  assert verdict.of_interval(one, 0.8) == verdict.OPEN
  two = diet_claims.over_seeds([0.91, 0.91, 0.92], 0.95)
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
    found = diet_claims.seeds_agree(rank_overlap.seeds(table, 'ge'), 0.95)
    (one,) = (c for c in found if c['claim'].endswith('40%'))
    if one['test'] == 'interval over rows':
      effect = one['effect']
      inside.append(effect['low'] <= want <= effect['high'])
  # Agreement that no ties make tells nothing of a spread, as before.
  rows = [{'fraction': 0.4, 'fair': 0.9, 'above': 3, 'rows': 50, 'chance': 0.4}]
  (one,) = diet_claims.seeds_agree(rows * 3, 0.95)
  assert one['effect']['low'] is None and one['verdict'] == verdict.OPEN
  assert len(inside) > 180 and np.mean(inside) > 0.93


def test_an_effect_that_a_seed_lacks_is_turned_and_scaled():
  effect = {'value': 0.2, 'low': 0.1, 'high': 0.4, 'seeds': [0.2, None]}
  assert findings.negated(effect)['seeds'] == [-0.2, None]
  assert findings.negated(effect)['low'] == -0.4
  assert findings.scaled(effect, 2)['seeds'] == [0.4, None]


# What this project says of its own runs


def test_the_shipped_table_is_what_the_command_makes():
  """python tests/golden/make_claims.py writes CLAIMS.md's."""
  made = runpy.run_path(str(ROOT / 'tests/golden/make_claims.py'))
  path = ROOT / 'fairjax/report/CLAIMS.md'
  assert path.read_text('utf-8') == made['page']()


def test_the_tables_of_results_are_made_from_the_kept_runs():
  """The command changes nothing, and each kept run has its table."""
  made = runpy.run_path(str(ROOT / 'configs/claims/kept_tables.py'))
  text = (ROOT / 'configs/RESULTS.md').read_text('utf-8')
  assert made['page'](text) == text
  names = {path.name for path in KEPT}
  assert {match[2] for match in made['BLOCK'].finditer(text)} == names


TRIPLE = re.compile(r'-?0?\.\d+ \[-?0?\.\d+, -?0?\.\d+\]')
NUMBER = re.compile(r'(?<![\d.\w])-?0?\.\d+')


def test_each_number_of_readmes_papers_is_in_results():
  """A run that is kept anew may not leave README behind, whose intervals are
  those that its verdicts are made of: of all primary claims together."""
  read = lambda path: (ROOT / path).read_text(encoding='utf-8')
  numbers = lambda text: [float(one) for one in NUMBER.findall(text)]
  table = read('README.md').partition('| paper |')[2].partition('\n\n')[0]
  known = {abs(one) for one in numbers(read('configs/RESULTS.md'))}
  assert {abs(one) for one in numbers(TRIPLE.sub('', table))} <= known
  page = read('fairjax/report/CLAIMS.md').replace(' | [', ' [')
  page = page.replace('1.000', '.9999')
  known = {tuple(numbers(one)) for one in TRIPLE.findall(page)}
  known |= {(-value, -high, -low) for value, low, high in known}
  found = TRIPLE.findall(table.replace('1.000', '.9999'))
  assert len(found) > 6 and {tuple(numbers(one)) for one in found} <= known


KEPT = sorted(p.parent for p in ROOT.glob('configs/claims/results/*/run.json'))


@pytest.mark.parametrize('folder', KEPT, ids=lambda path: path.name)
def test_a_kept_run_has_the_claims_of_its_config(folder):
  """At most six, each of a comparison that the run made."""
  name = f'claims/{folder.name}'
  known = (ROOT / f'configs/{name}.py').exists()
  config = config_lib.shipped(name if known else folder.name)
  run = json.loads((folder / 'run.json').read_text('utf-8'))
  assert [*config.measures.primary] == run['primary']
  assert 0 < len(run['primary']) <= 6
  found = results.read(folder)
  assert all(verdict.verdict_named(one, found) for one in run['primary'])


ROOTED = re.compile(r'(?:(?<=[\s\'"(=`])|^)~?/[\w.~-]+/')


@pytest.mark.parametrize(
  'path',
  sorted((ROOT / 'configs/claims/results').rglob('*.json')),
  ids=lambda path: f'{path.parent.name}-{path.stem}',
)
def test_a_kept_run_names_no_folder_of_whoever_ran_it(path):
  assert not ROOTED.search(path.read_text(encoding='utf-8'))
