"""Two logs of an evaluation harness, compared sample by sample."""

import pathlib

import pandas as pd

from fairjax import stages
from fairjax.benchmarks.shared import result_rows
from fairjax.core.errors import UserError
from fairjax.data.tables import harness_logs
from fairjax.metrics.inference import clusters, intervals
from fairjax.metrics.inference.sample import RowSample
from fairjax.report import words, written
from fairjax.results import Results
from fairjax.stages import Experiment

# What a model without a preference gets.
NEUTRAL = {'pct_stereotype': 0.5, 'likelihood_diff': 0.0}


@stages.recipe
def run(e: Experiment) -> Results:
  """logs → samples of both → means and paired differences, by group too."""
  names = e.config.audit.model, e.config.audit.against
  if not all(names):
    raise UserError('two logs are needed: fairjax compare A.jsonl B.jsonl')
  groups = tuple(e.config.audit.groups)
  logs = [harness_logs.read(name, groups) for name in names]
  ours, theirs = (_parts(log, groups) for log in logs)
  keys = ['metric', 'part', 'id']
  both = ours.merge(theirs[[*keys, 'content']], on=keys, suffixes=('', '_'))
  beside = theirs.merge(ours[keys], on=keys)
  other = both[both['content'] != both['content_']]
  if len(other):
    raise UserError(
      f'sample {other["id"].iloc[0]!r} of {names[0]} asks something else than '
      f'that of {names[1]}; give logs of the same task'
    )
  n, every = (one['id'].nunique() for one in (both, pd.concat([ours, theirs])))
  if not n:
    raise UserError(f'{names[0]} and {names[1]} have no sample in common')
  if n < every:
    e.notes.append(f'{every - n:,} of {every:,} samples are in one log alone')
  called = [pathlib.Path(name).stem for name in names]
  called = called if called[0] != called[1] else list(names)
  rows = [
    {
      **{name: row[name] for name in ('part', 'metric', 'items')},
      'ours': _mean(both, row, e.how),
      'theirs': _mean(beside, row, e.how),
      'difference': row['difference'],
      'p_holm': row['p_holm'],
      'neutral': NEUTRAL.get(row['metric'], ''),
      'verdict': words.higher(row['difference'], row['p_holm'], e.how.level),
    }
    for row in result_rows.compare(ours, theirs, e.how)
  ]
  few = logs[0].attrs['few']
  sure = lambda p: p is not None and p < 1 - e.how.level
  first = max(rows, key=lambda r: (sure(r['p_holm']), r['part'] == 'all'))
  lead = words.said('apart', first, called, rows)
  return Results(
    recipe=e.config.recipe,
    title=f'{called[0]} less {called[1]}',
    notes=e.notes,
    facts={'samples of both': n, 'tests': len(rows)}
    | ({'fields of few values': ', '.join(few)} if few else {}),
    level=e.how.level,
    sections=written.sections(
      'harness.txt', lead=lead, rows=rows, called=called, keys=list(rows[0])
    ),
  )


def _parts(log: pd.DataFrame, groups: tuple[str, ...]) -> pd.DataFrame:
  """All samples, and those of each group, as `result_rows.compare` has them."""
  parts = [log.assign(part='all')]
  parts += [log.assign(part=f'{g}: ' + log[g]) for g in groups]
  return pd.concat(parts, ignore_index=True).assign(
    cluster=lambda table: table['id']
  )


def _mean(table: pd.DataFrame, row: dict, how: RowSample) -> dict:
  own = (table['metric'] == row['metric']) & (table['part'] == row['part'])
  values = table.loc[own, 'value'].to_numpy()
  shares = ((values >= 0) & (values <= 1)).all()
  bounds = intervals.SHARES if shares else intervals.REALS
  return {'seeds': [], **clusters.mean(values, None, how, bounds=bounds)[0]}
