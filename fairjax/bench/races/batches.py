"""Packed batches of short texts: sequences a second against grain's packer."""

import itertools

import grain
import numpy as np

from fairjax.bench import race
from fairjax.data.batching import batches
from fairjax.data.batching.tokens import Ragged, offsets_of


def run(args: list[str]) -> dict:
  """Both sides pack a shuffled epoch into rows of the same width."""
  # No thread: on one core the calling one is the fastest for both sides.
  known = {'rows': 13_525, 'batch': 64, 'rounds': 5, 'threads': 0, 'seed': 0}
  chosen = race.options('batches', __doc__, args, **known)
  pool = make(chosen.rows, chosen.seed)
  layout = batches.layout(pool.tokens.lengths, chosen.batch)
  ours = our_epochs(pool, layout, chosen.seed, chosen.threads)
  peer = grain_epochs(pool, layout, chosen.seed, chosen.threads)

  # Both must hold every token at its position; the sums say so.
  sums, filled = count(ours(), 'segment_ids', 'positions')
  peer_sums, peer_filled = count(
    peer(), 'tokens_segment_ids', 'tokens_positions'
  )
  race.same(sums, peer_sums, 'the tokens and their positions', 0)
  race.same(sums[0], pool.tokens.flat.sum(), 'the tokens', 0)
  sides = {
    'fairjax': lambda: exhaust(ours()),
    'grain first fit': lambda: exhaust(peer()),
  }
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  facts = {'items': chosen.rows, 'filled': filled, 'peer_filled': peer_filled}
  return race.report('batches', times, chosen, unit='sequences/s', **facts)


def make(n: int, seed: int) -> batches.Pool:
  """Texts as long as tweets are: 30 ± 10.6 word pieces, at most 78."""
  draw = np.random.default_rng(seed)
  lengths = np.clip(draw.normal(29.7, 10.6, n).round(), 4, 78).astype(np.int64)
  offsets = offsets_of(lengths)
  flat = draw.integers(1, 28996, offsets[-1]).astype(np.int32)
  labels = draw.integers(0, 2, n).astype(np.int32)
  return batches.Pool(Ragged(flat, offsets), labels, np.ones(n, np.float32))


def our_epochs(pool, layout, seed, threads):
  """Each call plans and fills the next epoch."""
  n = len(pool.label)
  source = batches.packed(pool, np.arange(n)[None], [seed], layout)
  steps, epochs = source.steps_per_epoch, itertools.count()

  def epoch():
    start = next(epochs) * steps
    return batches.stream(source, start, start + steps, threads)

  return epoch


def grain_epochs(pool, layout, seed, threads):
  """The same from a shuffled source, grain's packer and batches of rows."""
  flat, offsets = pool.tokens.flat, pool.tokens.offsets
  texts = [
    {'tokens': flat[start:stop]} for start, stop in itertools.pairwise(offsets)
  ]
  seeds = itertools.count(seed)

  def epoch():
    rows = grain.MapDataset.source(texts).shuffle(seed=next(seeds))
    packed = grain.experimental.FirstFitPackIterDataset(
      rows.to_iter_dataset(grain.ReadOptions(num_threads=threads)),
      length_struct={'tokens': layout.width},
      num_packing_bins=layout.rows[0],
    )
    return packed.batch(layout.rows[0], drop_remainder=False)

  return epoch


def exhaust(stream) -> None:
  for _ in stream:
    pass


def count(stream, segment_ids: str, positions: str) -> tuple[list[int], float]:
  """Sums that differ where a token is lost, and the share of real places."""
  tokens = moments = real = places = 0
  for batch in stream:
    tokens += int(batch['tokens'].sum())
    moments += int(np.vdot(batch['tokens'], batch[positions]))
    real += int(np.count_nonzero(batch[segment_ids]))
    places += batch['tokens'].size
  return [tokens, moments], real / places
