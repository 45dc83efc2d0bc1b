"""Config: knobs that a recipe does not read are refused where they are set.

What a user asks for does not silently stay undone. Which they are, stands in
the recipe's row (recipes/__init__.py). A recipe reads none of the sections
that its command does not show, or only those of its own parts; these are not
listed there.
"""

import importlib

from fairjax.core.errors import UserError, shown

SENTENCE = {'text': 'data.text'}  # elsewhere a column is meant

# Knobs of test sets: {knob: the set of measures.sets that reads it}.
OF_SET = {
  'measures.templates': 'identity',
  'measures.madlibs': 'madlibs',
  'measures.gender_file': 'gender_file',
}


def refuse_unmeasured(name: str, value: object, sets: tuple[str, ...]) -> None:
  """Raises UserError where a file or axis is of a set that is not measured."""
  own = OF_SET.get(name)
  if own and own not in sets:
    raise UserError(
      f'{name} is {shown(value, 180)}, which test set {own} reads, and '
      f'measures.sets is {", ".join(sets)}: take --config.measures.sets='
      f'{",".join((*sets, own))}, or leave it out'
    )


def rows():
  """{recipe: row}, read late: the recipes themselves read the config."""
  return importlib.import_module('fairjax.recipes').RECIPES


def row(recipe: str):
  """A recipe's row, or None of a recipe that there no longer is."""
  return rows().get(recipe)


def refuse(recipe: str, name: str, value: object) -> None:
  """Raises UserError where a knob that was set does nothing in the recipe."""
  if name == 'seeds' and value == 1:
    return  # what is there is one run
  one = row(recipe)
  ignored = {**({} if one.reads_text else SENTENCE), **one.ignores}
  if name in ignored:
    remedy = f'take --config.{ignored[name]}, or ' if ignored[name] else ''
    raise UserError(
      where=name,
      got=value,
      expected=f'recipe {recipe!r} does not read it',
      remedy=f'{remedy}leave it out',
    )
