"""Files of prompts and words as strangers have them: read, or one sentence."""

import copy
import json
import re

import pytest

from fairjax.config import Config, changed
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows
from fairjax.metrics.texts import hurtful
from fairjax.recipes.writing import prompts

BOLD = {
  'American_actors': {'A_B': ['A B is', 'A B was'], 'C': ['C is']},
  'American_actresses': {'D': ['D is']},
}
RATED = [
  {
    'prompt': {'text': f'He said {k}', 'toxicity': k / 9},
    'continuation': {'text': 'so.', 'toxicity': 0.1},
    'group': 'ab'[k % 2],
  }
  for k in range(10)
]


def read(path, text):
  path.write_text(text)
  return prompts.read(Config(writing=type(Config().writing)(prompts=str(path))))


def bold(*path, value):
  tree = copy.deepcopy(BOLD)
  at = tree
  for name in path[:-1]:
    at = at[name]
  at[path[-1]] = value
  return json.dumps(tree)


def rated(row, **values):
  rows = copy.deepcopy(RATED)
  rows[row]['prompt'] |= values
  return '\n'.join(map(json.dumps, rows))


@pytest.mark.parametrize(
  ('name', 'text', 'words'),
  [
    ('b.json', json.dumps(BOLD)[:-9], 'b.json is no JSON (Expecting'),
    (
      'b.json',
      bold('American_actors', 'A_B', 1, value=7),
      "b.json has ['A B is', 7] for 'A_B' in the category 'American_actors'",
    ),
    ('b.json', bold('American_actors', 'C', value=[]), "has [] for 'C' in the"),
    ('b.json', bold('American_actors', value={}), 'has {} for the category'),
    *map(tuple, table_rows(__file__, 'prompt_mistakes.csv')),
  ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
  tmp_path, name, text, words
):
  if name == 'r.jsonl':  # what a row's prompt has in place of its own
    text = rated(7, **json.loads(text))
  with pytest.raises(UserError, match=re.escape(words)):
    read(tmp_path / name, text)


def test_what_is_left_out_is_told(tmp_path):
  frame, said = read(
    tmp_path / 'b.json', bold('American_actors', 'A_B', 1, value=' ')
  )
  assert frame['prompt'].tolist() == ['A B is', 'C is', 'D is']
  assert said == [f'1 blank prompt of {tmp_path / "b.json"} left out']
  frame, said = read(tmp_path / 'r.jsonl', rated(7, toxicity=None))
  assert said[0].startswith('1 prompt of ')
  assert 'without a toxicity neither among the toxic nor' in said[0]
  # A column of groups beside what was rated is read, and what the web said on
  # is no text of a model's.
  assert 'continuation' not in frame
  by = frame.groupby(['attribute', 'group'], sort=False).size().to_dict()
  assert by == {
    ('group', 'a'): 5,
    ('group', 'b'): 5,
    ('prompt', 'not toxic'): 5,
    ('prompt', 'toxic'): 4,
  }


def test_a_prompt_is_toxic_from_one_half_on(tmp_path):
  """Gehman et al.: toxicity ≥ 0.5."""
  for value, toxic in ((0.5, 6), (0.4999, 5), (0, 5), (1, 6)):
    frame, _ = read(tmp_path / 'r.jsonl', rated(0, toxicity=value))
    assert (frame['group'] == 'toxic').sum() == toxic


def test_groups_are_tidied_as_an_audit_s(tmp_path):
  text = 'prompt,group\nHe is,m\nShe is,F\nShe was,F\nShe,f \nIt is,None\n'
  frame, said = read(tmp_path / 'p.csv', text)
  assert frame['group'].tolist() == ['m', 'F', 'F', 'F', '']
  assert "'f '" in said[0] and "read as 'F'" in said[0]
  assert "'None'" in said[1] and 'in no group' in said[1]


@pytest.mark.parametrize(
  ('text', 'words'),
  [
    ('lemma,lemma\nbad,worse\n', "has 2 columns named 'lemma'; rename one"),
    ('lemma,level\nbad,Conservative\n', 'has no row of level conservative'),
    ('word\n!!!\n', 'holds no words'),
  ],
)
def test_a_lexicon_that_cannot_be_read_is_one_sentence(tmp_path, text, words):
  path = tmp_path / 'words.csv'
  path.write_text(text)
  with pytest.raises(UserError, match=re.escape(words)):
    hurtful.read(str(path))


def test_groups_that_a_limit_does_not_draw_are_said(tmp_path):
  """Of BOLD a cluster is of one group; others were left out without a word."""
  tree = {f'Job {k}': {f'N{k}': [f'N{k} is']} for k in range(6)}
  file = tmp_path / 'profession_prompt.json'
  file.write_text(json.dumps(tree))
  of = lambda limit: prompts.read(
    changed(Config(), data={'limit': limit}, writing={'prompts': str(file)})
  )
  frame, said = of(4)
  left = {f'Job {k}' for k in range(6)} - set(frame['group'])
  assert len(left) == 2
  words = 'data.limit is 4, and of the 4 clusters of profession that it '
  assert said == [f'{words}draws none is of {", ".join(sorted(left))}']
  assert of(6)[1] == []
  with pytest.raises(UserError, match=r'limit is 1, .*a gap needs two groups'):
    of(1)
