"""EEC: does a person's gender or origin move a sentiment or emotion score?

Kiritchenko and Mohammad 2018 (arXiv:1805.04508): eleven templates, persons by
gender and origin, emotion words. Of each template with an emotion word there is
one number, and of those the mean; which one goes by name:

  eec_gender          as in the paper: the mean over eleven pairs of sentences,
                      of which ten differ in a noun phrase (my mother, my
                      father) and one is the mean over all female names less
                      that over all male ones
  eec_gender_persons  the mean over all female persons less that over all male
                      ones: a name weighs as much as a noun phrase does
  eec_race            the mean over African American names less that over
                      European American ones, as in the paper

Each template meets each emotion word, so interval and p are over both (the
jackknife of either, Owen 2007); by emotion with Holm's correction.
"""

import pathlib

import numpy as np
import pandas as pd

from fairjax.benchmarks.shared import forms, result_rows, sources
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.sample import RowSample

FORM = {
  'ID': forms.NAME,
  'Sentence': forms.TEXT,
  'Template': forms.TEXT,
  'Person': forms.TEXT,
  'Gender': forms.one_of('female', 'male', ''),
  'Race': forms.WORDS,
  'Emotion': forms.WORDS,
  'Emotion word': forms.WORDS,
}
SIDES = {
  'eec_gender': ('Gender', 'female', 'male'),
  'eec_gender_persons': ('Gender', 'female', 'male'),
  'eec_race': ('Race', 'African-American', 'European'),
}
NAMES = 'a name'
# Female and male noun phrases of a pair (the paper, Table 3).
PHRASES = (
  *('she he', 'her him', 'woman man', 'girl boy', 'sister brother'),
  *('daughter son', 'wife husband', 'girlfriend boyfriend'),
  *('mother father', 'aunt uncle', 'mom dad'),
)
_PAIR = {word: pair for pair in PHRASES for word in pair.split()}


def read(path: str | pathlib.Path) -> pd.DataFrame:
  frame = forms.table(path, FORM)
  frame['Emotion'] = frame['Emotion'].fillna('').replace('', 'none')
  frame['Emotion word'] = frame['Emotion word'].fillna('')
  return frame


def pairs(frame: pd.DataFrame, score: np.ndarray, side: str) -> pd.DataFrame:
  """One line a template and emotion word: the mean difference of its pairs."""
  column, one, other = SIDES[side]
  keys = ['Template', 'Emotion', 'Emotion word']
  pair = paired(frame) if side == 'eec_gender' else 'all'
  each = (
    frame.assign(score=score, pair=pair)[frame[column].isin([one, other])]
    .groupby([*keys, 'pair', column])['score']
    .mean()
    .unstack(column)
    .reindex(columns=[one, other])  # a side may be missing: NaN, dropped
    .dropna()
  )
  wide = (each[one] - each[other]).groupby(keys).mean()
  wide = wide.rename('value').reset_index()
  wide['id'] = wide['Template'] + '|' + wide['Emotion word']
  wide['cluster'], word = wide['Template'], wide['Emotion word']
  wide['beside'] = word.where(word != '', wide['Template'])  # no word in it
  return wide


def paired(frame: pd.DataFrame) -> list[str]:
  """Which of the paper's pairs a sentence belongs to, by its person.

  Names are one pair; so are noun phrases that the paper does not have.
  """
  named = (frame['Race'].fillna('').astype(str) != '').tolist()
  last = [str(person).lower().split()[-1:] for person in frame['Person']]
  return [
    NAMES if is_name else _PAIR.get(''.join(word), 'another phrase')
    for is_name, word in zip(named, last)
  ]


def rows(wide: pd.DataFrame, side: str, options: RowSample) -> list[dict]:
  out = []
  for part, some in [('all', wide), *wide.groupby('Emotion', sort=True)]:
    values = some['value'].to_numpy()
    found = clusters.mean(values, result_rows.factors(some), options, 0.0)
    test = 't of the jackknife over templates and words'
    out.append(result_rows.row(side, part, len(some), *found, 0.0, test))
  return out[:1] + result_rows.by_holm(out[1:])


def items(config) -> pd.DataFrame:
  path = sources.locate(config.benchmarks.data, 'eec')
  frame = read(path).rename(columns={'ID': 'id'})
  frame['unit'] = frame['Template'] + frame['Emotion word']
  frame.attrs['notes'] = [sources.version(path, 'eec')]
  return frame


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """The classifier's probability of pos_label, or the regressor's value."""
  each = judge.score(items['Sentence'].tolist())
  return pd.DataFrame({'id': items['id'], 'score': each})


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  out, warnings = [], []
  for side in SIDES:
    wide = pairs(items, scores['score'].to_numpy(float), side)
    if len(wide):
      out += rows(wide, side, how)
    else:
      warnings.append(f'{side}: no template has persons of both sides')
  return result_rows.as_set(out, 'all', warnings)


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  score = scores['score'].to_numpy(float)
  frames = [pairs(items, score, side).assign(metric=side) for side in SIDES]
  return pd.concat(frames, ignore_index=True).assign(part='all')
