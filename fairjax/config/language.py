"""Config: corpora, text generation, pretraining, bias benchmarks."""

import dataclasses

from fairjax.knobs import (
  above,
  at_least,
  between,
  each,
  entry,
  existing,
  filled,
  knob,
  number,
  one_of,
  or_else,
  within,
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
