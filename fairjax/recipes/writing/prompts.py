"""The prompts: their groups, their clusters and their pairs.

Templates of the axes (templates.py), or a file: a table of a user's with the
columns prompt and group (and template, pair, attribute, continuation where
there are such), BOLD's json (Dhamala et al. 2021), RealToxicityPrompts' jsonl
(Gehman et al. 2020). Prompts without a group are looked through for the words
of the axes.
"""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core.errors import UserError, count, shown
from fairjax.data.axes import table
from fairjax.data.tables import group_names, readers
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import axis_values, english
from fairjax.recipes.writing import published, templates
from fairjax.recipes.writing.templates import COLUMNS

CLUSTERS = ('template', 'cluster')  # columns of a user's
READ = ('prompt', 'group', 'attribute', *CLUSTERS, 'pair', 'continuation')


def read(config: Config, source: Any = None) -> tuple[pd.DataFrame, list[str]]:
  """The prompts with COLUMNS, perhaps `continuation`; and what to say.

  `source` is a table of the library's, in place of writing.prompts.
  """
  own = config.writing
  for name in own.axes:
    if name != 'gender':
      table.load(name)  # a mistake in it is reported first
  if source is None and not own.prompts:
    frame = templates.make(own.axes)
    remarks: list[str] = []
  else:
    frame, remarks = _read(own.prompts if source is None else source, own.axes)
  _check_groups(frame)
  few = _fewer(frame, config.data.limit, config.seed)
  return few, remarks + _undrawn(frame, few, config.data.limit)


def _read(source: Any, axes: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
  if not isinstance(source, str | pathlib.Path):
    frame = readers.as_frame(source)
    if frame is None:
      raise UserError(
        f'prompts is {type(source).__name__}; give a table with the columns '
        'prompt and group, or a file'
      )
    return _table(frame, 'the table of prompts', axes)
  path = str(source)
  if pathlib.Path(path).suffix.lower() == '.json':
    if (found := published.bold(path)) is not None:
      return found
  frame = readers.read(path)
  return _table(frame, readers.source(frame), axes)


# Tables


def _table(
  frame: pd.DataFrame, where: str, axes: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
  frame = frame.reset_index(drop=True)
  remedy = 'give that name to the column of the prompts'
  readers.need(frame, where, ['prompt'], remedy)
  for name in READ:
    if list(frame).count(name) > 1:
      raise UserError(f'{where} has 2 columns named {name!r}; rename one')
  toxic = None
  remarks: list[str] = []
  if any(isinstance(one, Mapping) for one in frame['prompt']):
    frame, toxic, remarks = published.real_toxicity(frame, where)
  for name in READ:
    for row, one in enumerate(frame[name] if name in frame else ()):
      # No texts, though Python can write them as such.
      if isinstance(one, Mapping | list | tuple | np.ndarray):
        raise UserError(
          f'{where} has {shown(one)} in column {name} of row {row}; give a text'
        )
  blank = frame['prompt'].isna() | (
    frame['prompt'].astype(str).str.strip() == ''
  )
  if blank.any():
    raise UserError(
      f'{where} has no prompt in row {int(blank.to_numpy().argmax())}; fill it '
      'or take the row out'
    )
  prompts = frame['prompt'].astype(str).tolist()
  if 'group' in frame:
    found, more = _grouped(frame, prompts, where)
    parts = [found]
  else:
    parts, more = _by_words(prompts, axes)
  remarks += more
  if toxic is not None:
    parts.append(toxic)
  if not parts:
    raise UserError(
      f'{where} has no column group, and its prompts name no two groups of '
      f'{", ".join(map(_axis_name, axes))} by our English words and rules; add '
      'a column group (empty where a prompt names none), or name the axis '
      'whose words they hold with --config.writing.axes'
    )
  return pd.concat(parts, ignore_index=True), remarks


def _axis_name(axis: str) -> str:
  return pathlib.Path(axis).stem


def _grouped(frame, prompts, where: str) -> tuple[pd.DataFrame, list[str]]:
  frame = _of_every_attribute(frame.assign(prompt=prompts), where)
  prompts = frame['prompt'].tolist()
  text = lambda name: frame[name].fillna('').astype(str).str.strip()
  group, remarks = group_names.tidied('group', frame['group'])
  group = pd.Series(group, frame.index)
  attribute = text('attribute') if 'attribute' in frame else 'group'
  own = next((name for name in CLUSTERS if name in frame), '')
  cluster = text(own) if own else frame['prompt'].astype(str)
  out = pd.DataFrame(
    {
      'prompt': prompts,
      'attribute': attribute,
      'group': group,
      'cluster': cluster.where(cluster != '', frame['prompt'].astype(str)),
    }
  )
  if (group != '').sum() == 0:
    raise UserError(
      f'{where} has a column group without a group in any row; name the '
      'groups there'
    )
  if 'pair' in frame:
    out['pair'] = text('pair')
    _one_a_group(out, where)
  else:
    out['pair'] = _paired(out) if own else ''
    if own and (out['pair'] == '').all():
      remarks.append(
        f'the groups of {where} have not as many prompts of each {own}, so '
        'none are matched; a column pair says which belong together'
      )
  if 'continuation' in frame:
    out['continuation'] = frame['continuation'].fillna('').astype(str)
  return out, remarks


def _of_every_attribute(frame: pd.DataFrame, where: str) -> pd.DataFrame:
  """Prompts that name no group, and no attribute either, are of each one."""
  if 'attribute' not in frame:
    return frame
  blank = lambda name: frame[name].fillna('').astype(str).str.strip() == ''
  named = frame['attribute'][~blank('attribute')]
  each = [*dict.fromkeys(named.astype(str).str.strip())]
  lost = blank('attribute') & ~blank('group')
  if each and lost.any():
    row = int(lost.to_numpy().argmax())
    raise UserError(
      f'{where} has the group {shown(frame["group"].iloc[row])} and no '
      f'attribute in row {row}; say which it is of ({", ".join(each)})'
    )
  if not each or not blank('attribute').any():
    return frame
  cells = zip(blank('attribute'), frame['attribute'])
  of = [each if none else [one] for none, one in cells]
  return frame.assign(attribute=of).explode('attribute', ignore_index=True)


def _one_a_group(out: pd.DataFrame, where: str) -> None:
  """Of two prompts of a pair and group one alone would be matched."""
  named = out[(out['pair'] != '') & (out['group'] != '')]
  keys = ['attribute', 'pair', 'group']
  again = named.drop_duplicates([*keys, 'prompt']).duplicated(keys)
  if again.any():
    _, pair, group = named.loc[again.idxmax(), keys]
    raise UserError(
      f'{where} has two prompts of group {group!r} in the pair {pair!r}; a '
      'pair is a prompt of each group, so give the others a pair of their own '
      '(clusters of prompts are a column template)'
    )


def _paired(out: pd.DataFrame) -> pd.Series:
  """The k-th prompts of the groups of a cluster, where all have as many."""
  keys = ['attribute', 'cluster']
  different = out.drop_duplicates([*keys, 'group', 'prompt'])
  sizes = different.groupby([*keys, 'group']).size().unstack('group')
  named = sizes.drop(columns='', errors='ignore')
  if len(named.columns) < 2 or not named.eq(named.iloc[:, 0], axis=0).all(
    axis=None
  ):
    return pd.Series('', index=out.index)
  number = different.groupby([*keys, 'group']).cumcount()
  names = different['cluster'] + '|' + number.astype(str)
  known = dict(
    zip(zip(*(different[k] for k in [*keys, 'group', 'prompt'])), names)
  )
  rows = zip(*(out[k] for k in [*keys, 'group', 'prompt']))
  return pd.Series([known[row] for row in rows], index=out.index)


def _by_words(
  prompts: list[str], axes: Sequence[str]
) -> tuple[list[pd.DataFrame], list[str]]:
  """The groups that prompts name; those that name two are in none."""
  parts, remarks = [], []
  for axis in axes:
    # '' is of a prompt that names no value, None of one that names several.
    values: dict[int, str | None] = dict(enumerate(exchange.values(axis)))
    values |= {axis_values.NEITHER: '', axis_values.SEVERAL: None}
    groups = [values[k] for k in axis_values.single(prompts, axis)]
    several = sum(one is None for one in groups)
    named = {one for one in groups if one}
    if len(named) < 2:
      continue
    name = _axis_name(axis)
    if several:
      remarks.append(
        f'{count(several, "prompt")} with words of several groups of {name} '
        'left out'
      )
    rows = [
      (prompt, name, group, prompt, '')
      for prompt, group in zip(prompts, groups)
      if group is not None
    ]
    parts.append(pd.DataFrame(rows, columns=COLUMNS))
  if english.is_doubted(prompts):
    remarks.append(
      'the prompts seem to be of another language than English, of which are '
      'the words and rules that found their groups: give a column group'
    )
  return parts, remarks


# Which of them


def _check_groups(frame: pd.DataFrame) -> None:
  each = frame[frame['group'] != ''].groupby('attribute')['group'].nunique()
  alone = [name for name in each.index if each[name] < 2]
  if alone or not len(each):
    name = alone[0] if alone else 'any attribute'
    raise UserError(
      f'the prompts are of only one group of {name}; a gap needs two'
    )


def _fewer(frame: pd.DataFrame, limit: int, seed: int) -> pd.DataFrame:
  """`limit` clusters of each attribute, all of their prompts."""
  if not limit:
    return frame
  keep = []
  for attribute, some in frame.groupby('attribute', sort=False):
    names = sorted(some['cluster'].unique())
    order = np.random.default_rng([seed, len(names)]).permutation(names)
    keep += [(attribute, one) for one in order[:limit]]
  keys = pd.MultiIndex.from_frame(frame[['attribute', 'cluster']])
  return frame[keys.isin(keep)].reset_index(drop=True)


def _undrawn(frame: pd.DataFrame, few: pd.DataFrame, limit: int) -> list[str]:
  """Groups that are in none of the clusters drawn, to be said."""
  remarks = []
  for attribute, some in frame[frame['group'] != ''].groupby('attribute'):
    groups = [*dict.fromkeys(some['group'])]
    drawn = {*few.loc[few['attribute'] == attribute, 'group']}
    lost = [group for group in groups if group not in drawn]
    if not lost:
      continue
    where = f'data.limit is {limit}, and of the {limit} clusters of '
    where += f'{attribute} that it draws none is of {", ".join(lost)}'
    if len(groups) - len(lost) < 2:
      raise UserError(f'{where}; a gap needs two groups, so raise it')
    remarks.append(where)
  return remarks
