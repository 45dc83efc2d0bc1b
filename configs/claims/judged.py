"""Kept runs judged again by today's intervals and tests, without training.

  python configs/claims/judged.py [NAME...]
  python configs/claims/judged.py --keep RUN NAME   # after report --keep

then, for the tables, configs/claims/kept_tables.py and
tests/golden/make_claims.py. `--keep` adds to a kept run what each contender
answered (float16), with labels, groups and clusters, no ids and no texts. Of
these the code that a run is judged by makes every number, test and verdict of
results.json anew. A recipe's own claims that stand on tests are not made again,
and go. Of a run whose answers are not kept, nothing changes.
"""

import pathlib
import sys

import numpy as np

from fairjax import results
from fairjax.config import Config, changed
from fairjax.core import artefacts
from fairjax.data.tables import answers
from fairjax.report import findings, verdict
from fairjax.report import run_archive as kept
from fairjax.stages import assessment, runs

KEPT = pathlib.Path(__file__).resolve().parent / 'results'
# Of config.measures: by what a run was judged, beside what results.json has.
JUDGED = 'groups', 'min_group', 'resamples', 'threshold'


def keep(run: pathlib.Path, folder: pathlib.Path) -> None:
  """Adds the answers of a run, where it has any, to what is kept of it."""
  for path in (run / kept.PREDICTIONS, *run.glob('predictions/*.parquet')):
    rows = artefacts.read_table(path) if path.exists() else ()
    if 'cluster' in rows:  # else nothing is known of their chance
      half = {c: np.float16 for c in rows if answers.SEED.fullmatch(c)}
      rows = rows.drop(columns='id').astype(half)
      artefacts.write_table(folder / path.relative_to(run), rows)
  measures = artefacts.read_json(run / kept.CONFIG)['measures']
  own = {'measures': {key: measures[key] for key in JUDGED}}
  about = artefacts.read_json(folder / kept.RUN)
  artefacts.write_json(folder / kept.RUN, about | own)


def again(folder: pathlib.Path) -> bool:
  """Judges a kept run by its answers; False where it has none."""
  found, about = results.read(folder), artefacts.read_json(folder / kept.RUN)
  measures = about.get('measures', {'groups': 'not known'})
  files = {
    name: folder / 'predictions' / f'{runs.file_name(name)}.parquet'
    for name in found.contenders
  } | {found.focus: folder / kept.PREDICTIONS}
  # A column of predictions names one group a row, not terms nor other columns.
  if measures['groups'] or not all(path.exists() for path in files.values()):
    return False
  frames = {name: artefacts.read_table(path) for name, path in files.items()}
  sets = dict(iter(frames[found.focus].groupby('set', sort=False)))
  chances = {
    name: {of: answers.of_run(t) for of, t in frame.groupby('set', sort=False)}
    for name, frame in frames.items()
  }
  pairs = dict.fromkeys((t['ours'], t['theirs']) for t in found.tests)
  named = dict.fromkeys(t['measure'] for t in found.tests)
  more = dict.fromkeys(m.partition(' at ')[2] for m in named if ' at ' in m)
  if measures['threshold'] in more:  # it stands beside .5, as in weighting
    measures = measures | {'threshold': '0.5'}
  own = {'confidence_level': found.level, 'pos_label': found.pos_label}
  config = changed(Config(), seed=found.seeds[0], measures=measures | own)

  for name, answered in chances.items():
    known = found.contenders[name]['sets']
    for of, one in assessment.assess(config, sets, answered, more).items():
      # What a bag of words gets stays: it needs texts.
      one['quality'] = known[of]['quality'] | one['quality']
      known[of].update(one)
  rest = [test for test in found.tests if test['set'] not in sets]
  made = assessment.compare(config, sets, chances, [*pairs], more, named)
  found.tests = assessment.adjusted(made + rest)
  ways = {test['test'] for test in found.tests}
  found.verdicts = [
    {key: value for key, value in one.items() if key != 'family'}
    for one in found.verdicts
    if one['family'] != verdict.PRIMARY and one['test'] not in ways
  ]
  found.verdicts = verdict.settled(found)
  found.findings = findings.as_rows(findings.shown(found))
  results.write(folder, kept.slim(found))
  artefacts.write_json(
    folder / kept.RUN, about | {'judged': runs.software()['git']['commit']}
  )
  return True


def main(names: list[str]) -> None:
  if names[:1] == ['--keep']:
    return keep(pathlib.Path(names[1]), KEPT / names[2])
  for path in kept.runs([KEPT / name for name in names] or [KEPT]):
    done = again(path)
    print(f'{path.name}: {"judged again" if done else "no answers are kept"}')


if __name__ == '__main__':
  main(sys.argv[1:])
