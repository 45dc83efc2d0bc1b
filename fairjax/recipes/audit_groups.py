"""Groups of an audit: columns, bands, terms, and controls."""

import dataclasses

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.data import audit_table
from fairjax.data.terms import read_terms, term_members
from fairjax.errors import UserError
from fairjax.metrics import contrasts
from fairjax.metrics import groups as group_rates


@dataclasses.dataclass
class Who:
  """The groups of the rows."""

  members: np.ndarray  # bool [g, n]
  names: list[str]
  attributes: list[str]
  columns: dict[str, list[str]]
  controls: dict[str, list[str]]
  remarks: list[str]

  def of(self, attribute: str) -> tuple[np.ndarray, list[str]]:
    at = [g for g, a in enumerate(self.attributes) if a == attribute]
    return self.members[at], [self.names[g] for g in at]

  @property
  def kinds(self) -> list[str]:
    return list(dict.fromkeys(self.attributes))


def who(config: Config, table: pd.DataFrame) -> Who:
  """The groups of audit.groups, of measures.groups, or of the column group."""
  options = config.audit
  wish = list(options.groups)
  if not wish:
    own = config.measures.groups or config.data.group
    wish = [own] if own else ['group'] if 'group' in table else []
  columns, remarks = audit_table.columns_of(table, wish)
  controls, more = audit_table.columns_of(
    table, options.controls, 'audit.controls'
  )
  members, names, attributes = group_rates.memberships(
    columns, intersections=options.intersections
  )
  if not columns:
    members = np.zeros((0, len(table)), bool)
  both = ' × '.join(columns)
  crossed = attributes.count(both) if len(columns) > 1 else 0
  if crossed > audit_table.MOST:
    keep = [i for i, a in enumerate(attributes) if a != both]
    members, names = members[keep], [names[i] for i in keep]
    attributes = [attributes[i] for i in keep]
    remarks.append(
      f'{crossed:,} combinations of {both} are too many to compare and are '
      'left out'
    )
  for one in wish:
    if one.startswith('terms:'):
      terms, masks = _terms(one.removeprefix('terms:'), table)
      members = np.concatenate([members, masks])
      names, attributes = names + terms, attributes + ['terms'] * len(terms)
  if len(names):
    contrasts.reference_of(members, names, options.reference)
  elif options.reference:
    raise UserError(
      f'audit.reference is {options.reference!r}, but no groups are compared; '
      'name their columns with --config.audit.groups'
    )
  return Who(members, names, attributes, columns, controls, remarks + more)


def _terms(path: str, table: pd.DataFrame) -> tuple[list[str], np.ndarray]:
  terms = read_terms(path, 'audit.groups')
  if 'text' not in table:
    raise UserError(
      f"audit.groups has 'terms:{path}', but the data has no text to find "
      'terms in'
    )
  masks = term_members(list(table['text']), terms)
  have = masks.any(1)
  if not have.any():
    raise UserError(
      f'no text has a term of {path}; is the list in the language of the texts?'
    )
  return [t for t, h in zip(terms, have) if h], masks[have]
