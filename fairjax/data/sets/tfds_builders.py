"""Our own tensorflow-datasets builders, over published files.

Each reads the files as published into literal columns and writes array_record
(the one format that tfds writes and reads without TensorFlow and without
loss). `source` is the user's file or folder; only Twitter sexism can be
downloaded, for the others the user must have agreed to a licence. `row` is the
0-based row of the published file. Missing texts are '' (tables/hygiene.py finds
them), missing numbers are nan.
"""

import hashlib
import pathlib
import tempfile
import zipfile

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.sets import tfless
from fairjax.data.tables import files

tfds = tfless.datasets()
Text = tfds.features.Text

Frames = dict[str, pd.DataFrame]


class _Columns(tfds.core.GeneratorBasedBuilder, skip_registration=True):
  """What the builders share: frames in, array_record out, order kept."""

  VERSION = tfds.core.Version('1.0.0')
  FEATURES: dict = {}

  def __init__(self, *, source: str = '', **kwargs):
    self.source = str(source)
    if kwargs.setdefault('file_format', 'array_record') != 'array_record':
      raise UserError('these builders write array_record; drop file_format')
    super().__init__(**kwargs)

  def _info(self):
    features = {'row': np.int64, **self.FEATURES}
    return tfds.core.DatasetInfo(
      builder=self,
      description=self.__doc__,
      features=tfds.features.FeaturesDict(features),
      disable_shuffling=True,
    )

  def _split_generators(self, dl_manager):
    frames = self._frames(dl_manager)
    return {s: self._generate_examples(f) for s, f in frames.items()}

  def _generate_examples(self, frame: pd.DataFrame):
    columns = {'row': frame.index.to_numpy(np.int64)}
    for name, kind in self.FEATURES.items():
      if isinstance(kind, Text):
        columns[name] = frame[name].fillna('').astype(str)
      else:
        columns[name] = frame[name].astype(float).to_numpy(np.float32)
    for i, values in enumerate(zip(*columns.values())):
      yield i, dict(zip(columns, values))

  def _given(self, remedy: str) -> pathlib.Path:
    """The user's path, which this data set cannot do without."""
    if not self.source:
      raise UserError(
        f'{self.name} needs files that you have; {remedy} and name them with '
        '--config.data.path'
      )
    path = pathlib.Path(self.source).expanduser()
    if not path.exists():
      raise UserError(f'{path} does not exist; check --config.data.path')
    return path


def _by_split(folder: pathlib.Path) -> Frames:
  """The files of a folder whose names begin with a split's name."""
  frames = {}
  for path in sorted(folder.rglob('*')):
    if path.suffix not in ('.csv', '.tsv', '.jsonl', '.parquet'):
      continue
    stem = path.stem.lower().replace('.', '-').replace('_', '-').split('-')[0]
    if stem in files.SPLIT_NAMES:
      split = files.SPLIT_NAMES[stem]
      frames.setdefault(split, []).append(files.read(str(path)))
  if 'train' not in frames:
    raise UserError(
      f'{folder} has no train file (train.csv, .tsv, .jsonl or .parquet); '
      'check --config.data.path'
    )
  return {s: pd.concat(f, ignore_index=True) for s, f in frames.items()}


def _first(frame: pd.DataFrame, names: tuple[str, ...]) -> str:
  """Which of the names that publications use this file uses."""
  for name in names:
    if name in frame:
      return name
  raise UserError(
    f'{files.source(frame)} has none of the columns {", ".join(names)}; read '
    'it with --config.data.name=file and name its columns'
  )


def _split_column(frame: pd.DataFrame) -> Frames:
  """One file as its splits, if it has a column that says them."""
  if 'split' not in frame:
    return {'train': frame}
  names = files.split_names(frame, 'split')
  return {s: frame[names == s] for s in names.unique()}


class TwitterSexism(_Columns):
  """Tweets of Waseem and Hovy (2016), sexist or not, with gender-swapped twins.

  As published with the Healthy Data Diet (Zayed et al., AAAI 2023): 13,525 /
  1,691 / 1,691 rows, a twin for each row of train and validation.
  """

  URL = (
    'https://github.com/chandar-lab/healthy-data-diet/raw/main/'
    'bias_datasets_AAAI23.zip'
  )
  # sha256 of the even rows (`digest`), whatever the file's csv dialect.
  DIGESTS = {
    'train': (
      'b266f1a06d13348593b6c61c9b24b994768fe713607698a5113921260ed5927c'
    ),
    'train_twin': (
      '1be735873c195cba29b6c8193d4d8e26eff71eca093ca8dea2d588eb97c20156'
    ),
    'valid': (
      '1835813cf7ec0161d145fc6cedd8e5cc418b0310b13312708d2b8715383b8cea'
    ),
    'valid_twin': (
      'f2eadf63fc5df20b77cb9595d43e89cdcd0674346f64dabcb35f40fee125e822'
    ),
    'test': (
      '3cba67db4fa63a848fc949648ddadb55c9a0bc0ac949102b7cd8ef6fab9cfb3b'
    ),
  }
  NAMES = {
    'train': ('Twitter_train_original_gender', 'train_original'),
    'train_twin': ('Twitter_train_gender_swap', 'train_gender_swap'),
    'valid': ('Twitter_valid_original_gender', 'valid_original'),
    'valid_twin': ('Twitter_valid_gender_swap', 'valid_gender_swap'),
    'test': (
      'Twitter_test_original_gender',
      'test_original',
      'test_original_even',
    ),
  }
  FEATURES = {'tweet': Text(), 'Class': Text(), 'twin': Text()}

  def _frames(self, dl_manager) -> Frames:
    if not self.source:
      return self._downloaded(dl_manager)
    path = self._given('get the healthy-data-diet csv files')
    if path.is_dir():
      return self._paired(self._read(path))
    return self._unzipped(path)

  def _downloaded(self, dl_manager) -> Frames:
    try:
      archive = dl_manager.download(self.URL)
    except Exception as error:  # requests and tfds have many kinds
      raise UserError(
        f'cannot download {self.URL} ({type(error).__name__}); fetch it '
        'elsewhere and name the zip with --config.data.path'
      ) from error
    return self._unzipped(archive, check=True)

  def _unzipped(self, archive, check: bool = False) -> Frames:
    known = {n for names in self.NAMES.values() for n in names}
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
      frames = self._read(pathlib.Path(folder))
    if check:
      for part, frame in frames.items():
        if digest(frame) != self.DIGESTS[part]:
          raise UserError(
            f'{self.URL} does not hold the published {part} rows any more; '
            'name a copy that does with --config.data.path'
          )
    return self._paired(frames)

  def _read(self, folder: pathlib.Path) -> Frames:
    result = {}
    for part, names in self.NAMES.items():
      for name in names:
        paths = sorted(folder.rglob(f'{name}.csv'))
        if paths:
          result[part] = files.read(str(paths[0]))[['tweet', 'Class']]
          break
    if 'train' not in result:
      raise UserError(
        f'{self.source or self.URL} has no {self.NAMES["train"][0]}.csv nor '
        f'{self.NAMES["train"][1]}.csv; check --config.data.path'
      )
    return result

  def _paired(self, parts: Frames) -> Frames:
    frames = {}
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
      frames[split] = frame.assign(twin=twin)
    return frames


def digest(frame: pd.DataFrame) -> str:
  """sha256 of the even rows' words and labels (odd test rows are unknown)."""
  rows = frame.iloc[::2]
  lines = [
    ' '.join(t.split()) + '\t' + c.strip()
    for t, c in zip(rows['tweet'], rows['Class'])
  ]
  return hashlib.sha256('\n'.join(lines).encode()).hexdigest()


class WikiToxicity(_Columns):
  """Wikipedia talk-page comments with a share of annotators: toxic.

  Reads the two figshare files of Wulczyn, Thain and Dixon (2017), joined by
  rev_id (tokens for new lines and tabs become spaces), or one csv or tsv with
  a comment and a toxicity column, such as Kaggle's.
  """

  FEATURES = {'comment': Text(), 'toxicity': np.float32}

  def _frames(self, dl_manager) -> Frames:
    path = self._given('download the Wikipedia talk labels: toxicity')
    frame = self._joined(path) if path.is_dir() else files.read(str(path))
    text = _first(frame, ('comment', 'comment_text', 'text'))
    label = _first(frame, ('toxicity', 'toxic', 'is_toxic', 'label'))
    cells = frame[label].map(lambda v: _TRUTH.get(str(v).lower(), v))
    numbers = pd.to_numeric(cells, errors='coerce')
    wrong = numbers.isna() & ~cells.isin(['', 'nan', None])
    if wrong.any():
      row = frame.index[wrong.to_numpy().argmax()]
      raise UserError(
        f'{files.source(frame)} has {cells[row]!r} in column {label!r} of row '
        f'{row}, which is no number; read it with --config.data.name=file'
      )
    frame = frame.assign(comment=frame[text], toxicity=numbers)
    return _split_column(frame)

  def _joined(self, folder: pathlib.Path) -> pd.DataFrame:
    comments = files.read(str(folder / 'toxicity_annotated_comments.tsv'))
    votes = files.read(str(folder / 'toxicity_annotations.tsv'))
    votes = votes.assign(toxicity=pd.to_numeric(votes['toxicity']))
    share = votes.groupby('rev_id')['toxicity'].mean()
    text = comments['comment'].str.replace('NEWLINE_TOKEN', ' ')
    return comments.assign(
      comment=text.str.replace('TAB_TOKEN', ' '),
      toxicity=comments['rev_id'].map(share),
    )


_TRUTH = {'true': 1, 'false': 0}


class BiasInBios(_Columns):
  """Biographies with profession and gender (De-Arteaga et al., 2019).

  Reads csv, jsonl or parquet: one file (its `split` column, if any, says the
  splits) or a folder of train, dev and test files. The original is a pickle,
  which is never opened here.
  """

  FEATURES = {'text': Text(), 'profession': Text(), 'gender': Text()}

  def _frames(self, dl_manager) -> Frames:
    path = self._given('get Bias-in-Bios as parquet or csv')
    if path.suffix in ('.pkl', '.pickle'):
      raise UserError(
        f'{path} is a pickle, which can run code when it is opened; convert '
        'it to parquet where you trust it'
      )
    if path.is_dir():
      frames = _by_split(path)
    else:
      frames = _split_column(files.read(str(path)))
    return {s: self._named(f) for s, f in frames.items()}

  def _named(self, frame: pd.DataFrame) -> pd.DataFrame:
    text = _first(frame, ('text', 'hard_text', 'bio'))
    profession = _first(frame, ('profession', 'title'))
    gender = frame[_first(frame, ('gender', 'g'))]
    if pd.api.types.is_float_dtype(gender):  # where some are missing
      gender = gender.astype('Int64')
    gender = gender.astype(object).where(gender.notna(), '').astype(str)
    gender = gender.replace({'0': 'M', '1': 'F'})  # as on the hub
    return pd.DataFrame(
      {
        'text': frame[text],
        'profession': frame[profession],
        'gender': gender,
      }
    )


class Echr(_Columns):
  """Facts of European Court of Human Rights cases (FairLex, 2022).

  `violation` is yes where any article was violated, `article_6` and so on
  where that one was. Attributes: the defendant state's region, the
  applicant's gender and age.
  """

  VERSION = tfds.core.Version('1.0.1')  # 1.0.0 took parquet's numbers for names
  ARTICLES = ('2', '3', '5', '6', '8', '9', '10', '11', '14', 'P1-1')
  ATTRIBUTES = {
    'defendant_state': ('C.E. European', 'Rest of Europe'),
    'applicant_gender': ('n/a', 'male', 'female'),
    'applicant_age': ('n/a', '<=35', '<=65', '>65'),
  }
  FEATURES = {
    'text': Text(),
    'violation': Text(),
    **{f'article_{a}': Text() for a in ARTICLES},
    **{name: Text() for name in ATTRIBUTES},
  }

  def _frames(self, dl_manager) -> Frames:
    path = self._given('get train.jsonl, val.jsonl, test.jsonl of FairLex')
    if not path.is_dir():
      raise UserError(
        f'{path} is no folder; name the folder of the jsonl files'
      )
    return {s: self._named(f) for s, f in _by_split(path).items()}

  def _named(self, frame: pd.DataFrame) -> pd.DataFrame:
    _first(frame, ('labels',))
    _first(frame, ('attributes',))
    violated = frame['labels'].map(
      lambda ids: {_name(i, self.ARTICLES) for i in ids}
    )
    columns = {
      'text': frame['text'],
      'violation': violated.map(lambda v: 'yes' if v else 'no'),
    }
    for article in self.ARTICLES:
      columns[f'article_{article}'] = violated.map(
        lambda v: 'yes' if article in v else 'no'
      )
    for name, values in self.ATTRIBUTES.items():
      columns[name] = frame['attributes'].map(lambda a: _name(a[name], values))
    return pd.DataFrame(columns)


def _name(value, names: tuple[str, ...]) -> str:
  """A class by name or by number."""
  # In parquet it is a number of numpy's.
  return names[value] if isinstance(value, int | np.integer) else str(value)


class Panda(_Columns):
  """Human rewrites of sentences along gender, race and age (PANDA, 2022).

  `perturbed` is `original` with the demographic reference `selected_word`
  changed to `target_attribute`.
  """

  FEATURES = {
    'original': Text(),
    'perturbed': Text(),
    'selected_word': Text(),
    'target_attribute': Text(),
  }

  def _frames(self, dl_manager) -> Frames:
    path = self._given('get PANDA as jsonl or parquet')
    frames = (
      _by_split(path) if path.is_dir() else {'train': files.read(str(path))}
    )
    for frame in frames.values():
      for name in self.FEATURES:
        _first(frame, (name,))
    return frames
