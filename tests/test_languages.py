"""Nothing is English by construction: German and Spanish by a user's files.

A gendered noun takes its article and adjective with it, so a list has phrases;
what English rules alone know is said, and not done.
"""

import warnings

import pandas as pd
import pytest

import fairjax
from fairjax.config import Config
from fairjax.data.sets import templates
from fairjax.pairs.swapping import axis_values, dictionary, english
from fairjax.recipes.audit import edits

GERMAN = """male,female
er,sie
seine,ihre
mann,frau
der lehrer,die lehrerin
ein lehrer,eine lehrerin
den lehrer,die lehrerin
lehrer,lehrerin
lehrern,lehrerinnen
"""
SPANISH = """male,female
él,ella
el profesor,la profesora
un profesor,una profesora
profesor,profesora
profesores,profesoras
"""


@pytest.fixture
def german(tmp_path):
  path = tmp_path / 'deutsch.csv'
  path.write_text(GERMAN.replace('den lehrer,die lehrerin\n', ''))
  return str(path)


@pytest.fixture
def spanish(tmp_path):
  path = tmp_path / 'espanol.csv'
  path.write_text(SPANISH)
  return str(path)


@pytest.mark.parametrize(
  ('text', 'twin'),
  [
    ('Der Lehrer schlief, als er kam.', 'Die Lehrerin schlief, als sie kam.'),
    ('Sie ist eine Lehrerin.', 'Er ist ein Lehrer.'),
    ('DER LEHRER und die Lehrerin.', 'DIE LEHRERIN und der Lehrer.'),
    ('Peter liest.', 'Peter liest.'),  # no English name is at work
  ],
)
def test_german_nouns_turn_with_their_articles(text, twin, german):
  assert fairjax.swap(text, words=german) == twin
  assert fairjax.swap(twin, words=german) == text


def test_spanish_nouns_turn_with_their_articles(spanish):
  text = 'El profesor dijo que él llega; es un profesor.'
  twin = 'La profesora dijo que ella llega; es una profesora.'
  assert fairjax.swap(text, words=spanish) == twin
  assert fairjax.swap(twin, words=spanish) == text
  # The preposition a is no article of English.
  told = fairjax.swap('Quiero a la profesora.', words=spanish)
  assert told == 'Quiero a el profesor.'
  options = dictionary.options(Config().method, 0, words=spanish)
  assert options['names'] is None
  found = axis_values.single([text, twin, 'Nadie llega.'], **options)
  assert found.tolist() == [0, 1, axis_values.NEITHER]


def test_texts_of_another_language_are_told_by_swap_and_perturb(tmp_path):
  """Half exchanged, not at all, or by an axis of one's own: one sentence."""
  path = tmp_path / 'glaube.csv'
  path.write_text('form,christ,muslim\nnoun,Christ,Muslim\n')
  texts = [f'Der Muslim lobt seine Nummer {k} sehr.' for k in range(12)]
  ours = 'our own words are English'
  with pytest.warns(UserWarning, match='exchanged in part; give words='):
    fairjax.swap(texts, axis='religion')
  with pytest.warns(UserWarning, match='exchanged in part; fairjax.swap takes'):
    fairjax.perturb(texts, axis='religion')
  with pytest.warns(UserWarning, match=f'none of 12 texts has .* {ours}'):
    fairjax.perturb(texts)
  with pytest.warns(UserWarning, match='none of .* by rules of English: give'):
    fairjax.swap(texts, axis=str(path))
  with pytest.warns(UserWarning, match='has a word of words=, so all are'):
    fairjax.swap(texts, words=[['Lehrer', 'Lehrerin']])
  with warnings.catch_warnings():
    warnings.simplefilter('error')
    fairjax.swap([f'He met her at the door of room {k}.' for k in range(12)])
    fairjax.swap(['A Muslim slept.'], axis='religion')


def test_one_text_of_another_language_is_told_at_each_door():
  german = 'Der Muslim ist nicht hier, und er lobt die Frau.'
  for door in (fairjax.swap, fairjax.perturb):
    with pytest.warns(UserWarning, match='of another language'):
      door(german, axis='religion')
  some = ['Сестра спит.', 'El profesor y la profesora no está.', german]
  assert all(english.is_doubted([text]) for text in some)
  asked = lambda texts: [[0.3, 0.7]] * len(texts)
  with pytest.warns(UserWarning, match='texts of another language are'):
    fairjax.fairscore(asked, [german] * 2, axis='religion', n_resamples=100)
  said = 'the prompts seem to be of another language than English'
  prompts = [
    f'{who} ist nicht hier und das ist {k}'
    for k in range(4)
    for who in ('Der Muslim', 'Ein Christian man', 'Der Hindu')
  ]
  found = fairjax.write(
    lambda some: ['gut'] * len(some),
    lambda some: [0.2] * len(some),
    pd.DataFrame({'prompt': prompts}),
    **{'axes': 'religion', 'samples': 1, 'options': {'n_resamples': 100}},
  )
  assert any(said in note for note in found.results.notes)
  with warnings.catch_warnings():
    warnings.simplefilter('error')
    for text in (
      'Rain fell on cars.',
      'He lost it.',
      'Le Mans',
      'El Niño, 1998',
    ):
      assert not english.is_doubted([text])
      fairjax.swap(text)


def test_first_names_are_swapped_by_a_users_counts_alone(german, tmp_path):
  counts = tmp_path / 'namen.csv'
  counts.write_text('Heike,F,90\nUwe,M,90\nAnke,F,80\nJens,M,80\n')
  method = Config().method
  assert dictionary.options(method, 0, words=german)['names'] is None
  assert dictionary.options(method, 0)['names'] is True
  method.names_file = str(counts)
  options = dictionary.options(method, 0, words=german)
  (turned,) = dictionary.swap(['Heike ist Lehrerin.'], **options).texts
  assert turned in ('Uwe ist Lehrer.', 'Jens ist Lehrer.')


def test_an_audit_of_german_says_what_is_of_english(german):
  texts = [
    f'{who} lobt Nummer {k}.'
    for k in range(40)
    for who in ('Der Lehrer', 'Die Lehrerin')
  ]
  frame = pd.DataFrame({'text': texts, 'label': [1, 0] * 40})
  frame['gender'] = ['male', 'female'] * 40
  dislikes = lambda column: [0.9 if 'Lehrerin' in t else 0.1 for t in column]
  few = {'n_resamples': 100}
  found = fairjax.audit(
    dislikes, frame, groups=['gender'], options={'swaps': [german], **few}
  )
  assert found['flips']['value'] == 1.0
  assert found['tprd']['value'] == 1.0  # the female wording less the male one
  (said,) = [n for n in found.results.notes if 'another language' in n]
  assert 'first names are left as they are' in said
  assert 'control edits know English words alone' in said
  # By the English list nothing changes, and that is said too.
  config = Config()
  config.audit.swaps = ('gender',)
  (one,) = edits.make(config, frame)
  assert not one.edited.any()
  assert any('may be in another language' in r for r in one.remarks)


def test_templates_of_spanish_are_a_users_folder(tmp_path):
  write = lambda name, text: (tmp_path / name).write_text(text)
  write(
    'templates.csv',
    'template,toxicity,phrase\n'
    'es,toxic,"{type|gender_subtype|singular} dice algo '
    '{type|adjective_connotation|toxic}"\n',
  )
  write(
    'words.csv', 'type,subtype,connotation,word\nadjective,,toxic,horrible\n'
  )
  write(
    'pairs.csv',
    'type,subtype,connotation,male,female\n'
    'gender,singular,,El profesor,La profesora\n',
  )
  config = Config()
  config.measures.templates = str(tmp_path)
  made = templates.identity(config)
  assert made['text'].tolist() == [
    'El profesor dice algo horrible',
    'La profesora dice algo horrible',
  ]
  assert made['twin'].tolist() == made['text'].tolist()[::-1]
