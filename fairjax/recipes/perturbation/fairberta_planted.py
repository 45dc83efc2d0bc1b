"""What perturbed pretraining does to an association that is known.

    association, share → text, that share perturbed → masked LM → log-odds, loss

Occupations go with gender to a planted degree. Of each corpus no sentence,
half, or every one has one person perturbed before a masked LM is trained on it
(FairBERTa, Qian et al. 2022, perturbs whatever it can); the log-odds of the
stereotype's pronoun say what is left, and the loss on sentences without an
association what it cost. A woman becomes a man as often as non-binary, so two
thirds take the association away and all of them turn it round.
"""

import dataclasses
import pathlib
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairjax import results, stages
from fairjax.benchmarks import planted_associations as planted
from fairjax.benchmarks import winobias
from fairjax.benchmarks.shared import contrast
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.metrics.inference import intervals, resampling
from fairjax.models.reading import judge as judges
from fairjax.recipes.language import pretrain
from fairjax.recipes.language.pretrain_objectives import OBJECTIVES
from fairjax.recipes.perturbation import fairberta, perturbing
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log

EVEN = 2000  # sentences without an association, on which the loss is
STREAM = 0xD05E  # which sentences are perturbed
ODDS, LOSS = 'winobias_log_odds', 'loss'


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → texts → a masked LM a dose → log-odds and losses → report."""
  doses = sorted(config.benchmarks.perturbed)
  if doses[0] or len(doses) < 2:
    raise UserError(
      f'benchmarks.perturbed is {config.benchmarks.perturbed}; name 0 and at '
      'least one share beside it, as (0.0, 0.5, 1.0)'
    )
  with Log(folder, config, main=mesh.is_main()) as log:
    cells = {
      (association, share): text_of(config, association, share, folder)
      for association in config.benchmarks.associations
      for share in doses
    }
    config = of_text(config, next(iter(cells.values())))
    config = fairberta.shared_tokenizer(config, folder)
    even, hang = held_out(config, folder, log)
    items = winobias.read(folder / 'data')
    odds, losses, facts = {}, {}, {}
    for (association, share), path in cells.items():
      log.line(f'association {association:g}, {share:.0%} perturbed')
      own = of_text(config, path)
      _, model, fit = fairberta.fitted(own, path.parent, log)
      at = association, share
      odds[at] = log_odds(config, path.parent, items)
      losses[at] = pretrain.document_sums(
        model, OBJECTIVES['mlm'].terms, fit.params, even, model.device_mesh
      )
      facts[f'steps, {_set(association)}, {_called(share)}'] = fit.steps
    jobs = items['pro'].str.split().str[1].to_numpy()
    outcome = report(config, jobs, odds, losses, hang, facts)
    return stages.publish(folder, outcome, log)


def of_text(config: Config, path: pathlib.Path) -> Config:
  """The config of a masked LM of that text."""
  data = dataclasses.replace(config.data, name='text', path=str(path))
  return dataclasses.replace(config, data=data)


def text_of(
  config: Config, association: float, share: float, folder: pathlib.Path
) -> pathlib.Path:
  """The corpus with `share` of its sentences perturbed, written."""
  target = folder / f'association_{association:g}' / f'perturbed_{share:g}'
  options, path = config.benchmarks, target / 'corpus.txt'
  if mesh.is_main():
    lines = planted.corpus(association, options.sentences, config.seed)
    draw = np.random.default_rng([config.seed, STREAM]).random(len(lines))
    chosen = np.flatnonzero(draw < share)
    frame = perturbing.perturbed(config, [lines[k] for k in chosen])
    for k, text in zip(chosen, frame['perturbed']):
      lines[k] = text
    artefacts.write_text(path, '\n'.join(lines) + '\n')
  mesh.wait_for_all('planted')
  return path


def held_out(config: Config, folder: pathlib.Path, log: Log):
  """Rows of sentences in which occupations say nothing of gender; clusters."""
  path = folder / 'even' / 'corpus.txt'
  if mesh.is_main():
    lines = planted.corpus(0.0, EVEN, config.seed + 1)
    artefacts.write_text(path, '\n'.join(lines) + '\n')
    planted.write_tests(folder / 'data')
  mesh.wait_for_all('even')
  half = dataclasses.replace(config.pretrain, held_out=0.5)
  own = dataclasses.replace(of_text(config, path), pretrain=half)
  text = pretrain.read(own, mesh.make(config.mesh, 1).shape['data'], log)
  return text.valid, text.hang


def log_odds(
  config: Config, folder: pathlib.Path, items: pd.DataFrame
) -> np.ndarray:
  """Of the stereotype's pronoun against the other, [seed, item]."""
  return np.stack(
    [
      contrast.gaps(
        judges.load(str(folder / 'export' / f'seed_{s}'), config),
        *(items, 'pro', 'anti'),
      )['gap'].to_numpy()
      for s in range(config.seed, config.seed + config.seeds)
    ]
  )


def report(
  config: Config,
  jobs: np.ndarray,
  odds: Mapping[tuple, np.ndarray],
  losses: Mapping[tuple, np.ndarray],
  hang: np.ndarray | None,
  facts: dict,
) -> Results:
  """A contender a share, a set an association; each against unperturbed."""
  how = intervals.options_of(config)
  drawn = {
    at: (over_items(odds[at], jobs, how), over_texts(losses[at], how, hang))
    for at in odds
  }
  contenders: dict[str, dict] = {}
  tests = []
  for at, both in drawn.items():
    association, share = at
    quality = {
      name: intervals.of_mean(values, draws, how)
      for name, (values, draws) in zip((ODDS, LOSS), both)
    }
    one = contenders.setdefault(_called(share), {'sets': {}})
    one['sets'][_set(association)] = {
      'rows': odds[at].shape[1],
      'quality': quality,
    }
    if share:
      plain = drawn[association, 0.0]
      tests += [
        compared(name, at, ours, theirs, how)
        | {'n': odds[at].shape[1] if name == ODDS else losses[at].shape[1]}
        for name, ours, theirs in zip((ODDS, LOSS), both, plain)
        if association or name == LOSS  # else there is nothing to take away
      ]
  return stages.results(
    config,
    data='planted',
    title='FairBERTa on a planted association',
    contenders=contenders,
    focus=list(contenders)[-1],
    tests=tests,
    facts=facts,
    sections=[dose_curve(contenders)],
    notes=[
      'One person of a perturbed sentence becomes of another gender, a woman a '
      'man or non-binary: where two thirds of the sentences are perturbed the '
      'association is gone, and where all are it is turned round.'
    ],
  )


def over_items(
  gaps: np.ndarray, jobs: np.ndarray, how: intervals.IntervalOptions
) -> tuple[np.ndarray, np.ndarray]:
  """Mean log-odds of each seed, and those of resampled occupations."""
  codes, _ = pd.factorize(jobs)
  items = resampling.blocks(gaps.shape[1], how.seed, codes)
  weights = resampling.draw(items, how.resamples, how.seed)
  total = np.zeros((len(items.size), len(gaps), 2))
  np.add.at(total, items.item, np.stack([gaps.T, np.ones_like(gaps.T)], -1))
  sums = np.asarray(resampling.resampled(weights, resampling.pad(total)))
  return gaps.mean(1), np.float64(sums[..., 0] / sums[..., 1])


def over_texts(
  sums: np.ndarray,
  how: intervals.IntervalOptions,
  hang: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
  """Mean loss of each seed, and those of resampled sentences."""
  loss = lambda one: one[..., 0] / one[..., 1]
  return loss(sums.sum(1)), loss(pretrain.resampled(sums, how, hang))


def compared(name: str, at: tuple, ours: tuple, theirs: tuple, how) -> dict:
  """The perturbed less the plain; items, texts and seeds are the same."""
  association, share = at
  values, draws = (a - b for a, b in zip(ours, theirs))
  return {
    'set': _set(association),
    'ours': _called(share),
    'theirs': _called(0.0),
    'measure': name,
    **intervals.paired(values, draws, how, np.inf),
    'test': 'paired bootstrap over occupations or sentences, and seeds',
  }


def dose_curve(contenders: Mapping[str, Mapping]) -> dict:
  """Log-odds over the share perturbed, a line an association."""
  shares = [float(name.split()[0]) / 100 for name in contenders]
  series = {}
  for name in next(iter(contenders.values()))['sets']:
    values = [one['sets'][name]['quality'][ODDS] for one in contenders.values()]
    series[name] = {
      'x': shares,
      **{
        axis: [v[key] if v[key] is not None else v['value'] for v in values]
        for axis, key in (('y', 'value'), ('low', 'low'), ('high', 'high'))
      },
    }
  first, *_, last = contenders
  most = max(series, key=lambda name: abs(series[name]['y'][0]))
  at = {k: contenders[k]['sets'][most]['quality'][ODDS] for k in (first, last)}
  return results.section(
    'What is left of the association',
    results.text(
      f'With {most} the log-odds of the stereotype’s pronoun are '
      f'{at[first]["value"]:.2f} where nothing is perturbed and '
      f'{at[last]["value"]:.2f} with {last}.',
      'lead',
    ),
    results.figure(
      'curves',
      'doses',
      'Log-odds of the stereotype’s pronoun over the share of sentences '
      'perturbed before pretraining; 0 is no preference.',
      series=series,
      x_label='share of sentences perturbed',
      y_label='log-odds',
      reference=0.0,
    ),
  )


def _called(share: float) -> str:
  return f'{100 * share:g} % perturbed'


def _set(association: float) -> str:
  return f'association {association:g}'
