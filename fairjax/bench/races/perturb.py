"""Perturbing texts: ours against transformers' generate over the same texts.

  python -m fairjax.bench perturb --text=FILE --vocab=FOLDER [--size=small]
    [--words=20000] [--batch=4] [--peer_batch=16] [--rounds=3]

Lines of real text are cut into windows; of each with a word to perturb the
prompt 'word, attribute <PERT_SEP> text' is drawn, and a BART of --size that
repeats its source but for a few tokens (races/generate.py: what a perturber
does, at its full cost) writes it. Ours draws, batches by length and drafts by
copying; the loop of transformers takes the same prompts in file order, in
batches, each row ending where its source does. Ours is given the few rows that
drafts pay for, the peers what serves them best (--batch, --peer_batch).
`every` also writes the windows that hold nothing to perturb, as a script
without a word list would.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable

from fairjax.bench import race
from fairjax.bench.peers import generate_peers
from fairjax.bench.races import generate
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.models.decoding import speculate
from fairjax.pairs.persons import perturb
from fairjax.recipes.perturbation import perturbing

SIDES = ('ours', 'same', 'every')
LONGEST = 192


def run(args: list[str]) -> dict:
  """Windows a second, all of them, whoever is run."""
  chosen = parser().parse_args(args)
  for name in ('text', 'vocab'):
    if not getattr(chosen, name):
      raise UserError(f'the race needs --{name}')
  sides = SIDES[:1] if race.missing('torch', 'transformers') else SIDES
  threads = {'OMP_NUM_THREADS': str(chosen.threads)}
  with race.processes('perturb', args, sides, threads) as running:
    facts = running['ours'].facts
    if 'same' in running:
      written = running['same'].facts['written']
      race.same(facts['written'], written, 'the number of tokens')
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
  keep = ('windows', 'offered', 'words', 'tokens_per_step')
  return race.report(
    'perturb',
    times,
    unit='windows/s',
    items=facts['windows'],
    size=chosen.size,
    batch=chosen.batch,
    peer_batch=chosen.peer_batch,
    **{name: facts[name] for name in keep},
  )


def parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser('fairjax.bench perturb')
  parser.add_argument('--text', default='', help='a file of lines')
  parser.add_argument('--vocab', default='', help='folder of a tokenizer')
  parser.add_argument('--size', choices=generate.SHAPES, default='small')
  parser.add_argument('--words', type=int, default=20_000, help='of the file')
  parser.add_argument('--batch', type=int, default=4, help='rows of ours')
  parser.add_argument('--peer_batch', type=int, default=16, help='of peers')
  parser.add_argument('--threads', type=int, default=1)
  parser.add_argument('--rounds', type=int, default=3)
  parser.add_argument('--side', default='', help=argparse.SUPPRESS)
  return parser


def _windows(chosen) -> list[str]:
  """The file's lines in windows, until there are so many words."""
  out, count = [], 0
  for line in readers.text(chosen.text).splitlines():
    if count >= chosen.words:
      break
    for part in perturbing.windows(line.strip(), 100) if line.strip() else ():
      out.append(part)
      count += len(part.split())
  return out


def _drawn(windows: list[str]) -> list[str]:
  """The prompts of the windows that have something to perturb; else ''."""
  draws = perturbing.drawn(Config(), windows)
  return [
    perturb.prompt(one[0].word, one[1], text) if one else ''
    for one, text in zip(draws, windows)
  ]


def side(chosen) -> tuple[Callable, dict]:
  """What one side does in a round, and what it said of its work."""
  windows = _windows(chosen)
  prompts = _drawn(windows)
  offered = [one for one in prompts if one]
  facts = {
    'windows': len(windows),
    'offered': len(offered),
    'words': sum(len(one.split()) for one in windows),
  }
  if chosen.side == 'every':
    offered = [p or w for p, w in zip(prompts, windows)]
  shape = generate.SHAPES[chosen.size]
  work = generate.of_texts(shape, chosen.vocab, offered, LONGEST)
  args = ['--varied', f'--size={chosen.size}', f'--folder={chosen.folder}']
  if chosen.side == 'ours':
    args = generate.asked([*args, f'--batch={chosen.batch}'])
    # Without drafts where rows are many: decoding/speculate.py.
    write = generate.ours(args, work, speculate.longest(chosen.batch))
    result = write()
    facts['written'] = result.written
    facts['tokens_per_step'] = result.tokens_per_step
    return lambda: (_drawn(windows), write()), facts
  import torch

  torch.set_num_threads(chosen.threads)
  generate.save(work, chosen.folder)
  args = generate.asked([*args, '--side=torch', f'--batch={chosen.peer_batch}'])
  unit = generate_peers.PEERS['torch'].make(args, work)
  rows = generate_peers.written(unit(), work.shape.eos)
  return unit, {**facts, 'written': sum(map(len, rows))}


def _serve(chosen) -> None:
  os.environ.setdefault('TOKENIZERS_PARALLELISM', 'false')
  with tempfile.TemporaryDirectory() as chosen.folder:
    unit, facts = side(chosen)
  race.serve(unit, **facts)


if __name__ == '__main__':
  _serve(parser().parse_args(sys.argv[1:]))
