"""An audit at each evaluation of a `transformers` Trainer.

    trainer.add_callback(fairjax.AuditCallback(trainer, rows, groups='gender'))

What it measures is logged as eval_dp, eval_eqodd … with the loss, so that what
the Trainer reports to (TensorBoard, W&B, MLflow) has it too, and
`metric_for_best_model` may name one.
"""

import math
import os
import pathlib
from typing import Any

import numpy as np
from transformers import TrainerCallback

from fairjax.core.errors import need
from fairjax.metrics import measures
from fairjax.recipes.audit.library import Audited, audit

BATCH = 32


class AuditCallback(TrainerCallback):
  """Audits the model of a Trainer at each of its evaluations.

  Args:
    trainer: a Trainer of a sequence classifier, with its tokenizer as
      processing_class.
    data: the rows, as `fairjax.audit` takes them.
    folder: where the page of each evaluation is saved, in step_N; '' saves
      none.
    given: to `fairjax.audit` besides: groups, label, options, …

  `result` is the last audit. Each process asks the model, as a model that is
  divided among them needs; the first one saves.
  """

  def __init__(
    self,
    trainer: Any,
    data: Any,
    *,
    folder: str | os.PathLike = '',
    **given: Any,
  ):
    tokenizer = getattr(trainer, 'processing_class', None)
    wanted = 'a Trainer with a tokenizer as processing_class is needed'
    need(callable(tokenizer), 'trainer', trainer, wanted)
    self.trainer, self.data, self.folder = trainer, data, folder
    self.given = given
    self.result: Audited | None = None

  def on_evaluate(self, args, state, control, metrics=None, **kwargs):
    self.result = audit(self.probabilities, self.data, **self.given)
    values = {k: self.result[k]['value'] for k in measures.leading(self.result)}
    found = {
      f'eval_{name}': float(value)
      for name, value in values.items()
      if value is not None and math.isfinite(value)
    }
    if metrics is not None:  # what the best model is chosen by
      metrics |= found
    self.trainer.log(found)
    if self.folder and state.is_world_process_zero:
      place = pathlib.Path(self.folder) / f'step_{state.global_step}'
      self.result.save(place)

  def probabilities(self, texts: list[str]) -> np.ndarray:
    """[n, c]: a softmax of the logits, or a sigmoid of each label's."""
    import torch

    model, trained = self.trainer.model, self.trainer.model.training
    several = model.config.problem_type == 'multi_label_classification'
    out = []
    model.eval()
    with torch.no_grad():
      for start in range(0, len(texts), BATCH):
        rows = self.trainer.processing_class(
          texts[start : start + BATCH],
          **{'padding': True, 'truncation': True, 'return_tensors': 'pt'},
        )
        logits = model(**rows.to(model.device)).logits.float()
        alone = several or logits.shape[-1] == 1
        out.append(logits.sigmoid() if alone else logits.softmax(-1))
    model.train(trained)
    return torch.cat(out).cpu().numpy()
