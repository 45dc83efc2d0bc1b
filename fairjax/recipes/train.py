"""One classifier after one data-side method: trained, measured, reported."""

from fairjax import stages
from fairjax.data.tables.schema import Tables
from fairjax.methods import unread
from fairjax.results import Results
from fairjax.stages import Experiment


@stages.recipe
def run(e: Experiment) -> Results:
  """config → tables → method → model → predictions → measures → report."""
  method, own = e.config.method, e.config.method.name
  for knob in unread(method):
    e.log.line(f'method.{knob} is set, and method {own} does not read it')
  return after_method(e, e.load())


def after_method(e: Experiment, tables: Tables) -> Results:
  """The classifier after the config's method, and its measures."""
  own = e.config.method.name
  tables = stages.mitigate(e.config, tables, e.log)
  model = stages.prepare(e.config, tables, e.log)
  fit = e.fit(model, stages.pools(model, tables), export=True)
  e.answer(own, stages.of_sets(e.config, model, fit.params, e.sets))
  e.compare((), own)
  return e.results(focus='', notes=stages.notes(tables))
