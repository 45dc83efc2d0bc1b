"""The stages that a dry run counts, recipe by recipe."""

import dataclasses
from typing import Any

import numpy as np

from fairjax.core.errors import UserError
from fairjax.models import build, families, flow, objectives
from fairjax.recipes import compare
from fairjax.recipes.dry.costs import (
  FLOAT,
  READ,
  STEP,
  SWAPPED,
  TOKENISED,
  Goal,
  Stage,
  corrupted,
  fit,
  model_of,
  on_host,
  pairs_of,
  shape_of,
  sweep,
  texts_of,
  vectors_of,
  vocabulary,
  write,
)
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.recipes.fairflow import flow_training
from fairjax.recipes.language import pretrain_objectives
from fairjax.recipes.mbcda import adversarial
from fairjax.recipes.mbcda import recipe as mbcda_recipe
from fairjax.recipes.rewriting import contenders, rewriter
from fairjax.recipes.rewriting import counterfactual_texts as rewritten
from fairjax.train import step

# Distinct words of n: Heaps' law with the constants of Reuters RCV1 (Manning,
# Raghavan and Schütze 2008, eq. 5.1).
HEAPS = 44, 0.49
# On 34 MB of books and Wikipedia about 2 / m of them occur m times (30,245 of
# 156,401 did 8 times), and a tenth of the occurrences that are looked at show a
# side (35,700 of 347,794).
OFTEN, SIDED = 2, 0.1
MASKED = 10  # tokens written for an odd word


def classify(goal: Goal, name: str, examples: float, fits=1, config=None):
  """Fits of a classifier, as the config's `train` makes them."""
  config, a = config or goal.config, goal.amount
  model = model_of(goal, config.model, 'bert', 'classify', classes=2)
  batch = lambda n: texts_of(n, a.length)
  rest = config, examples, a.length, a.held, fits
  return fit(goal, name, model, step.CLASSES, batch, *rest)


def train(goal: Goal) -> list[Stage]:
  """recipes/train.py: a fit, and predictions of the test set."""
  config, a = goal.config, goal.amount
  twins = config.method.name in ('augment', 'supplement')
  model = model_of(goal, config.model, 'bert', 'classify', classes=2)
  return [
    classify(goal, 'training', a.train * (1 + twins)),
    sweep(goal, 'predictions', model, a.held, a.length, config.seeds),
  ]


def compared(goal: Goal) -> list[Stage]:
  """recipes/compare.py: a fit of none, and of each method."""
  names, n = goal.config.method.compare or compare.USUAL, goal.amount.train
  twins = sum(name.startswith('augment') for name in names)
  out = [classify(goal, 'training', n, 1 + len(names) - twins)]
  return out + [classify(goal, 'training with twins', 2 * n, twins)][:twins]


def pretrain(goal: Goal, fits: int = 1) -> list[Stage]:
  """recipes/language/pretrain.py."""
  config, options = goal.config, goal.config.pretrain
  if not options.steps and not goal.amount.corpus:
    raise UserError(
      'pretrain.steps is 0; a dry run needs the number of steps, say '
      '--config.pretrain.steps=100000, or of tokens, --tokens=30000000'
    )
  objective = pretrain_objectives.OBJECTIVES[options.objective]
  words = vocabulary(shape_of(config, config.model, 'bert').vocab)
  net = dataclasses.replace(config.net, init='random', scan=False)
  model = objective.model(dataclasses.replace(config, net=net), words)
  loss = step.Loss(*objectives.loss(objective.terms))
  batch = lambda n: corrupted(config, words, n)
  n = goal.amount.corpus / options.length
  rest = config, n, options.length, n * options.held_out, fits, options.steps
  name = f'{options.objective} pretraining'
  return [fit(goal, name, model, loss, batch, *rest)]


def fairflow(goal: Goal) -> list[Stage]:
  """All six stages, 4 to 6 where texts are named (recipes/fairflow)."""
  config, options = goal.config, goal.config.fairflow
  body = model_of(goal, config.model, 'bert', 'embed')
  width = body.shape.width
  length = config.tokens.max_length or body.longest
  read = goal.amount.corpus * options.share
  often = min(1.0, OFTEN / options.min_count)
  words = min(often * HEAPS[0] * read ** HEAPS[1], read / options.min_count)
  if options.pieces == 'drop':
    words = min(words, body.shape.vocab)
  n = min(read, words * options.cap + 2 * options.seed_cap)
  windows = min(read / (length - 2), n)
  out = [
    on_host('1 tokens, two walks', f'{read:,.0f} read', 2 * read, TOKENISED),
    sweep(goal, '1 occurrences embedded', body, windows, length),
  ]
  if options.head == 'mlp':
    batch = lambda n: vectors_of(n, width, 'vector')
    rest = flow_training.head_config(config), 2 * options.seed_cap
    name, head = '1 head, and its control', flow_training.head_model(width)
    out.append(fit(goal, name, head, step.CLASSES, batch, *rest, fits=2))
  asked, sided = {*options.rivals, options.way}, SIDED * n
  flows = bool(options.rivals or 'flow' in asked) + ('no_factor' in asked)
  if flows:
    out.append(flows_of(goal, width, sided, flows))
  if 'procrustes' in asked:  # it maps the pairs of the difference
    asked.add('difference')
  ways = config.seeds * flows + len(asked - {'flow', 'no_factor', 'masked'})
  out.append(read_back(body.shape, sided, ways, n))
  if 'masked' in asked:
    model, most = model_of(goal, config.model, 'bert', 'mask'), moves.MASKED_CAP
    own = min(sided, SIDED * words * most)
    out.append(sweep(goal, '3 masked LM asked', model, own, length))
  return out + (rewriting(goal) if config.data.path else [])


def flows_of(goal: Goal, width: int, n: float, flows: int) -> Stage:
  """2: flows on pairs of n occurrences, of which each has one."""
  config, options = goal.config, goal.config.fairflow
  factor = options.factor if options.factor > 0 else -(-width // 10)
  layers = options.steps, options.hidden, options.depth
  sample = np.zeros((flow_training.SAMPLE, width), np.float32)
  model = flow_training.flow_model(
    flow.FlowShape(width, *layers, factor), sample, build.precision(config)
  )
  loss = flow_training.flow_loss(flow_training.objective_of(config))
  batch = lambda n: vectors_of(n, width, 'first', 'second')
  out, held = n * (1 - options.held_out) / 2, n * options.held_out / 2
  rest = config, out, 1, held, flows
  return fit(goal, '2 flow', model, loss, batch, *rest)


def read_back(shape: Any, n: float, ways: int, kept: float) -> Stage:
  """3: every way's moved embeddings as words; n of `kept` are moved."""
  d, v = shape.width, shape.vocab
  return Stage(
    '3 moved words read, and votes',
    f'{n:,.0f} occurrences × {ways} ways; {FLOAT * kept * d / 1e9:.3g} GB of '
    'embeddings on the host',
    n * ways,
    2.0 * n * ways * d * (d + v),
    FLOAT * (n * ways * (d + v) + d * v),
    n * ways / READ,
    (('weights', FLOAT * d * (d + v)), (STEP, FLOAT * READ * v)),
  )


def repair(goal: Goal, swaps: int) -> list[Stage]:
  """4: swaps by a list, the detector on each, odd texts filled."""
  config, a, options = goal.config, goal.amount, goal.config.repair
  n = a.train + 2 * a.held
  done = swaps * n * a.length
  out = [on_host('4 swaps', f'{n:,} texts × {swaps}', done, SWAPPED)]
  if not options.detector:
    return out
  detector = model_of(goal, options.detector, 'electra', 'embed')
  out.append(sweep(goal, '4 odd words found', detector, n, a.length, swaps))
  name = options.filler or config.model
  infills = (
    'infill' in families.find(shape_of(config, name, 'bart').family).heads
  )
  filler = model_of(goal, name, 'bart', 'infill' if infills else 'mask')
  title = '4 odd words filled, at most'  # every text may have one
  if not infills:
    return [*out, sweep(goal, title, filler, swaps * n, a.length)]
  most = MASKED if options.mode == 'masks' else a.length
  return [*out, write(goal, title, filler, swaps * n, most)]


def players(goal: Goal, name: str, model, loss, fits: int, own='', train=None):
  """Fits of a generator, or of its discriminator, on pairs."""
  a, config = goal.amount, rewritten.generator_config(goal.config)
  if train:
    config = dataclasses.replace(config, train=train)
  batch = lambda n: pairs_of(n, a.length)
  rest = config, a.train, a.length, a.held, fits
  return fit(goal, name, model, loss, batch, *rest, own=own)


def of_contenders(goal: Goal, count: int) -> list[Stage]:
  """6: what is measured of each contender, and of the original texts."""
  a, config = goal.amount, goal.config
  own = contenders.classifier_config(config)
  what = f'{config.rewriters.folds} folds of {count} contenders'
  read = count * (a.train + a.held) * a.length
  out = [
    classify(goal, '6 classifiers', 2 * a.train, count, own),
    on_host('6 attribute classifiers, of words', what, read, TOKENISED),
  ]
  if config.rewriters.fluency:
    model = model_of(goal, config.rewriters.fluency, 'gpt2', 'judge')
    out.append(sweep(goal, '6 perplexity', model, a.held, a.length, count))
  return out


def rewriting(goal: Goal) -> list[Stage]:
  """Stages 4 to 6 of FairFlow (rewriting/counterfactual_texts.py)."""
  config, a, chosen = goal.config, goal.amount, goal.config.rewriters
  swaps = len(chosen.contenders)
  repairs = swaps if config.repair.detector else 0
  out, kinds = repair(goal, swaps), 0
  if chosen.generator:
    plain = 'dictionary' in chosen.contenders if repairs else swaps
    kinds = plain + repairs + bool(chosen.states)
    model, n = model_of(goal, chosen.generator, 'bart', 'write'), kinds
    n *= chosen.generators
    texts = n * (a.train + a.held)
    out.append(players(goal, '5 generators', model, rewriter.loss(config), n))
    out.append(write(goal, '6 texts written', model, texts, a.length))
  return out + of_contenders(goal, 1 + swaps + repairs + kinds)


def learned_of(goal: Goal) -> Goal:
  """The texts that MBCDA's players learn from: a corpus's, a tenth held out."""
  options = goal.config.adversary
  if not options.corpus:
    return goal
  rows = options.corpus_rows // 2 * 2
  some = goal.amount._replace(train=rows - rows // 10, held=rows // 10)
  return goal._replace(amount=some)


def mbcda(goal: Goal) -> list[Stage]:
  """recipes/mbcda: parallel text, players, texts, measures."""
  config, a, options = goal.config, goal.amount, goal.config.adversary
  mbcda_recipe.check(config)
  model = model_of(goal, config.rewriters.generator, 'bart', 'write')
  both, n = adversarial.two(config, model), config.rewriters.generators
  before = options.regime == 'before'
  kinds = [k for k in ('with', 'without') if k in options.players]
  learned = learned_of(goal)
  each, out = len(options.labels) * n, repair(learned, 1)
  if 'without' in kinds or before:
    loss = rewriter.loss(config)
    out.append(players(learned, '5 generators by tokens', model, loss, each))
  if 'with' in kinds and before:
    own = adversarial.discriminator_config(rewritten.generator_config(config))
    rest = adversarial.DISCRIMINATOR, each + options.control
    rest += adversarial.OWN[1], own.train
    out.append(players(learned, '5 discriminators', both, *rest))
  if 'with' in kinds:
    rest = adversarial.GENERATOR, each, adversarial.OWN[0]
    out.append(players(learned, '5 generators against them', both, *rest))
  texts = len(kinds) * each * (a.train + a.held)
  out.append(write(goal, '6 texts written', model, texts, a.length))
  by_hand = 1 + config.method.names + bool(config.repair.detector)
  return out + of_contenders(
    goal, 1 + by_hand + len(kinds) * len(options.labels)
  )


def generate(goal: Goal) -> list[Stage]:
  """recipes/language/generate.py."""
  config, a, options = goal.config, goal.amount, goal.config.generate
  heads = families.find(shape_of(config, config.model, 'bart').family).heads
  can = next((c for c in ('infill', 'write') if c in heads), 'judge')
  model = model_of(goal, config.model, 'bart', can)
  limits = [n for n in (options.max_new_tokens, options.max_length) if n > 0]
  n = a.train + 2 * a.held
  return [write(goal, 'texts written', model, n, min([*limits, a.length]))]


def benchmarks(goal: Goal) -> list[Stage]:
  """recipes/benchmarks: every text read once, or once a token by a mask."""
  config, a = goal.config, goal.amount
  heads = families.find(shape_of(config, config.model, 'gpt2').family).heads
  can = 'mask' if 'mask' in heads else 'judge'
  model = model_of(goal, config.model, 'gpt2', can)
  times = a.length if can == 'mask' else 1
  return [sweep(goal, 'texts scored', model, a.train, a.length, times)]


STAGES = {
  'train': train,
  'compare': compared,
  'pretrain': pretrain,
  'fairberta': lambda goal: pretrain(goal, fits=2),
  'fairflow': fairflow,
  'counterfactual_texts': rewriting,
  'mbcda': mbcda,
  'generate': generate,
  'benchmarks': benchmarks,
}
