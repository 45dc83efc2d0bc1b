"""mypy sees the fields of shapes, which `shape_class` makes of keys.csv.

A plugin: for the type checker too, a field of a shape is a row of that table.
"""

import csv
import json
import pathlib
from collections.abc import Callable

from mypy.nodes import ARG_NAMED_OPT, Argument, AssignmentStmt, StrExpr, Var
from mypy.plugin import ClassDefContext, Plugin, ReportConfigContext
from mypy.plugins.common import add_attribute_to_class, add_method_to_class
from mypy.types import AnyType, NoneType, Type, TypeOfAny

FAMILIES = pathlib.Path(__file__).parents[1] / 'fairjax/models/families'
TABLE = FAMILIES / 'keys.csv'


def kinds(family: str) -> dict[str, str]:
  """{field: the class of its default}; =FIELD has the class of that field."""
  found: dict[str, str] = {}
  with TABLE.open(encoding='utf-8', newline='') as lines:
    for row in csv.DictReader(lines):
      if row['family'] == family and row['ours'] and row['written'] != 'no':
        default = row['default']
        own = default.startswith('=')
        kind = type(None if own else json.loads(default)).__name__
        found[row['ours']] = found[default[1:]] if own else kind
  return found


def add_fields(context: ClassDefContext) -> None:
  """Attributes, and what `__init__` and `dataclasses.replace` take."""
  api, cls, call = context.api, context.cls, context.reason
  family = call.args[0] if hasattr(call, 'args') else None
  assert isinstance(family, StrExpr), 'shape_class is called with a name'
  fields: dict[str, Type] = {}
  for stmt in cls.defs.body:
    if isinstance(stmt, AssignmentStmt) and stmt.new_syntax:
      node = cls.info.names[stmt.lvalues[0].name].node
      fields[node.name] = node.type or AnyType(TypeOfAny.from_error)
  for name, kind in kinds(family.value).items():
    if name not in fields:
      fields[name] = api.named_type(f'builtins.{kind}')
      add_attribute_to_class(api, cls, name, fields[name])
    cls.info.names[name].node.is_property = True  # frozen
  arguments = [
    Argument(Var(name, kind), kind, None, ARG_NAMED_OPT)
    for name, kind in fields.items()
  ]
  for method in ('__init__', '__mypy-replace'):
    static = method != '__init__'
    add_method_to_class(
      *(api, cls, method, arguments, NoneType()), is_staticmethod=static
    )
  marks = api.named_type('builtins.dict', [AnyType(TypeOfAny.explicit)] * 2)
  add_attribute_to_class(
    *(api, cls, '__dataclass_fields__', marks), is_classvar=True
  )


class Shapes(Plugin):
  """Hooks on the decorator; another table makes mypy's cache old."""

  def get_class_decorator_hook(
    self, fullname: str
  ) -> Callable[[ClassDefContext], None] | None:
    return add_fields if fullname.endswith('.config_keys.shape_class') else None

  def report_config_data(self, ctx: ReportConfigContext) -> str:
    return TABLE.read_text(encoding='utf-8')


def plugin(version: str) -> type[Plugin]:
  return Shapes
