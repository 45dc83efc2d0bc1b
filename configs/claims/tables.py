"""Tables of the claims that are made of published files.

  python configs/claims/tables.py FOLDER OUT [PART...]

FOLDER holds the published files under the names below; each is known by its
sha256, and a sentence says where it comes from. OUT gets comments.csv:
Wikipedia talk-page comments of three public samples of the Jigsaw Toxic Comment
data, each text once, in the order of the files; sst2_train.csv and
sst2_held_out.csv: 3,000 and 17,000 rows of SST-2's training file, by seed; and
GLUE/CoLA, GLUE/RTE, GLUE/SST-2: train.csv and dev.csv of each, drawn by seed of
its published training and development rows together, since the development sets
alone have too few rows that can be perturbed; and of bias_datasets_AAAI23.zip
the sexist tweets: train_original.csv, train_gender_swap.csv, valid_original.csv
and test_original_even.csv, every other row of its test file; known_pairs.csv is
of three published lists: a woman's word and a man's a line, each word once; and
GLUE_whole, the training and development sets of five tasks as published (of
CoLA, in-domain).
Of what FOLDER does not hold nothing is made, and is said. A PART is comments,
sst2, CoLA, RTE, SST-2, tweets, pairs or whole; without one all are made.
"""

import csv
import functools
import hashlib
import json
import pathlib
import re
import sys
import zipfile

import numpy as np
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


SST2 = (
  'train.csv',
  '93b1c122e4b3ef869ac09d8719d0f73c23a14e91a6dc6f63d64334906fb77a94',
  'github JiayiJennie/shortcut_guardrail_code @ 5b96956c6b7a, '
  'data/sst-2/train.csv (GLUE SST-2, as published)',
)
ROWS = {'sst2_train.csv': 3_000, 'sst2_held_out.csv': 17_000}


# Of each task: its columns where its files have no header, how many rows are
# trained on and asked, and its files under FOLDER or the folder of its name.
GLUE = {
  'CoLA': (
    ['source', 'label', 'star', 'sentence'],
    *(3_000, 6_000),
    (
      'CoLA/train.tsv',
      'cb368ebeb9f27d7ad03720d27ddc95687a311bdb100781a2fe59a5f5b1bc0624',
      'github nyu-mll/CoLA-baselines @ dd095d3646ed, '
      'acceptability_corpus/raw/in_domain_train.tsv',
    ),
    (
      'CoLA/dev_in_domain.tsv',
      '1cb3318c392433f6e75e399f7d1ccc16544ff3c0d17712e702467a93c19d1392',
      'github nyu-mll/CoLA-baselines @ dd095d3646ed, '
      'acceptability_corpus/raw/in_domain_dev.tsv',
    ),
  ),
  'RTE': (
    None,
    *(1_500, 1_200),
    (
      'RTE/train.tsv',
      '81d25e323e1ab5b2ad7cd445f1a69db89f2b1c104f3e26915a9421aa4a5f4735',
      'github marcwww/nlu_eval @ ccd55c37de74, data/RTE/train.tsv',
    ),
    (
      'RTE/dev.tsv',
      '80230dfa1347282e7b532b06a1004a76a710087541189bf874223ddf0e3819fb',
      'github marcwww/nlu_eval @ ccd55c37de74, data/RTE/dev.tsv',
    ),
  ),
  'SST-2': (None, 3_000, 6_000, ('SST-2/train.csv', *SST2[1:])),
}


WHOLE = {  # task: (columns to be renamed, its published files)
  'CoLA': ({}, *GLUE['CoLA'][3:]),
  'RTE': ({}, *GLUE['RTE'][3:]),
  'SST-2': (
    {},
    GLUE['SST-2'][3],
    (
      'SST-2/dev.csv',
      '7cb716efb691af6cafaec35665fec136ad90c39bbf2d824257b5b7d049f0fc19',
      'github JiayiJennie/shortcut_guardrail_code @ 5b96956c6b7a, '
      'data/sst-2/test.csv',
    ),
  ),
  'MRPC': (
    {'Quality': 'label', '#1 String': 'sentence1', '#2 String': 'sentence2'},
    (
      'MRPC/train.tsv',
      '446b9a5fa4e8d526b99f1d635f036f89063749783f5d3464ee8c1879724d406d',
      'github brmson/dataset-sts @ e1d3375f5b3b, '
      'data/para/msr/msr-para-train.tsv',
    ),
    (
      'MRPC/dev.tsv',
      '7e5d0ee4ec392b062af73c7cffe82f0725e5b08f6bfdf0915f31bbc470b8bacf',
      'github brmson/dataset-sts @ e1d3375f5b3b, '
      'data/para/msr/msr-para-val.tsv',
    ),
  ),
  'STS-B': (
    {},
    (
      'STS-B/train.csv',
      '20c0a7ef6cc49c141f50ae01ba83f434763854edacac86695c8e5b61af0762dc',
      'github PhilipMay/stsb-multi-mt @ 30de0dec4ee1, data/stsb-en-train.csv '
      'below a line sentence1,sentence2,score',
    ),
    (
      'STS-B/dev.csv',
      '183a60500082d52152b3e31e65a03306efd2712f01d5a2ba9c6e85d4fb8fab2d',
      'github PhilipMay/stsb-multi-mt @ 30de0dec4ee1, data/stsb-en-dev.csv '
      'below a line sentence1,sentence2,score',
    ),
  ),
}


TWEETS = {  # file: (sha256 of what is made, the file in the zip, every …th row)
  'train_original.csv': (
    '3b4fd4e7edeb35e39fb65173e4a832e59eea4415f07b9ad52a8346d627f91b88',
    *('Twitter_train_original_gender.csv', 1),
  ),
  'train_gender_swap.csv': (
    'ad59db29b056f0af73ba8c7d21bb7d46636d6ae55078ed7f2045fec3bf788ace',
    *('Twitter_train_gender_swap.csv', 1),
  ),
  'valid_original.csv': (
    '04c39314299efbaf89afdddee368ea4cbc123abeee149989e5904d605c8360cf',
    *('Twitter_valid_original_gender.csv', 1),
  ),
  'test_original_even.csv': (
    'db93dfcd544fb143fec0ba5407741aa71f7a16a20331baa5f7b1910689c933ec',
    *('Twitter_test_original_gender.csv', 2),
  ),
}
PAIRS = {  # file: (sha256, where it comes from); a man's word, then a woman's
  'maudslay_cda_default_pairs.json': (
    'f7e371adfe73a4172ca385e0255bbb58f92387436126c21cd62882dbca30eaf1',
    'github rowanhm/counterfactual-data-substitution @ e4fc118f1af7, '
    'data/cda_default_pairs.json',
  ),
  'gender_bender_words.txt': (
    '76bbee05e9b78270ec99c09c0f22c0933a93b0162abfbccdb1916cdee0ea8474',
    'github Garrett-R/gender_bender @ 526c4f0ef1dd, '
    'gender_bender/language_models/english/words',
  ),
  'zhao2018_extra_gendered_words.txt': (
    '728554ebab711703e37dc92d9d14acde6e5bfcc28fa5b62b90b34110be7bd854',
    'github uclanlp/corefBias @ 0bce984dd081, '
    'WinoBias/wino/extra_gendered_words.txt',
  ),
}
TURNED = {'housewife', 'camerawomen'}  # a woman's word stands first there
ZIP = 'bias_datasets_AAAI23.zip'
REPOSITORY = 'github chandar-lab/healthy-data-diet @ f437ef50a1c2'


class Missing(Exception):
  """A published file that is not there, or is another one."""


def bytes_of(path: pathlib.Path, sha256: str, source: str) -> bytes:
  if not path.is_file():
    raise Missing(f'{path} is not here; it is {source}')
  if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
    raise Missing(f'{path} is another file than expected; take {source}')
  return path.read_bytes()


def published(
  path: pathlib.Path, sha256: str, source: str, columns: list | None = None
) -> pd.DataFrame:
  bytes_of(path, sha256, source)
  if path.suffix == '.csv':
    return pd.read_csv(path)
  header = {'header': 0} if columns is None else {'names': columns}
  return pd.read_csv(path, sep='\t', quoting=csv.QUOTE_NONE, **header)


def glue(folder: pathlib.Path, task: str) -> dict[str, pd.DataFrame]:
  """Rows of a task to train on, and rows to ask, apart."""
  columns, train, asked, *files = GLUE[task]
  parts = [
    published(folder / name, sha256, source, columns)
    for name, sha256, source in files
  ]
  whole = pd.concat(parts, ignore_index=True)
  texts = [n for n in ('sentence', 'sentence1', 'sentence2') if n in whole]
  whole = whole[[*texts, 'label']]
  whole = whole[~whole[texts].duplicated()]
  order = np.random.default_rng(0).permutation(len(whole))
  cut = {'train': order[:train], 'dev': order[train : train + asked]}
  return {
    f'GLUE/{task}/{name}.csv': whole.iloc[np.sort(rows)]
    for name, rows in cut.items()
  }


def whole(folder: pathlib.Path) -> dict[str, pd.DataFrame]:
  """GLUE's tasks as published, by the columns' names in GLUE."""
  out = {}
  for task, (names, *files) in WHOLE.items():
    header = GLUE['CoLA'][0] if task == 'CoLA' else None
    for kind, file in zip(('train', 'dev'), files):
      frame = published(folder / file[0], *file[1:], header)
      frame.columns = frame.columns.str.lstrip('\ufeff')
      out[f'GLUE_whole/{task}/{kind}.csv'] = frame.rename(columns=names)
  return out


def sst2(folder: pathlib.Path) -> dict[str, pd.DataFrame]:
  """Rows to train on, and rows whose perturbed twins are asked, apart."""
  name, sha256, source = SST2
  whole = published(folder / name, sha256, source)
  whole = whole[~whole['sentence'].duplicated()]
  order = np.random.default_rng(0).permutation(len(whole))
  out, start = {}, 0
  for name, rows in ROWS.items():
    out[name] = whole.iloc[np.sort(order[start : start + rows])]
    start += rows
  return out


def comments(folder: pathlib.Path) -> pd.DataFrame:
  """id, text, toxic of every comment of COMMENTS."""
  parts = []
  for name, (sha256, source, text, label) in COMMENTS.items():
    path = folder / name
    frame = published(path, sha256, source)
    rows = [f'{path.stem}:{row}' for row in range(len(frame))]
    parts.append(
      pd.DataFrame({'id': rows, 'text': frame[text], 'toxic': frame[label]})
    )
  whole = pd.concat(parts, ignore_index=True)
  return whole[~whole['text'].duplicated()]


def tweets(folder: pathlib.Path) -> dict[str, pd.DataFrame]:
  """Words and labels of the zip's tweets, as the claims read them."""
  path = folder / ZIP
  if not path.is_file():
    raise Missing(f'{path} is not here; it is {REPOSITORY}, {ZIP}')
  out = {}
  with zipfile.ZipFile(path) as archive:
    places = {pathlib.PurePosixPath(n).name: n for n in archive.namelist()}
    for name, (sha256, member, step) in TWEETS.items():
      if member not in places:
        raise Missing(f'{path} has no {member}; take {REPOSITORY}, {ZIP}')
      with archive.open(places[member]) as file:
        whole = pd.read_csv(file, dtype=str, keep_default_na=False)
      out[name] = whole[['tweet', 'Class']].iloc[::step]
      made = out[name].to_csv(index=False).encode()
      if hashlib.sha256(made).hexdigest() != sha256:
        raise Missing(
          f'{member} of {path} is another file than expected; take {REPOSITORY}'
        )
  return out


def pairs(folder: pathlib.Path) -> dict[str, pd.DataFrame]:
  """Known pairs, a woman's word first; a word stands in its first pair."""
  rows, taken = [], set()
  for name, (sha256, source) in PAIRS.items():
    text = bytes_of(folder / name, sha256, source).decode()
    both = r'^ *(\w+)(?: =|\t) *(\w+) *$'
    known = json.loads(text) if text[0] == '[' else re.findall(both, text, re.M)
    for man, woman in known:
      plain = man.isascii() and man.isalpha() and woman.isalpha()
      if plain and taken.isdisjoint((man, woman)):
        rows.append((man, woman) if man in TURNED else (woman, man))
        taken |= {man, woman}
  return {'known_pairs.csv': pd.DataFrame(rows)}


MAKERS = {
  'comments': lambda folder: {'comments.csv': comments(folder)},
  'sst2': sst2,
  **{task: functools.partial(glue, task=task) for task in GLUE},
  'tweets': tweets,
  'pairs': pairs,
  'whole': whole,
}


if __name__ == '__main__':
  if len(sys.argv) < 3 or not MAKERS.keys() >= set(sys.argv[3:]):
    sys.exit(__doc__)
  folder, out = map(pathlib.Path, sys.argv[1:3])
  asked = sys.argv[3:] or list(MAKERS)
  out.mkdir(parents=True, exist_ok=True)
  failed = 0
  for part in asked:
    try:
      for name, table in MAKERS[part](folder).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(out / name, index=False, header=part != 'pairs')
        print(f'{out / name}: {len(table):,} rows')
    except Missing as error:
      print(error, file=sys.stderr)
      failed += 1
  sys.exit(failed > 0 if sys.argv[3:] else failed == len(asked))
