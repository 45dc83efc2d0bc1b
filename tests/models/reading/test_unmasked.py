"""AUL and AULA of tokens by hand; by transformers: benchmarks/test_judge.py."""

import numpy as np
import pytest

from fairjax.data.batching.tokens import Ragged
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
