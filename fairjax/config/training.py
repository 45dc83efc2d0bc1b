"""Config: the network, the training loop, and the layout of devices."""

import dataclasses

from fairjax.knobs import above, at_least, below, between, knob, one_of, or_else


@dataclasses.dataclass
class Net:
  """Options of the model named by `Config.model`."""

  init: str = knob(
    'auto',
    "'auto', 'pretrained' or 'random' weights",
    one_of('auto', 'pretrained', 'random'),
  )
  dropout: float = knob(
    -1.0, "hidden dropout; -1 keeps the model's own", or_else(-1, below(0, 1))
  )
  attention_dropout: float = knob(
    -1.0, 'likewise, of attention weights', or_else(-1, below(0, 1))
  )
  precision: str = knob(
    'auto',
    "'float32', 'bfloat16'; auto: bfloat16 off CPU",
    one_of('auto', 'float32', 'bfloat16'),
    changes=('training', 'scores', 'measures', 'texts', 'attributes'),
  )
  scan: bool = knob(False, 'one compiled layer for all (faster to compile)')
  remat: bool = knob(False, 'recompute activations in the backward pass')
  glove: str = knob(
    '',
    "GloVe text file for cnn and lstm; '' learns vectors",
    path=True,
  )
  freeze_embeddings: bool = knob(
    True, 'keep the vectors of `glove` as they are'
  )
  remove_gender: bool = knob(False, 'take a gender direction out of them first')
  padding: str = knob(
    'pre',
    "cnn and lstm pad and cut the start; 'post' the end",
    one_of('pre', 'post'),
  )


@dataclasses.dataclass
class Train:
  """The one training loop's options; defaults as in the diet paper."""

  lr: float = knob(1e-6, 'peak learning rate', above(0, 10))
  optimizer: str = knob(
    'adamw', "'adamw' or 'rmsprop'", one_of('adamw', 'rmsprop')
  )
  batch: int = knob(64, 'examples a step, over all devices', between(1, 2**20))
  epochs: float = knob(
    15.0, 'passes over the training rows; may be a fraction', above(0, 1e6)
  )
  warmup: float = knob(
    0.0, 'share of the steps with a rising rate', below(0, 1)
  )
  schedule: str = knob(
    'linear', "'linear' decay to 0, or 'constant'", one_of('linear', 'constant')
  )
  weight_decay: float = knob(0.0, '', at_least(0))
  beta1: float = knob(0.9, '', below(0, 1))
  beta2: float = knob(0.999, '', below(0, 1))
  eps: float = knob(1e-8, '', above(0, 1))
  correct_bias: bool = knob(
    True, "adamw: divide the moments by 1 - β^t; off as in BERT's first one"
  )
  max_grad_norm: float = knob(
    1.0, 'largest gradient norm; 0 is no clipping', at_least(0)
  )
  microbatches: int = knob(
    1, 'parts that a batch is computed in, one by one', at_least(1)
  )
  evals: float = knob(1.0, 'evaluations an epoch', above(0, 1e6))
  metric_for_best: str = knob(
    'loss',
    "'loss', 'accuracy', 'auc' or (of rewriters) 'bleu' on validation",
    one_of('loss', 'accuracy', 'auc', 'bleu'),
  )
  load_best: bool = knob(True, 'end with the best weights, not the last')
  patience: int = knob(
    3, 'evaluations without a gain before stopping; 0 never', at_least(0)
  )
  save_every: int = knob(
    200,
    'steps between checkpoints; 0: at the end alone',
    at_least(0),
    changes=(),
  )
  track: bool = knob(False, 'predict the training rows after every epoch')
  export: bool = knob(
    False, 'also write each seed as a Hugging Face folder', changes=()
  )


@dataclasses.dataclass
class Mesh:
  """How devices are laid out: seeds × data."""

  seed: int = knob(0, 'devices along the seed axis; 0 chooses', at_least(0))
  fsdp: bool = knob(False, 'also shard parameters over the data axis')
