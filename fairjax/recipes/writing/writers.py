"""Who writes: a causal model of ours, or any function of prompts to texts.

A function is 'module:function' (or itself, in the library): a list of prompts
in, as many texts out, such as what a hosted model answers. The network is the
function's; that it is asked again where it fails, how often it is asked, and
that no answer is paid for twice is done here. What is written is kept piece by
piece in writing/ of the run's folder, each known by its prompts and by what
wrote them, so a run that is killed goes on where it was.
"""

import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairjax import stages
from fairjax.config import Config, writer
from fairjax.core import announce, artefacts
from fairjax.core.errors import Interrupted, UserError
from fairjax.models import families
from fairjax.models.decoding import decode_texts, sample
from fairjax.models.decoding.decode import Options
from fairjax.recipes.benchmarks.experiment import title_of
from fairjax.recipes.language import generate_corpus
from fairjax.stages import asking, audited
from fairjax.stages.identity import identity
from fairjax.train import mesh

RETRIES = 3  # a service that fails four times in a row will not answer
FIRST_WAIT = 1.0  # seconds before a function is asked again; then twice that
LONGEST = 60.0


class TextWriter(NamedTuple):
  name: str
  write: Callable[[Sequence[str]], list[list[str]]]  # prompts -> their texts
  piece: int  # prompts at once
  rounds: int  # how often each is asked: once, or for every sample
  made_from: str | None  # None: it cannot be known, so nothing is kept
  options: Options | None  # of our decoder; None of a function


def load(config: Config, source: Any = None) -> TextWriter:
  """The writer that `model` names, or a function of the library's."""
  if callable(source):
    name = getattr(source, '__name__', type(source).__name__)
    return _function(source, name, config, None)
  name = str(config.model)
  if audited.FUNCTION.fullmatch(name) and not pathlib.Path(name).exists():
    target = asking.imported(name, 'model', 'prompts and returns their texts')
    known = artefacts.fingerprint(
      'writer', asking.made_from(name), config.generate.prompt
    )
    return _function(target, name, config, known)
  return _model(config)


def _model(config: Config) -> TextWriter:
  writer(str(config.model))
  bundle = generate_corpus.load(config)
  generate_corpus.check(bundle, config)
  families.require(families.find(bundle.family), 'judge', config.model)
  options = generate_corpus.options_of(config, bundle)
  samples = config.writing.samples
  if not options.do_sample and samples > 1:
    raise UserError(
      f'writing.samples is {samples}, but without draws they are all the same '
      'text; take --config.writing.samples=1, or --config.generate.temperature '
      'above 0'
    )
  if not options.max_new_tokens:
    raise UserError(
      'generate.max_new_tokens is not set, so each text would go on to the '
      "model's last position; say how many tokens to write with "
      '--config.generate.max_new_tokens=20'
    )

  def write(prompts: Sequence[str]) -> list[list[str]]:
    asked = generate_corpus.asked(config, prompts)
    streams = sample.streams(config.seed, prompts, samples)
    given = decode_texts.encode(bundle.module, bundle.tokenizer, asked)
    result = decode_texts.generate(
      *(bundle.module, bundle.params, given, options),
      devices=mesh.accelerators(),
      streams=streams,
    )
    texts = decode_texts.continuations(bundle.tokenizer, result)
    return [texts[low : low + samples] for low in range(0, len(texts), samples)]

  made_from = identity(config, 'texts', config.seed, samples)
  piece = max(generate_corpus.CHUNK // samples, 1)
  return TextWriter(title_of(config.model), write, piece, 1, made_from, options)


def _function(
  target: Callable, name: str, config: Config, made_from: str | None
) -> TextWriter:
  own = config.writing
  calls = _Calls(target, name, RETRIES, own.rate)

  def write(prompts: Sequence[str]) -> list[list[str]]:
    asked = generate_corpus.asked(config, prompts)
    return [[text] for text in calls.ask(asked)]

  return TextWriter(
    name, write, config.audit.batch, own.samples, made_from, None
  )


class _Calls:
  """A function that is asked at a rate, and again where it fails."""

  def __init__(self, target: Callable, name: str, retries: int, rate: float):
    self.target, self.name, self.retries = target, name, retries
    self.apart = 60.0 / rate if rate else 0.0
    self.next = 0.0

  def ask(self, prompts: list[str]) -> list[str]:
    wait = FIRST_WAIT
    for left in range(self.retries, -1, -1):
      time.sleep(max(self.next - time.monotonic(), 0.0))
      self.next = time.monotonic() + self.apart
      try:
        texts = self.target(list(prompts))  # a copy, which it may change
        break
      except (KeyboardInterrupt, Interrupted):
        raise
      except Exception as error:
        if not left:
          raise UserError(
            f'{self.name} failed {self.retries + 1} times on {len(prompts)} '
            f'prompts, the first of them {prompts[0][:60]!r}: '
            f'{asking.last(error)}; what it wrote before is kept, so run the '
            'same command again'
          ) from error
        time.sleep(wait)
        wait = min(2 * wait, LONGEST)
    return _checked(texts, prompts, self.name)


def _checked(texts: Any, prompts: list[str], name: str) -> list[str]:
  if isinstance(texts, np.ndarray):
    texts = texts.tolist()
  if not isinstance(texts, list | tuple) or not all(
    isinstance(text, str) for text in texts
  ):
    one = texts[0] if isinstance(texts, list | tuple) and texts else texts
    raise UserError(
      f'{name} returns {repr(one)[:60]} for the prompt {prompts[0][:60]!r}; '
      'a list of texts is needed, one a prompt'
    )
  if len(texts) != len(prompts):
    raise UserError(
      f'{name} returns {len(texts)} texts for {len(prompts)} prompts; give '
      'one a prompt, in their order'
    )
  return list(texts)


def written(
  writer: TextWriter,
  prompts: Sequence[str],
  folder: pathlib.Path | None = None,
  reuse: str = '',
) -> list[list[str]]:
  """The texts of each prompt, those that are kept read where they are."""
  out: list[list[str]] = []
  total = len(prompts) * writer.rounds
  with announce.counting(total, f'prompts asked of {writer.name}:') as add:
    for low in range(0, len(prompts), writer.piece):
      some = list(prompts[low : low + writer.piece])
      rounds = []
      for number in range(writer.rounds):
        rounds.append(_piece(writer, some, number, folder, reuse))
        add(len(some))
      out += [[text for one in each for text in one] for each in zip(*rounds)]
      # Before all are asked: a model that writes nothing at all.
      if not low and not any(text.strip() for texts in out for text in texts):
        raise UserError(
          f'{writer.name} writes nothing after {len(out)} prompts, the first '
          f'of them {prompts[0][:60]!r}: all texts are empty; is it a model '
          'that goes on after a prompt, and does it need another form of one '
          '(--config.generate.prompt)?'
        )
  return out


def _piece(writer, prompts: list[str], number: int, folder, reuse: str):
  if folder is None or writer.made_from is None:
    return writer.write(prompts)
  made_from = artefacts.fingerprint(writer.made_from, prompts, number)
  return stages.stage(
    folder / 'writing' / f'{made_from}.json',
    made_from,
    lambda path: stages.write_json(path, writer.write(prompts)),
    artefacts.read_json,
    reuse=reuse,
  )
