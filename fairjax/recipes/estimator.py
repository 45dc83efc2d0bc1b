"""A fairer classifier as scikit-learn's estimators are: fit, predict.

    model = FairClassifier('diet', epochs=2)
    model.fit(texts, y, sensitive_features=df['gender'])
    model.predict_proba(texts)

`fit` is the run that `fairjax diet`, `weights` or `train` makes of the same
rows, so its parameters are knobs of configs/.
"""

import contextlib
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fairjax.config import Config, doors, pretrained, shipped, validate
from fairjax.core import artefacts, paths
from fairjax.core.errors import need, same_index
from fairjax.data.tables import inputs
from fairjax.data.tables.inputs import BadRows
from fairjax.stages.classifier import load

# What a method is called here: the shipped config and what it sets there.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
  'none': ('train_csv', {}),
  'cda': ('train_csv', {'method.name': 'augment'}),
  'cds': ('train_csv', {'method.name': 'substitute', 'method.ratio': 0.5}),
  'blind': ('train_csv', {'method.name': 'blind'}),
  'balance': ('train_csv', {'method.name': 'balance'}),
  'weights': ('train_csv', {'method.name': 'reweight'}),
  'diet': ('diet_csv', {'diet.compare': ()}),
}
CALLED = {'workdir': 'folder', 'weighting.z': 'the argument sensitive_features'}


class FairClassifier(ClassifierMixin, BaseEstimator):
  """A text classifier trained by a method that mitigates bias.

  Args:
    method: 'none', 'cda', 'cds', 'blind', 'balance', 'weights' or 'diet'.
    model: a folder or the name of a model; '' is MiniLM, or else 'tiny'.
    epochs: over the rows; None is the config's.
    learning_rate: None is the config's.
    random_state: of everything that is drawn.
    options: {knob: value} of other knobs, as {'diet.factual': 0.3}.
    folder: where the run with its page is kept; '' keeps none.

  A tenth of the rows (the last of an order drawn by `random_state`) is held out
  for the run's own measures.
  """

  def __init__(
    self,
    method: str = 'diet',
    *,
    model: str = '',
    epochs: float | None = None,
    learning_rate: float | None = None,
    random_state: int = 0,
    options: Mapping[str, Any] | None = None,
    folder: str = '',
  ):
    self.method = method
    self.model = model
    self.epochs = epochs
    self.learning_rate = learning_rate
    self.random_state = random_state
    self.options = options
    self.folder = folder

  @doors.door(CALLED, doors.LEAVES)
  def fit(
    self, X: Any, y: Any, *, sensitive_features: Any = None
  ) -> 'FairClassifier':
    """Trains on texts X and labels y.

    Args:
      {arguments}
    """
    same_index(X=X, y=y, sensitive_features=sensitive_features)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name='y')
    check_classification_targets(y)
    texts = inputs.texts(X)
    self.classes_, labels = np.unique(y, return_inverse=True)
    if len(labels) != len(texts):
      raise BadRows(f'X has {len(texts):,} rows and y {len(labels):,}')
    if len(self.classes_) < 2:
      raise BadRows(
        f'y has one class, {self.classes_[0]!r}; a classifier needs two'
      )
    rows = pd.DataFrame({'text': texts, 'label': labels})
    rows, groups = inputs.with_groups(rows, sensitive_features)
    with contextlib.ExitStack() as files:
      folder = self.folder or files.enter_context(tempfile.TemporaryDirectory())
      self.model_ = self._trained(rows, groups, paths.at_home(folder))
    return self

  def _trained(
    self, rows: pd.DataFrame, groups: list[str], folder: pathlib.Path
  ) -> Any:
    """The run of these rows, and the model that it leaves."""
    from fairjax.core.registry import find
    from fairjax.recipes import RECIPES

    config = config_of(self, groups)
    order = np.random.default_rng(self.random_state).permutation(len(rows))
    held = order[len(rows) - max(len(rows) // 10, 1) :]
    files = {'path': rows.drop(index=held), 'valid_path': rows.iloc[held]}
    for name, part in files.items():
      file = folder / f'{name.removesuffix("_path")}.parquet'
      artefacts.write_table(file, part)
      setattr(config.data, name, str(file))
    config.data.test_path = config.data.valid_path  # no other rows are left
    config.train.export = True
    validate(config)
    find(RECIPES, 'recipe', config.recipe)(config, folder)
    return load(str(folder / 'export' / f'seed_{config.seed}'))

  def __sklearn_tags__(self) -> Tags:
    tags = super().__sklearn_tags__()
    tags.input_tags.string, tags.input_tags.two_d_array = True, False
    return tags

  def predict_proba(self, X: Any) -> np.ndarray:
    """Probabilities [n, c] of each text, in the order of `classes_`."""
    check_is_fitted(self)
    return self.model_.predict_proba(X)

  def predict(self, X: Any) -> np.ndarray:
    """The likeliest class of each text."""
    found = self.predict_proba(X).argmax(-1)  # which says what is not fitted
    return self.classes_[found]


def config_of(asked: FairClassifier, groups: list[str]) -> Config:
  """The shipped config of a method, with what was asked of the classifier."""
  known = isinstance(asked.method, str) and asked.method in WAYS
  need(known, 'method', asked.method, f'it must be one of {", ".join(WAYS)}')
  name, own = WAYS[asked.method]
  own = {**own, 'seeds': 1, 'seed': inputs.seed(asked.random_state)}
  if groups:
    own['weighting.z'] = f'columns:{",".join(groups)}'
    own['method.by'] = ','.join([*groups, 'label'])
    own['data.group'] = 'group' if 'group' in groups else ''
    own['measures.groups'] = ','.join(groups)
  given = {'train.epochs': asked.epochs, 'train.lr': asked.learning_rate}
  own |= {knob: value for knob, value in given.items() if value is not None}
  own |= {'model': asked.model} if asked.model else {}
  own |= dict(asked.options or {})
  # A model that can be written as a folder.
  config = shipped(name, asked.model or pretrained('tiny'))
  return doors.configured(config, doors.LEAVES, own)
