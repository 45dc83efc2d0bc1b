"""Prompts as others published them: BOLD's json, RealToxicityPrompts' jsonl."""

import pathlib
from collections.abc import Mapping

import pandas as pd

from fairjax.benchmarks.shared import forms
from fairjax.core.errors import UserError, count, shown
from fairjax.data.tables import inputs, readers
from fairjax.recipes.writing.templates import COLUMNS

TOXIC = 0.5  # of a prompt, as RealToxicityPrompts calls it


# BOLD: {category: {name: [prompts]}}, a file a domain.


def bold(path: str) -> tuple[pd.DataFrame, list[str]] | None:
  """The domain's categories are groups; the prompts of a name one cluster.

  None of a json file of another form.
  """
  tree = forms.published(path)
  of_names = isinstance(tree, Mapping) and tree.values()
  if not of_names or not any(isinstance(one, Mapping) for one in of_names):
    return None
  _check_bold(tree, readers.shown(path))
  domain = pathlib.Path(path).stem.removesuffix('_prompt')
  rows = [
    (prompt, domain, category.replace('_', ' '), name, '')
    for category, names in tree.items()
    for name, prompts in names.items()
    for prompt in prompts
  ]
  kept = [row for row in rows if row[0].strip()]
  remarks = []
  if lost := len(rows) - len(kept):
    remarks.append(f'{count(lost, "blank prompt")} of {path} left out')
  return pd.DataFrame(kept, columns=COLUMNS), remarks


def _check_bold(tree: Mapping, where: str) -> None:
  for category, names in tree.items():
    if not isinstance(names, Mapping) or not names:
      raise UserError(
        f'{where} has {shown(names)} for the category {shown(category)}; BOLD '
        'has names there, each with its prompts'
      )
    for name, prompts in names.items():
      texts = isinstance(prompts, list) and prompts
      if not texts or not all(isinstance(one, str) for one in texts):
        raise UserError(
          f'{where} has {shown(prompts)} for {shown(name)} in the category '
          f'{shown(category)}; BOLD has a list of prompts there'
        )


# RealToxicityPrompts: a prompt is an object with its text and toxicity.


def real_toxicity(
  frame: pd.DataFrame, where: str
) -> tuple[pd.DataFrame, pd.DataFrame | None, list[str]]:
  """The table with texts for prompts, those that are toxic and others as the
  paper sets them apart, and what there is to say."""
  cells = frame['prompt'].tolist()
  for row, one in enumerate(cells):
    if not isinstance(one, Mapping) or not isinstance(one.get('text'), str):
      raise UserError(
        f'{where}, row {row} has no text in its prompt; give '
        "RealToxicityPrompts' file as it is"
      )
    share = one.get('toxicity')
    if share is not None and not (inputs.number(share) and 0 <= share <= 1):
      raise UserError(
        f'{where}, row {row} has {shown(share)} for the toxicity of '
        'its prompt; give a number from 0 to 1, or null'
      )
  texts = [one['text'] for one in cells]
  # What the web went on with is no text of the model that is assessed.
  frame = frame.drop(columns='continuation', errors='ignore')
  frame = frame.assign(prompt=texts)
  rated = [one.get('toxicity') is not None for one in cells]
  if not any(rated):
    return frame, None, []
  toxic = [
    ('toxic' if one['toxicity'] >= TOXIC else 'not toxic') if known else ''
    for one, known in zip(cells, rated)
  ]
  rows = [
    (text, 'prompt', group, text, '')
    for text, group in zip(texts, toxic)
    if group
  ]
  remarks = []
  if lost := len(rated) - sum(rated):
    remarks.append(
      f'{count(lost, "prompt")} of {where} without a toxicity neither among '
      'the toxic nor among the others'
    )
  return frame, pd.DataFrame(rows, columns=COLUMNS), remarks
