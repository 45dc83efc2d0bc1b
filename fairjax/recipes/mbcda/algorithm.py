"""MBCDA's training: a discriminator on logits, generators against it.

pairs → generator by tokens alone → discriminator on its logits
pairs, discriminator (fixed) → generator by tokens and discriminator
"""

from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from fairjax.config import Config, changed
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.models import Bundle, adversary, objectives, rewriting
from fairjax.recipes.rewriting import rewriter
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import mesh, step

GENERATOR = step.Loss(adversary.generator_loss, objectives.one)
DISCRIMINATOR = step.Loss(adversary.discriminator_loss, objectives.one)
OWN = '^generator/', '^discriminator/'


class FittedDiscriminator(NamedTuple):
  """Its parameters, and how right it is on held-out pairs.

  `chance` is what naming the larger group always would have been.
  """

  params: Any
  accuracy: dict
  chance: float


class WeightedPairBatches:
  """Batches of pairs with w = 1, as the paper: a random-access source."""

  def __init__(self, pairs):
    self.pairs = pairs
    self.steps_per_epoch = pairs.steps_per_epoch

  def __len__(self) -> int:
    return len(self.pairs)

  def __getitem__(self, number: int) -> dict:
    batch = self.pairs[number]
    return batch | {'push': np.ones_like(batch['share'])}


def two(config: Config, generator: Bundle) -> Bundle:
  """Both players, the discriminator as the config has it."""
  rate = config.adversary.dropout
  return adversary.model(generator, rate=rate)


def discriminator(
  e: Experiment, pairs: pd.DataFrame, generator: Bundle
) -> FittedDiscriminator:
  """Learns the group of a target from a generator's teacher-forced logits."""
  own = {'patience': 0, 'load_best': False}  # the last weights are kept
  own |= {'lr': e.config.adversary.lr, 'epochs': e.config.adversary.epochs}
  # One evaluation, at the end.
  config = changed(e.config, train=own | {'evals': 1 / own['epochs']})
  model = two(config, generator)
  fresh = model.init
  model = model.replace(
    init=lambda seed: fresh(seed) | {'generator': generator.params}
  )
  player = step.Player('discriminator', DISCRIMINATOR, OWN[1])
  result = rewriter.fit(
    e.of(config),
    pairs,
    model=model,
    players=(player,),
    content=(
      *('discriminator', identity(config, 'adversary')),
      [np.asarray(leaf) for leaf in jax.tree.leaves(generator.params)],
    ),
  )
  params = mesh.to_host(result.fit.params)
  return FittedDiscriminator(
    params['discriminator'], *accuracy(config, model, params, pairs)
  )


def accuracy(
  config: Config, model: Bundle, params, pairs: pd.DataFrame
) -> tuple[dict, float]:
  """The share of held-out targets whose group is seen, and chance's share."""
  split = 'test' if (pairs['split'] == 'test').any() else 'valid'
  rows = pairs[pairs['split'] == split]
  texts = rows['source'].tolist(), rows['target'].tolist()
  pool, fits = rewriting.pool(
    model, *texts, label=rows['label'].to_numpy(np.int32)
  )
  judging = adversary.judging(model)
  judging = judging.replace(device_mesh=mesh.make(config.mesh, config.seeds))
  right = np.zeros(len(pool.label), bool)
  for host, scores in rewriter.swept(judging, params, pool, config.train.batch):
    real = host['example'] >= 0  # others fill up the batch
    guess = scores[0, real].argmax(-1)
    right[host['example'][real]] = guess == host['label'][real]
  # Who always names the larger group is right that often.
  chance = np.bincount(pool.label).max() / len(pool.label)
  # Rows of one source, or of one target, are asked the same.
  of = lambda own: clusters.of_texts([t for t, fit in zip(own, fits) if fit])
  how = options_of(config)
  found = clusters.share_right(right, clusters.connected(*map(of, texts)), how)
  return found, float(chance)


def generator(
  e: Experiment, pairs: pd.DataFrame, against: FittedDiscriminator | None = None
) -> rewriter.Rewriter:
  """A generator by the token loss alone, or against a discriminator too."""
  start = rewriter.start(e.config, pairs)
  if against is None:
    return rewriter.fit(e, pairs, model=start)
  known = jax.tree.map(lambda leaf: leaf[0], against.params)  # one seed's
  init = lambda seed: {'generator': start.init(seed), 'discriminator': known}
  player = step.Player('generator', GENERATOR, OWN[0], turns=(1,))
  result = rewriter.fit(
    e,
    pairs,
    model=two(e.config, start).replace(init=init),
    players=(player,),
    own=lambda params: params['generator'],
    batches=WeightedPairBatches,
    content=(
      *('generator', identity(e.config, 'adversary')),
      *(np.asarray(leaf) for leaf in jax.tree.leaves(known)),
    ),
  )
  alone = start.replace(params=result.model.params)  # whoever trained it
  return result._replace(model=alone)
