"""The stages that recipes call, each leaving one artefact in the run's folder.

    config → tables → model, pools → fit → predictions → measures → report

A stage whose artefact is there with the same fingerprint is not run again.

In this room:

  assessment     Predictions as a table, and their measures with intervals and
                 tests
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

from fairjax.stages.assessment import (
  adjusted,
  assess,
  compare,
  inference,
  judged,
  prediction_table,
  predictions,
)
from fairjax.stages.fits import (
  export,
  fitted_once,
  pool,
  pool_parts,
  prepare,
  probabilities,
  train,
  write_models,
)
from fairjax.stages.loading import (
  as_read,
  load,
  membership,
  mitigate,
  notes,
  test_sets,
)
from fairjax.stages.reuse import stage, write_json, write_table
from fairjax.stages.runs import (
  begin,
  file_name,
  keep_config,
  keep_predictions,
  publish,
  results,
  versions,
)
