"""FairFlow at full size: hours and memory, estimated.

Each part is timed here on a little of its work, once compiled, and scaled: the
tokenizer, the encoder on windows, a step of the flow, the masked-LM head. What
is scaled are counts that the config bounds: no more than `cap` occurrences of
a word are embedded, whatever the corpus.
"""

import pathlib
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fairjax import stages
from fairjax.config import Config
from fairjax.core import keys
from fairjax.data.batching import corruption, tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.models import flow
from fairjax.models.reading import contextual
from fairjax.recipes.fairflow import attribute_words, flow_training
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log

TEXTS, WORDS = 64, 256  # what is timed
FLOAT = 4


def run(config: Config, folder: pathlib.Path) -> Results:
  """Counts and timings, and no artefact but the report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    facts = size(config, attribute_words.language_model(config))
    for name, value in facts.items():
      log.line(f'{name}: {value:,}')
    outcome = stages.results(
      config,
      data=read_of(config),
      seeds=[],
      title='FairFlow: a dry run',
      facts=facts,
      notes=['Timed on made texts, on this machine as it was just now.'],
    )
    return stages.publish(folder, outcome, log)


def read_of(config: Config) -> str:
  """What is counted for: the tokens that `share` reads of all."""
  total, share = config.fairflow.dry_run, config.fairflow.share
  part = '' if share == 1 else f', of which {int(total * share):,} are read'
  return f'{total:,} tokens{part}'


def size(config: Config, model: Any) -> dict[str, float]:
  """What `fairflow.dry_run` tokens ask for: counts, hours and bytes."""
  options, width = config.fairflow, model.module.shape.width
  words = corruption.vocabulary(model.tokenizer)
  inner = attribute_words.inner_length(config, model, words)
  total = options.dry_run * options.share
  # Every word of the vocabulary at its cap: more there cannot be.
  instances = int(
    min(total, len(words.ordinary) * options.cap + 2 * options.seed_cap)
  )
  windows = min(total / inner, instances)
  rate = timings(config, model, words, inner)
  steps = instances / 2 / config.train.batch * config.train.epochs
  hours = {
    'hours of tokenising, twice': 2 * total * rate['token'],
    'hours of embedding': windows * inner * rate['embedded'],
    'hours of the flow, all seeds': steps * config.seeds * rate['step'],
    'hours of reading words': instances * config.seeds * rate['decoded'],
  }
  return {
    'tokens of the corpus': options.dry_run,
    'tokens that are read': int(total),
    'instances at most': instances,
    'windows embedded at most': int(windows),
    'steps of the flow': int(steps),
    **{name: round(value / 3600, 3) for name, value in hours.items()},
    'hours in all': round(sum(hours.values()) / 3600, 3),
    'bytes of embeddings': instances * width * FLOAT,
    'bytes of a shard held in memory': attribute_words.LINES * inner * FLOAT,
  }


def timings(
  config: Config, model: Any, words: corruption.Vocabulary, inner: int
) -> dict[str, float]:
  """Seconds a token, an embedded token, a step of the flow, a word read."""
  rng = np.random.default_rng(config.seed)
  ids = rng.choice(words.ordinary, TEXTS * inner).astype(np.int32)
  texts = model.tokenizer.decode_batch(ids.reshape(TEXTS, -1).tolist())
  count = len(tokens.encode(model.tokenizer, texts, None).flat)
  plain = Ragged(ids, np.arange(TEXTS + 1, dtype=np.int64) * inner)
  framed, _ = attribute_words.windows(plain, inner, words)
  at = np.arange(TEXTS)

  def embed() -> np.ndarray:
    return contextual.word_vectors(
      model.module,
      model.params,
      framed,
      at,
      np.full(TEXTS, len(words.first)),
      np.ones(TEXTS, np.int64),
      config.fairflow.layer,
    )

  width, batch = model.module.shape.width, config.train.batch
  x = rng.normal(size=(max(2 * batch, WORDS), width)).astype(np.float32)
  everything = np.ones(len(words.begins), bool)
  none = np.full(WORDS, -1, np.int32)
  seconds = {
    'token': timed(lambda: tokens.encode(model.tokenizer, texts, None)) / count,
    'embedded': timed(embed) / len(framed.flat),
    'step': timed(flow_step(config, x, batch)),
    'decoded': timed(
      lambda: contextual.decode(
        model.module, model.params, x[:WORDS], everything, none
      )
    )
    / WORDS,
  }
  return seconds


def flow_step(config: Config, x: np.ndarray, batch: int) -> Callable:
  """A gradient of the flow's loss on one batch of pairs."""
  options, width = config.fairflow, x.shape[1]
  factor = options.factor if options.factor > 0 else -(-width // 10)
  shape = flow.FlowShape(
    width, options.steps, options.hidden, options.depth, factor
  )
  shape.validate()
  params = flow.init(shape, keys.key(0, keys.INIT), jnp.asarray(x))
  objective = flow_training.objective_of(config)
  pairs = {
    'first': jnp.asarray(x[:batch]),
    'second': jnp.asarray(x[batch : 2 * batch]),
    'side': jnp.where(jnp.arange(batch) % 2, 1, -1),
  }
  loss = lambda params: flow.pair_loss(shape, objective, params, pairs)[0]
  gradient = jax.jit(jax.grad(loss))
  return lambda: jax.block_until_ready(gradient(params))


def timed(work: Callable[[], Any]) -> float:
  """Seconds of the faster of two runs, after one that compiles."""
  work()
  seconds = []
  for _ in range(2):
    start = time.perf_counter()
    work()
    seconds.append(time.perf_counter() - start)
  return min(seconds)
