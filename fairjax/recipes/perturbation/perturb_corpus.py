"""Whole folders perturbed: one person of each window of text rewritten.

The shard map of corpora/shard_map.py decides where shards are made (local,
dask); of each text a word and an attribute are drawn from (seed,
text), so where it is made, and what stands beside it, change nothing. A text is
replaced by its perturbation, or with corpus.both followed by it; what holds
nothing to perturb never reaches a model.
"""

import pathlib
import time
from collections.abc import Sequence

from fairjax.config import Config
from fairjax.data.corpora import shards
from fairjax.pairs.persons import perturb
from fairjax.recipes.language import corpora
from fairjax.recipes.perturbation import perturbing
from fairjax.stages.identity import identity

COLUMNS = (
  *('rows', 'changed', 'windows', 'offered', 'too_long'),
  *perturb.AXES,
  'seconds',
)


def rewritten(config: Config, out: pathlib.Path) -> list[dict]:
  """The shards of corpus.path rewritten into a folder: what was counted."""
  perturbing.load(config)  # a wrong option is reported before the work begins
  made_from = identity(config, 'texts', config.seed)
  workers = int(config.perturb.by == 'model')
  return corpora.mapped(config, _perturb_shard, out, made_from, workers)


run = corpora.recipe(*COLUMNS)(rewritten)


def _perturb_shard(
  source: pathlib.Path, target: pathlib.Path, spec: str
) -> dict[str, int]:
  """Perturbs one shard; counts texts, windows, and changed texts by axis.

  `offered` are texts with something to perturb: only these were rewritten.
  """
  config = corpora.of_plain(spec)
  counts = dict.fromkeys(('windows', 'offered', 'too_long', *perturb.AXES), 0)
  began = time.monotonic()

  def swapped(texts: Sequence[str]) -> shards.Swapped:
    table = perturbing.perturbed(config, texts)
    counts['windows'] += int(table['windows'].sum())
    for name in ('offered', 'too_long'):
      counts[name] += int(table[name].sum())
    for axis, number in (
      table.loc[table['changed'], 'axis'].value_counts().items()
    ):
      counts[axis] += int(number)
    return shards.whole(source, texts, table['perturbed'].tolist())

  done = shards.rewrite(
    source, target, swapped, config.data.text, config.corpus.both
  )
  return {
    'rows': done['rows'],
    'changed': done['changed'],
    **counts,
    'seconds': round(time.monotonic() - began),
  }
