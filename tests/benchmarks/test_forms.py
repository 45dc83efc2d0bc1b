"""A wrong value in a benchmark's file is one sentence that names the place.

Every field of every form is lost, emptied, made another type, nested and made
huge, in a copy of a good file; what is told is held against the form itself.
"""

import contextlib
import copy
import csv
import importlib
import io
import json
import time

import published_files
import pytest

from fairjax import results
from fairjax.benchmarks import (
  BENCHMARKS,
  bbq,
  crows,
  eec,
  holistic,
  stereoset,
  weat,
  winogender,
)
from fairjax.config import Benchmarks, Config, Data
from fairjax.core.errors import UserError

# (benchmark, file, form of a row or of the whole, whether it is of rows)
FILES = [
  ('crows', 'crows_pairs.csv', crows.FORM, True),
  ('stereoset', 'dev.json', stereoset.FORM, False),
  ('weat', 'weat6.jsonl', weat.FORM, False),
  ('winogender', 'all_sentences.tsv', winogender.FORM, True),
  ('winogender', 'occupations-stats.tsv', winogender.FORM_OF_STATISTICS, True),
  ('bbq', 'Gender_identity.jsonl', bbq.FORM, True),
  ('bbq', 'templates_gender.csv', bbq.FORM_OF_TEMPLATES, True),
  ('bbq', 'vocabulary_proper_names.csv', bbq.FORM_OF_NAMES, True),
  ('eec', 'Equity-Evaluation-Corpus.csv', eec.FORM, True),
  *(
    ('holistic', name, form, False)
    for name, form in zip(BENCHMARKS['holistic'].files, holistic.FORMS)
  ),
]
LOST = object()
NESTED = [[[['x']]]]
VALUES = (
  *(LOST, None, '', ' ', 5, -1, 1.5, True, float('nan'), 10**30, [], {}),
  *([None], NESTED, {'a': {'b': 1}}, 'x' * 10**6, 'none of these'),
)


def read(text, name, rows):
  if not rows:
    return json.loads(text)
  if name.endswith('.jsonl'):
    return [json.loads(line) for line in text.splitlines()]
  mark = '\t' if name.endswith('.tsv') else ','
  return list(csv.DictReader(io.StringIO(text), delimiter=mark))


def written(tree, name, rows) -> str:
  if not rows:
    return json.dumps(tree)
  if name.endswith('.jsonl'):
    return '\n'.join(map(json.dumps, tree))
  out = io.StringIO()
  mark = '\t' if name.endswith('.tsv') else ','
  writer = csv.DictWriter(out, tree[0], delimiter=mark, restval='')
  writer.writeheader()
  writer.writerows(tree)
  return out.getvalue()


def places(form, value, at=()):
  """Where the form has something to say about a value, as paths of keys."""
  yield at
  if isinstance(form, dict) and isinstance(value, dict):
    for key in value:
      own = form.get(key, form.get(f'{key}?', form.get('*', object)))
      if own is not object:
        yield from places(own, value[key], (*at, key))
  elif isinstance(form, list) and value:
    last = len(value) - 1
    yield from places(form[0], value[last], (*at, last))


def changed(tree, path, value):
  """A copy whose place is another value, or lost."""
  tree = copy.deepcopy(tree)
  if not path:
    return value
  owner = tree
  for key in path[:-1]:
    owner = owner[key]
  if value is not LOST:
    owner[path[-1]] = value
  else:
    del owner[path[-1]]
  return tree


def bare(folder):
  """BBQ's items, where another file says whose answer is whose."""
  path = folder / 'Gender_identity.jsonl'
  lines = [json.loads(line) for line in path.read_text().splitlines()]
  names = ('answer_info', 'additional_metadata')
  lines = [{k: v for k, v in one.items() if k not in names} for one in lines]
  path.write_text('\n'.join(map(json.dumps, lines)))
  (folder / 'templates_gender.csv').write_text(
    'Question_negative_stereotype,Question_non_negative,'
    'Known_stereotyped_groups\nWho was lazy?,Who was kind?,"[""F""]"\n'
    'Who slept?,Who ate?,M\n'
  )
  (folder / 'vocabulary_proper_names.csv').write_text(
    'Name,gender\nAnn,F\nBob,M\n'
  )


def asked(name, folder):
  config = Config(
    data=Data(name='file'),
    benchmarks=Benchmarks(names=(name,), data=str(folder)),
  )
  items = importlib.import_module(BENCHMARKS[name].module).items(config)
  assert len(items)


@pytest.mark.parametrize(('name', 'file', 'form', 'rows'), FILES)
def test_a_wrong_value_is_one_sentence(name, file, form, rows, tmp_path):
  folder = published_files.write(tmp_path)
  if file.startswith(('templates', 'vocabulary')):
    bare(folder)
  good = (folder / file).read_text()
  tree = read(good, file, rows)
  asked(name, folder)
  of_rows = [form | {'*': results.ANY}] if rows else form
  is_csv = file.endswith(('csv', 'tsv'))
  told = 0
  for path in places(of_rows, tree):
    if rows and len(path) < 2:
      continue  # no row at all: the readers' own tests
    for value in VALUES:
      if is_csv and not isinstance(value, str):
        continue  # a csv has texts alone
      if value is LOST and not path:
        continue
      bad = changed(tree, path, value)
      wrong = list(results.problems(bad, of_rows))
      (folder / file).write_text(written(bad, file, rows))
      where = f'{file} {path} {value!r:.40}'
      sentence, start = '', time.process_time()
      with contextlib.suppress(AssertionError):  # tells an empty table
        try:
          asked(name, folder)
        except UserError as error:
          sentence = str(error)
      assert time.process_time() - start < 5, where
      assert bool(sentence) or not wrong, where
      if wrong:
        assert file in sentence, f'{where}: {sentence}'
        assert '\n' not in sentence and len(sentence) < 500, where
        told += 1
    (folder / file).write_text(good)
  assert told >= 3


def test_the_sentence_names_file_item_field_and_what_was_wanted(tmp_path):
  """BBQ label 1.5 and WEAT `examples: "abc"` passed the reader."""
  folder = published_files.write(tmp_path)
  path = folder / 'Gender_identity.jsonl'
  lines = [json.loads(line) for line in path.read_text().splitlines()]
  lines[3]['label'] = 1.5
  path.write_text('\n'.join(map(json.dumps, lines)))
  words = r'identity.jsonl: label of row 3 \(from 0\) is 1.5; .* 0 or 1 or 2'
  with pytest.raises(UserError, match=words):
    asked('bbq', folder)
  lines[3]['label'] = 2
  del lines[3]['additional_metadata']['stereotyped_groups']
  path.write_text('\n'.join(map(json.dumps, lines)))
  words = r'metadata of row 3 \(from 0\)\.stereotyped_groups is missing'
  with pytest.raises(UserError, match=words):
    asked('bbq', folder)
  path = folder / 'weat6.jsonl'
  tree = json.loads(path.read_text())
  tree['attr1']['examples'] = 'abc'
  path.write_text(json.dumps(tree))
  words = r"weat6.jsonl: attr1.examples is 'abc'; it must be a list with items"
  with pytest.raises(UserError, match=words):
    asked('weat', folder)
  path.write_text('5')
  words = r'weat6.jsonl: the whole is 5; it must be an object'
  with pytest.raises(UserError, match=words):
    asked('weat', folder)
  path.write_text('[' * 100_000)
  with pytest.raises(UserError, match=r'weat6.jsonl is no JSON'):
    asked('weat', folder)


LINES = {'winobias': 'pro_stereotyped_type1.txt.dev', 'sembias': 'SemBias'}


@pytest.mark.parametrize('name', LINES)
def test_wrong_lines_are_one_sentence(name, tmp_path):
  folder = published_files.write(tmp_path)
  path = folder / LINES[name]
  lines = path.read_text().splitlines()
  for bad in (*('', '1', ':', 'a:b', 'x ' * 600_000, 'a:b\tc:d\te:f\tg:'),):
    path.write_text('\n'.join([*lines[:-1], bad]))
    with contextlib.suppress(UserError):
      asked(name, folder)
  path.write_text('x\n' * 5)
  with pytest.raises(UserError):
    asked(name, folder)


def test_pairs_of_many_words_are_flagged_in_bounded_time():
  """One sentence of 1 MB took 90 s of alignment; the flags are the same."""
  long = ['to ' * 150_000 + end for end in ('here', 'there')]
  start = time.process_time()
  assert crows.flag_of(*long) == ''
  assert 'more than half' in crows.flag_of('so ' * 300_000, 'no ' * 300_000)
  assert time.process_time() - start < 5
  short = ['to ' * 30 + end for end in ('here', 'there')]
  assert crows.flag_of(*short) == ''
  assert 'more than half' in crows.flag_of('a b c d e', 'a f g h i')
