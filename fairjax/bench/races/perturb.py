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

from collections.abc import Callable

from fairjax.bench import race
from fairjax.bench.peers import generate_peers
from fairjax.bench.races import generate
from fairjax.config import Config
from fairjax.data.tables import readers
from fairjax.models.decoding import speculate
from fairjax.pairs.persons import perturb
from fairjax.recipes.perturbation import perturbing

SIDES = ('ours', 'same', 'every')
LONGEST = 192


def run(args: list[str]) -> dict:
  """Windows a second, all of them, whoever is run."""
  chosen = options(args)
  sides = SIDES[:1] if race.missing('torch', 'transformers') else SIDES
  threads = race.threads(chosen.threads)
  with race.processes('perturb', args, sides, threads) as running:
    facts = running['ours'].facts
    if 'same' in running:
      written = running['same'].facts['written']
      race.same(facts['written'], written, 'the number of tokens')
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
  names = ('windows', 'offered', 'words', 'tokens_per_step')
  keep = {name: facts[name] for name in names}
  keep |= {'unit': 'windows/s', 'items': facts['windows']}
  return race.report('perturb', times, chosen, **keep)


def options(args: list[str]):
  known = {'size': ('small', 'tiny', 'base'), 'words': 20_000}
  known |= {'batch': 4, 'peer_batch': 16, 'threads': 1}
  return race.options('perturb', __doc__, args, ('text', 'vocab'), **known)


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


if __name__ == '__main__':
  race.serve_side(options, side)
