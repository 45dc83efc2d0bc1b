"""One person of a text: chains by rules, candidates, prompts, spelling."""

import json

import pytest

from fairjax.data.word_tables import table_rows
from fairjax.pairs.axes import exchange
from fairjax.pairs.persons import chain, parallel, perturb


@pytest.mark.parametrize(
  ('axes', 'text', 'words'), table_rows(__file__, '../sheets/candidates.csv')
)
def test_candidates_are_words_of_people_and_not_of_things(axes, text, words):
  axes = perturb.AXES if axes == 'all' else axes.split()
  (row,) = perturb.candidates([text], tuple(axes))
  assert [f'{one.word}/{one.axis}' for one in row] == words.split()
  for one in row:
    assert text[one.start : one.end] == one.word
    assert set(one.attributes) < set(perturb.AXES[one.axis])


def test_what_a_person_may_become_are_the_values_of_the_axes():
  """The knob's names are those of the tables, but for the paper's own."""
  for axis, names in perturb.AXES.items():
    values = exchange.values(axis)
    if axis == 'gender':
      assert names == ('man', 'woman', 'non-binary')
    elif axis in ('race', 'age'):  # of Qian et al.
      assert (
        set(names) ^ set(values)
        == {'race': {'middle-eastern'}, 'age': {'adult'}}[axis]
      )
    else:
      assert names == values
  # Every attribute is of one axis.
  assert len(perturb.AXIS) == sum(map(len, perturb.AXES.values()))


def test_prompts_are_those_of_the_paper():
  assert perturb.prompt('his', 'woman', 'T') == 'his, woman <PERT_SEP> T'
  assert perturb.join('premise', 'hypothesis') == 'premise <SEP> hypothesis'
  assert perturb.split('a b <SEP> c') == ('a b', 'c')
  assert perturb.split('a b c') is None


def test_nothing_held_out_is_trained_on(shared):
  table = parallel.read(parallel.SOURCES, shared)
  held = table[table['split'] != 'train']
  train = table[table['split'] == 'train']
  texts = set(held['text']) | set(held['target'])
  assert not texts & (set(train['text']) | set(train['target']))
  assert set(held['source_name']) == set(parallel.SOURCES)
  geco = table[table['source_name'] == 'geco']
  split = geco.groupby(geco['id'].str.split(':').str[1])['split'].nunique()
  assert (split == 1).all()
  for row in table.itertuples():
    assert perturb.AXIS[row.attribute] == row.axis
    assert chain.find(row.text, row.word) is not None
  assert table.equals(parallel.read(parallel.SOURCES, shared))


def side(number, gender, text, marked):
  """A record of GECO: the words, and which of them tell the gender."""
  words = text.split(' ')
  marks = [int(k in marked) for k in range(len(words))]
  return {
    'sentence': words,
    'ground_truth': marks,
    'gender': gender,
    'target': int(gender == 'male'),
    'sentence_idx': number,
  }


# (the men's text, the women's, where the subject is, where anybody is)
GECO = [
  ('He sees her .', 'She sees her .', [0], [0, 2]),  # somebody else once
  ('He eats .', 'She eats .', [0], [0]),  # nobody else
  ('He sees her son .', 'She sees her son .', [0], [0, 2, 3]),  # two words
  ('Now he sees he .', 'Now she sees he .', [1], [1, 3]),  # men's: two of he
]
EVERYBODY = [
  ('He sees him .', 'She sees her .'),
  ('He eats .', 'She eats .'),
  ('He sees his son .', 'She sees her daughter .'),
  ('Now he sees he .', 'Now she sees she .'),
]


def test_the_one_other_person_of_a_sentence_is_a_row_of_its_own(
  tmp_path, monkeypatch
):
  monkeypatch.setattr(parallel, 'split_of', lambda key, seed: 'train')
  (tmp_path / 'geco').mkdir()
  for kind, lines in (
    ('subj', [(a, b, own, own) for a, b, own, _ in GECO]),
    ('all', [(*t, *2 * (g[3],)) for t, g in zip(EVERYBODY, GECO)]),
  ):
    records = [
      json.dumps(side(number, gender, text, marked))
      for number, (men, women, *marks) in enumerate(lines)
      for gender, text, marked in zip(('male', 'female'), (men, women), marks)
    ]
    path = tmp_path / 'geco' / f'binary_gender_{kind}_train.jsonl'
    path.write_text('\n'.join(records) + '\n')
  table = parallel.geco(tmp_path)
  others = table[table['id'].str.endswith(':other')]
  assert others[['id', 'word', 'attribute', 'target']].values.tolist() == [
    ['geco:0:male:other', 'her', 'man', 'He sees him .'],
    ['geco:0:female:other', 'her', 'man', 'She sees him .'],
    ['geco:3:female:other', 'he', 'woman', 'Now she sees she .'],
  ]
  assert others['gold'].all() and len(table) == 8 + 3
  monkeypatch.setattr(parallel, 'split_of', lambda key, seed: 'test')
  assert len(parallel.geco(tmp_path)) == 8  # what is held out stays as it was
