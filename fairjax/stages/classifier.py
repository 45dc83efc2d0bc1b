"""A classifier as the library has it: loaded, asked for probabilities."""

import dataclasses
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import doors
from fairjax.core.errors import UserError, need, same_index
from fairjax.data.tables import inputs

PRECISIONS = ('auto', 'float32', 'bfloat16', 'int8')


@doors.door({'model': 'folder', 'recipe': 'fairjax train'})
def load(folder: str | pathlib.Path, precision: str = 'auto') -> 'Classifier':
  """A fine-tuned classifier from a Hugging Face folder (safetensors).

  One that a blind run of ours exported reads blind texts, as it was trained.

  Args:
    {arguments}
  """
  import jax.numpy as jnp

  from fairjax import models
  from fairjax.stages import audited

  need(
    isinstance(folder, str | os.PathLike),
    *('folder', folder, 'the path or name of a model is needed'),
  )
  need(
    isinstance(precision, str) and precision in PRECISIONS,
    *('precision', precision),
    f'it must be one of {", ".join(map(repr, PRECISIONS))}',
  )
  from fairjax.core import backend

  products = backend.inference(precision)
  integers, mixed = products == 'int8', precision == 'auto'
  if not mixed:
    backend.chosen(precision)  # says where it is slow
  dtype = jnp.dtype('float32' if integers or mixed else precision)
  bundle = models.load(folder, can='classify', dtype=dtype)
  reads, _ = audited.reader(pathlib.Path(folder).expanduser())
  bundle = bundle.replace(reads=reads)
  if integers:
    from fairjax.models.decoding import decode_texts

    params = decode_texts.ready(bundle.module, bundle.params, products)
    bundle = bundle.replace(params=params)
  from fairjax.train import decisions

  how = decisions.Reading(products) if mixed else None
  return Classifier(bundle, str(folder), how)


@dataclasses.dataclass(repr=False)
class Classifier:
  """A model that gives probabilities of texts, as in scikit-learn."""

  bundle: Any  # models.Bundle
  name: str = ''
  # decisions.Reading, where rows far from a decision may be computed faster.
  how: Any = None
  # (bundle, it on its devices, its parameters): else every call would trace.
  _ready: tuple = dataclasses.field(default=(None,), init=False, compare=False)

  @property
  def classes_(self) -> np.ndarray:
    """The names of the classes, in the order of the probabilities."""
    return np.array(self.bundle.labels)

  @property
  def problem(self) -> str:
    """Whether one class is right or each label holds or not, as its folder
    says (families/chances.py)."""
    from fairjax.models.families import chances

    kind = chances.problem(self.bundle.config, self.bundle.classes, self.name)
    if kind == 'regression':
      raise UserError(
        f'{self.name} is a regression (problem_type of its config.json): it '
        'has no classes to give probabilities of'
      )
    return kind

  def predict_proba(
    self, texts: Sequence[str], batch_size: int = 64
  ) -> np.ndarray:
    """Probabilities [n, c] of each text: a softmax of the logits, or of labels
    that each hold or not (problem_type), and of a single one, a sigmoid each.
    """
    from fairjax.models.families import chances
    from fairjax.train import decisions

    need(inputs.is_column(texts), 'texts', texts, 'a column of texts is needed')
    need(
      inputs.whole(batch_size) and batch_size > 0,
      *('batch_size', batch_size, 'a whole number from 1 is needed'),
    )
    if not len(texts):
      return np.zeros((0, len(self.classes_)))
    table = pd.DataFrame({'text': inputs.texts(texts), 'label': 0})
    model, params = self.placed()
    from fairjax import stages

    logits = decisions.predict(
      model,
      params,
      stages.pool(model, table),
      batch_size,
      self.how or decisions.Reading(),
      self.problem,
    )
    return chances.probabilities(logits[0], self.problem)

  def predict(
    self,
    texts: Sequence[str],
    batch_size: int = 64,
    *,
    thresholds: Any = None,
    groups: Sequence[str] | None = None,
    sensitive_features: Sequence[str] | None = None,
  ) -> np.ndarray:
    """The name of the likeliest class of each text; which labels hold [n, c],
    where several may.

    Args:
      texts: to be classified.
      batch_size: texts a step.
      thresholds: of groups, by which the second of two classes is decided: what
        `fairjax.thresholds` found, or the file that its `save` wrote.
      groups: that of each text, for `thresholds`.
      sensitive_features: another name of `groups`.
    """
    from fairjax.models.families import chances

    groups = inputs.groups_of(groups, sensitive_features)
    same_index(texts=texts, groups=groups)
    if thresholds is not None:
      rule = self._rule(thresholds, groups)
      limits = (*rule.thresholds.values(), rule.otherwise)
      found = self.deciding_at(limits).predict_proba(texts, batch_size)
      own = [] if groups is None else inputs.by_place(groups, 'groups')
      return self.classes_[rule.decide(found[:, 1], own)]
    found = self.predict_proba(texts, batch_size)
    if self.problem == chances.EACH:
      return found >= 0.5
    return self.classes_[found.argmax(-1)]

  def _rule(self, thresholds, groups):
    from fairjax.metrics import group_thresholds

    if len(self.classes_) != 2 or groups is None:
      raise UserError(
        'thresholds of groups decide between two classes and need the group '
        f'of each text; {self.name} has {len(self.classes_)} classes, and '
        f'groups is {"missing" if groups is None else "given"}'
      )
    if isinstance(thresholds, str | pathlib.Path):
      thresholds = group_thresholds.read(thresholds)
    rule = getattr(thresholds, 'rule', thresholds)
    need(
      isinstance(rule, group_thresholds.Thresholds),
      *('thresholds', thresholds, 'what `fairjax.thresholds` found is needed'),
    )
    return rule

  def deciding_at(self, thresholds: Sequence[float]) -> 'Classifier':
    """The same; decisions by these thresholds are float32's, too."""
    if self.how is None:
      return self
    how = self.how._replace(thresholds=tuple(map(float, thresholds)))
    return dataclasses.replace(self, how=how)

  def __getstate__(self) -> dict[str, Any]:
    return self.__dict__ | {'_ready': (None,)}  # devices are not pickled

  def get_params(self, deep: bool = True) -> dict[str, Any]:
    """None: whatever it is lies in its folder."""
    return {}

  def fit(self, X: Any = None, y: Any = None) -> 'Classifier':
    """Itself: trained, as scikit-learn's FrozenEstimator, and so its clones."""
    return self

  def __sklearn_clone__(self) -> 'Classifier':
    return self

  def __sklearn_is_fitted__(self) -> bool:
    return True

  def __sklearn_tags__(self) -> Any:
    from sklearn import utils

    return utils.Tags(
      estimator_type='classifier',
      target_tags=utils.TargetTags(required=False),
      classifier_tags=utils.ClassifierTags(),
      input_tags=utils.InputTags(two_d_array=False, string=True),
    )

  def score(self, X: Sequence[str], y: Sequence) -> float:
    """The share of texts that are classified right."""
    return float(np.mean(self.predict(X) == np.asarray(y)))

  def placed(self) -> tuple[Any, Any]:
    """The bundle on its devices, and its parameters with a seed axis."""
    import jax

    from fairjax.config import Mesh
    from fairjax.train import mesh

    if self._ready[0] is not self.bundle:
      model = self.bundle.replace(device_mesh=mesh.make(Mesh(), 1))
      params = jax.tree.map(lambda leaf: np.asarray(leaf)[None], model.params)
      params = mesh.put_state(model.device_mesh, params)
      self._ready = (self.bundle, model, params)
    return self._ready[1:]

  def __repr__(self) -> str:
    return f'Classifier({self.name!r}, classes={self.classes_.tolist()})'
