"""The stages that recipes call, each leaving one artefact in the run's folder.

    config → tables → model, pools → fit → predictions → measures → report

A stage whose artefact is there with the same fingerprint is not run again.

In this room:

  asking         A model under audit, and its answers: asked, checked, kept,
                 and aligned
  assessed       What `fairjax.assess` returns: measures of predictions, and
                 their page
  assessment     Predictions as a table, and their measures with intervals and
                 tests
  audited        Audited models: anything that gives texts, or rows,
                 probabilities
  bag_of_words   A bag of words: how well the simplest classifier does on the
                 same rows
  classifier     A classifier as the library has it: loaded, asked for
                 probabilities
  edited         Predictions of edited texts beside predictions of rows
  experiment     Experiment → Results: contenders × seeds → answers → tests →
                 verdicts
  fits           Models of tables: prepared, fitted, exported, asked for
                 probabilities
  identity       The identity of a stage: a hash of everything it depends on
  loading        Tables of a run: loaded, mitigated, grouped
  model_outputs  Outputs of a model on a table, for scores
  reuse          Make or reuse: a stage's artefact in the run's folder
  runs           The beginning and end of a run: config, versions, results
  scoring        Example scores as a stage: a probe trained, its rows scored,
                 scores.parquet
"""

import importlib

# Each is loaded when it is first asked for: an audit of predictions fits
# nothing, and starts without what a fit needs.
_STAGES = {
  'assessment': 'adjusted assess clusters_of compare inference of_positive '
  'prediction_table',
  'experiment': 'Experiment recipe',
  'fits': 'answers_once export fitted_once of_sets pool pool_parts pools '
  'prepare probabilities train write_models',
  'loading': 'as_read load membership mitigate notes test_sets',
  'reuse': 'stage write_json write_table',
  'runs': 'begin file_name keep_config keep_predictions leave publish results '
  'versions',
}
_MODULE_OF = {name: m for m, names in _STAGES.items() for name in names.split()}


def __getattr__(name: str):
  if name not in _MODULE_OF:
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
  module = importlib.import_module(f'{__name__}.{_MODULE_OF[name]}')
  globals()[name] = getattr(module, name)
  return globals()[name]
