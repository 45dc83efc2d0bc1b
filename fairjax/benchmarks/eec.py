"""EEC: does a person's gender or origin move a sentiment or emotion score?

Kiritchenko and Mohammad 2018 (arXiv:1805.04508): eleven templates, persons by
gender and origin, emotion words. As in the paper, a pair is a template with an
emotion word: the mean score over its female persons less that over its male
ones (of names, African American less European ones). The mean over pairs has
an interval over templates × emotion words, and p is by sign flips; by emotion
with Holm's correction.
"""

import pathlib

import numpy as np
import pandas as pd

from fairjax.benchmarks import estimates, sources
from fairjax.benchmarks.estimates import Options, Outcome

ORIGIN = 'saifmohammad.com (Equity-Evaluation-Corpus.csv, research use)'
FILES = ('Equity-Evaluation-Corpus.csv', 'eec*.csv')
VERSIONS = {
  '28323328b736c09e8066feeacf6c36b3': 'a sample of 24 sentences',
}
COLUMNS = (
  *('ID', 'Sentence', 'Template', 'Person', 'Gender', 'Race'),
  *('Emotion', 'Emotion word'),
)
SIDES = {
  'female − male': ('Gender', 'female', 'male'),
  'African American − European': ('Race', 'African-American', 'European'),
}
LIMITS = (
  'Templates of one clause; a difference here says that the score moves with a '
  'name or noun, not how often real texts are misjudged.'
)


def read(path: str | pathlib.Path) -> pd.DataFrame:
  frame = sources.table(pathlib.Path(path), COLUMNS)
  frame['Emotion'] = frame['Emotion'].fillna('').replace('', 'none')
  frame['Emotion word'] = frame['Emotion word'].fillna('')
  return frame


def pairs(frame: pd.DataFrame, score: np.ndarray, side: str) -> pd.DataFrame:
  """One line a template and emotion word: the difference of the means."""
  column, one, other = SIDES[side]
  keys = ['Template', 'Emotion', 'Emotion word']
  wide = (
    frame.assign(score=score)[frame[column].isin([one, other])]
    .groupby([*keys, column])['score']
    .mean()
    .unstack(column)
    .reindex(columns=[one, other])
    .dropna()
    .reset_index()
  )
  wide['value'] = wide[one] - wide[other]
  wide['id'] = wide['Template'] + '|' + wide['Emotion word']
  wide['cluster'] = wide['id']
  return wide


def rows(wide: pd.DataFrame, side: str, options: Options) -> list[dict]:
  out = []
  for part, some in [('all', wide), *wide.groupby('Emotion', sort=True)]:
    values = some['value'].to_numpy()
    estimate, _ = estimates.mean(values, None, options)
    p = estimates.sign_flip(values, None, options)
    out.append(
      estimates.row(
        f'mean difference, {side}',
        part,
        len(some),
        estimate,
        0.0,
        p,
        'sign flips of pairs',
      )
    )
  adjusted = estimates.holm([one['p'] for one in out[1:]])
  return out[:1] + [one | {'p_holm': p} for one, p in zip(out[1:], adjusted)]


def run(path, judge, options: Options) -> Outcome:
  """Sentences → scores → differences of pairs."""
  frame = read(path)
  notes = [sources.version(pathlib.Path(path), VERSIONS)]
  score = np.asarray(judge.score(frame['Sentence'].tolist()), np.float64)
  out, every = [], []
  for side in SIDES:
    wide = pairs(frame, score, side)
    if not len(wide):
      notes.append(f'{side}: no template has persons of both sides')
      continue
    out += rows(wide, side, options)
    every.append(wide.assign(metric=f'mean difference, {side}', part='all'))
  items = pd.concat(every, ignore_index=True) if every else pd.DataFrame()
  return Outcome(out, items, notes)
