"""FairFlow's parts against transformers and PyTorch: embed, repair, flow.

  python -m fairjax.bench fairflow --what=embed [--model=FOLDER] [--text=FILE]
  python -m fairjax.bench fairflow --what=repair [--model] [--text] [--rows=96]
  python -m fairjax.bench fairflow --what=flow [--width=768]

--model is the folder of a masked LM, --text a file of lines.
embed: the embeddings of all words of --rows lines, packed, against a loop over
padded batches of 64, sorted by length. repair: --rows lines go through an
ELECTRA discriminator and a BART of the model's tokenizer and of size --size,
random weights, the same on both sides; as many are flagged as --flagged says.
Ours fills only masks, and runs no text without; the loop writes every text anew
(--peers=all, the papers' way) or only those with a mask (--peers=masked),
greedily, each as long as it was; --detector and --filler name trained folders,
whose texts end where they end. flow: one step (loss, gradient, AdamW) of
FairFlow's flow on 32 pairs. Each side is a process on --threads cores.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable

from fairjax.bench import race
from fairjax.bench.peers import fairflow_peers as peers
from fairjax.bench.peers.text_batches import lines
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, tokens


def run(args: list[str]) -> dict:
  """One race; `what` says of which part."""
  chosen = options(args)
  for name in ('model', 'text') if chosen.what != 'flow' else ():
    if not getattr(chosen, name):
      raise UserError(f'--what={chosen.what} needs --{name}')
  if race.missing('torch', 'transformers'):
    raise UserError('the peers of this race need torch and transformers')
  repairs = chosen.what == 'repair'
  sides = ('ours', *(chosen.peers if repairs else ['torch']))
  models = functools.partial(_prepare, chosen)
  with race.processes(
    *('fairflow', args, sides, race.threads(chosen.threads)),
    prepare=models if repairs else None,
  ) as running:
    race.agree(running, 'check', 'what they find', 2e-3)
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
    first = running['ours'].facts
  title, items = f'fairflow {chosen.what}', first['items']
  return race.report(title, times, chosen, unit=first['per'], items=items)


def options(args: list[str]):
  return race.options(
    *('fairflow', __doc__, args),
    what=('embed', 'repair', 'flow'),
    model='',
    text='',
    rows=256,
    size='mini',
    detector='',
    filler='',
    flagged=0.3,
    peers=race.Several(('all', 'masked'), 'all,masked'),
    width=768,
    threads=1,
  )


def _embed(chosen) -> tuple[Callable, Callable, dict]:
  from fairjax.models.folders import folder as folders
  from fairjax.models.reading import contextual

  model = folders.load(chosen.model, 'mask')
  ids, spans = peers.words_of(model.tokenizer, lines(chosen))
  unit = lambda: contextual.word_vectors(
    model.module, model.params, ids, *spans[:3], -1
  )
  return unit, peers.summed, {'per': 'tokens/s', 'items': len(ids.flat)}


def _flow(chosen) -> tuple[Callable, Callable, dict]:
  import jax
  import optax

  from fairjax.models import flow

  shape, params = peers.start(chosen)
  x, side = peers.vectors(chosen)
  batch = {'first': x[0], 'second': x[1], 'side': side}
  rule, objective = optax.adamw(1e-3, eps=1e-6), flow.FlowObjective()

  def loss(params):
    return flow.pair_loss(shape, objective, params, batch)[0] / peers.PAIRS

  @functools.partial(jax.jit, donate_argnums=(0, 1))
  def step(params, state):
    value, gradient = jax.value_and_grad(loss)(params)
    update, state = rule.update(gradient, state, params)
    return optax.apply_updates(params, update), state, value

  held = {'at': (params, rule.init(params))}

  def unit():
    values = []
    for _ in range(peers.STEPS):
      *held['at'], value = step(*held['at'])
      values.append(value)
    return [float(v) for v in values]

  facts = {'per': 'steps/s', 'items': peers.STEPS}
  return unit, lambda values: values[:1], facts


def _prepare(chosen, folder: str) -> None:
  """An ELECTRA and a BART of the model's vocabulary, with random weights."""
  import jax

  from fairjax.models import build, families
  from fairjax.models.folders import hf
  from fairjax.models.pretraining import ends

  tokenizer = tokens.load_tokenizer(chosen.model)
  words = corruption.vocabulary(tokenizer)
  for family, can in (('electra', 'detect'), ('bart', 'infill')):
    shape = families.named(chosen.size, words.size, family, can)
    shape = families.replaced(shape, **ends(shape, words))
    module = families.module(shape, can)
    params = build.from_folder(module, None).init(0)
    if can == 'detect':  # logits that differ from place to place
      params = jax.tree.map(lambda a: a * 5, params)
    place = pathlib.Path(folder, can)
    hf.save(place, module, params)
    tokens.save_tokenizer(tokenizer, place)


def _config(chosen):
  from fairjax.config import Config

  config = Config(model=chosen.model)
  config.repair.detector, config.repair.filler = peers.folders_of(chosen)
  return config


def _repair(chosen) -> tuple[Callable, Callable, dict]:
  from fairjax.recipes.rewriting import repairing

  config, texts = _config(chosen), lines(chosen)
  if not chosen.filler:
    # Random weights never end a span; a trained BART writes a token or two.
    repairing.SPAN = dataclasses.replace(repairing.SPAN, max_span=2)
  helpers = repairing.load(config)
  pieces = repairing.read(helpers.detector, texts)
  scores = repairing.scores(helpers.detector, pieces)
  config.repair.threshold = peers.threshold(scores, chosen.flagged)
  unit = lambda: repairing.repaired(config, helpers, texts)
  check = lambda frame: [config.repair.threshold, int((frame.odd > 0).sum())]
  return unit, check, {'per': 'texts/s', 'items': len(texts)}


SIDES = {
  'embed': (_embed, peers.embed),
  'repair': (_repair, peers.repaired),
  'flow': (_flow, peers.flow_steps),
}


def side(chosen) -> tuple[Callable, dict]:
  ours = chosen.side == 'ours'
  if not ours:
    import torch

    torch.set_num_threads(chosen.threads)
  unit, check, facts = SIDES[chosen.what][not ours](chosen)
  return unit, {'check': list(map(float, check(unit()))), **facts}


if __name__ == '__main__':
  race.serve_side(options, side)
