"""Every knob of the program: typed dataclasses, one comment each.

A config file in configs/ returns one `Config`; absl flags override its leaves
(`--config.train.lr=1e-5`). Only leaf values reach jitted code. `validate`
speaks in whole sentences.
"""

import dataclasses
import functools
import pathlib
import re
import runpy
from dataclasses import field

from fairjax.errors import UserError


@dataclasses.dataclass
class Data:
  """Which table, and how its columns are named."""

  name: str = 'planted'  # a data set of --list; 'file' reads `path`
  path: str = ''  # csv, tsv, jsonl, parquet file, or a data set's folder
  valid_path: str = ''  # validation file; none: split off `path`, seeded
  test_path: str = ''  # test file; none: split off `path`, seeded
  twin_path: str = ''  # file whose row i is the counterfactual of row i
  text: str = 'text'  # column of the text
  text_pair: str = ''  # column of a second text (sentence pairs)
  label: str = 'label'  # column of the label
  group: str = ''  # column of the group the row speaks of
  twin: str = ''  # column of the counterfactual text
  id: str = ''  # column of stable ids; none: split and row number
  split: str = ''  # column that says train, valid or test; none: see above
  labels: str = ''  # 'BAD=1,NOT_BAD=0', or '>0.5' or '>=0.5' of a number
  on_bad: str = 'error'  # rows that cannot be used: 'error' or 'drop'
  limit: int = 0  # rows kept of each split, drawn by seed; 0 keeps all
  split_seed: int = 0  # seed of the 8:1:1 split where the data has none


@dataclasses.dataclass
class Planted:
  """The embedded data set with a known bias (data/planted.py)."""

  rows: int = 4000  # rows of the training split
  test_rows: int = 1000  # rows of validation and of test
  correlation: float = 0.8  # P(gender agrees with the label) in training
  noise: float = 0.02  # share of labels flipped, in every split
  seed: int = 0  # seed of the sentences


@dataclasses.dataclass
class Tokens:
  """Text to ids."""

  tokenizer: str = ''  # folder or vocab file; '' the model's own, or trained
  vocab_size: int = 4000  # of a tokenizer trained on the data
  max_length: int = 0  # ids kept of a text; 0 is the model's own limit


@dataclasses.dataclass
class Net:
  """Options of the model named by `Config.model`."""

  init: str = 'auto'  # 'auto', 'pretrained' or 'random' weights
  dropout: float = -1.0  # hidden dropout; -1 keeps the model's own
  attention_dropout: float = -1.0  # likewise, of attention weights
  precision: str = 'auto'  # 'float32', 'bfloat16'; auto: bfloat16 off CPU
  scan: bool = False  # one compiled layer for all (faster to compile)
  remat: bool = False  # recompute activations in the backward pass
  glove: str = ''  # GloVe text file for cnn and lstm; '' learns vectors
  freeze_embeddings: bool = True  # keep the vectors of `glove` as they are
  remove_gender: bool = False  # take a gender direction out of them first
  padding: str = 'pre'  # cnn and lstm pad and cut the start; 'post' the end


@dataclasses.dataclass
class Train:
  """The one training loop's options; defaults as in the diet paper."""

  lr: float = 1e-6  # peak learning rate
  optimizer: str = 'adamw'  # 'adamw' or 'rmsprop'
  batch: int = 64  # examples a step, over all devices
  epochs: float = 15.0  # passes over the training rows; may be a fraction
  warmup: float = 0.0  # share of the steps with a rising rate
  schedule: str = 'linear'  # 'linear' decay to 0, or 'constant'
  weight_decay: float = 0.0
  beta1: float = 0.9
  beta2: float = 0.999
  eps: float = 1e-8
  max_grad_norm: float = 1.0  # largest gradient norm; 0 is no clipping
  microbatches: int = 1  # parts that a batch is computed in, one by one
  evals: float = 1.0  # evaluations an epoch
  metric_for_best: str = 'loss'  # 'loss', 'accuracy' or 'auc' on validation
  load_best: bool = True  # end with the best weights, not the last
  patience: int = 3  # evaluations without a gain before stopping; 0 never
  save_every: int = 200  # steps between checkpoints
  track: bool = False  # predict the training rows after every epoch
  export: bool = False  # also write each seed as a Hugging Face folder


@dataclasses.dataclass
class Mesh:
  """How devices are laid out: seeds × data."""

  seed: int = 0  # devices along the seed axis; 0 chooses
  fsdp: bool = False  # also shard parameters over the data axis


@dataclasses.dataclass
class Measures:
  """What is measured, and how sure we are of it."""

  groups: str = ''  # which groups: '' the group column, 'terms:FILE', …
  sets: tuple[str, ...] = ('test',)  # splits or test sets of --list
  threshold: str = '0.5'  # decision threshold: a number or 'eer'
  resamples: int = 10000  # bootstrap resamples
  confidence_level: float = 0.95  # of every interval
  pos_label: int = 1  # the label whose probability is the score
  templates: str = ''  # template file or folder of the identity set
  madlibs: str = ''  # your copy of bias_madlibs_77k.csv
  gender_file: str = ''  # your csv with columns text, gender, Class


@dataclasses.dataclass
class Method:
  """The data-side method: a function table → table."""

  name: str = 'none'  # a method of --list, or several: 'augment+reweight'
  ratio: float = 1.0  # share added or substituted
  rank: str = 'random'  # which rows first: a score, or 'random'
  direction: str = 'opposite'  # of a swap: opposite, male, female, neutral
  names: bool = True  # swap person names too
  names_file: str = ''  # yobYYYY.txt, their folder, or name,sex,count; '' ours
  tagger: str = ''  # 'spacy:MODEL' for her and his; '' decides by rules
  words: str = ''  # file of word pairs or groups; '' our own gender list
  by: str = 'group,label'  # columns that a balance equalises
  how: str = ''  # a method's own variant; '' is its default
  table: str = ''  # second table (supplement)
  terms: str = ''  # file of identity terms, one a line
  epsilon: float = 0.01  # tolerance of the simple supplement rule
  replacement: bool = False  # draw with replacement, as the reference
  keep_equal: bool = False  # add twins that equal their original
  compare: tuple[str, ...] = ()  # of recipe compare; () all that apply


@dataclasses.dataclass
class Corpus:
  """Counterfactuals of whole folders (pairs/corpus.py)."""

  path: str = ''  # folder of .txt, .jsonl and .parquet shards
  out: str = ''  # folder of the results; '' is corpus/ in the run's folder
  column: str = 'text'  # of jsonl and parquet
  both: bool = False  # write each row and then its twin; else the twin alone
  backend: str = 'local'  # 'local', 'dask', 'beam' or 'spmd'
  where: str = ''  # dask address, beam options, or an spmd share as '0/4'
  workers: int = 0  # processes; 0 is one a core


@dataclasses.dataclass
class Generate:
  """How a model writes (recipes/generate_corpus.py); -1, '': as its folder."""

  task: str = 'write'  # 'write' texts, or 'fill' masks and copy all else
  num_beams: int = -1  # 1 is greedy
  max_length: int = -1  # tokens of a text, first one and prompt included
  max_new_tokens: int = -1  # or: tokens after the prompt
  min_length: int = -1
  no_repeat_ngram_size: int = -1
  length_penalty: str = ''  # a number: above 0 favours longer beams
  early_stopping: str = ''  # 'true', 'false' or 'never'
  draft: int = -1  # tokens copied from the source and verified; -1 chooses
  min_span: int = 0  # of a BART that fills: tokens in place of a mask
  max_span: int = 10
  order: str = 'left'  # of a masked LM: 'left' to right, or all at 'once'
  slots: int = 32  # texts decoded side by side
  chunk: int = 2048  # texts between two savepoints


@dataclasses.dataclass
class Scoring:
  """Example scores (scores/)."""

  names: tuple[str, ...] = ('ge', 'el2n')  # scores of --list
  epochs: float = 1.0  # length of the probe's own schedule
  at: str = 'end'  # 'end' of the probe's run, 'start', or 'epoch K'
  path: str = ''  # a scores file of the user's; nothing is computed then
  never: str = 'max'  # forgetting of never-learned rows: max, inf, zero


@dataclasses.dataclass
class Diet:
  """Which rows a diet takes (methods/diet.py)."""

  ranking: str = 'healthy_random'  # one of RANKINGS in methods/diet.py
  factual: float = 0.4  # a: share of the factual rows
  counterfactual: float = 0.4  # b: share of the twins
  replacement: bool = False  # draw with replacement, as the reference
  keep_equal: bool = False  # add twins that equal their original
  twins: str = ''  # '' the data's own, if any; 'swap' by word lists
  compare: tuple[str, ...] = ('none',)  # rankings trained beside it


@dataclasses.dataclass
class Grid:
  """Experiments over many diets as one job."""

  rankings: tuple[str, ...] = (  # of experiment 2
    'healthy_random',
    'unhealthy_random',
    'vanilla_ge',
    'random',
  )
  factual: tuple[float, ...] = (0.3, 0.4, 0.5)  # a of experiment 2
  counterfactual: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)  # b
  augment: tuple[str, ...] = ('ge', 'el2n', 'forgetting', 'grand', 'random')
  shares: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
  models: tuple[str, ...] = ()  # other models of the overlap study
  cells: str = ''  # some only: '0,3,5-9'; 'none' scores; '' all, merged
  budget: float = 0.03  # largest AUC loss of a chosen diet


@dataclasses.dataclass
class Weighting:
  """Instance weights (methods/reweight.py)."""

  z: str = 'gender'  # 'gender', 'terms', 'identity', or 'columns:a,b'
  terms: str = ''  # file of terms, one a line; '' our own list
  how: str = 'words'  # how terms are sought: 'words' or 'reference' (literal)
  estimator: str = 'forest'  # 'forest', 'logistic' or 'count'
  n_estimators: int = 100
  max_depth: int = 18
  criterion: str = 'entropy'
  folds: int = 5  # K of the cross-prediction
  formula: str = 'code'  # 'code' (class means 1) or 'paper' (P(y)/P(y|z))
  q: str = ''  # Q(y) as '0.9,0.1', class 0 first; '' is the data's P(y)
  max_weight: float = 0.0  # largest weight; 0 is none
  rows: tuple[str, ...] = ('baseline', 'weight')  # of recipe weighting


@dataclasses.dataclass
class Pretrain:
  """Pretraining on plain text (recipes/pretrain.py)."""

  objective: str = 'mlm'  # 'mlm', 'electra', 'bart' or 'causal'
  length: int = 128  # tokens of a packed row; train.batch counts rows
  steps: int = 0  # optimiser steps; 0 makes train.epochs passes
  document: str = 'blank'  # a .txt document ends at a 'blank' line or a 'line'
  held_out: float = 0.01  # share of the documents held out, by data.split_seed
  mask: float = 0.15  # share of the tokens masked
  whole_word: bool = False  # mask words, not pieces of words
  spans: float = 3.0  # bart: mean length of a masked span (Poisson)
  permute: bool = True  # bart: put sentences in random order
  generator: float = 0.25  # electra: the generator's width, as a share
  weight: float = 50.0  # electra: of the discriminator's loss
  samples: int = 8  # held-out rows shown in the report
  dry_run: bool = False  # one small step, then the full size counted
  tflops: float = 275.0  # dry run: peak TFLOP/s of the slice to be used
  utilisation: float = 0.4  # dry run: share of that peak which is reached


@dataclasses.dataclass
class Config:
  """One run."""

  recipe: str = 'train'  # a recipe of --list
  model: str = 'mini'  # a size, cnn, lstm, a model folder, or a hub name
  seeds: int = 5  # runs trained side by side
  seed: int = 0  # the first of them
  text: str = ''  # one text, for configs/swap.py
  reuse: str = ''  # a run's folder whose finished stages are taken over
  wandb: str = ''  # a Weights & Biases project; '' is off
  data: Data = field(default_factory=Data)
  planted: Planted = field(default_factory=Planted)
  tokens: Tokens = field(default_factory=Tokens)
  net: Net = field(default_factory=Net)
  train: Train = field(default_factory=Train)
  mesh: Mesh = field(default_factory=Mesh)
  measures: Measures = field(default_factory=Measures)
  method: Method = field(default_factory=Method)
  corpus: Corpus = field(default_factory=Corpus)
  generate: Generate = field(default_factory=Generate)
  scoring: Scoring = field(default_factory=Scoring)
  diet: Diet = field(default_factory=Diet)
  grid: Grid = field(default_factory=Grid)
  weighting: Weighting = field(default_factory=Weighting)
  pretrain: Pretrain = field(default_factory=Pretrain)


def config_folder() -> pathlib.Path:
  """Where the shipped configs are: in the package, or beside it."""
  package = pathlib.Path(__file__).parent
  inside = package / 'configs'
  return inside if inside.is_dir() else package.parent / 'configs'


def shipped(name: str) -> Config:
  """The config of a shipped file, for another one to change."""
  return runpy.run_path(str(config_folder() / f'{name}.py'))['get_config']()


# Names that a leaf had, or has in transformers: told with the one it has here.
RENAMED = {
  'train.clip': 'train.max_grad_norm',
  'train.best': 'train.metric_for_best',
  'train.keep': 'train.load_best',
  'train.accumulate': 'train.microbatches',
  'measures.positive': 'measures.pos_label',
  'measures.level': 'measures.confidence_level',
  'weighting.trees': 'weighting.n_estimators',
  'weighting.depth': 'weighting.max_depth',
  'weighting.clip': 'weighting.max_weight',
  'generate.beams': 'generate.num_beams',
  'generate.max_new': 'generate.max_new_tokens',
  'generate.no_repeat_ngram': 'generate.no_repeat_ngram_size',
}

# What the leaves may be: words, or numbers with the remedy that is told.
WORDS = {
  'data.on_bad': ('error', 'drop'),
  'corpus.backend': ('local', 'dask', 'beam', 'spmd'),
  'generate.task': ('write', 'fill'),
  'generate.early_stopping': ('', 'true', 'false', 'never'),
  'generate.order': ('left', 'once'),
  'net.init': ('auto', 'pretrained', 'random'),
  'net.precision': ('auto', 'float32', 'bfloat16'),
  'net.padding': ('pre', 'post'),
  'train.optimizer': ('adamw', 'rmsprop'),
  'train.schedule': ('linear', 'constant'),
  'train.metric_for_best': ('loss', 'accuracy', 'auc'),
  'scoring.never': ('max', 'inf', 'zero'),
  'weighting.formula': ('code', 'paper'),
  'weighting.how': ('words', 'reference'),
  'weighting.criterion': ('entropy', 'gini', 'log_loss'),
  'weighting.estimator': ('forest', 'logistic', 'count'),
  'method.direction': ('opposite', 'male', 'female', 'neutral'),
}
NUMBERS = {
  'seeds': (lambda v: v >= 1, 'at least 1 is needed'),
  'train.batch': (lambda v: v >= 1, 'at least 1 is needed'),
  'train.lr': (lambda v: v > 0, 'a rate above 0 is needed'),
  'train.epochs': (lambda v: v > 0, 'more than 0 is needed'),
  'train.evals': (lambda v: v > 0, 'more than 0 is needed'),
  'train.warmup': (lambda v: 0 <= v < 1, 'a share in [0, 1) is needed'),
  'train.max_grad_norm': (
    lambda v: v >= 0,
    '0 (none) or a positive norm is needed',
  ),
  'train.microbatches': (lambda v: v >= 1, 'at least 1 is needed'),
  'scoring.epochs': (lambda v: v > 0, 'more than 0 is needed'),
  'measures.resamples': (lambda v: v >= 0, '0 or more is needed'),
  'measures.confidence_level': (
    lambda v: 0 < v < 1,
    'a share in (0, 1), say 0.95',
  ),
  'generate.slots': (lambda v: v >= 1, 'at least 1 is needed'),
  'generate.chunk': (lambda v: v >= 1, 'at least 1 is needed'),
  'planted.correlation': (lambda v: 0.5 <= v <= 1, 'a share in [0.5, 1]'),
  'planted.noise': (lambda v: 0 <= v < 0.5, 'a share in [0, 0.5)'),
  'weighting.folds': (lambda v: v >= 2, 'at least 2 is needed'),
  'weighting.n_estimators': (lambda v: v >= 1, 'at least 1 is needed'),
  'weighting.max_depth': (lambda v: v >= 0, '0 (no limit) or more is needed'),
  'weighting.max_weight': (lambda v: v >= 0, '0 (none) or a largest weight'),
} | {
  f'grid.{name}': (
    lambda shares: all(0 <= share <= 1 for share in shares),
    'shares of the rows, each in [0, 1], are needed',
  )
  for name in ('factual', 'counterfactual', 'shares')
}
FORMS = {
  'generate.length_penalty': (
    r'(-?\d+(\.\d*)?)?',
    "a number is needed, or '' for the folder's",
  ),
  'scoring.at': (
    r'end|start|epoch \d+(\.\d+)?',
    "'end', 'start' or 'epoch K' is needed",
  ),
  'weighting.z': (
    r'gender|terms|identity|columns:.*\S.*',
    "'gender', 'terms', 'identity' or 'columns:a,b' is needed",
  ),
}


def validate(config: Config) -> None:
  """Raises UserError with one sentence for the first field that is wrong."""
  leaf = lambda name: functools.reduce(getattr, name.split('.'), config)
  for name, (holds, remedy) in NUMBERS.items():
    if not holds(leaf(name)):
      raise UserError(f'{name} is {leaf(name)}; {remedy}')
  for name, (form, remedy) in FORMS.items():
    if not re.fullmatch(form, leaf(name)):
      raise UserError(f'{name} is {leaf(name)!r}; {remedy}')
  for name, allowed in WORDS.items():
    if leaf(name) not in allowed:
      raise UserError(f'{name} is {leaf(name)!r}; it must be one of {allowed}')
  if config.train.batch % config.train.microbatches:
    raise UserError(
      f'train.microbatches is {config.train.microbatches}; it must divide '
      f'train.batch ({config.train.batch})'
    )
  if config.data.name == 'file' and not config.data.path:
    raise UserError('data.path is empty; name a file with --config.data.path')
