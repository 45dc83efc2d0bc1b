"""Counterfactual logit pairing (Garg et al. 2019, arXiv:1809.10610).

    tables → twins → pairs → model → predictions → measures → report

A text x and its counterfactual x' should get the same logits. Beside the
cross-entropy of the text stands the distance of the pair,

  L = Σ_x w_x CE(x) + λ Σ_x Σ_c |z̄_c(x) − z̄_c(x')|,   z̄ = z − mean_c z

over rows that have a twin that differs; for two classes the inner sum is the
distance of the logits. The twin has no label of its own, so unlike augmentation
(CDA) it teaches nothing about the task. Each λ of `pairing.weights` is trained
beside no mitigation and CDA, with the same seeds.
"""

import jax.numpy as jnp
import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.data.batching import batches
from fairjax.data.tables import schema
from fairjax.methods import diet_rows
from fairjax.models import Bundle
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import loop, step

NONE, CDA = 'none', 'cda'


@stages.recipe
def run(e: Experiment) -> Results:
  """config → each λ's classifier, none and CDA → tests → report."""
  config = e.config
  tables, twins = diet_rows.with_twins(e.load(), config)
  model = stages.prepare(config, tables, e.log)
  n = len(twins)
  has_twin = schema.has_twin(tables['train']).to_numpy()
  every = pd.concat([tables['train'], twins], ignore_index=True)
  pools = stages.pools(model, {**tables, 'train': every})
  own, pair = np.arange(n), n + np.flatnonzero(has_twin)
  fits = {
    name: e.fit(model, pools, name, np.tile(rows, (config.seeds, 1)))
    for name, rows in ((NONE, own), (CDA, np.append(own, pair)))
  }
  partner = np.where(has_twin, n + own, -1)  # a place in `every`
  for weight in config.pairing.weights:
    fits[f'pairing {weight:.15g}'] = paired(e, model, pools, partner, weight)
  for name, fit in fits.items():
    e.answer(name, stages.of_sets(config, model, fit.params, e.sets))
  focus, *others = (*list(fits)[2:], NONE, CDA)
  e.compare([(focus, other) for other in others], focus)
  return e.results(
    title=f'Counterfactual logit pairing on {stages.data_of(config)}',
    facts={'rows': n, 'pairs': len(pair)},
  )


def paired(
  e: Experiment,
  model: Bundle,
  pools: tuple[batches.Pool, batches.Pool],
  partner: np.ndarray,
  weight: float,
) -> loop.Fitted:
  """The fit with λ = `weight`; a row's twin is at `partner`, -1 without one."""
  made_from = identity(
    *(e.config, 'training', 'pairing', weight, partner),
    *stages.parts_of(*pools),
  )
  task = loop.Task(
    lambda job, _: pairs(job, partner),
    (step.Player('model', loss(weight)),),
    loop.classified,
  )
  part = f'pairing {weight:.15g}'
  return e.fitted(model, pools, made_from, part=part, task=task)


def pairs(job: loop.Job, partner: np.ndarray) -> batches.Batches:
  """Batches of texts each followed by its twin, or by padding without one.

  The texts are in the order of `loop.batches`: λ = 0 is training without pairs.
  """
  options, n = job.config.train, len(partner)
  lengths = job.train.tokens.lengths.astype(np.int32)
  shape = batches.layout(
    lengths,
    2 * options.batch,
    rows_multiple=job.device_mesh.shape['data'],
    accumulate=options.microbatches,
    seeds=len(job.seeds),
    epoch=2 * n,
    few=platform_traits().few,
  )

  def draw(seed: int, epoch: int) -> np.ndarray:
    own = batches.order(n, seed, epoch)
    return np.stack([own, partner[own]], 1).astype(np.int32)

  def planned(rows: np.ndarray) -> batches.Plan:
    parts = (options.microbatches,) if options.microbatches > 1 else ()
    rows = rows.reshape(*rows.shape[:2], *parts, shape.batch)
    made = batches.plan(lengths, np.ascontiguousarray(rows), shape)
    return made._replace(rows=np.full_like(made.rows, made.rows.max()))

  fill = lambda made, at, _: batches.batch_of(job.train, made, shape, at)
  return batches.Batches(n, draw, job.seeds, options.batch, fill, planned)


def loss(weight: float) -> step.Loss:
  """The cross-entropy of the texts and λ times the distance of their pairs."""

  def total(model: Bundle, params, batch: dict, dropout):
    logits = model.apply(params, batch, dropout)
    own, twin = logits[0::2], logits[1::2]  # as `pairs` lays them
    ce = step.cross_entropy(own, batch['label'][0::2])
    centred = lambda z: z - z.mean(-1, keepdims=True)
    apart = jnp.abs(centred(own) - centred(twin)).sum(-1)
    apart = jnp.sum(jnp.where(batch['example'][1::2] >= 0, apart, 0.0))
    value = jnp.sum(batch['weight'][0::2] * ce) + weight * apart
    return value, {'pair_distance': apart}

  return step.Loss(total, lambda batch: jnp.sum(batch['example'][0::2] >= 0))
