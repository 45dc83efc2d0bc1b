"""AUL and AULA of tokens by hand; by transformers: benchmarks/test_judge.py."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import Placement
from fairjax.models.layers.attention import RECEIVED
from fairjax.models.reading import unmasked


@pytest.mark.parametrize(
  ('added', 'aul', 'aula'),
  [
    # Of [CLS] a b [SEP], [CLS] [SEP] and [CLS] c [SEP].
    (2, [-5 / 2, 0, -9], [-(0.2 * 2 + 0.3 * 3) / 2, 0, -0.9 * 9]),
    # Of a tokenizer that only begins texts.
    (1, [-9 / 3, -7, -19 / 2], [-2.9 / 3, -7 * 0.7, -(0.9 * 9 + 10) / 2]),
  ],
)
def test_the_tokenizer_s_own_tokens_do_not_count(added, aul, aula, monkeypatch):
  texts = Ragged(np.zeros(9, np.int32), np.array([0, 4, 6, 9]))
  logs = -np.array([1, 2, 3, 4, 6, 7, 8, 9, 10.0])
  alpha = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0])
  monkeypatch.setattr(unmasked, 'token_logs', lambda *_: (logs, alpha))
  found = unmasked.scores(None, {}, texts, added)
  np.testing.assert_allclose(found, [aul, aula])


class Shape(NamedTuple):
  vocab: int = 7
  longest: int = 5


class Model(NamedTuple):
  """Scores of a word by its id, the token's and the place's, times a weight."""

  shape: Shape = Shape()

  def apply(self, params, batch, mutable):
    assert mutable == [RECEIVED]
    token, place = (jnp.asarray(batch[k]) for k in ('tokens', 'positions'))
    weight = params['params']['word']['embedding'].mean()
    words = jnp.arange(self.shape.vocab)
    scores = (weight * words * token[..., None] / 9).astype(jnp.float32)
    scores = scores + (words == 3) * place[..., None]
    one = (token + 10 * place).astype(jnp.float32)
    return scores, {'a': (one,), 'b': {'c': (2 * one,), 'd': (4.5 * one,)}}


def slow(text, weight):
  """log p and α of each token of a text, token by token."""
  out = []
  for place, token in enumerate(text):
    score = [weight * k * token / 9 + (k == 3) * place for k in range(7)]
    heard = [k * (token + 10 * place) for k in (1, 2, 4.5)]
    out.append(
      (score[token] - np.log(np.exp(score).sum()), sum(heard) / 3 / len(text))
    )
  return out


@pytest.mark.parametrize('scores', [7 * 5 * 2, 7 * 5 - 1])
def test_every_token_has_its_log_p_and_what_it_receives(scores, monkeypatch):
  """Texts of one to five tokens, two or one a step, in their own order."""
  monkeypatch.setattr(unmasked, 'BLOCK', scores)
  texts = [[2, 3], [6], [1, 3, 5, 2, 6], [3, 3, 3], [4], [0, 1, 2, 4]]
  ragged = Ragged(
    np.array([token for text in texts for token in text], np.int32),
    np.cumsum([0, *map(len, texts)]),
  )
  params = {'word': {'embedding': np.full((7, 2), 0.5, np.float32)}}
  double = Placement(params=lambda own: jax.tree.map(lambda x: 2 * x, own))
  for placement, weight in (((), 0.5), ((double,), 1.0)):
    found = unmasked.token_logs(Model(), params, ragged, *placement)
    want = np.array([one for text in texts for one in slow(text, weight)]).T
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_texts_that_the_model_cannot_read_are_told():
  params = {'word': {'embedding': np.zeros((7, 2), np.float32)}}
  for text, said in (([7], 'the model knows 7'), ([1] * 6, 'more tokens')):
    ragged = Ragged(np.array(text, np.int32), np.array([0, len(text)]))
    with pytest.raises(UserError, match=said):
      unmasked.token_logs(Model(), params, ragged)
