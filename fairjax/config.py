"""Every knob of the program: typed dataclasses, one knob a field.

A config file in configs/ returns one `Config`; absl flags override its leaves
(`--config.train.lr=1e-5`). Each field says its default, its help, the values
it may have and what it changes (knobs.py); `validate` and the identity of
stages follow from that. Only leaf values reach jitted code.
"""

import dataclasses
import pathlib
import runpy

from fairjax import knobs
from fairjax.errors import UserError
from fairjax.knobs import (
  above,
  at_least,
  below,
  between,
  each,
  entry,
  existing,
  filled,
  form,
  knob,
  number,
  one_of,
  or_else,
  section,
  within,
)

SEED = below(0, 2**31)
RANKING = entry('fairjax.methods.diet:RANKINGS')
SETS = entry('fairjax.data:TEST_SETS', 'train', 'valid', 'test')


@dataclasses.dataclass
class Data:
  """Which table, and how its columns are named."""

  name: str = knob(
    'planted',
    "a data set of --list; 'file' reads `path`, and 'text' plain text",
    entry('fairjax.data:DATASETS', 'text'),
  )
  path: str = knob(
    '', "csv, tsv, jsonl, parquet file, or a data set's folder", path=True
  )
  valid_path: str = knob(
    '', 'validation file; none: split off `path`, seeded', path=True
  )
  test_path: str = knob(
    '', 'test file; none: split off `path`, seeded', path=True
  )
  twin_path: str = knob(
    '', 'file whose row i is the counterfactual of row i', path=True
  )
  text: str = knob('text', 'column of the text', filled)
  text_pair: str = knob('', 'column of a second text (sentence pairs)')
  label: str = knob('label', 'column of the label', filled)
  group: str = knob('', 'column of the group the row speaks of')
  twin: str = knob('', 'column of the counterfactual text')
  id: str = knob('', 'column of stable ids; none: split and row number')
  split: str = knob(
    '', 'column that says train, valid or test; none: see above'
  )
  labels: str = knob('', "'BAD=1,NOT_BAD=0', or '>0.5' or '>=0.5' of a number")
  on_bad: str = knob(
    'error',
    "rows that cannot be used: 'error' or 'drop'",
    one_of('error', 'drop'),
    changes=('data', 'texts'),
  )
  limit: int = knob(
    0, 'rows kept of each split, drawn by seed; 0 keeps all', at_least(0)
  )
  split_seed: int = knob(
    0,
    'seed of the 8:1:1 split where the data has none',
    SEED,
    changes=('data', 'pretraining'),
  )


@dataclasses.dataclass
class Planted:
  """The embedded data set with a known bias (data/planted.py)."""

  rows: int = knob(4000, 'rows of the training split', at_least(20))
  test_rows: int = knob(1000, 'rows of validation and of test', at_least(20))
  correlation: float = knob(
    0.8, 'P(gender agrees with the label) in training', between(0.5, 1)
  )
  noise: float = knob(
    0.02, 'share of labels flipped, in every split', below(0, 0.5)
  )
  seed: int = knob(0, 'seed of the sentences', SEED)


@dataclasses.dataclass
class Tokens:
  """Text to ids."""

  tokenizer: str = knob(
    '',
    "folder or vocab file; '' the model's own, or trained",
    existing,
    changes=('training', 'texts', 'attributes'),
    path=True,
  )
  vocab_size: int = knob(
    4000, 'of a tokenizer trained on the data', between(3, 2**24)
  )
  max_length: int = knob(
    0,
    "ids kept of a text; 0 is the model's own limit",
    or_else(0, at_least(3)),
    changes=('training', 'attributes'),
  )


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
    "'loss', 'accuracy' or 'auc' on validation",
    one_of('loss', 'accuracy', 'auc'),
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


@dataclasses.dataclass
class Measures:
  """What is measured, and how sure we are of it."""

  groups: str = knob('', "which groups: '' the group column, 'terms:FILE', …")
  sets: tuple[str, ...] = knob(
    ('test',), 'splits or test sets of --list', each(SETS, least=1)
  )
  threshold: str = knob(
    '0.5', "decision threshold: a number or 'eer'", or_else('eer', number(0, 1))
  )
  resamples: int = knob(10000, 'bootstrap resamples', between(0, 10**6))
  confidence_level: float = knob(0.95, 'of every interval', below(0.5, 1))
  min_group: int = knob(
    10,
    'rows behind a rate of a group below which it is in no gap',
    at_least(1),
  )
  adjust: str = knob(
    'holm',
    "p values for the number of tests on a page: 'holm', 'bh' or 'none'",
    one_of('holm', 'bh', 'none'),
  )
  pos_label: int = knob(
    1,
    'the label whose probability is the score',
    at_least(0),
    changes=('scores', 'weights', 'data', 'measures'),
  )
  templates: str = knob(
    '', 'template file or folder of the identity set', existing, path=True
  )
  madlibs: str = knob(
    '', 'your copy of bias_madlibs_77k.csv', existing, path=True
  )
  gender_file: str = knob(
    '', 'your csv with columns text, gender, Class', existing, path=True
  )


@dataclasses.dataclass
class Method:
  """The data-side method: a function table → table."""

  name: str = knob(
    'none',
    "a method of --list, or several: 'augment+reweight'",
    entry('fairjax.methods:METHODS', 'none', joined='+'),
  )
  ratio: float = knob(1.0, 'share added or substituted', at_least(0))
  rank: str = knob('random', "which rows first: a score, or 'random'", filled)
  direction: str = knob(
    'opposite',
    'of a swap: opposite, male, female, neutral',
    one_of('opposite', 'male', 'female', 'neutral'),
    changes=('data', 'texts'),
  )
  scope: str = knob(
    'all',
    "of a swap: 'all' listed words, or 'pronouns' alone",
    one_of('all', 'pronouns'),
    changes=('data', 'texts'),
  )
  reflexive: str = knob(
    'themselves',
    "of direction neutral: 'themselves' or 'themself'",
    one_of('themselves', 'themself'),
    changes=('data', 'texts'),
  )
  names: bool = knob(True, 'swap person names too', changes=('data', 'texts'))
  names_file: str = knob(
    '',
    "yobYYYY.txt, their folder, or name,sex,count; '' ours",
    existing,
    changes=('data', 'texts'),
    path=True,
  )
  tagger: str = knob(
    '',
    "'spacy:MODEL' for her and his; '' decides by rules",
    form(r'(spacy:\S+)?', "'spacy:MODEL' or '' is needed"),
    changes=('data', 'texts'),
  )
  words: str = knob(
    '',
    "file of word pairs or groups; '' our own gender list",
    existing,
    changes=('data', 'texts'),
    path=True,
  )
  by: str = knob('group,label', 'columns that a balance equalises', filled)
  how: str = knob('', "a method's own variant; '' is its default")
  table: str = knob('', 'second table (supplement)', existing, path=True)
  terms: str = knob(
    '', 'file of identity terms, one a line', existing, path=True
  )
  epsilon: float = knob(
    0.01, 'tolerance of the simple supplement rule', between(0, 1)
  )
  replacement: bool = knob(False, 'draw with replacement, as the reference')
  keep_equal: bool = knob(False, 'add twins that equal their original')
  compare: tuple[str, ...] = knob(
    (), 'of recipe compare; () all that apply', changes=()
  )


@dataclasses.dataclass
class Corpus:
  """Counterfactuals of whole folders (pairs/corpus.py)."""

  path: str = knob(
    '', 'folder of .txt, .jsonl and .parquet shards', changes=('data', 'texts')
  )
  out: str = knob(
    '', "folder of the results; '' is corpus/ in the run's folder", changes=()
  )
  column: str = knob(
    'text', 'of jsonl and parquet', filled, changes=('texts', 'attributes')
  )
  both: bool = knob(
    False, 'write each row and then its twin; else the twin alone'
  )
  backend: str = knob(
    'local',
    "'local', 'dask', 'beam' or 'spmd'",
    one_of('local', 'dask', 'beam', 'spmd'),
    changes=(),
  )
  where: str = knob(
    '', "dask address, beam options, or an spmd share as '0/4'", changes=()
  )
  workers: int = knob(
    0, 'processes; 0 is one a core', between(0, 4096), changes=()
  )


@dataclasses.dataclass
class Generate:
  """How a model writes (recipes/generate_corpus.py); -1, '': as its folder."""

  task: str = knob(
    'write',
    "'write' texts, or 'fill' masks and copy all else",
    one_of('write', 'fill'),
  )
  num_beams: int = knob(-1, '1 is greedy', or_else(-1, between(1, 64)))
  max_length: int = knob(
    -1,
    'tokens of a text, first one and prompt included',
    or_else(-1, at_least(1)),
  )
  max_new_tokens: int = knob(
    -1, 'or: tokens after the prompt', or_else(-1, at_least(1))
  )
  min_length: int = knob(-1, '', or_else(-1, at_least(0)))
  no_repeat_ngram_size: int = knob(-1, '', or_else(-1, at_least(0)))
  length_penalty: str = knob(
    '', 'a number: above 0 favours longer beams', or_else('', number())
  )
  early_stopping: str = knob(
    '', "'true', 'false' or 'never'", one_of('', 'true', 'false', 'never')
  )
  draft: int = knob(
    -1,
    'tokens copied from the source and verified; -1 chooses',
    or_else(-1, at_least(0)),
  )
  min_span: int = knob(
    0, 'of a BART that fills: tokens in place of a mask', at_least(0)
  )
  max_span: int = knob(10, '', at_least(1))
  order: str = knob(
    'left',
    "of a masked LM: 'left' to right, or all at 'once'",
    one_of('left', 'once'),
  )
  slots: int = knob(
    32, 'texts decoded side by side', between(1, 65536), changes=()
  )
  chunk: int = knob(
    2048, 'texts between two savepoints', at_least(1), changes=()
  )


@dataclasses.dataclass
class Scoring:
  """Example scores (scores/)."""

  names: tuple[str, ...] = knob(
    ('ge', 'el2n'), 'scores of --list', each(entry('fairjax.scores:SCORES'))
  )
  epochs: float = knob(1.0, "length of the probe's own schedule", above(0, 1e6))
  at: str = knob(
    'end',
    "'end' of the probe's run, 'start', or 'epoch K'",
    form(
      r'end|start|epoch \d+(\.\d+)?', "'end', 'start' or 'epoch K' is needed"
    ),
  )
  path: str = knob(
    '',
    "a scores file of the user's; nothing is computed then",
    existing,
    path=True,
  )
  never: str = knob(
    'max',
    'forgetting of never-learned rows: max, inf, zero',
    one_of('max', 'inf', 'zero'),
  )


@dataclasses.dataclass
class Diet:
  """Which rows a diet takes (methods/diet.py)."""

  ranking: str = knob(
    'healthy_random', 'one of RANKINGS in methods/diet.py', RANKING
  )
  factual: float = knob(0.4, 'a: share of the factual rows', between(0, 1))
  counterfactual: float = knob(0.4, 'b: share of the twins', between(0, 1))
  replacement: bool = knob(False, 'draw with replacement, as the reference')
  keep_equal: bool = knob(False, 'add twins that equal their original')
  twins: str = knob(
    '', "'' the data's own, if any; 'swap' by word lists", one_of('', 'swap')
  )
  compare: tuple[str, ...] = knob(
    ('none',), 'rankings trained beside it', each(RANKING), changes=()
  )


@dataclasses.dataclass
class Grid:
  """Experiments over many diets as one job."""

  rankings: tuple[str, ...] = knob(
    ('healthy_random', 'unhealthy_random', 'vanilla_ge', 'random'),
    'of experiment 2',
    each(RANKING, least=1),
    changes=(),
  )
  factual: tuple[float, ...] = knob(
    (0.3, 0.4, 0.5),
    'a of experiment 2',
    each(between(0, 1), least=1),
    changes=(),
  )
  counterfactual: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    'b',
    each(between(0, 1), least=1),
    changes=(),
  )
  augment: tuple[str, ...] = knob(
    ('ge', 'el2n', 'forgetting', 'grand', 'random'),
    '',
    each(entry('fairjax.scores:SCORES', 'random')),
    changes=(),
  )
  shares: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0),
    '',
    each(between(0, 1), least=1),
    changes=(),
  )
  models: tuple[str, ...] = knob(
    (), 'other models of the overlap study', each(filled), changes=()
  )
  cells: str = knob(
    '', "some only: '0,3,5-9'; 'none' scores; '' all, merged", changes=()
  )
  budget: float = knob(
    0.03, 'largest AUC loss of a chosen diet', below(0, 1), changes='measures'
  )


@dataclasses.dataclass
class Weighting:
  """Instance weights (methods/reweight.py)."""

  z: str = knob(
    'gender',
    "'gender', 'terms', 'identity', or 'columns:a,b'",
    form(
      r'gender|terms|identity|columns:.*\S.*',
      "'gender', 'terms', 'identity' or 'columns:a,b' is needed",
    ),
  )
  terms: str = knob(
    '', "file of terms, one a line; '' our own list", existing, path=True
  )
  how: str = knob(
    'words',
    "how terms are sought: 'words' or 'reference' (literal)",
    one_of('words', 'reference'),
  )
  estimator: str = knob(
    'forest',
    "'forest', 'logistic' or 'count'",
    one_of('forest', 'logistic', 'count'),
  )
  n_estimators: int = knob(100, '', between(1, 10**5))
  max_depth: int = knob(18, '', at_least(0))
  criterion: str = knob('entropy', '', one_of('entropy', 'gini', 'log_loss'))
  folds: int = knob(5, 'K of the cross-prediction', at_least(2))
  formula: str = knob(
    'code',
    "'code' (class means 1) or 'paper' (P(y)/P(y|z))",
    one_of('code', 'paper'),
  )
  q: str = knob('', "Q(y) as '0.9,0.1', class 0 first; '' is the data's P(y)")
  max_weight: float = knob(0.0, 'largest weight; 0 is none', at_least(0))
  rows: tuple[str, ...] = knob(
    ('baseline', 'weight'),
    'of recipe weighting',
    each(
      one_of(
        *('baseline', 'weight', 'swap', 'supplement'),
        *('baseline+', 'weight+', 'swap+', 'supplement+'),
      ),
      least=1,
    ),
    changes=(),
  )


@dataclasses.dataclass
class Pretrain:
  """Pretraining on plain text (recipes/pretrain.py)."""

  objective: str = knob(
    'mlm',
    "'mlm', 'electra', 'bart' or 'causal'",
    one_of('mlm', 'electra', 'bart', 'causal'),
  )
  length: int = knob(
    128, 'tokens of a packed row; train.batch counts rows', between(4, 2**16)
  )
  steps: int = knob(
    0, 'optimiser steps; 0 makes train.epochs passes', at_least(0)
  )
  document: str = knob(
    'blank',
    "a .txt document ends at a 'blank' line or a 'line'",
    one_of('blank', 'line'),
  )
  held_out: float = knob(
    0.01, 'share of the documents held out, by data.split_seed', within(0, 1)
  )
  mask: float = knob(0.15, 'share of the tokens masked', within(0, 1))
  whole_word: bool = knob(False, 'mask words, not pieces of words')
  spans: float = knob(
    3.0, 'bart: mean length of a masked span (Poisson)', above(0, 100)
  )
  permute: bool = knob(True, 'bart: put sentences in random order')
  generator: float = knob(
    0.25, "electra: the generator's width, as a share", above(0, 1)
  )
  weight: float = knob(
    50.0, "electra: of the discriminator's loss", at_least(0)
  )
  samples: int = knob(
    8, 'held-out rows shown in the report', between(0, 1000), changes='measures'
  )
  dry_run: bool = knob(
    False, 'one small step, then the full size counted', changes=()
  )
  tflops: float = knob(
    275.0, 'dry run: peak TFLOP/s of the slice to be used', above(0), changes=()
  )
  utilisation: float = knob(
    0.4, 'dry run: share of that peak which is reached', above(0, 1), changes=()
  )


@dataclasses.dataclass
class FairFlow:
  """From one pair of words to a dictionary (recipes/fairflow.py)."""

  first: str = knob('', "seed words of one side, 'she' or 'she,her'")
  second: str = knob('', "and of the other, 'he' or 'he,his,him'")
  share: float = knob(1.0, 'share of the texts that is read', above(0, 1))
  layer: int = knob(-1, 'of the encoder whose output is read; -1 is the last')
  pieces: str = knob(
    'mean',
    "words of several pieces: their 'mean', or 'drop' them (the paper)",
    one_of('mean', 'drop'),
  )
  seed_cap: int = knob(
    3000, 'occurrences looked at of a seed word', at_least(2)
  )
  cap: int = knob(30, 'occurrences looked at of any other word', at_least(1))
  min_count: int = knob(5, 'occurrences that a word must have', at_least(1))
  held_out: float = knob(
    0.1, 'share of the texts that the head is measured on', within(0, 1)
  )
  head_lr: float = knob(2e-5, 'peak learning rate of the head', above(0, 10))
  head_epochs: float = knob(12.0, 'passes over the seed words', above(0, 1e6))
  threshold: float = knob(
    3.0, 'φ: how sure the head must be of an occurrence', at_least(0)
  )
  scale: str = knob(
    'logit', "of φ: 'logit' or 'probability'", one_of('logit', 'probability')
  )
  word_share: float = knob(
    0.5,
    "share of a word's occurrences it must be sure of",
    between(0, 1),
  )
  whiten: str = knob(
    'none',
    "embeddings as they are ('none') or 'white'",
    one_of('none', 'white'),
    changes='flow',
  )
  steps: int = knob(6, 'of the flow', between(1, 1024), changes='flow')
  hidden: int = knob(
    100, "width of the flow's perceptrons", between(1, 2**16), changes='flow'
  )
  depth: int = knob(2, 'their hidden layers', between(0, 64), changes='flow')
  factor: int = knob(
    0,
    "K: dimensions of the factor; 0 takes Esser et al.'s estimate, -1 a tenth",
    at_least(-1),
    changes='flow',
  )
  loss: str = knob(
    'code',
    "eq. 2 as the paper's 'code' trains it, or as the 'paper' prints it",
    one_of('code', 'paper'),
    changes='flow',
  )
  rho: float = knob(
    0.98,
    "correlation of a pair's factors; 0 is a flow without a factor",
    below(0, 1),
    changes='flow',
  )
  margin: float = knob(
    0.0,
    "the groups' factors are centred at -margin and margin",
    at_least(0),
    changes='flow',
  )
  leak: float = knob(
    0.0,
    "weight of the groups' gap outside the factor",
    at_least(0),
    changes='flow',
  )
  move: str = knob(
    'mean',
    "the factor becomes the other side's 'mean', a 'sample', or its 'shift'",
    one_of('mean', 'sample', 'shift'),
    changes='words',
  )
  alpha: float = knob(
    1.0,
    'size of a shift, in gaps between the groups',
    at_least(0),
    changes='words',
  )
  decoder: str = knob(
    'head',
    "a moved embedding is read by the masked-LM 'head' or the 'nearest' word",
    one_of('head', 'nearest'),
    changes='words',
  )
  candidates: str = knob(
    'all',
    "it may become 'all' words, all 'others', or those of the other 'side'",
    one_of('all', 'others', 'side'),
    changes='words',
  )
  votes: str = knob(
    'mutual',
    "pairs are 'mutual' modes, or joined as in the 'paper'",
    one_of('mutual', 'paper'),
    changes='words',
  )
  min_votes: int = knob(
    1, 'of either word of a pair', at_least(1), changes='words'
  )
  min_share: float = knob(
    0.0, 'and as a share of its occurrences', between(0, 1), changes='words'
  )
  names: str = knob(
    '',
    'file of first names matched after the pairs (as method.names_file)',
    existing,
    changes='words',
    path=True,
  )
  known: str = knob(
    '',
    'file of known pairs that the dictionary is marked by',
    existing,
    changes='measures',
    path=True,
  )
  rivals: tuple[str, ...] = knob(
    ('difference', 'procrustes', 'masked', 'no_factor'),
    'simpler ways, marked beside it',
    each(one_of('difference', 'procrustes', 'masked', 'no_factor')),
    changes='measures',
  )


@dataclasses.dataclass
class Benchmarks:
  """Bias benchmarks of language models (benchmarks/)."""

  names: tuple[str, ...] = knob(
    ('weat', 'crows', 'winobias', 'winogender'),
    'benchmarks of --list',
    each(entry('fairjax.benchmarks:BENCHMARKS'), least=1),
  )
  data: str = knob(
    '', 'folder of your copies of their files', existing, path=True
  )
  against: str = knob(
    '', "a second model's folder, compared item by item", path=True
  )
  encodings: tuple[str, ...] = knob(
    ('mean',),
    "vectors of weat: 'mean', 'first', 'cls'",
    each(one_of('mean', 'first', 'cls'), least=1),
  )
  templates: int = knob(
    4, 'of holistic, drawn by the seed; 0 takes all', at_least(0)
  )
  descriptors: int = knob(
    6, 'of holistic, of each axis; 0 takes all', at_least(0)
  )
  limit: int = knob(
    0, 'items of bbq, drawn by the seed; 0 takes all', at_least(0)
  )
  eraser: str = knob(
    'none',
    "taken out of the last layer: 'leace', 'inlp', 'sentence'",
    entry('fairjax.methods.erasers:ERASERS', 'none'),
  )
  eraser_rows: int = knob(
    2000, 'texts of data.path that an eraser is fitted on', at_least(20)
  )
  dry_run: bool = knob(
    False, 'count holistic in full: sentences, hours, bytes', changes=()
  )
  associations: tuple[float, ...] = knob(
    (0.0, 0.5, 0.8),
    'planted, of recipe benchmarks_planted',
    each(between(0, 1), least=1),
    changes=(),
  )
  sentences: int = knob(
    12000, 'of each planted corpus', at_least(200), changes=()
  )


@dataclasses.dataclass
class Config:
  """One run."""

  recipe: str = knob(
    'train', 'a recipe of --list', entry('fairjax.recipes:RECIPES'), changes=()
  )
  model: str = knob(
    'mini',
    'a size, cnn, lstm, a model folder, or a hub name',
    filled,
    changes=('training', 'texts', 'attributes'),
    path=True,
  )
  seeds: int = knob(
    5, 'runs trained side by side', below(1, 1001), changes='training'
  )
  seed: int = knob(
    0,
    'the first of them',
    SEED,
    changes=('data', 'training', 'weights', 'measures', 'attributes', 'words'),
  )
  text: str = knob('', 'one text, for configs/swap.py', changes='texts')
  reuse: str = knob(
    '',
    "a run's folder whose finished stages are taken over",
    existing,
    changes=(),
  )
  wandb: str = knob('', "a Weights & Biases project; '' is off", changes=())
  data: Data = section(Data, 'data')
  planted: Planted = section(Planted, 'data')
  tokens: Tokens = section(Tokens, 'training')
  net: Net = section(Net, 'training')
  train: Train = section(Train, 'training')
  mesh: Mesh = section(Mesh)
  measures: Measures = section(Measures, 'measures')
  method: Method = section(Method, 'data')
  corpus: Corpus = section(Corpus, 'texts')
  generate: Generate = section(Generate, 'texts')
  scoring: Scoring = section(Scoring, 'scores')
  diet: Diet = section(Diet, 'data')
  grid: Grid = section(Grid, 'data')
  weighting: Weighting = section(Weighting, 'weights')
  pretrain: Pretrain = section(Pretrain, 'pretraining')
  fairflow: FairFlow = section(FairFlow, 'attributes')
  benchmarks: Benchmarks = section(Benchmarks, 'measures')


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


def validate(config: Config) -> None:
  """Raises UserError with one sentence for the first field that is wrong."""
  knobs.check(config, Config)
  train, generate = config.train, config.generate
  if train.batch % train.microbatches:
    raise UserError(
      f'train.microbatches is {train.microbatches}; it must divide '
      f'train.batch ({train.batch})'
    )
  if generate.max_span < generate.min_span:
    raise UserError(
      f'generate.max_span is {generate.max_span}; it must be at least '
      f'generate.min_span ({generate.min_span})'
    )
  if train.export and config.model in ('cnn', 'lstm'):
    raise UserError(
      f'train.export is on, but model {config.model!r} has no Hugging Face '
      'form; leave it off, its weights are in training/'
    )
  if config.data.name == 'file' and not config.data.path:
    raise UserError('data.path is empty; name a file with --config.data.path')
  if config.reuse and not pathlib.Path(config.reuse).expanduser().is_dir():
    raise UserError(f"reuse is {config.reuse!r}; name a run's folder")
