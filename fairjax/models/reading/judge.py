"""Log probabilities and vectors of texts under a language model.

A Judge is a model folder behind four questions: tokens of texts, log p of the
tokens that count, log p at masks, and vectors. Masked copies are packed and
read at their mask alone (reading/masked.py). Left to right, texts that share a
context read it once: its keys and values are kept, each continuation is a few
places more, and only those have scores over the vocabulary.

An `eraser` (A, b) stands between the last layer and the head: x ← x A + b
(eraser_head.py). A `contrast` names biases that the judge takes back itself
(self_debias.py).
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Integer
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.core import announce, artefacts
from fairjax.core.errors import UserError
from fairjax.data.batching import batches as packing
from fairjax.data.batching import tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import HERE, Placement
from fairjax.data.tables import labels
from fairjax.models import Bundle, build, families, special
from fairjax.models.families import chances
from fairjax.models.folders import folder
from fairjax.models.layers import places
from fairjax.models.reading import (
  eraser_head,
  fill,
  masked,
  self_debias,
  shared_prefix,
  token_scores,
  unmasked,
)
from fairjax.models.reading.masked import Copies

# What a loaded model is asked as, and what it can then do for a benchmark.
KINDS = {
  'mask': ('mask', 'embed'),
  'write': ('judge', 'embed'),
  'classify': ('classify',),
  'embed': ('embed',),
}


class Judge(NamedTuple):
  """A model that is asked; `kind` is one of KINDS."""

  name: str
  kind: str
  module: Any
  params: dict
  tokenizer: Tokenizer
  longest: int
  eraser: tuple[np.ndarray, np.ndarray] | None = None
  placement: Placement = HERE
  pos_label: int = 1
  contrast: tuple[str, ...] = ()
  problem: str = chances.ONE  # what a classifier's logits say
  # texts -> what a classifier reads of them, and what says so; None: as is
  reads: tuple[Callable, str] | None = None

  @property
  def able(self) -> tuple[str, ...]:
    able = KINDS[self.kind]
    return able[:1] if self.contrast else able  # its vectors do not change

  def without(self, eraser: Any) -> 'Judge':
    """The judge whose last layer does not have what an eraser takes."""
    return self._replace(eraser=(eraser.matrix, eraser.shift))

  def facts(self) -> dict:
    words = {'mask': 'masked', 'write': 'left to right'}
    facts: dict = {'model': self.name, 'asked': words.get(self.kind, self.kind)}
    if self.eraser is not None:  # A = I − P of a projection P, of this trace
      matrix = self.eraser[0]
      rank = round(float(len(matrix) - np.trace(matrix)))
      facts['directions taken out'] = rank
    return facts

  def fingerprint(self) -> list:
    """What its scores depend on: its folder's content and the eraser."""
    taken = artefacts.fingerprint(*self.eraser) if self.eraser else ''
    kind = self.problem if self.kind == 'classify' else self.kind
    read = self.reads[1:] if self.reads else ()
    return [kind, artefacts.content(self.name), taken, *self.contrast, *read]

  @property
  def mask(self) -> str:
    return fill.mask_of(self.tokenizer)[0]

  @property
  def mask_id(self) -> int:
    return fill.mask_of(self.tokenizer)[1]

  def encode(self, texts: Sequence[str], special: bool = True) -> Ragged:
    """Tokens; a text beyond the model's positions is a sentence."""
    ragged = tokens.encode(self.tokenizer, list(texts), None, None, special)
    if len(ragged.lengths) and ragged.lengths.max() > self.longest:
      i = int(ragged.lengths.argmax())
      raise UserError(
        f'the text {texts[i][:60]!r} has {ragged.lengths[i]} tokens, but '
        f'{self.name} has positions for {self.longest}; leave it out'
      )
    return ragged

  def unknown(self, texts: Sequence[str]) -> Bool[np.ndarray, ' n']:
    """Which texts hold a token that the vocabulary does not know."""
    token = getattr(self.tokenizer.model, 'unk_token', None)
    token = None if token is None else self.tokenizer.token_to_id(token)
    if token is None or not len(texts):
      return np.zeros(len(texts), bool)
    ragged = tokens.encode(self.tokenizer, list(texts), None)
    return np.bincount(ragged.owner, ragged.flat == token, len(texts)) > 0

  def log_p(self, texts: Ragged, chosen=None) -> np.ndarray:
    """log p beside `texts.flat`, NaN where not chosen or not scored.

    Masked: of each chosen token with itself alone masked; None chooses all but
    those that the tokenizer adds. Left to right: of each given those before,
    the first given the start token where the model has one.
    """
    if self.kind == 'mask':
      if chosen is None:
        added = self.tokenizer.num_special_tokens_to_add(False)
        chosen = token_scores.inner(texts, (added + 1) // 2, added // 2)
      copies = masked.every_place(texts, chosen)
      token = texts.flat[chosen][:, None]
      out = np.full(len(texts.flat), np.nan, np.float32)
      out[chosen] = _at_places(self, texts, copies, token, self.mask_id)[:, 0]
      return out
    if self.contrast:
      out = self_debias.left_to_right(self, texts)
    else:
      eraser = None
      if self.eraser is not None:
        matrix, shift = (jnp.asarray(a, jnp.float32) for a in self.eraser)
        eraser = matrix, shift
      out = token_scores.causal_logs(
        self.module, self.params, texts, self.bos, self.placement, eraser
      )
    return out if chosen is None else np.where(chosen, out, np.nan)

  def unmasked(self, texts: Ragged) -> tuple[np.ndarray, np.ndarray] | None:
    """AUL and AULA of each text (unmasked.py); None of what reads otherwise."""
    if self.kind != 'mask' or self.contrast:
      return None
    added = self.tokenizer.num_special_tokens_to_add(False)
    return unmasked.scores(
      *eraser_head.module_and_params(self), texts, added, self.placement
    )

  @property
  def bos(self) -> int | None:
    """The token that is put before a text; None where there is none, or where
    the tokenizer puts it there itself (Llama): twice would be another text."""
    bos = getattr(self.module.shape, 'bos', None)
    if bos is None or bos >= self.module.shape.vocab:
      return None
    return None if self.opens else bos

  @property
  def opens(self) -> int:
    """How many tokens the tokenizer puts before a text, 0 or 1."""
    ids, bare = (
      self.tokenizer.encode('a', add_special_tokens=one).ids
      for one in (True, False)
    )
    return int(len(ids) > len(bare) and ids[1:2] == bare[:1])

  def log_p_at(
    self,
    texts: Ragged,
    place: Integer[np.ndarray, ' n'],
    token: Integer[np.ndarray, 'n k'],
  ) -> np.ndarray:
    """log p of k tokens at one place of each text, where a mask stands."""
    copies = Copies(np.arange(len(place)), np.asarray(place))
    return _at_places(self, texts, copies, np.asarray(token), None)

  def continued(
    self, contexts: Sequence[str], texts: Sequence[str]
  ) -> tuple[Ragged, np.ndarray]:
    """Tokens of 'context text', and which of them are the text's (bool)."""
    whole = [f'{c.rstrip()} {t.lstrip()}' for c, t in zip(contexts, texts)]
    ragged = self.encode(whole)
    starts = [len(c.rstrip()) for c in contexts]
    chosen = np.zeros(len(ragged.flat), bool)
    tokens.truncate(self.tokenizer, None)
    for i, each in enumerate(self.tokenizer.encode_batch(whole)):
      ends = np.array([end for _, end in each.offsets])
      real = ~np.array(each.special_tokens_mask, bool)
      low = ragged.offsets[i]
      chosen[low : low + len(ends)] = real & (ends > starts[i])
    return ragged, chosen

  def continuations(
    self, contexts: Sequence[str], texts: Sequence[str]
  ) -> np.ndarray:
    """The log p of each text given its context: [n, 2] of sums and counts."""
    whole, chosen = self.continued(contexts, texts)
    changed = self.eraser is not None or self.contrast
    if self.kind == 'write' and not changed:
      logs = shared_prefix.logs(self, whole, chosen)  # each context once
    else:
      logs = self.log_p(whole, chosen)
    owner, real = whole.owner, ~np.isnan(logs)
    total = np.bincount(owner[real], logs[real], len(whole.lengths))
    count = np.bincount(owner[real], minlength=len(whole.lengths))
    return np.stack([total, count], 1)

  def score(self, texts: Sequence[str]) -> np.ndarray:
    """A classifier's probability of pos_label, or a regressor's value."""
    ragged = self.encode(self.reads[0](texts) if self.reads else texts)
    logits = _of_texts(self, ragged, _logits).astype(np.float64)
    label = 0 if logits.shape[1] == 1 else self.pos_label
    if self.problem == 'regression':
      return logits[:, label]
    return chances.probabilities(logits, self.problem)[
      :, label
    ]  # of labels: sigmoids

  def vectors(self, texts: Sequence[str], how: str = 'mean') -> np.ndarray:
    """Vectors of texts: 'mean' over all places, the 'first' piece, 'cls'."""
    if how == 'cls' and self.kind == 'write':
      raise UserError(
        f'{self.name} has no [CLS]; choose mean or first with '
        '--config.benchmarks.encodings'
      )
    ragged = self.encode(texts, special=how != 'first')
    out = _of_texts(self, ragged, functools.partial(_pool, first=how != 'mean'))
    if self.eraser is not None:
      out = out @ self.eraser[0] + self.eraser[1]
    return out


def from_bundle(
  bundle: Bundle, name: str, placement: Placement = HERE, pos_label: int = 1
) -> Judge:
  """The judge of a loaded model."""
  kind = 'write' if bundle.can == 'judge' else bundle.can
  family = families.find(bundle.family)
  if kind not in KINDS or (kind == 'write' and 'judge' not in family.heads):
    raise UserError(
      f'{name} is a {family.name}, which can {family.abilities}; a benchmark '
      'needs a masked or causal language model, an encoder or a classifier'
    )
  return Judge(
    name,
    kind,
    bundle.module,
    bundle.params,
    bundle.tokenizer,
    bundle.shape.longest,  # nothing is cut here, so all places may be read
    None,
    placement,
    pos_label,
    problem=_problem(bundle, name) if kind == 'classify' else chances.ONE,
  )


def _problem(bundle: Bundle, name: str) -> str:
  """That of a classifier's config.json; one score alone is a regressor's."""
  if bundle.classes == 1 and bundle.config.get('problem_type') is None:
    return 'regression'
  return chances.problem(bundle.config, bundle.classes, name)


def load(model: str, config: Config, placement: Placement = HERE) -> Judge:
  """The judge of a folder, by the first head whose weights it has."""
  bundle = folder.load(model, '', build.precision(config))
  positive = 1
  if bundle.can == 'classify':
    positive = _positive(bundle, model, config)
  return from_bundle(bundle, model, placement, positive)


def _positive(bundle: Bundle, model: str, config: Config) -> int:
  """The number of the label whose probability is asked for."""
  label = config.measures.pos_label
  if bundle.classes == 1:
    return 0
  known = labels.number_of(label, bundle.labels)
  if known is None or known >= bundle.classes:
    raise UserError(
      f'measures.pos_label is {label!r}, but the labels of '
      f'{model} are {", ".join(map(repr, bundle.labels[:9]))}; name one '
      'of them with --config.measures.pos_label, or its number from 0'
    )
  return known


def _at_places(
  judge: Judge,
  texts: Ragged,
  copies: Copies,
  token: Integer[np.ndarray, 'c k'],
  mask: int | None,
) -> Float[np.ndarray, 'c k']:
  """log p of k tokens at each copy's place."""
  if judge.contrast and len(copies.text):
    return self_debias.at_places(judge, texts, copies, token, mask)
  module, params = eraser_head.module_and_params(judge)
  return masked.log_p(
    module, params, texts, copies, token, mask, placement=judge.placement
  )


def _hidden(module: Any, params: dict, batch: dict) -> Float[Array, 'r t d']:
  """The states after the last layer (and its norm)."""
  body = families.body_of(module)
  if 'judge' not in families.find(module.shape.family).heads:  # an encoder
    own = params if body is module else params['encoder']
    return body.apply({'params': own}, batch)
  return module.apply({'params': params}, batch, method='states')


@functools.partial(jax.jit, static_argnames='module')
def _logits(module: Any, params: dict, batch: dict) -> Float[Array, 'b c']:
  return module.apply({'params': params}, batch)


@functools.partial(jax.jit, static_argnames=('module', 'first'))
def _pool(module: Any, params: dict, batch: dict, first: bool):
  x = _hidden(module, params, batch)
  if first:
    return places.first_places(x, batch)[:, 0]
  return places.mean_places(x, places.places(batch).rows)[:, 0]


def _of_texts(judge: Judge, texts: Ragged, read: Callable) -> np.ndarray:
  """read(module, params, batch) of every text, in packed batches."""
  special.check_fits(judge.params, judge.module.shape.vocab)
  special.check_known(texts, judge.module.shape.vocab)
  place, n = judge.placement, len(texts.lengths)
  params = place.params(judge.params)
  layout = packing.layout_of_sweep(
    texts.lengths, min(masked.BATCH, n), place.rows
  )
  sweep = packing.sweep(packing.of_texts(texts), np.arange(n), layout)
  out = np.zeros((n, 0))
  for host in announce.rounds(sweep, len(sweep), 'texts read: batch'):
    values = read(judge.module, params, place.batch(host))
    values = np.asarray(place.fetch(values))
    out = out if out.size else np.zeros((n, values.shape[1]), values.dtype)
    real = host['example'] >= 0
    out[host['example'][real]] = values[real]
  return out
