"""The stages that recipes call, each leaving one artefact in the run's folder.

    config → tables → model, pools → fit → predictions → measures → report

A stage whose artefact is there with the same fingerprint is not run again.
"""

import importlib

# Each is loaded when it is first asked for: an audit of predictions fits
# nothing, and starts without what a fit needs.
_STAGES = {
  'assessment': 'adjusted assess clusters_of compare inference of_positive '
  'prediction_table',
  'experiment': 'Experiment recipe',
  'fits': 'export of_sets parts_of pool pools prepare probabilities '
  'write_models',
  'loading': 'as_read groups_of load mitigate notes test_sets',
  'reuse': 'stage write_json write_table',
  'runs': 'begin data_of file_name finish is_main keep_config '
  'keep_predictions leave publish results versions write_predictions',
}
_MODULE_OF = {name: m for m, names in _STAGES.items() for name in names.split()}


def __getattr__(name: str):
  if name not in _MODULE_OF:
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
  module = importlib.import_module(f'{__name__}.{_MODULE_OF[name]}')
  globals()[name] = getattr(module, name)
  return globals()[name]
