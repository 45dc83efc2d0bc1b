"""Overlap of diets: would another seed, epoch, model or score differ?

Figures 5 to 8 of the diet paper: for the first 10 to 50 % of the rows by GE,
the share that two rankings have in common: each seed's and the mean's, epoch 1
and later ones of one run, `config.model` and `config.grid.models`, GE and the
other scores.
"""

from fairjax import stages
from fairjax.config import Config, changed
from fairjax.core import artefacts
from fairjax.data.tables.score_table import names
from fairjax.data.word_tables import table_rows
from fairjax.methods import diet_rows
from fairjax.recipes.diet import claims, score_page
from fairjax.results import Results, figure, fold, section, table
from fairjax.scores import rank_overlap
from fairjax.stages import Experiment, scoring

EPOCHS = (1, 2, 3, 4, 5)
ABOUT = dict(table_rows(__file__, 'overlap.csv'))


@stages.recipe
def run(e: Experiment) -> Results:
  """config → probes → overlaps → figures 5 to 8."""
  config, folder, log = e.config, e.folder, e.log
  data, _ = diet_rows.with_twins(stages.load(config, folder, log), config)
  probed = lambda model, target: scoring.probe(
    model, stages.prepare(model, data, log), data, target, log
  )
  scores = probed(config, folder)
  studies = {}
  if config.seeds > 1:
    studies['seeds'] = rank_overlap.seeds(scores, 'ge')
  if config.train.epochs >= 2:
    epochs = [float(k) for k in EPOCHS if k <= config.train.epochs]
    by_epoch = scoring.over_epochs(
      config, stages.prepare(config, data, log), data, folder, log, epochs
    )
    frames = {f'epoch {epoch}': frame for epoch, frame in by_epoch.items()}
    studies['epochs'] = rank_overlap.runs(frames, 'ge', 'epoch 1')
  models = {config.model: scores}
  for name in config.grid.models:
    other = changed(config, model=name)
    target = folder / 'models' / artefacts.fingerprint(name)
    models[name] = probed(other, target)
  if len(models) > 1:
    studies['models'] = rank_overlap.runs(models, 'ge', config.model)
  if len(names(scores)) > 1:
    studies['scores'] = rank_overlap.between(scores, 'ge')
  positive = config.measures.positive
  where = f'{stages.data_of(config)} with {config.model}'
  return e.results(
    title=f'Overlap of rankings on {where}',
    verdicts=verdicts(config, studies),
    sections=[
      *(study(name, rows) for name, rows in studies.items()),
      score_page.section(scores, data['train'], positive),
    ],
  )


def verdicts(config: Config, studies: dict) -> list[dict]:
  """The paper's claims: seeds agree, and epochs from 30 % on, and models."""
  level, out = config.measures.confidence_level, []
  if 'seeds' in studies:
    out += claims.seeds_agree(studies['seeds'], level)
  later = [r['fair'] for r in studies.get('epochs', ()) if r['fraction'] >= 0.3]
  if later:
    last = max(e for e in EPOCHS if e <= config.train.epochs)
    several = f'2 to {last}' if last > 2 else '2'
    out.append(
      claims.over_range(
        f'GE after {several} epochs chooses over 80% of the rows that GE after '
        'one does, from 30% on',
        later,
        0.8,
        'the range over epochs and fractions, ties by lot',
        'least share in common',
      )
    )
  out += [
    more_than_chance(r['a'], r['b'], studies['models'])
    for r in studies.get('models', ())
    if r['fraction'] == rank_overlap.FRACTIONS[0]
  ]
  return out


def more_than_chance(one: str, other: str, rows: list[dict]) -> dict:
  """Figure 7: two models agree on more rows than any two rankings would."""
  gaps = [
    r['fair'] - r['chance'] for r in rows if (r['a'], r['b']) == (one, other)
  ]
  return claims.over_range(
    f'GE of {one} and of {other} choose more of the same rows than chance',
    gaps,
    0.0,
    'the range over fractions, ties by lot',
    'least share in common beyond chance',
  )


def wide(rows: list[dict]) -> list[dict]:
  """One row a pair, one column a fraction: ties by lot, and then by id."""
  out: dict[str, dict] = {}
  for row in rows:
    # One column, which a table that is cut in two repeats.
    pair = f'{row["b"]} and {row["a"]}'
    at = out.setdefault(pair, {'rankings': pair})
    share = f'{row["fraction"]:.0%}'
    at[share] = row['fair']
    at[f'{share}, ties by id'] = row['overlap']
  return list(out.values())


def study(name: str, rows: list[dict]) -> dict:
  """A study's curves, with what chance alone would share, and its numbers."""
  series: dict[str, dict[str, list]] = {}
  for row in rows:
    at = series.setdefault(f'{row["b"]} and {row["a"]}', {'x': [], 'y': []})
    at['x'].append(row['fraction'])
    at['y'].append(row['fair'])
  first = [r for r in rows if (r['a'], r['b']) == (rows[0]['a'], rows[0]['b'])]
  series['chance'] = {
    'x': [r['fraction'] for r in first],
    'y': [r['chance'] for r in first],
  }
  return section(
    ABOUT[name],
    figure(
      'curves',
      f'overlap_{name}',
      ABOUT[name],
      series=series,
      x_label='first share of the rows',
      y_label='rows in common',
    ),
    table(wide(rows), screen=True),
    fold('Each overlap', table(rows)),
  )
