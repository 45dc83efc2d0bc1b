"""A dictionary of counterfactual words from votes of their occurrences.

Every occurrence of a word that shows the attribute votes for what it became
when its embedding was moved to the other side. A pair stands where both words
vote for each other most (the mode; ties by alphabet), with counts and
confidence kept; FairFlow's own join is there by name. What comes out is a
word list that a swap reads as it reads a user's own.
"""

import csv
import io
import pathlib
from collections.abc import Container, Sequence

import numpy as np
import pandas as pd

from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.pairs.swapping import word_lists


def moved(
  z: np.ndarray,
  side: np.ndarray,
  how: str,
  alpha: float,
  factor: int,
  seed: int = 0,
  typical: np.ndarray | None = None,
) -> np.ndarray:
  """Latents [n, d] with the factor, their first dimensions, of the other side.

  'mean': that side's mean. 'sample': the factor of one of its instances, drawn
  by seed. 'shift': the own factor plus α times the difference of the means.
  Instances of no side stay. The means are those of `typical` rows (bool [n])
  if given.
  """
  out = z.copy()
  own = {s: np.flatnonzero(side == s) for s in (-1, 1)}
  known = np.ones(len(z), bool) if typical is None else typical
  mean = {s: z[(side == s) & known, :factor].mean(0) for s in own}
  for s, rows in own.items():
    other = own[-s]
    if how == 'mean':
      out[rows, :factor] = mean[-s]
    elif how == 'sample':
      draw = np.random.default_rng([seed, 24, int(s > 0)])
      out[rows, :factor] = z[draw.choice(other, len(rows)), :factor]
    else:
      out[rows, :factor] += alpha * (mean[-s] - mean[s])
  return out


def ballots(
  word: np.ndarray,
  side: np.ndarray,
  candidate: np.ndarray,
  chance: np.ndarray | None = None,
  logit: np.ndarray | None = None,
) -> pd.DataFrame:
  """What each occurrence became; frames of several runs may be joined."""
  frame = pd.DataFrame({'word': word, 'side': side, 'candidate': candidate})
  frame['chance'] = 1.0 if chance is None else chance
  frame['logit'] = np.arange(len(frame)) if logit is None else logit
  frame['along'] = 1.0
  return frame


def tally(frame: pd.DataFrame) -> pd.DataFrame:
  """Votes: a row for each (word, side, candidate), the most votes first.

  `share` is of the word's votes, `confidence` the mean chance of those for
  this candidate, `along` their mean cosine of the move with the difference of
  the two words. An occurrence that stays as it is, or becomes '', votes for
  nobody but counts in the share.
  """
  cast = frame.groupby(['word', 'side'])['candidate'].size().rename('cast')
  real = frame[
    (frame['candidate'] != '') & (frame['candidate'] != frame['word'])
  ]
  votes = real.groupby(['word', 'side', 'candidate'], sort=True)
  votes = votes.agg(
    votes=('chance', 'size'),
    confidence=('chance', 'mean'),
    along=('along', 'mean'),
  ).reset_index()
  votes = votes.join(cast, on=['word', 'side'])
  votes['share'] = votes['votes'] / votes['cast']
  return votes.sort_values(
    ['side', 'word', 'votes', 'candidate'],
    ascending=[True, True, False, True],
    ignore_index=True,
  )


def top(votes: pd.DataFrame) -> pd.DataFrame:
  """The mode of each word: most votes, then first by alphabet."""
  return votes.drop_duplicates(['side', 'word'], ignore_index=True)


def mutual(votes: pd.DataFrame, least_along: float = -1.0) -> pd.DataFrame:
  """Pairs (first, second) whose modes are each other.

  A word that shows both sides stands for neither.
  """
  best = top(votes)
  best = best[best['along'] >= least_along]
  one, two = best[best['side'] < 0], best[best['side'] > 0]
  twice = set(one['word']) & set(two['word'])
  pairs = one.merge(
    two,
    left_on=['word', 'candidate'],
    right_on=['candidate', 'word'],
    suffixes=('_first', '_second'),
  )
  pairs = pairs[~pairs['word_first'].isin(twice)]
  pairs = pairs[~pairs['word_second'].isin(twice)]
  return _named(pairs)


def _named(pairs: pd.DataFrame) -> pd.DataFrame:
  out = pd.DataFrame(
    {
      'first': pairs['word_first'],
      'second': pairs['word_second'],
      'votes': pairs['votes_first'] + pairs['votes_second'],
      'share': pairs[['share_first', 'share_second']].min(axis=1),
      'confidence': pairs[['confidence_first', 'confidence_second']].mean(
        axis=1
      ),
    }
  )
  return out.sort_values(
    ['votes', 'first'], ascending=[False, True], ignore_index=True
  )


def paper(frame: pd.DataFrame) -> list[tuple[str, str]]:
  """FairFlow's program: directed entries (word, counterfactual).

  Rows of words that show both sides are left out; those left are joined where
  the other side has the reverse; they are counted once a logit of the first
  side's instance; each word has the mode of its partners (ties by alphabet).
  Identical pairs, those with a digit, a hyphen or 'world' in the source go.
  """
  one, two = frame[frame['side'] < 0], frame[frame['side'] > 0]
  words = set(one['word']), set(two['word'])
  one = one[~one['word'].isin(words[1])]
  two = two[~two['word'].isin(words[0])]
  reverse = two[['candidate', 'word']].drop_duplicates()
  reverse.columns = ['word', 'candidate']
  both = one.merge(reverse, on=['word', 'candidate'])
  both = both.drop_duplicates(['word', 'candidate', 'logit'])
  entries = []
  for source, target in (('word', 'candidate'), ('candidate', 'word')):
    votes = (
      both.groupby([source, target], sort=True).size().reset_index(name='n')
    )
    votes = votes.sort_values(
      [source, 'n', target], ascending=[True, False, True]
    ).drop_duplicates(source)
    entries += list(zip(votes[source], votes[target]))

  def bad(a, b):
    return (
      a == b
      or '-' in a
      or 'world' in a
      or any(letter.isdigit() for letter in a + b)
    )

  return [(a, b) for a, b in entries if not bad(a, b)]


def directed(
  entries: Sequence[tuple[str, str]], first: set[str]
) -> pd.DataFrame:
  """Entries as pairs (first, second), and which of the two is turned.

  `from` is '' where the entry holds in both directions.
  """
  every = set(entries)
  both = {(a, b) for a, b in every if a in first and (b, a) in every}
  rows = sorted((a, b, '') for a, b in both)
  rows += sorted(
    (a, b, 'first') if a in first else (b, a, 'second')
    for a, b in every
    if (a, b) not in both and (b, a) not in both
  )
  return pd.DataFrame(rows, columns=['first', 'second', 'from'])


def two_way(pairs: pd.DataFrame) -> pd.DataFrame:
  """The pairs that hold in both directions."""
  both = pairs[pairs['from'] == ''].drop(columns='from')
  return both.reset_index(drop=True)


def turned(pairs: pd.DataFrame) -> list[tuple[str, str, str]]:
  """(word, first, second): the word that a pair is counted by."""
  turns = pairs['from'] if 'from' in pairs else [''] * len(pairs)
  return [
    (b if turn == 'second' else a, a, b)
    for (a, b), turn in zip(_rows(pairs), turns)
  ]


def without_names(
  pairs: pd.DataFrame, called: Container[str]
) -> tuple[pd.DataFrame, int]:
  """Pairs of two first names left out, and how many.

  A swap finds names where persons are (`names=`): as words of a list they
  would turn "I will mark the rose".
  """
  both = [a in called and b in called for a, b in _rows(pairs)]
  return pairs[~np.array(both, bool)].reset_index(drop=True), sum(both)


def _rows(pairs: pd.DataFrame) -> list[tuple[str, str]]:
  return list(zip(pairs['first'], pairs['second']))


def write(
  path: pathlib.Path,
  pairs: pd.DataFrame,
  about: str = '',
  sides: Sequence[str] = (),
) -> None:
  """A word list for --config.method.words: a pair a line.

  Where `sides` says that `first` is 'male' or 'female' the list is of gender:
  men's words come first, after the line that says so, and a swap applies the
  rules for pronouns to it (her is his or him). Pairs with a column `from` may
  be one-way.
  """
  if not len(pairs):
    raise UserError(
      'no two words vote for each other, so there is no dictionary; give more '
      'text, or lower --config.fairflow.threshold'
    )
  text = io.StringIO()
  for line in about.splitlines():
    text.write(f'# {line}\n')
  writer = csv.writer(text, lineterminator='\n')
  names = tuple(sides) or ('first', 'second')
  header = word_lists.SIDES[:2] if sides else names
  rows = [dict(zip(names, row)) for row in _rows(pairs)]
  if 'from' in pairs:
    header = *header, 'from'
    called = {'': '', 'first': names[0], 'second': names[1]}
    for row, turn in zip(rows, pairs['from']):
      row['from'] = called[turn]
  if sides or 'from' in pairs:
    writer.writerow(header)
  writer.writerows([row[name] for name in header] for row in rows)
  artefacts.write_text(path, text.getvalue())
