"""Doors of files beyond the readers: a good file each, changed by a seed.

Tables of an axis, thresholds of groups, kept runs and their claims, pages made
again, folders of GLUE, lists of words, names and terms, paired
files, and predictions that are joined to rows. Each function writes into a
folder and returns what reads it (test_mutated_inputs.py).
"""

import functools
import gzip
import io
import json
import pathlib
import tempfile

import numpy as np
import pandas as pd
import small
from test_mutations import damaged, pick

import fairjax
from fairjax import config as c
from fairjax import recipes, results
from fairjax.config import validate
from fairjax.core import artefacts
from fairjax.data import load_tables
from fairjax.data.tables import answers, files, join, paired, panda, terms
from fairjax.metrics import group_thresholds
from fairjax.pairs.swapping import dictionary
from fairjax.recipes.perturbation import glue as tasks
from fairjax.report import claims, page, run_archive

ODD = (
  *(None, True, -1, 1.5, 10**40, 1e999, '', ' ', '\0', 'x' * 5000, [], {}),
  *([[]], {'': None}, {'a': {'a': {}}}, '\u202e', 'NaN', [1, 'a', None]),
)
CELLS = (
  *('', ' ', '"', 'x' * 5000, 'nan', '1e999', '-1', '=1+1', '\u202e', '٣'),
  *('a|b', '|', '*', 'he', 'He', '/f', 'ｈｅ', '\u200b', '\ud7ff', "'"),
)
WORDS = 'he she him her said ran to of a big dog'.split()


def mutated(value, rng):
  """A JSON value with one part lost, exchanged, doubled or nested deeper."""
  if isinstance(value, dict) and value and rng.random() < 0.8:
    key = pick(list(value), rng)
    out = dict(value)
    style = rng.integers(5)
    if style == 0:
      del out[key]
    elif style == 1:
      out[pick(('', 'x' * 300, key.upper(), '\0'), rng)] = out.pop(key)
    else:
      out[key] = mutated(out[key], rng)
    return out
  if isinstance(value, list) and value and rng.random() < 0.8:
    at = int(rng.integers(len(value)))
    style = rng.integers(4)
    if style == 0:
      return value[:at] + value[at + 1 :]
    if style == 1:
      return [*value, value[at]]
    return [*value[:at], mutated(value[at], rng), *value[at + 1 :]]
  if rng.random() < 0.1:
    for _ in range(int(pick((3, 90, 400), rng))):
      value = [value]
    return value
  return pick(ODD, rng)


def spelled(value, rng) -> bytes:
  """As JSON; sometimes with a key twice, or deeper than any stack."""
  text = json.dumps(value)
  style = rng.random()
  if style < 0.05:
    text = text.replace('{', '{"text": 1, "text": 2, ', 1)
  elif style < 0.1:
    text = text.replace('1', '[' * 100_000 + ']' * 100_000, 1)
  raw = text.encode()
  return damaged(raw, rng) if rng.random() < 0.4 else raw


def cells(lines: list[list[str]], rng) -> list[list[str]]:
  """Lines of cells with one lost, doubled, moved or exchanged; in a tenth of
  them the whole line."""
  lines = [list(line) for line in lines]
  for _ in range(int(rng.integers(1, 4))):
    at = int(rng.integers(len(lines)))
    line = lines[at]
    k = int(rng.integers(len(line))) if line else 0
    style = rng.integers(7)
    if style == 0 and line:
      del line[k]
    elif style == 1:
      line.insert(k, pick(CELLS, rng))
    elif style == 2 and len(lines) > 1:
      del lines[at]
    elif style == 3:
      lines.insert(at, list(pick(lines, rng)))
    elif style == 4 and line:  # a cell of another line
      line[k] = pick(pick(lines, rng) or [''], rng)
    elif line:
      line[k] = pick(CELLS, rng)
  return lines


def as_text(lines: list[list[str]], rng, mark: str = ',') -> bytes:
  raw = '\n'.join(mark.join(line) for line in lines).encode()
  return damaged(raw, rng) if rng.random() < 0.3 else raw


def as_file(rows: list[dict], folder, name: str, rng) -> pathlib.Path:
  """A table of one of the kinds that are read, some values exchanged."""
  kind = pick(('csv', 'tsv', 'jsonl', 'parquet'), rng)
  rows = [dict(row) for row in rows]
  for _ in range(int(rng.integers(0, 4))):
    row = pick(rows, rng)
    row[pick(list(row), rng)] = pick((*ODD, *CELLS), rng)
  if rng.random() < 0.2:
    lost = pick(list(rows[0]), rng)
    rows = [{k: v for k, v in row.items() if k != lost} for row in rows]
  if rng.random() < 0.05:
    rows = []
  path = folder / f'{name}.{kind}'
  if kind == 'jsonl':
    raw = '\n'.join(map(json.dumps, rows)).encode()
  elif kind == 'parquet':
    file = io.BytesIO()
    try:
      pd.DataFrame(rows).to_parquet(file)
    except Exception:  # mixed cells have no parquet form
      file = io.BytesIO()
      pd.DataFrame(rows).astype(str).to_parquet(file)
    raw = file.getvalue()
  else:
    mark = ',' if kind == 'csv' else '\t'
    raw = pd.DataFrame(rows).to_csv(index=False, sep=mark).encode()
  path.write_bytes(damaged(raw, rng) if rng.random() < 0.25 else raw)
  return path


def data_file(folder, rng):
  """The rows of a config's data section, whatever its knobs ask of them."""
  rows = [
    {'text': f'text {i}', 'label': i % 2, 'group': 'ab'[i % 2]}
    for i in range(30)
  ]
  path = as_file(rows, folder, 'rows', rng)
  if rng.random() < 0.1:
    packed = gzip.compress(path.read_bytes())
    path = path.with_name(path.name + '.gz')
    path.write_bytes(packed)
  config = c.Config(data=c.Data(name='file', path=str(path)))
  config.data.group = pick(('', 'group'), rng)
  config.data.on_bad = pick(('error', 'drop'), rng)
  config.data.labels = pick(('', '', '0=0,1=1', '>0.5', 'no=0,yes=1'), rng)
  config.data.limit = pick((0, 0, 5), rng)
  config.data.id = pick(('', '', 'text', 'group'), rng)
  return lambda: load_tables(config)


# Axes, words, names, terms.

AXIS = [
  ['form', 'christian', 'muslim', 'jewish'],
  ['adjective', 'Christian', 'Muslim|Islamic', 'Jewish'],
  ['noun', 'Christian*', 'Muslim^', 'Jew/f'],
  ['nouns', 'Christians', 'Muslims', 'Jews'],
  ['group', 'poor', 'rich/p', 'old/a'],
  ['stays', 'Bible|church', 'Quran', 'Torah'],
  ['not', 'rich text', 'poor man', ''],
]
ABOUT = ['The poor Christian met a Jew.', 'Muslims read the Quran', '', 'rich']


def axis_table(folder, rng):
  path = folder / 'faith.csv'
  path.write_bytes(as_text(cells(AXIS, rng), rng))
  direction = pick(('opposite', 'muslim', 'opposite', 'none'), rng)
  return lambda: fairjax.swap(ABOUT, axis=path, direction=direction)


def of_lines(name, lines, read, mark=','):
  """A door of one list, whose cells are changed."""

  def door(folder, rng):
    path = folder / f'{name}.csv'
    path.write_bytes(as_text(cells(lines, rng), rng, mark))
    return lambda: read(path)

  door.__name__ = name
  return door


LISTS = (
  of_lines(
    'word_list',
    [['male', 'female'], ['he', 'she'], ['man', 'woman'], ['his', 'her']],
    lambda path: dictionary.swap(['He saw his dog', 'a woman'], words=path),
  ),
  of_lines(
    'name_list',
    [['name', 'sex', 'count'], ['John', 'M', '9'], ['Mary', 'F', '10']],
    lambda path: fairjax.swap(['John met Mary'], names=path),
  ),
  of_lines(
    'term_list',
    [['gay'], ['straight'], ['old woman'], ['Jew']],
    lambda path: terms.count_terms(
      ['an old woman', 'a gay Jew'], terms.read_terms(str(path))
    ),
    ' ',
  ),
)


# Thresholds of groups.


def thresholds_file(folder, rng):
  good = {
    'version': 1,
    'criterion': 'equal_fpr',
    'thresholds': {'a': 0.25, 'b': 0.75},
    'otherwise': 0.5,
  }
  path = folder / 'thresholds.json'
  path.write_bytes(spelled(mutated(good, rng), rng))
  scores, groups = np.array([0.3, 0.6, 0.9]), ['a', 'b', '']

  def decide():
    found = group_thresholds.read(path).decide(scores, groups)
    assert found.shape == (3,) and set(found) <= {0, 1}

  return decide


# Runs: results, pages, claims.

RUN = small.cases(__file__, 'run.json')


def a_run(folder, rng) -> pathlib.Path:
  """results.json, config.json and versions.json, one of which is changed."""
  own = results.plain(c.Config(recipe='rank', seeds=2))
  words = ['main', '--config=configs/rank.py', f'--workdir={folder}']
  trees = {
    'results.json': RUN,
    'config.json': own,
    'versions.json': {'command': words, 'seconds': 3.5, 'git': 'abc'},
    'hygiene.json': {
      'splits': {'train': {'rows': 9, 'labels': {'0': 4}}, 'test': {'rows': 9}},
      'leaks': {'train, test': {'rows': 1, 'ids': ['a']}},
      'warnings': ['w'],
      'classes': ['fine', 'rude'],
    },
    'metrics.jsonl': {'part': 'none', 'step': 1, 'loss': [0.5, 0.4]},
    'run.json': {'data': 'file', 'command': 'fairjax', 'seconds': 4},
  }
  if rng.random() < 0.5:
    del trees['run.json']
  changed = 'results.json' if rng.random() < 0.5 else pick(list(trees), rng)
  run = folder / 'run'
  run.mkdir()
  for name, tree in trees.items():
    raw = json.dumps(tree).encode()
    if name == changed:
      raw = spelled(mutated(tree, rng), rng)
    (run / name).write_bytes(raw)
  rows = [
    {'id': str(i), 'set': 'test', 'label': i % 2, 'group': 'ab'[i % 2]}
    | {'p0': 0.1 * i, 'p1': 0.5}
    for i in range(9)
  ]
  frame = pd.DataFrame(rows)
  if rng.random() < 0.2:
    name = pick(list(frame), rng)
    odd = pick(('', None, 'x', -1, [1], np.nan), rng)
    frame[name] = [odd] * 9
    frame = frame.drop(columns=name) if rng.random() < 0.3 else frame
  frame.to_parquet(run / 'predictions.parquet')
  if rng.random() < 0.1:
    raw = (run / 'predictions.parquet').read_bytes()
    (run / 'predictions.parquet').write_bytes(damaged(raw, rng))
  return run


def run_claims(folder, rng):
  run = a_run(folder, rng)
  return lambda: claims.markdown([run], recipes.PAPERS)


def run_kept(folder, rng):
  run = a_run(folder, rng)

  def keep():
    run_archive.keep(run, folder / 'kept')
    claims.markdown([folder / 'kept'], recipes.PAPERS)

  return keep


def run_page(folder, rng):
  run = a_run(folder, rng)
  return lambda: page.report(run)


# Folders of tasks.


def glue(folder, rng):
  """A task of GLUE, its rows as a stranger stores them."""
  name = pick(('cola', 'stsb', 'rte', 'qqp'), rng)
  task = tasks.TASKS[name]
  place = folder / task.folder
  place.mkdir()
  values = {'stsb': [0.5, 4.0], 'rte': ['entailment', 'not_entailment']}
  labels = values.get(name, [0, 1])
  for part, count in (('train', 24), ('dev', 8)):
    rows = [
      {
        task.text: f'{pick(WORDS, rng)} said {i}',
        task.text_pair or 'source': f'{pick(WORDS, rng)} {i}',
        task.label: labels[i % 2],
      }
      for i in range(count)
    ]
    as_file(rows, place, part, rng)
  config = c.Config(recipe='fairtune')
  config.data.path, config.fairscore.tasks = str(folder), (name,)

  def read():
    validate(config)
    load_tables(tasks.of_task(config, name))

  return read


# Pairs.


def paired_file(folder, rng):
  rows = [
    {
      'id': f'r{i}',
      'perturber': 'us',
      'text': f'he said {i}',
      'perturbed': f'she said {i}',
      'label': i % 2,
    }
    for i in range(6)
  ]
  if rng.random() < 0.5:
    rows = [
      {
        'ex_id': i // 2,
        'is_perturbed': bool(i % 2),
        'label': i // 2 % 2,
        'sentence': f'{("he", "she")[i % 2]} said {i // 2}',
      }
      for i in range(12)
    ]
  path = as_file(rows, folder, 'pairs', rng)
  return lambda: paired.read(path)


def panda_file(folder, rng):
  rows = [
    {
      'original': f'he said {i}',
      'selected_word': 'he',
      'target_attribute': 'woman',
      'perturbed': f'she said {i}',
    }
    for i in range(12)
  ]
  as_file(rows, folder, 'train', rng)
  as_file(rows[:6], folder, 'valid', rng)
  return lambda: panda.read(folder)


# Predictions, joined by id or by place.


def joined_by_id(folder, rng):
  """Ids of two kinds: padded, floats, spaces, twice, missing."""
  spell = pick(
    (str, int, float, '{:03d}'.format, 'r{}'.format, ' {} '.format), rng
  )
  own = pick((str, int, 'r{}'.format), rng)
  table = pd.DataFrame({'id': [str(own(i)) for i in range(9)]})
  table['text'] = [f'he said {i}' for i in range(9)]
  if rng.random() < 0.3:
    table.attrs['ids'] = join.MADE
  order = rng.permutation(9)
  rows = [{'id': spell(int(i)), 'score': round(i / 9, 2)} for i in order]
  path = as_file(rows, folder, 'scores', rng)

  def read():
    for one in answers.of_table(files.read(str(path)), table, (), ()):
      assert one.scores.shape[1] == 9 and np.isfinite(one.scores).all()

  return read


@functools.cache
def to_score() -> tuple[pd.DataFrame, list[dict]]:
  """Rows, and the edits of them that an audit wants scored."""
  texts = [f'{w} said {i}' for i in range(8) for w in ('he', 'she')]
  data = pd.DataFrame({'text': texts, 'label': [0, 1] * 8})
  with tempfile.TemporaryDirectory() as folder:
    fairjax.audit(SHARES, data, options=NONE).save(folder)
    frame = pd.read_csv(pathlib.Path(folder) / 'to_score.csv')
  frame['score'] = np.linspace(0, 1, len(frame))
  return data, frame.to_dict('records')


SHARES = np.linspace(0.05, 0.95, 16)
NONE, COUNT = {'n_resamples': 0}, {'estimator': 'count'}


def edited_file(folder, rng):
  """to_score.csv with scores, as somebody filled it in."""
  data, rows = to_score()
  path = as_file(rows, folder, 'edited', rng)
  return lambda: fairjax.audit(SHARES, data, options=NONE | {'edited': path})


def library_table(folder, rng):
  """A frame of strangers' cells at the doors of notebooks."""
  rows = [
    {'text': f'{pick(WORDS, rng)} said {i}', 'label': i % 2, 'g': 'ab'[i % 2]}
    for i in range(30)
  ]
  for _ in range(int(rng.integers(1, 5))):
    row = pick(rows, rng)
    row[pick(list(row), rng)] = pick((*ODD, *CELLS), rng)
  frame = pd.DataFrame(rows)
  if rng.random() < 0.3:
    frame.index = rng.integers(0, 5, len(frame))
  if rng.random() < 0.2:
    frame = pd.concat([frame, frame[['label']]], axis=1)  # a name twice
  share = rng.random(30)
  door = pick(
    (
      lambda: fairjax.audit(share, frame, groups=['g'], options=NONE),
      lambda: fairjax.weights(frame, 'columns:g', options=COUNT),
      lambda: fairjax.diet(frame.assign(ge=share)),
      lambda: fairjax.swap(frame['text']),
      lambda: fairjax.assess(frame['label'], share, frame['g'], n_resamples=0),
      lambda: fairjax.thresholds(
        frame['label'], share, frame['g'], n_resamples=10
      ),
      lambda: fairjax.audit(frame.assign(score=share), options=NONE),
    ),
    rng,
  )
  return door


def stage_table(folder, rng):
  """An artefact of a stage that was cut or changed is made again."""
  path = folder / 'scores.parquet'
  frame = pd.DataFrame({'id': ['a', 'b'], 'ge': [0.1, 0.2]})
  artefacts.write_table(path, frame)
  artefacts.seal(path, 'x')
  if rng.random() < 0.5:
    path.write_bytes(damaged(path.read_bytes(), rng))
  else:
    seal = artefacts.seal_path(path)
    seal.write_bytes(damaged(seal.read_bytes(), rng))

  def read():
    again = artefacts.stage(
      path, 'x', lambda p: artefacts.write_table(p, frame), pd.read_parquet
    )
    assert again.equals(frame)

  return read


DOORS = (
  *(data_file, axis_table, *LISTS, thresholds_file),
  *(run_claims, run_kept, run_page, glue, paired_file),
  *(panda_file, joined_by_id, edited_file, library_table, stage_table),
)
