"""Config: the network, the training loop, and the layout of devices."""

import dataclasses

from fairjax.core.knobs import (
  above,
  at_least,
  below,
  between,
  knob,
  one_of,
  or_else,
)


@dataclasses.dataclass(slots=True)
class Net:
  """Options of the model named by `Config.model`."""

  init: str = knob(
    'auto',
    "initial weights: 'auto', 'pretrained' or 'random'",
    one_of('auto', 'pretrained', 'random'),
  )
  dropout: float = knob(
    -1.0,
    "hidden dropout rate; -1 keeps the model's own",
    or_else(-1, below(0, 1)),
  )
  precision: str = knob(
    'auto',
    "'float32' or 'bfloat16'; 'auto' is bfloat16 off CPU, and of answers and "
    "texts where a CPU has it (train/decisions.py); 'int8': texts on a CPU",
    one_of('auto', 'float32', 'bfloat16', 'int8'),
    changes=('training', 'scores', 'measures', 'texts', 'attributes'),
  )
  kernels: str = knob(
    'auto',
    "kernels instead of plain code: 'auto' takes those that a test on such a "
    "chip has proven (models/kernels/), 'on' the others too, 'off' none",
    one_of('auto', 'on', 'off'),
    changes=('training', 'scores', 'measures', 'texts', 'attributes'),
  )
  deterministic: bool = knob(
    False,
    'train to the same bits each time on a GPU, too (slower: products are not '
    'tuned, sums wait for their order); a CPU and a TPU always do',
  )
  glove: str = knob(
    '',
    "GloVe text file for cnn and lstm, kept as it is; '' trains embeddings",
    path=True,
  )
  remove_gender: bool = knob(
    False, 'remove a gender direction from these embeddings first'
  )


@dataclasses.dataclass(slots=True)
class Train:
  """The one training loop's options; defaults as in the diet paper."""

  lr: float = knob(1e-6, 'peak learning rate', above(0, 10))
  optimizer: str = knob(
    'adamw', "'adamw' or 'rmsprop'", one_of('adamw', 'rmsprop')
  )
  batch: int = knob(
    64, 'examples per step, over all devices', between(1, 2**20)
  )
  epochs: float = knob(
    15.0, 'passes over the training rows; may be fractional', above(0, 1e6)
  )
  warmup: float = knob(
    0.0, 'share of the steps in which the rate rises', below(0, 1)
  )
  schedule: str = knob(
    'linear',
    "learning rate: 'linear' decay to 0, 'constant', or lower at a 'plateau'",
    one_of('linear', 'constant', 'plateau'),
  )
  plateau_factor: float = knob(
    0.5,
    "what a seed's rate is multiplied by at a plateau, each four evaluations",
    above(0, 1),
  )
  weight_decay: float = knob(
    0.0, 'decoupled weight decay of kernels and embeddings', at_least(0)
  )
  beta1: float = knob(0.9, 'decay of the first moment (adamw)', below(0, 1))
  beta2: float = knob(0.999, 'decay of the second moment (adamw)', below(0, 1))
  eps: float = knob(1e-8, 'ε in the denominator of the update', above(0, 1))
  max_grad_norm: float = knob(
    1.0, 'gradients are clipped to this norm; 0 does not clip', at_least(0)
  )
  microbatches: int = knob(
    1, 'parts into which a batch is divided to save memory', at_least(1)
  )
  evals: float = knob(1.0, 'evaluations per epoch', above(0, 1e6))
  metric_for_best: str = knob(
    'loss',
    "'loss', 'accuracy', 'auc', 'mcc', 'pearson' (of grades) or (of "
    "rewriters) 'bleu' on validation",
    one_of('loss', 'accuracy', 'auc', 'mcc', 'pearson', 'bleu'),
  )
  load_best: bool = knob(True, 'return the best weights instead of the last')
  patience: int = knob(
    3,
    'evaluations without improvement before stopping; 0 never stops',
    at_least(0),
  )
  save_every: int = knob(
    200,
    'steps between checkpoints; 0 saves only where a run is asked to stop',
    at_least(0),
    changes=(),
  )
  track: bool = knob(False, 'predict the training rows after every epoch')
  export: bool = knob(
    False,
    'also write each seed as a Hugging Face folder, in export/; of several '
    "contenders only the diet's, weight's or fairtuned (recipe compare: each)",
    changes=(),
  )


@dataclasses.dataclass(slots=True)
class Mesh:
  """How devices are laid out: seeds × data."""

  seed: int = knob(
    0, 'devices along the seed axis; 0 chooses automatically', at_least(0)
  )
  fsdp: bool = knob(False, 'also shard parameters over the data axis')
