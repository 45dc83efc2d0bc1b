"""Overlap of a run's scores with the columns that the paper's authors publish.

  python configs/claims/published_scores.py RUN/scores.parquet PUBLISHED.csv

PUBLISHED.csv has `row` (of the training file, from 0) and a column a score, as
the authors' Twitter_train_*.csv. Printed: the share in common of the first 10
to 50 % of these rows, ties broken by lot (chance is the share itself).
"""

import sys

import pandas as pd

from fairjax.scores import rank_overlap


def main(scores: str, published: str) -> None:
  ours, theirs = pd.read_parquet(scores), pd.read_csv(published)
  theirs['id'] = 'train:' + theirs['row'].astype(str)
  both = ours.merge(theirs, on='id')
  print(f'{len(both)} rows; share of the first 10, 20, 30, 40, 50 % in common')
  columns = [c for c in theirs if c.startswith('original: ')]
  ranked = {'ge': 'ours, GE', 'el2n': 'ours, EL2N'}
  ranked |= {c: c.removeprefix('original: ') for c in columns}
  values = {name: both[c].to_numpy(float) for c, name in ranked.items()}
  for one in ('ours, GE', 'bert-base-cased GE', 'ours, EL2N'):
    rows = rank_overlap.compare(values, list(both['id']), one)
    for other in dict.fromkeys(row['b'] for row in rows):
      shares = [f'{r["fair"]:.3f}' for r in rows if r['b'] == other]
      print(f'{one:20} {other:36} {" ".join(shares)}')


if __name__ == '__main__':
  main(*sys.argv[1:])
