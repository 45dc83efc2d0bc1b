"""Config: the network, the training loop, and the layout of devices."""

import dataclasses

from fairjax.core.knobs import (
  above,
  at_least,
  below,
  between,
  knob,
  one_of,
  rule,
)

_rates = rule(
  lambda value: len(value) < 3 and all(0 <= one < 1 for one in value),
  'one or two numbers from 0 to below 1',
)


@dataclasses.dataclass(slots=True)
class Net:
  """Options of the model named by `Config.model`."""

  init: str = knob('auto', one_of('auto', 'pretrained', 'frozen', 'random'))
  dropout: tuple[float, ...] = knob((), _rates)
  precision: str = knob(
    'auto',
    one_of('auto', 'float32', 'bfloat16', 'int8'),
    changes=('training', 'scores', 'measures', 'texts', 'attributes'),
  )
  deterministic: bool = knob(False)
  glove: str = knob('', path=True)
  remove_gender: bool = knob(False)


@dataclasses.dataclass(slots=True)
class Train:
  """The one training loop's options; defaults as in the diet paper."""

  lr: float = knob(1e-6, above(0, 10))
  optimizer: str = knob('adamw', one_of('adamw', 'rmsprop'))
  batch: int = knob(64, between(1, 2**20))
  epochs: float = knob(15.0, above(0, 1e6))
  warmup: float = knob(0.0, below(0, 1))
  schedule: str = knob('linear', one_of('linear', 'constant', 'plateau'))
  weight_decay: float = knob(0.0, at_least(0))
  beta2: float = knob(0.999, below(0, 1))
  eps: float = knob(1e-8, above(0, 1))
  max_grad_norm: float = knob(1.0, at_least(0))
  microbatches: int = knob(1, at_least(1))
  evals: float = knob(1.0, above(0, 1e6))
  metric_for_best: str = knob(
    'loss', one_of('loss', 'accuracy', 'auc', 'mcc', 'pearson', 'bleu')
  )
  load_best: bool = knob(True)
  patience: int = knob(3, at_least(0))
  save_every: int = knob(200, at_least(0), changes=())
  export: bool = knob(False, changes=())


@dataclasses.dataclass(slots=True)
class Mesh:
  """How devices are laid out: seeds × data."""

  seed: int = knob(0, at_least(0))
  fsdp: bool = knob(False)
