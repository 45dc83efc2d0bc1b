"""Tables of the claims that are joined of several published files.

  python configs/claims/tables.py FOLDER OUT

FOLDER holds the published files under the names below; each is known by its
sha256, and a sentence says where it comes from. OUT gets comments.csv:
Wikipedia talk-page comments of three public samples of the Jigsaw Toxic Comment
data, each text once, in the order of the files.
"""

import hashlib
import pathlib
import sys

import pandas as pd

COMMENTS = {  # file: (sha256, where it comes from, text, label)
  'wiki_toxic_balanced_6k.csv': (
    'e7114e141e79b1992325c5702eb5e6ab67dc658a8f39b2b5a3d78771147ce011',
    'github weizeming/Extract_WFA_from_RNN_for_NL @ 506c2d15c5d7, '
    'data/toxic/test.csv, with a header "text,toxic" added',
    *('text', 'toxic'),
  ),
  'wiki_toxic_natural_5k.csv': (
    'bbd94b7bc3487b4954a62aba31b9d799a62a1a06be19d59fb2479bb33fe09e69',
    'github jeckseveg/nlp_project @ 06f9bbd65fe8, data/jigsaw_test.csv',
    *('comment_text', 'toxic'),
  ),
  'wiki_context_out_10k.csv': (
    'def84ddcff46dfd628e3d37c9c81b9cb81d7cf35e82197212a5758c0d24fb667',
    'github ipavlopoulos/context_toxicity @ 5df49c294e6a, '
    'data/CAT_LARGE/gn.csv',
    *('text', 'label'),
  ),
}


def comments(folder: pathlib.Path) -> pd.DataFrame:
  """id, text, toxic of every comment of COMMENTS."""
  parts = []
  for name, (sha256, source, text, label) in COMMENTS.items():
    path = folder / name
    if not path.is_file():
      sys.exit(f'{path} is not here; it is {source}')
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
      sys.exit(f'{path} is another file than expected; take {source}')
    frame = pd.read_csv(path)
    rows = [f'{path.stem}:{row}' for row in range(len(frame))]
    parts.append(
      pd.DataFrame({'id': rows, 'text': frame[text], 'toxic': frame[label]})
    )
  whole = pd.concat(parts, ignore_index=True)
  return whole[~whole['text'].duplicated()]


if __name__ == '__main__':
  if len(sys.argv) != 3:
    sys.exit(__doc__)
  folder, out = map(pathlib.Path, sys.argv[1:])
  out.mkdir(parents=True, exist_ok=True)
  comments(folder).to_csv(out / 'comments.csv', index=False)
