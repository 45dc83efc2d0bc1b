"""A token classifier that finds gendered words beyond the lists.

    texts → listed words, half of them hidden → tagger → recall on unseen words

The token classifier is that of perturbation/person_tagger.py, asked for
everybody ('people, gender <PERT_SEP> text'). In its training texts half of the
listed words are replaced by invented ones, and as many other words too, so that
what it learns is the place in which such a word stands. A share of the list is
kept from it altogether: the report says how many of these it finds. With
--config.perturb.detector=FOLDER what it finds is drawn and rewritten beside the
words of the list; only a model can rewrite them.
"""

import dataclasses
import pathlib
import zlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.corpora import texts
from fairjax.data.sets import invented
from fairjax.models import Bundle
from fairjax.pairs.persons import parallel, perturb
from fairjax.pairs.swapping import dictionary
from fairjax.recipes.perturbation import person_tagger
from fairjax.recipes.rewriting import rewriter
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log

EVERYBODY = ('people', 'gender')  # the word and attribute that are asked for
HIDDEN, KEPT, VALID = 0.5, 0.2, 0.1
STREAM = 71  # of this file's random numbers
MARK = 'zz'  # in place of a word that is to be flagged


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → texts → marked texts → fit → measures on unseen words → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    if not config.data.path:
      raise UserError(
        'the detector learns from plain text, but data.path names none; give a '
        'folder of text with --config.data.path'
      )
    rows = marked(lines(config), config.seed)
    log.line(f'texts: {rows["split"].value_counts().to_dict()}')
    # Everybody is asked for: rules know of no such person.
    options = dataclasses.replace(config.perturb, hints=False)
    plain = dataclasses.replace(config, perturb=options)
    one = person_tagger.fit(plain, folder, rows, log)
    if mesh.is_main():
      rewriter.save(one.model, folder / 'export' / 'detector')
    log.line(f'the detector: {folder / "export" / "detector"}')
    results = stages.results(
      config,
      title=f'words of people, found by {config.model}',
      contenders={
        'detector': {
          'sets': {
            'unseen words': {
              'rows': one.facts['test pairs'],
              'quality': one.quality,
            }
          }
        }
      },
      facts={**one.facts, 'steps': one.fit.steps},
      notes=[
        'turned_right is the share of the tokens of listed words that it '
        'finds in texts whose listed words it never saw, kept_right the share '
        'of the others that it leaves.'
      ],
    )
    return stages.publish(folder, results, log)


def lines(config: Config) -> list[str]:
  """The distinct lines of the texts, at most data.limit of them."""
  corpus = texts.find(config.data.path, config.data.text, False)
  out: dict[str, None] = {}
  for file in corpus.files:
    with open(file, encoding='utf-8') as rows:
      out |= dict.fromkeys(line.strip() for line in rows if line.strip())
  return list(out)[: config.data.limit or None]


def share(text: str, seed: int) -> float:
  """A number in [0, 1) of a text or word, and of the seed."""
  return zlib.crc32(f'{seed} {text}'.encode()) / 2**32


def marked(every: Sequence[str], seed: int) -> pd.DataFrame:
  """Texts to learn from, and those of which all listed words are unseen.

  A text with an unseen word and a seen one is in neither.
  """
  rows = []
  found = perturb.candidates(every, ('gender',))
  for text, listed in zip(every, found):
    unseen = {share(one.word.lower(), seed) < KEPT for one in listed}
    if len(unseen) != 1:
      continue
    split = 'valid' if share(text, seed) < VALID else 'train'
    if unseen.pop():
      split = 'test'
    spans = [(one.start, one.end) for one in listed]
    if split != 'test':
      text, spans = hidden(text, spans, seed)
    rows.append({'text': text, 'target': put(text, spans), 'split': split})
  word, attribute = EVERYBODY
  out = pd.DataFrame(rows, columns=['text', 'target', 'split'])
  for split in ('train', 'valid', 'test'):
    if not (out['split'] == split).any():
      raise UserError(
        f'no text of the {len(every)} is left for split {split}; the detector '
        'needs more text with words of people'
      )
  return out.assign(word=word, attribute=attribute, axis='gender')


def hidden(
  text: str, spans: Sequence[tuple[int, int]], seed: int
) -> tuple[str, list[tuple[int, int]]]:
  """The text with half of the spans, and as many other words, invented.

  Returns it with the places of the spans in it.
  """
  draw = np.random.default_rng([seed, STREAM, zlib.crc32(text.encode())])
  taken = set(spans)
  others = [m.span() for m in parallel.finditer(text) if m[0].isalpha()]
  others = [
    (a, b)
    for a, b in others
    if not any(a < end and start < b for start, end in taken)
  ]
  chosen = {span for span in spans if draw.random() < HIDDEN}
  picked = draw.permutation(len(others))[: len(chosen)]
  chosen |= {others[k] for k in picked}
  new = invented.words(len(chosen), draw) if chosen else []
  edits, out, shift = [], [], 0
  names = iter(new)
  for start, end in sorted({*spans, *chosen}):
    old = text[start:end]
    word = (
      dictionary.match_case(old, next(names)) if (start, end) in chosen else old
    )
    if (start, end) in taken:
      out.append((start + shift, start + shift + len(word)))
    edits.append((start, end, word))
    shift += len(word) - (end - start)
  return put(text, [e[:2] for e in edits], [e[2] for e in edits]), out


def put(
  text: str, spans: Sequence[tuple[int, int]], words: Sequence[str] = ()
) -> str:
  """The text with words (or marks) in place of spans."""
  parts, last = [], 0
  for k, (start, end) in enumerate(spans):
    parts += [text[last:start], words[k] if words else MARK]
    last = end
  return ''.join([*parts, text[last:]])


def candidates(
  config: Config, model: Bundle, every: Sequence[str]
) -> list[list[perturb.Candidate]]:
  """The words that the detector finds; what they are of, it does not say."""
  word, attribute = EVERYBODY
  n = len(every)
  starts = person_tagger.flags(
    config, model, list(every), [word] * n, [attribute] * n
  )
  kinds = perturb.AXES['gender']
  weights = (1.0,) * len(kinds)
  return [
    [
      perturb.Candidate(*m.span(), m[0], 'gender', kinds, weights)
      for m in parallel.finditer(text)
      if m.start() in flagged and m[0].isalpha()
    ]
    for text, flagged in zip(every, starts)
  ]
