"""Config: corpora, text generation, pretraining, bias benchmarks."""

import dataclasses

from fairjax.core.knobs import (
  above,
  at_least,
  between,
  each,
  entry,
  existing,
  filled,
  form,
  knob,
  one_of,
  or_else,
  within,
)


@dataclasses.dataclass(slots=True)
class Corpus:
  """Counterfactuals of whole folders (swapping/corpus.py)."""

  path: str = knob(
    '', 'folder of .txt, .jsonl and .parquet files', changes=('data', 'texts')
  )
  out: str = knob(
    '', "output folder; '' is corpus/ in the run's folder", changes=()
  )
  both: bool = knob(
    False, 'write each row followed by its twin, not the twin alone'
  )
  backend: str = knob(
    'local',
    "where shards run: 'local', 'dask' (a cluster of this machine), or the "
    "address of a dask scheduler, 'tcp://HOST:PORT'",
    form(r'local|dask|\w+://\S+', "'local', 'dask' or an address"),
    changes=(),
  )
  workers: int = knob(
    0, 'number of processes; 0 is one per core', between(0, 4096), changes=()
  )


@dataclasses.dataclass(slots=True)
class Generate:
  """How a model writes (language/generate_corpus.py); -1, '': as its folder."""

  task: str = knob(
    'write',
    "'write' whole texts, or 'fill' masks and copy the rest",
    one_of('write', 'fill'),
  )
  prompt: str = knob(
    '',
    'prompt of a GPT-2 or Llama, with {text} in it; the answer alone is kept',
  )
  num_beams: int = knob(
    -1, 'width of beam search; 1 is greedy', or_else(-1, between(1, 64))
  )
  max_length: int = knob(
    -1,
    'largest number of tokens, including prompt and start',
    or_else(-1, at_least(1)),
  )
  max_new_tokens: int = knob(
    -1,
    'largest number of tokens after the prompt, instead of max_length',
    or_else(-1, at_least(1)),
  )
  temperature: float = knob(
    -1.0,
    'above 0 each token is drawn, at this temperature; 0 takes the best, -1 '
    "does as the model's generation_config.json says",
    or_else(-1, at_least(0)),
  )
  top_p: float = knob(
    -1.0,
    'draws are from the likeliest tokens that have this probability together; '
    "-1 is the model's own, or all",
    or_else(-1, above(0, 1)),
  )
  top_k: int = knob(
    -1,
    "draws are from so many likeliest tokens; 0: all, -1: the model's own",
    or_else(-1, at_least(0)),
  )
  max_span: int = knob(10, 'largest number of tokens for a mask', at_least(1))
  slots: int = knob(
    32, 'texts decoded in parallel', between(1, 65536), changes=()
  )
  chunk: int = knob(
    2048, 'texts between two savepoints', at_least(1), changes=()
  )


@dataclasses.dataclass(slots=True)
class Pretrain:
  """Pretraining on plain text (language/pretrain.py)."""

  objective: str = knob(
    'mlm',
    "'mlm', 'electra', 'bart' or 'causal'",
    one_of('mlm', 'electra', 'bart', 'causal'),
  )
  length: int = knob(
    128, 'tokens of a packed row; train.batch counts rows', between(4, 2**16)
  )
  steps: int = knob(
    0, 'optimiser steps; 0 runs train.epochs passes', at_least(0)
  )
  document: str = knob(
    'blank',
    "what ends a document of a .txt: a 'blank' line or a 'line'",
    one_of('blank', 'line'),
  )
  held_out: float = knob(
    0.01,
    'share of the documents held out, drawn by data.split_seed',
    within(0, 1),
  )
  mask: float = knob(0.15, 'share of the tokens that is masked', within(0, 1))
  whole_word: bool = knob(False, 'mask whole words instead of single tokens')


@dataclasses.dataclass(slots=True)
class Benchmarks:
  """Bias benchmarks of language models (benchmarks/)."""

  names: tuple[str, ...] = knob(
    (),
    'benchmarks of --list; () is each whose files are in benchmarks.data',
    each(entry('fairjax.benchmarks:BENCHMARKS')),
  )
  data: str = knob(
    '', 'folder of your copies of the benchmark files', existing, path=True
  )
  encodings: tuple[str, ...] = knob(
    ('mean',),
    "sentence vectors of weat: 'mean', 'first', 'cls'",
    each(one_of('mean', 'first', 'cls'), least=1),
  )
  templates: int = knob(
    4, 'templates of holistic, sampled; 0 takes all', at_least(0)
  )
  descriptors: int = knob(
    6, 'descriptors of holistic per axis, sampled; 0 takes all', at_least(0)
  )
  mitigations: tuple[str, ...] = knob(
    (),
    'mitigations of --list, each fitted on data.path and measured beside the '
    'model',
    each(entry('fairjax.recipes:MITIGATIONS')),
  )
  self_debias: tuple[str, ...] = knob(
    (),
    "what self_debias says people suffer for: X of '… because of their X'; "
    '() is method.axis',
    each(filled),
  )
  held_out: float = knob(
    0.2,
    'share of data.path kept from mitigations, for perplexity',
    within(0, 1),
  )
  task: str = knob(
    '',
    "file with text and label, for a linear classifier of the model's vectors",
    existing,
    path=True,
  )
  associations: tuple[float, ...] = knob(
    (),
    'planted associations that recipe fairberta learns instead of a text',
    each(between(0, 1)),
    changes=(),
  )
  sentences: int = knob(
    12000, 'sentences of each planted corpus', at_least(200), changes=()
  )
  perturbed: tuple[float, ...] = knob(
    (0.0, 0.5, 1.0),
    'shares of them that recipe fairberta perturbs',
    each(between(0, 1), least=1),
    changes=(),
  )
