"""Published data sets from the user's copies: frames of literal columns.

Each function reads the files as published (`source` names the user's file or
folder) as {split: frame}, indexed by the 0-based row of the file. Missing texts
are '' (tables/hygiene.py finds them), missing numbers nan. Only the sexist
tweets can be downloaded; for the others the user must have agreed to a licence.
"""

import hashlib
import pathlib
import tempfile
import urllib.request
import zipfile
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables import files, readers
from fairjax.data.word_tables import table_rows

Frames = dict[str, pd.DataFrame]

ANSWER = 3  # seconds to wait for a server, which answers at once or not at all
KINDS = ('.csv', '.tsv', '.jsonl', '.parquet')
TRUTH = {'true': 1, 'false': 0}

TWEETS = (
  'https://github.com/chandar-lab/healthy-data-diet/raw/main/'
  'bias_datasets_AAAI23.zip'
)
# Names that a part's csv has, in the archive and elsewhere, and the sha256 of
# its even rows (`digest`), whatever the file's csv dialect.
TWEET_FILES = {
  part: (tuple(names.split('|')), sha256)
  for part, names, sha256 in table_rows(__file__, 'tweets.csv')
}
ARTICLES = ('2', '3', '5', '6', '8', '9', '10', '11', '14', 'P1-1')
ATTRIBUTES = {
  'defendant_state': ('C.E. European', 'Rest of Europe'),
  'applicant_gender': ('n/a', 'male', 'female'),
  'applicant_age': ('n/a', '<=35', '<=65', '>65'),
}


def twitter_sexism(source: str) -> Frames:
  """Tweets of Waseem and Hovy (2016), sexist or not, with gender-swapped twins.

  As published with the Healthy Data Diet (Zayed et al., AAAI 2023): 13,525 /
  1,691 / 1,691 rows, a twin for each row of train and validation.
  """
  if not source:
    return _downloaded()
  path = _given('twitter_sexism', source, 'get the healthy-data-diet csv files')
  return _paired(_tweets(path, source) if path.is_dir() else _unzipped(path))


def _downloaded() -> Frames:
  with tempfile.TemporaryDirectory() as folder:
    archive = pathlib.Path(folder) / 'tweets.zip'
    try:
      with urllib.request.urlopen(TWEETS, timeout=ANSWER) as answer:
        archive.write_bytes(answer.read())
    except OSError as error:  # also urllib's own kinds
      raise UserError(
        f'cannot download {TWEETS} ({type(error).__name__}); fetch it '
        'elsewhere and name the zip with --config.data.path'
      ) from error
    parts = _unzipped(archive)
  for part, frame in parts.items():
    if digest(frame) != TWEET_FILES[part][1]:
      raise UserError(
        f'{TWEETS} does not hold the published {part} rows any more; '
        'name a copy that does with --config.data.path'
      )
  return _paired(parts)


def _unzipped(archive: pathlib.Path) -> Frames:
  known = {name for names, _ in TWEET_FILES.values() for name in names}
  with tempfile.TemporaryDirectory() as folder:
    try:
      with zipfile.ZipFile(archive) as z:
        for member in z.namelist():
          name = pathlib.PurePosixPath(member).name
          if name.endswith('.csv') and name[:-4] in known:
            (pathlib.Path(folder) / name).write_bytes(z.read(member))
    except zipfile.BadZipFile as error:
      raise UserError(
        f'{archive} is no zip file; name the healthy-data-diet zip or its '
        'folder with --config.data.path'
      ) from error
    return _tweets(pathlib.Path(folder), str(archive))


def _tweets(folder: pathlib.Path, source: str) -> Frames:
  parts = {}
  for part, (names, _) in TWEET_FILES.items():
    found = [p for name in names for p in sorted(folder.rglob(f'{name}.csv'))]
    if found:
      parts[part] = files.read(str(found[0]))[['tweet', 'Class']]
  if 'train' not in parts:
    one, other = TWEET_FILES['train'][0]
    raise UserError(
      f'{source} has no {one}.csv nor {other}.csv; check --config.data.path'
    )
  return parts


def _paired(parts: Frames) -> Frames:
  frames: Frames = {}
  for split in ('train', 'valid', 'test'):
    if split not in parts:
      continue
    frame, twins = parts[split], parts.get(f'{split}_twin')
    if twins is not None and len(twins) != len(frame):
      raise UserError(
        f'{files.source(twins)} has {len(twins)} rows and '
        f'{files.source(frame)} has {len(frame)}; they must pair up'
      )
    twin = '' if twins is None else twins['tweet']
    frames[split] = _literal(frame.assign(twin=twin))
  return frames


def digest(frame: pd.DataFrame) -> str:
  """sha256 of the even rows' words and labels (odd test rows are unknown)."""
  rows = frame.iloc[::2]
  lines = [
    ' '.join(t.split()) + '\t' + c.strip()
    for t, c in zip(rows['tweet'], rows['Class'])
  ]
  return hashlib.sha256('\n'.join(lines).encode()).hexdigest()


def wiki_toxicity(source: str) -> Frames:
  """Wikipedia talk-page comments with a share of annotators: toxic.

  Reads the two figshare files of Wulczyn, Thain and Dixon (2017), joined by
  rev_id (tokens for new lines and tabs become spaces), or one csv or tsv with
  a comment and a toxicity column, such as Kaggle's.
  """
  remedy = 'download the Wikipedia talk labels: toxicity'
  path = _given('wiki_toxicity', source, remedy)
  frame = _voted(path) if path.is_dir() else files.read(str(path))
  text = _first(frame, ('comment', 'comment_text', 'text'))
  label = _first(frame, ('toxicity', 'toxic', 'is_toxic', 'label'))
  cells = frame[label].map(lambda v: TRUTH.get(str(v).lower(), v))
  numbers = pd.to_numeric(cells, errors='coerce')
  wrong = numbers.isna() & ~cells.isin(['', 'nan', None])
  why = 'which is no number; read it with --config.data.name=file'
  readers.refuse(frame, cells, wrong, label, why)
  named = _literal(pd.DataFrame({'comment': frame[text]}))
  named['toxicity'] = numbers.astype(np.float32)
  return _by_column(frame, named)


def _voted(folder: pathlib.Path) -> pd.DataFrame:
  comments = files.read(str(folder / 'toxicity_annotated_comments.tsv'))
  votes = files.read(str(folder / 'toxicity_annotations.tsv'))
  votes = votes.assign(toxicity=pd.to_numeric(votes['toxicity']))
  share = votes.groupby('rev_id')['toxicity'].mean()
  text = comments['comment'].str.replace('NEWLINE_TOKEN', ' ')
  return comments.assign(
    comment=text.str.replace('TAB_TOKEN', ' '),
    toxicity=comments['rev_id'].map(share),
  )


def bias_in_bios(source: str) -> Frames:
  """Biographies with profession and gender (De-Arteaga et al., 2019).

  Reads csv, jsonl or parquet: one file (its `split` column, if any, says the
  splits) or a folder of train, dev and test files. The original is a pickle,
  which is never opened here.
  """
  path = _given('bias_in_bios', source, 'get Bias-in-Bios as parquet or csv')
  if path.suffix in ('.pkl', '.pickle'):
    raise UserError(
      f'{path} is a pickle, which can run code when it is opened; convert '
      'it to parquet where you trust it'
    )
  if path.is_dir():
    return {s: _biographies(f) for s, f in _by_split(path).items()}
  frame = files.read(str(path))
  return _by_column(frame, _biographies(frame))


def _biographies(frame: pd.DataFrame) -> pd.DataFrame:
  text = frame[_first(frame, ('text', 'hard_text', 'bio'))]
  profession = frame[_first(frame, ('profession', 'title'))]
  gender = frame[_first(frame, ('gender', 'g'))]
  if pd.api.types.is_float_dtype(gender):  # where some are missing
    gender = gender.astype('Int64')
  gender = gender.astype(object).where(gender.notna(), '').astype(str)
  gender = gender.replace({'0': 'M', '1': 'F'})  # as on the hub
  columns = {'text': text, 'profession': profession, 'gender': gender}
  return _literal(pd.DataFrame(columns))


def echr(source: str) -> Frames:
  """Facts of European Court of Human Rights cases (FairLex, 2022).

  `violation` is yes where any article was violated, `article_6` and so on
  where that one was. Attributes: the defendant state's region, the
  applicant's gender and age.
  """
  remedy = 'get train.jsonl, val.jsonl, test.jsonl of FairLex'
  path = _given('echr', source, remedy)
  if not path.is_dir():
    raise UserError(f'{path} is no folder; name the folder of the jsonl files')
  return {s: _cases(f) for s, f in _by_split(path).items()}


def _cases(frame: pd.DataFrame) -> pd.DataFrame:
  _first(frame, ('labels',))
  _first(frame, ('attributes',))
  violated = frame['labels'].map(lambda ids: {_name(i, ARTICLES) for i in ids})
  answers = lambda holds: violated.map(lambda v: 'yes' if holds(v) else 'no')
  columns = {'text': frame['text'], 'violation': answers(bool)}
  for article in ARTICLES:
    columns[f'article_{article}'] = answers(lambda v, one=article: one in v)
  for name, values in ATTRIBUTES.items():
    one = lambda a, name=name, values=values: _name(a[name], values)
    columns[name] = frame['attributes'].map(one)
  return _literal(pd.DataFrame(columns))


def _name(value, names: Sequence[str]) -> str:
  """A class by name or by number."""
  known = isinstance(value, int | np.integer)  # in parquet one of numpy's
  return names[int(value)] if known else str(value)


def panda(source: str) -> Frames:
  """Human rewrites of sentences along gender, race and age (PANDA, 2022).

  `perturbed` is `original` with the demographic reference `selected_word`
  changed to `target_attribute`.
  """
  path = _given('panda', source, 'get PANDA as jsonl or parquet')
  whole = path.is_dir()
  frames = _by_split(path) if whole else {'train': files.read(str(path))}
  names = ['original', 'perturbed', 'selected_word', 'target_attribute']
  for frame in frames.values():
    for name in names:
      _first(frame, (name,))
  return {s: _literal(frame[names]) for s, frame in frames.items()}


def _given(name: str, source: str, remedy: str) -> pathlib.Path:
  """The user's path, which these data sets cannot do without."""
  if not source:
    raise UserError(
      f'{name} needs files that you have; {remedy} and name them with '
      '--config.data.path'
    )
  return pathlib.Path(source).expanduser()


def _literal(frame: pd.DataFrame) -> pd.DataFrame:
  """Every cell a text."""
  return frame.fillna('').astype(str).astype(object)


def _by_split(folder: pathlib.Path) -> Frames:
  """The files of a folder whose names begin with a split's name."""
  frames: dict[str, list] = {}
  for path in sorted(folder.rglob('*')):
    stem = path.stem.lower().replace('.', '-').replace('_', '-').split('-')[0]
    if path.suffix in KINDS and stem in files.SPLIT_NAMES:
      frame = files.read(str(path))
      frames.setdefault(files.SPLIT_NAMES[stem], []).append(frame)
  if 'train' not in frames:
    raise UserError(
      f'{folder} has no train file (train.csv, .tsv, .jsonl or .parquet); '
      'check --config.data.path'
    )
  return {s: pd.concat(f, ignore_index=True) for s, f in frames.items()}


def _by_column(frame: pd.DataFrame, named: pd.DataFrame) -> Frames:
  """One file's rows as its splits, if it has a column that says them."""
  if 'split' not in frame:
    return {'train': named}
  names = files.split_names(frame, 'split')
  return {s: named[names == s] for s in names.unique()}


def _first(frame: pd.DataFrame, names: Sequence[str]) -> str:
  """Which of the names that publications use this file uses."""
  for name in names:
    if name in frame:
      return name
  raise UserError(
    f'{files.source(frame)} has none of the columns {", ".join(names)}; read '
    'it with --config.data.name=file and name its columns'
  )
