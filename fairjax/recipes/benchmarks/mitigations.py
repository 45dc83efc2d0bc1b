"""What mitigates a language model's bias: a model in, a mitigated model out.

Each of recipes.MITIGATIONS is fitted on the user's own texts (erasers and
pretraining that goes on) or on nothing (Self-Debias), and is then measured
like any other model by benchmarks/experiment.py. `continued` mitigates nothing:
it is what pretraining on the same texts does by itself, the control of the
three that train.
"""

import copy
import functools
import re

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.benchmarks.shared import erasing
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError, count
from fairjax.data.tables import files, splits
from fairjax.models.reading import eraser_head
from fairjax.models.reading import judge as judges
from fairjax.models.reading.judge import Judge
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary, listed
from fairjax.recipes.language import pretrain
from fairjax.stages import Experiment
from fairjax.train import mesh

HELD_OUT = 0.2  # share of the texts kept from mitigations, for perplexity
# Rates of Meade et al. 2022 (arXiv:2110.08527): hidden, attention.
DROPOUT = {'mask': (0.20, 0.15), 'write': (0.15, 0.15)}
# A word alone, as bias-bench finds it: between blanks, one mark behind it.
_WORD = re.compile(r'(?<!\S)[^\s.,?!;:]+(?=[.,?!;:]?(?!\S))')


def parts(config: Config) -> tuple[list[str], list[str]]:
  """The texts that mitigations are fitted on, and those held out from them."""
  table = files.texts(config.data)
  code = stages.clusters_of(table)[0]  # equal texts are on one side
  code = np.arange(len(table)) if code is None else pd.factorize(code)[0]
  seed, many = [splits.SEED, 0xB9], len(np.unique(code))
  order = np.random.default_rng(seed).permutation(many)
  held = max(round(HELD_OUT * many), 1)
  if held >= many:
    raise UserError(
      f'{config.data.path} has {count(many, "different text")}, too few to fit '
      'mitigations on some and measure perplexity on others; give more'
    )
  out = np.isin(code, order[:held])
  return list(table['text'][~out]), list(table['text'][out])


def erased(kind: str, judge: Judge, texts, e: Experiment, folder) -> Judge:
  """The judge whose last layer lacks what an eraser takes."""
  config, log = e.config, e.log
  eraser = erasing.fit(judge, texts, kind, config)
  log.line(f'{kind}: {eraser.rank} directions taken out')
  out = judge.without(eraser)
  exported = bool(eraser.rank) and judge.kind == 'mask'
  if folder.exists() and not exported and mesh.is_main():
    artefacts.remove(folder)
    log.line(f'{folder} was of an earlier run and is removed')
  if not eraser.rank:
    log.line(
      f'WARNING: {kind} found no direction that tells the '
      f'{exchange.called(config.method.axis)} of texts that it was not fitted '
      'on, so nothing is taken out and nothing exported; give more texts that '
      'name it'
    )
    return out
  if exported and mesh.is_main():
    eraser_head.export(out, judge.name, folder)
    log.line(f'exported to {folder}')
  return out


leace, inlp, sentence = (
  functools.partial(erased, kind) for kind in ('leace', 'inlp', 'sentence')
)


def self_debias(judge: Judge, texts, e: Experiment, folder) -> Judge:
  """The judge that takes back what a sentence about bias makes likelier."""
  if judge.kind not in ('mask', 'write'):
    raise UserError(
      f'{judge.name} is no language model, and self_debias needs one; leave it '
      'out of --config.benchmarks.mitigations'
    )
  return judge._replace(contrast=(exchange.called(e.config.method.axis),))


def pretrained(kind: str, judge: Judge, texts, e: Experiment, folder) -> Judge:
  """The judge after more pretraining on texts about people, by the one recipe.

  continued       the control: the texts as they are
  dropout         the same with more dropout (Webster et al. 2020)
  counterfactual  two-sided: each text and its twin, with right pronouns
  cda             the same word by word, as in bias-bench: her is always his
  """
  config = e.config
  if judge.kind not in ('mask', 'write'):
    raise UserError(
      f'{judge.name} is no language model, so it cannot be pretrained further; '
      'leave that out of --config.benchmarks.mitigations'
    )
  lines = lines_of(kind, texts, config)
  if not lines:
    raise UserError(
      f'no text of {config.data.path} has a word that shows '
      f'{exchange.called(config.method.axis)}, so there is nothing to pretrain '
      'on; give texts that have some'
    )
  e.log.line(f'{folder.name}: pretraining on {len(lines):,} texts')
  path = folder / 'texts.txt'
  if mesh.is_main():
    text = '\n'.join(' '.join(line.split()) for line in lines)
    artefacts.write_text(path, text + '\n')
  mesh.wait_for_all('texts')
  own = copy.deepcopy(config)
  own.recipe, own.model, own.seeds = 'pretrain', judge.name, 1
  own.data.name, own.data.path, own.data.text = 'text', str(path), 'text'
  own.data.limit = 0  # which is of the items that are asked
  own.pretrain.document = 'line'
  own.pretrain.objective = 'mlm' if judge.kind == 'mask' else 'causal'
  if kind == 'dropout':
    own.net.dropout = DROPOUT[judge.kind]
  pretrain.trained(own, folder)
  export = folder / 'export' / 'seed_0'
  return judges.load(str(export), config, judge.placement)


continued, dropout, counterfactual, cda = (
  functools.partial(pretrained, kind)
  for kind in ('continued', 'dropout', 'counterfactual', 'cda')
)


def lines_of(kind: str, texts: list[str], config: Config) -> list[str]:
  """The texts that name a group, by the two-sided kinds beside their twins."""
  axis = config.method.axis
  if kind == 'cda':
    twins = word_by_word(texts, axis, config.seed)
  else:
    how = {'names': True if axis == 'gender' else None, 'axis': axis}
    twins = dictionary.swap(texts, seed=config.seed, **how).texts
  sides = 2 if kind in ('counterfactual', 'cda') else 1
  pairs = [pair for pair in zip(texts, twins) if pair[0] != pair[1]]
  return [text for pair in pairs for text in pair[:sides]]


def word_by_word(
  texts: list[str], axis: str = 'gender', seed: int = 0
) -> list[str]:
  """Each listed word by its one partner, whatever its sense.

  Of an axis of more than two values a text draws one exchange, so that
  different people stay different (bias-bench draws for each group by itself).
  """
  turns = exchange.by_word(axis)

  def turned(text: str) -> str:
    turn = turns[dictionary.draw(seed, text, len(turns))]

    def other(match):
      word = match.group()
      new = turn.get(word.lower())
      return word if new is None else listed.match_case(word, new)

    return _WORD.sub(other, text)

  return list(map(turned, texts))
