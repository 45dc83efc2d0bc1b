"""An optional tagger for her and his: 'spacy:MODEL', or a function.

A tagger is `tag(text) -> {start of a word: Penn tag}`; it is asked only about
texts that hold an ambiguous pronoun, since it costs a hundred times the swap.
"""

import os
from collections.abc import Callable

from fairjax.core.errors import UserError
from fairjax.pairs.swapping import pronouns


def load(tagger: str | Callable | None) -> Callable[[str], dict] | None:
  """The tagging function that `tagger` names; None for none."""
  if tagger is None or callable(tagger):
    return tagger
  if tagger == '':
    return None
  kind, _, model = tagger.partition(':')
  if kind != 'spacy' or not model:
    raise UserError(
      f"tagger is {tagger!r}; it must be 'spacy:MODEL', say "
      "'spacy:en_core_web_sm'"
    )
  try:
    import spacy
  except ImportError as error:
    raise UserError(
      f"tagger {tagger!r} needs spaCy; run pip install 'fairjax[spacy]'"
    ) from error
  try:
    pipeline = spacy.load(model, disable=['parser', 'ner', 'lemmatizer'])
  except OSError as error:
    raise UserError(
      f'spaCy has no model {model!r}; run python -m spacy download '
      f'{os.path.basename(model)}'
    ) from error
  return lambda text: {word.idx: word.tag_ for word in pipeline(text)}


def needed(hits: list[tuple]) -> bool:
  """Whether a text holds a pronoun whose sense a tag tells."""
  return any(word.lower() in ('her', 'his') for _, _, word, _ in hits)


def sense(word: str, tag: str | None) -> pronouns.Row | None:
  """The sense that a tag gives a pronoun; None where it tells nothing."""
  if word == 'her' and tag in ('PRP$', 'PRP'):
    return pronouns.POSSESSIVE if tag == 'PRP$' else pronouns.OBJECT
  if word == 'his' and tag and tag != 'PRP$':
    return pronouns.ALONE
  return None
