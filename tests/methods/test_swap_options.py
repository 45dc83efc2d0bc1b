"""What config.method says of a swap reaches everything that swaps."""

import dataclasses

import pandas as pd
import pytest

from fairjax.config import Config, Corpus, Method
from fairjax.core.errors import UserError
from fairjax.methods.augment import augment
from fairjax.methods.balance import with_gender
from fairjax.methods.blind import blind
from fairjax.methods.diet_rows import with_twins
from fairjax.methods.substitute import substitute
from fairjax.recipes import swap
from fairjax.recipes.diet import rank
from fairjax.recipes.language import augment_corpus

TEXT = 'My friend Zorblax met his bloke in the rain.'
OTHER = 'My friend Quixa met her gal in the rain.'


def table_of(text: str) -> pd.DataFrame:
  return pd.DataFrame({'id': ['a'], 'text': [text], 'label': [0]})


def augmented(config, folder):
  return list(augment({'train': table_of(TEXT)}, config)['train']['text'])[1:]


def own_twin(config, folder):
  """A twin of the table's does not answer what a list asks."""
  table = table_of(TEXT).assign(twin='the twin of the data')
  return list(augment({'train': table}, config)['train']['text'])[1:]


def substituted(config, folder):
  return list(substitute({'train': table_of(TEXT)}, config)['train']['text'])


def dieted(config, folder):
  tables, _ = with_twins({'train': table_of(TEXT)}, config)
  return list(tables['train']['twin'])


def one_text(config, folder):
  config = dataclasses.replace(config, text=TEXT)
  (part,) = swap.run(config, folder).sections[0]['parts']
  return [row['twin'] for row in part['rows']]


def whole_corpus(config, folder):
  (folder / 'in').mkdir(parents=True)
  (folder / 'in' / 'a.txt').write_text(TEXT + '\n')
  asked = Corpus(path=str(folder / 'in'))
  augment_corpus.run(dataclasses.replace(config, corpus=asked), folder)
  return (folder / 'corpus' / 'a.txt').read_text().splitlines()


def blinded(config, folder):
  return list(blind({'train': table_of(TEXT)}, config)['train']['text'])


def readings(config, folder):
  made = rank.choosing(config, {'valid': table_of(TEXT)})
  return list(made[rank.READINGS]['text'])


def genders(config, folder):
  return list(with_gender(table_of('My friend Zorblax sat.'), config)['gender'])


SWAPS = (augmented, own_twin, substituted, dieted, one_text, whole_corpus)


@pytest.fixture
def names(tmp_path):
  path = tmp_path / 'names.csv'
  path.write_text('name,sex,count\nZorblax,M,9\nQuixa,F,9\n')
  return str(path)


def of(**method) -> Config:
  return Config(method=Method(**method))


@pytest.mark.parametrize('run', SWAPS)
def test_swaps_know_the_users_names_words_and_direction(run, names, tmp_path):
  assert run(of(names_file=names), tmp_path) == [OTHER]


@pytest.mark.parametrize('run', SWAPS)
def test_swaps_turn_as_asked(run, names, tmp_path):
  config = of(names_file=names, direction='female')
  assert run(config, tmp_path) == [OTHER]


@pytest.mark.parametrize('run', SWAPS)
def test_swaps_by_other_groups_leave_names_alone(run, names, tmp_path):
  path = tmp_path / 'weather.csv'
  path.write_text('rain,snow\n')
  config = of(names_file=names, words=str(path))
  assert run(config, tmp_path) == [TEXT.replace('rain', 'snow')]


@pytest.mark.parametrize('run', SWAPS)
def test_swaps_know_the_scope(run, names, tmp_path):
  config = of(names_file=names, scope='pronouns')
  assert run(config, tmp_path) == [TEXT.replace('his', 'her')]
  config = of(direction='neutral', scope='pronouns')
  assert run(config, tmp_path / 'b') == [TEXT.replace('his', 'their')]


def test_what_hides_or_reads_knows_them_too(names, tmp_path):
  config = of(names_file=names)
  hidden = 'My friend _ met _ _ in the rain.'
  assert blinded(config, tmp_path) == [hidden]
  to_male = of(names_file=names, direction='male')
  assert blinded(to_male, tmp_path) == [hidden]
  assert readings(config, tmp_path) == [TEXT, OTHER]
  assert genders(config, tmp_path) == ['male']
  assert genders(of(), tmp_path) == ['']


@pytest.mark.parametrize('run', (*SWAPS, blinded, readings, genders))
def test_all_ask_the_tagger(run, tmp_path):
  with pytest.raises(UserError, match="tagger is 'nltk'"):
    run(of(tagger='nltk'), tmp_path)
