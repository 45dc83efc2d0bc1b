"""Errors of a rewrite whose right form is known, by kind.

Words of source, known twin and rewrite are compared place by place
(swapping/swap_eval.py). A text may have errors of several kinds:

  unchanged        the twin changes words, the rewrite none
  half_turned      some of the twin's words are turned, others left
  wrong_agreement  turned, but in another form: him for his, a for an, was
  wrong_partner    turned into another word altogether
  others_changed   a word is changed that the twin keeps
"""

from collections.abc import Sequence

import numpy as np

from fairjax.pairs.swapping import swap_eval
from fairjax.pairs.word_sets import SETS

KINDS = (
  *('unchanged', 'half_turned', 'wrong_agreement', 'wrong_partner'),
  'others_changed',
)
# Forms of one word: choosing the wrong one of them is an error of agreement.
_FORMS = [{*forms.split('/')} for forms in SETS.forms_of_one]


def one_word(a: str, b: str) -> bool:
  """Whether two words are forms of one: listed, or singular and plural."""
  if any(a in forms and b in forms for forms in _FORMS):
    return True
  short, long = sorted((a, b), key=len)
  return long in (short + 's', short + 'es') if short else False


def kinds(source: str, twin: str, rewrite: str) -> tuple[bool, ...]:
  """Which of KINDS a rewrite has."""
  turned = left = right = agreement = partner = others = 0
  for word, gold, mine in swap_eval.compared([(source, twin)], [rewrite]):
    turned += mine is not None
    if mine is None:
      left += 1
    elif gold is None:
      form = one_word(word.lower(), mine)
      agreement, others = agreement + form, others + (not form)
    elif mine == gold:
      right += 1
    elif one_word(gold, mine):
      agreement += 1
    else:
      partner += 1
  wrong = agreement + partner
  return (
    bool(left and not turned),
    bool(left and right + wrong),
    bool(agreement),
    bool(partner),
    bool(others),
  )


def table(
  pairs: swap_eval.Pairs, rewrites: Sequence[str]
) -> dict[str, np.ndarray]:
  """Of each kind, which texts have it: bool [n]."""
  rows = [kinds(*pair, new) for pair, new in zip(pairs, rewrites, strict=True)]
  columns = np.array(rows, bool).reshape(-1, len(KINDS)).T
  return dict(zip(KINDS, columns))
