"""Text generation over whole folders: shard by shard, chunk by chunk.

corpora/shard_map.py decides where shards are made and keeps what is done.
Within a shard texts are read in blocks, and every CHUNK of them are a
savepoint: their pairs are a small parquet file of their own, so a killed job
loses a chunk and not a file. When a shard is whole its chunks are joined to one
table of pairs. All of it is a function of the source, the model and the
options, so a run that was killed ends with the same bytes.
"""

import contextlib
import dataclasses
import functools
import os
import pathlib
import sys
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax import config as configs
from fairjax.config import Config, Generate
from fairjax.core import artefacts, backend
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.corpora import shard_map, shards
from fairjax.models import Bundle, families
from fairjax.models.decoding import decode_texts, sample
from fairjax.models.decoding.decode import Options
from fairjax.models.folders.folder import language_model
from fairjax.models.reading import fill
from fairjax.recipes.language import corpora
from fairjax.stages.identity import identity
from fairjax.train import mesh

PARTS = '.parts'  # of pairs/: the chunks of shards that are not whole yet
CHUNK = 2048  # texts between two savepoints


@corpora.recipe('rows', 'changed', 'tokens')
def run(config: Config, out: pathlib.Path) -> list[dict]:
  """Writes out/text and out/pairs; a row of counts for each shard."""
  model = load(config)
  check(model, config)  # a wrong option fails before the work
  own = options_of(config, model)
  seed = config.seed if own.do_sample else None
  if own.do_sample:
    print(f'each token is {drawn(own)}')
  made_from = identity(config, 'texts', *([] if seed is None else [seed]))
  work = functools.partial(
    _write_shard, out=os.fspath(out), made_from=made_from
  )
  for name in shard_map.find_shards(config.corpus.path):
    pairs = _pairs_of(out, name)
    if artefacts.seal_path(pairs).exists() and not artefacts.whole(pairs):
      artefacts.remove_file(shard_map.note(out / 'text', name))  # torn: again
  rows = corpora.mapped(config, work, out / 'text', made_from)
  for row in rows:
    if row['status'] != 'failed':
      artefacts.remove(out / 'pairs' / PARTS / row['shard'])
  return rows


@functools.lru_cache(1)
def _load(model: str, tokenizer: str, precision: str) -> Bundle:
  result = language_model(
    Config(
      model=model,
      tokens=configs.Tokens(tokenizer=tokenizer),
      net=configs.Net(precision=precision),
    )
  )
  products = backend.inference(precision)
  if result.can == 'mask' and products != 'int8':
    return result
  return result.replace(
    params=decode_texts.ready(result.module, result.params, products)
  )


def load(config: Config) -> Bundle:
  return _load(config.model, config.tokens.tokenizer, config.net.precision)


def overrides(knobs: Generate) -> dict:
  """The decoding options that the config sets, by their names in Options."""
  numbers = 'num_beams', 'max_new_tokens'
  over = {k: getattr(knobs, k) for k in numbers if getattr(knobs, k) >= 0}
  if knobs.temperature >= 0:
    over['do_sample'] = knobs.temperature > 0
  for name in ('temperature', 'top_p', 'top_k'):
    if getattr(knobs, name) >= 0:
      over[name] = getattr(knobs, name)
  return over


def drawn(options: Options) -> str:
  """How a token is chosen, in words."""
  if not options.do_sample:
    return 'the best one'
  how = f'drawn at temperature {options.temperature:g}'
  if options.top_k:
    how += f' of the {options.top_k} likeliest'
  if options.top_p < 1:
    how += f' of the likeliest that sum to {options.top_p:g}'
  return how


def options_of(config: Config, model: Bundle) -> Options:
  """The folder's options, and over them the config's."""
  knobs, options = config.generate, model.options
  if knobs.task == 'fill':  # lengths, forced tokens, draws are for writing
    options = Options(
      num_beams=options.num_beams,
      length_penalty=options.length_penalty,
      early_stopping=options.early_stopping,
    )
  options = dataclasses.replace(options, **overrides(knobs))
  options.validate()
  return options


def check(model: Bundle, config: Config) -> None:
  """Stops where the model cannot do what it is asked to."""
  options, module = options_of(config, model), model.module
  masked = model.can == 'mask'
  if masked and config.generate.task == 'write':
    raise UserError(
      f'{config.model} is a masked language model, which fills masks and '
      'writes no texts; set --config.generate.task=fill'
    )
  prompt, task = config.generate.prompt, config.generate.task
  goes_on = task == 'write' and 'judge' in families.find(model.family).heads
  if prompt and ('{text}' not in prompt or not goes_on):
    raise UserError(
      f'generate.prompt is {prompt[:60]!r}; it needs {{text}} where the text '
      'goes, task write, and a model that goes on after it (gpt2, llama)'
    )
  if task == 'fill':
    _, mask = fill.mask_of(model.tokenizer)
    if not masked:
      decode_texts.check_options(
        module.shape, dataclasses.replace(options, mask=mask)
      )
  elif not masked:
    decode_texts.check_options(module.shape, options)


def asked(config: Config, texts: Sequence[str]) -> list[str]:
  """What the model is given of each text: its prompt, or the text."""
  prompt = config.generate.prompt or '{text}'
  return [prompt.replace('{text}', text) for text in texts]


def _pairs_of(out: pathlib.Path, name: pathlib.Path | str) -> pathlib.Path:
  return out / 'pairs' / f'{name}.parquet'


def _write_shard(
  source: pathlib.Path,
  target: pathlib.Path,
  spec: str,
  out: str,
  made_from: str,
) -> dict[str, int]:
  """Writes the texts of one shard to `target`, and its table of pairs."""
  config = corpora.of_plain(spec)
  model = load(config)
  name = source.relative_to(config.corpus.path)
  parts = pathlib.Path(out) / 'pairs' / PARTS / name
  part_files: list[pathlib.Path] = []
  counts = {'rows': 0, 'tokens': 0}
  began = time.monotonic()

  def run(texts: Sequence[str]) -> shards.Swapped:
    outputs: list[str] = []
    for first in range(0, len(texts), CHUNK):
      part = list(texts[first : first + CHUNK])
      part_files.append(parts / f'{counts["rows"]:012d}.parquet')
      first_row = counts['rows']
      table = artefacts.stage(
        part_files[-1],
        artefacts.fingerprint(made_from, part),
        lambda path: artefacts.write_table(
          path, _pairs(config, model, source, str(name), part, first_row)
        ),
        artefacts.read_table,
      )
      outputs += table['generated'].tolist()
      counts['rows'] += len(part)
      counts['tokens'] += int(table['tokens'].sum())
      _say(name, counts, time.monotonic() - began)
    return shards.whole(source, texts, outputs)

  changed = shards.rewrite(source, target, run, config.data.text)['changed']
  target = _pairs_of(pathlib.Path(out), name)
  _join(part_files, parts, target)
  artefacts.seal(target, made_from)
  return {**counts, 'changed': changed}


def _pairs(
  config: Config,
  model: Bundle,
  source: pathlib.Path,
  name: str,
  texts: list[str],
  first: int,
) -> pd.DataFrame:
  """One row a text: id, source, generated, tokens written."""
  good = _usable(config, model, source, texts, first)
  sources = [texts[i] for i in good]
  try:
    names = [f'{name}:{first + i}' for i in good]
    result, written = _write(config, model, sources, names)
  except UserError as error:
    raise UserError(f'{source}, counted from row {first}: {error}') from error
  table = pd.DataFrame(
    {
      'id': [f'{name}:{first + i}' for i in range(len(texts))],
      'source': texts,
      'generated': texts,
      'tokens': np.zeros(len(texts), np.int32),
    }
  )
  table.loc[good, 'generated'] = result
  table.loc[good, 'tokens'] = np.asarray(written, np.int32)
  return table


def _usable(config, model, source, texts, first) -> np.ndarray:
  """The texts that the model can read; others stop, or stay as they are."""
  longest = model.longest
  blank = np.array([not text.strip() for text in texts], bool)
  prompts = asked(config, texts)
  read = tokens.encode(model.tokenizer, prompts, longest)
  truncated = np.asarray(read.cut, bool)
  if config.data.on_bad == 'error':
    for wrong, what in (
      (blank, 'is empty; give it a text'),
      (
        truncated,
        f'has more tokens than the model has positions ({longest}); shorten it',
      ),
    ):
      if wrong.any():
        raise UserError(
          f'{source}, line {first + int(wrong.argmax()) + 1} {what}, or let '
          'such lines stay as they are with --config.data.on_bad=drop'
        )
  return np.flatnonzero(~blank & ~truncated)


def _write(
  config: Config, model: Bundle, texts: list[str], names: list[str]
) -> tuple[list[str], Sequence[int] | np.ndarray]:
  """The texts written, and how many tokens each has."""
  module, params, tokenizer = model.module, model.params, model.tokenizer
  if not texts:
    return [], []
  knobs = config.generate
  if model.can == 'mask':
    placement = mesh.placement(mesh.make(configs.Mesh(), 1))
    filled = fill.fill_texts(module, params, tokenizer, texts, placement)
    return filled.texts, [len(row) for row in filled.spans]
  options = options_of(config, model)
  if knobs.task == 'fill':
    filled = fill.infill_texts(module, params, tokenizer, texts, options)
    assert filled.generated is not None  # by a BART
    texts, result = filled.texts, filled.generated
  else:
    prompts = asked(config, texts)
    draws = options.do_sample
    texts, result = decode_texts.generate_texts(
      *(module, params, tokenizer, prompts, options),
      devices=mesh.accelerators(),
      streams=sample.streams(config.seed, names, 1) if draws else None,
    )
    if knobs.prompt:
      texts = decode_texts.answers(tokenizer, result)
  return texts, result.row_written


def _join(
  part_files: Sequence[pathlib.Path], parts: pathlib.Path, target: pathlib.Path
) -> None:
  """The chunks of a shard as one table, a row group each."""
  import pyarrow.parquet as pq

  writer, joined = None, parts / 'joined'  # killed here, it goes with them
  with artefacts.atomic(joined) as whole:
    for part in part_files:
      table = pq.read_table(part)
      writer = writer or pq.ParquetWriter(whole, table.schema)
      writer.write_table(table)
    if writer is None:  # a shard without a line
      artefacts.write_table(whole, pd.DataFrame({'id': []}))
    else:
      writer.close()
  target.parent.mkdir(parents=True, exist_ok=True)
  os.replace(joined, target)


def _say(name, counts: dict[str, int], seconds: float) -> None:
  """A line of progress: drawn over on a terminal, else one a chunk."""
  speed = counts['tokens'] / max(seconds, 1e-9)
  text = f'{name}: {counts["rows"]:,} texts · {speed:,.0f} tokens/s'
  draws = sys.stderr.isatty()
  with contextlib.suppress(OSError):  # nobody listens any more
    sys.stderr.write(f'\r{text}\033[K' if draws else text + '\n')
    sys.stderr.flush()
