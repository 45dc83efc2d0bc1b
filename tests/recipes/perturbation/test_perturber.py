"""A perturber end to end at a small size, and corpora perturbed by shards."""

import json

import numpy as np
import pandas as pd
import pytest
import small
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from fairjax import config as c
from fairjax.core import keys
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.corpora import shard_map
from fairjax.data.tables import panda, splits
from fairjax.metrics.inference.estimates import of_share
from fairjax.models import Bundle, families, rewriting
from fairjax.models.folders import hf
from fairjax.pairs.persons import chain, parallel, perturb
from fairjax.recipes.perturbation import (
  person_tagger,
  perturb_corpus,
  perturber,
  perturbing,
)
from fairjax.stages import Experiment
from fairjax.train.progress import Log


@pytest.fixture(autouse=True)
def of_gpt2(monkeypatch):
  monkeypatch.setattr(rewriting, 'FAMILY', 'gpt2')


def config(data, **changes):
  made = c.Config(
    recipe='perturber',
    model='tiny',
    seeds=1,
    data=c.Data(name='text', limit=24),
    tokens=c.Tokens(vocab_size=300),
    perturb=c.Perturb(data=str(data), sources=('panda',), tested=6),
    train=c.Train(lr=1e-3, batch=16, epochs=1, patience=0),
    measures=c.Measures(resamples=100),
  )
  return small.changed(made, **changes)


@pytest.fixture
def copy(tmp_path):
  """A user's copy of PANDA in small, with its quirks."""
  draw, rows = np.random.default_rng(0), []
  for i in range(60):
    name = ('house', 'dog', 'car', 'tree', 'boat')[draw.integers(5)]
    one, two = ('he', 'she') if i % 2 else ('she', 'he')
    owner = {'he': 'his', 'she': 'her'}
    rows.append(
      {
        'original': f'{one} sold {owner[one]} {name} on day {i} .',
        'selected_word': one,
        'target_attribute': 'woman' if two == 'she' else 'man',
        'perturbed': f'{two} sold {owner[two]} {name} on day {i} .\n',
      }
    )
  rows[0]['perturbed'] = rows[0]['original']
  rows[1]['selected_word'] = 'aunt'
  rows[2]['target_attribute'] = 'robot'
  rows[3]['perturbed'] = rows[3]['perturbed'] + ' <SEP> x'
  rows[4]['target_attribute'] = 'Female'
  rows[5]['perturbed'] = ''
  frame = pd.DataFrame(rows)
  folder = tmp_path / 'panda'
  folder.mkdir()
  frame[:40].to_json(folder / 'train.jsonl', orient='records', lines=True)
  frame[40:].to_json(folder / 'valid.jsonl', orient='records', lines=True)
  return folder


def test_quirks_of_panda_are_counted_and_left_out(copy):
  table = panda.read(copy)
  left = table.attrs['left out']
  assert left['panda: unchanged'] == 1
  assert left['panda: selected word not in the text'] == 1
  assert left['panda: attribute that is not known'] == 1
  assert left['panda: halves that do not match'] == 1
  assert left['panda: no text or no rewrite'] == 1
  assert left['panda: trailing newlines, mended'] == 55
  assert len(table) == 55 and not table['target'].str.endswith('\n').any()
  assert set(table['split']) == {'train', 'valid', 'test'}
  assert panda.AXIS.items() <= perturb.AXIS.items()
  (copy / 'train.jsonl').write_text('{"original": "x"}\n')
  with pytest.raises(UserError, match="no column 'selected_word'"):
    panda.read(copy)


def test_all_shards_of_panda_are_read_and_other_files_counted(copy):
  """The first of them was read alone, and another format's not told."""
  whole = panda.read(copy)
  table = pd.read_json(copy / 'train.jsonl', lines=True)
  for k, rows in enumerate((table[:15], table[15:])):
    rows.to_parquet(copy / f'train-0000{k}-of-00002.parquet')
  (copy / 'train.jsonl').unlink()
  sharded = panda.read(copy)
  assert list(sharded['text']) == list(whole['text'])
  assert list(sharded['split']) == list(whole['split'])
  told = 'panda: files beside those of a split that are read'
  assert told not in sharded.attrs['left out']
  table.to_json(copy / 'train.jsonl', orient='records', lines=True)
  assert panda.read(copy).attrs['left out'][told] == 1


@pytest.mark.parametrize('learner', ['rewriter', 'tagger'])
def test_a_perturber_is_trained_and_measured_beside_rules(
  learner, copy, tmp_path, remade
):
  asked = config(copy, perturb__learner=learner)
  results = perturber.run(asked, tmp_path / 'run')
  forms = [perturber.FORMS] if learner == 'rewriter' else []
  assert set(results.contenders) == {
    *('perturber', 'rules', 'word', 'dictionary', *forms)
  }
  exact = {
    name: one['sets']['all']['quality']['exact']['value']
    for name, one in results.contenders.items()
  }
  assert exact['rules'] == exact['dictionary'] == 1 > exact['word']
  assert len(results.tests) == 6 * (1 + len(forms))
  for test in results.tests:
    assert 0 <= test['p'] <= 1 and test['n'] == 6
  remade(tmp_path / 'run', results)
  # The folder that was written perturbs texts.
  folder = tmp_path / 'run' / 'export' / 'perturber'
  page = (tmp_path / 'run' / 'report.html').read_text('utf-8')
  assert 'perturb.model=run/export/perturber' in page  # and it is there
  asked = config(copy, perturb__by='model', perturb__model=str(folder))
  made = perturbing.perturbed(asked, ['he sold his boat .', 'it rained .'])
  assert made['word'][0] in ('he', 'his') and not made['changed'][1]


def test_a_left_to_right_tagger_reads_each_text_twice(copy, tmp_path):
  """A word's verdict would know nothing of what follows it."""
  pairs = panda.read(copy)
  path = tmp_path / 'in'
  byte_level(path, pairs['text'])
  asked = config(copy, perturb__learner='tagger')
  asked.model = str(path)
  model = person_tagger.start(asked, pairs)
  text, word = 'he sold his boat; Québec!', 'he'
  read = person_tagger.asked(model, [word], ['woman'], [text])
  prompt = f'{text} he, woman <PERT_SEP> '
  assert read.prompts[0].startswith(prompt + person_tagger.HINT)
  assert read.begins == [len(prompt)]
  # Each token of the second text is of the word that it is a part of.
  rows, places = person_tagger.encoded(model, [word], ['woman'], [text])
  joined = ['' for _ in parallel.words(text)]
  for token, place in zip(rows[0], places[0]):
    if place >= 0:
      joined[place] += model.tokenizer.decode([token], False)
  assert ''.join(joined).replace(' ', '').startswith('hesoldhisboat')
  assert [one.strip(' ;!') for one in joined][:4] == text.split(';')[0].split()

  perturber.run(asked, tmp_path / 'run')
  folder = tmp_path / 'run' / 'export' / 'perturber'
  said = json.loads((folder / 'config.json').read_text())
  assert said['architectures'] == ['LlamaForTokenClassification']
  asked = config(copy, perturb__by='model', perturb__model=str(folder))
  assert perturbing.load(asked).can == 'tag'
  made = perturbing.perturbed(asked, ['he sold his boat .', 'it rained .'])
  assert made['changed'].tolist() == [True, False]
  assert not made['too_long'].any()


def byte_level(folder, texts):
  """A folder with a tiny Llama and a byte-level tokenizer of the texts."""
  words = Tokenizer(BPE())
  words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
  words.decoder = decoders.ByteLevel()
  alphabet = pre_tokenizers.ByteLevel.alphabet()
  words.train_from_iterator(
    texts,
    BpeTrainer(
      vocab_size=300, initial_alphabet=alphabet, special_tokens=['<end>']
    ),
  )
  shape = families.replaced(
    families.find('llama').sized(1, 64, 256),
    vocab=words.get_vocab_size(),
    bos=0,
    eos=0,
    pad=0,
  )
  module = families.module(shape, 'write')
  known = hf.complete(module, {}, keys.key(0, keys.INIT))
  hf.save(folder, module, known)
  words.save(str(folder / 'tokenizer.json'))


def test_rewrites_of_one_text_are_one_in_tests():
  """Five targets of each of six texts: one toss a text, and wider ends."""
  text = [f'he ran {k} .' for k in range(6)]
  made = lambda times: pd.DataFrame(
    {
      'text': text * times,
      'target': [t.replace('he', 'she') for t in text] * times,
      **{'source_name': 'file', 'places': ''},
    }
  )
  for times in (1, 5):
    held = made(times)
    written = {name: list(held['text']) for name in perturber.RIVALS}
    written['perturber'] = list(held['target'])
    asked = c.Config(measures=c.Measures(resamples=500))
    e = Experiment(asked, None, None)
    perturber.measure(e, held, written)
    found, sets = e.tests, e.contenders['perturber']['sets']
    assert [t['p'] for t in found] == pytest.approx([2 / 2**6] * len(found))
    assert sets['all']['quality']['exact']['low'] < 0.7


def test_what_a_rewriter_changes_can_be_turned_by_rules():
  text = 'Ann told Bob that her clothed sister saw him.'
  written = 'Tim told Bob that its clothing sister saw her.'
  made = perturbing.by_forms([text], [(0, 3)], ['man'], [written])[0]
  name = made.split()[0]
  assert name not in ('Ann', 'Tim')  # a listed name, by rules
  # Not 'clothing', which is no word of gender; 'him' is male already.
  assert made == f'{name} told Bob that his clothed sister saw him.'
  assert perturbing.by_forms(['x'], [(0, 1)], ['young'], ['y']) == ['y']
  # A word put in before one of gender does not turn that.
  said, put = 'Ann saw her sister.', 'Tim saw her dear sister.'
  made = perturbing.by_forms([said], [(0, 3)], ['man'], [put])[0]
  assert made.endswith(' saw her sister.')


def test_a_word_between_underscores_is_a_word():
  """Of '_she_' a model's prompt was a traceback, or it was left unturned."""
  text = '_Mary_ said that _she_ ran.'
  assert chain.find(text, 'Mary') == (1, 5)
  assert chain.find(text, 'she') == (18, 21)
  with pytest.raises(UserError, match="'he' is not in the text"):
    chain.find(text, 'he')
  marked, _ = person_tagger.hinted(text, 'Mary')
  assert marked.count(person_tagger.HINT) == 2
  written = '_Tim_ said that _he_ ran.'
  made = perturbing.by_forms([text], [(1, 5)], ['man'], [written])[0]
  assert made.endswith('_ said that _he_ ran.') and 'Mary' not in made
  row = {
    'original': [text],
    'selected_word': ['she'],
    'target_attribute': ['man'],
    'perturbed': [written],
  }
  assert len(panda.clean(pd.DataFrame(row).assign(split='train'))[0]) == 1


def test_a_model_is_asked_about_the_first_of_equal_words(copy, monkeypatch):
  """The second 'his', somebody else's, was turned beside the first one's."""
  text = 'Tom saw his dog and Bob lost his cat.'
  at = text.rindex('his')
  second = perturb.Candidate(at, at + 3, 'his', 'gender', ('woman',))
  model = Bundle(None, None, None, can='detect')
  monkeypatch.setattr(perturbing, 'load', lambda config: model)
  monkeypatch.setattr(perturbing, 'drawn', lambda *_: [(second, 'woman')])
  monkeypatch.setattr(perturbing, 'readable', lambda *_: [True])
  monkeypatch.setattr(person_tagger, 'flags', lambda *_: [{text.index('his')}])
  asked = config(copy, perturb__by='model', perturb__model=str(copy))
  made = perturbing.perturbed(asked, [text])
  assert made['perturbed'][0] == 'Tom saw her dog and Bob lost his cat.'


def test_places_are_judged_by_what_people_labelled():
  row = pd.DataFrame(
    [
      {
        'text': 'Mary saw Ann and her dog.',
        'places': json.dumps({0: '*', 2: '', 4: 'his'}),
      }
    ]
  ).itertuples()
  row = next(row)
  assert perturber.places(row, 'James saw Ann and his dog.') == [True] * 3
  assert perturber.places(row, 'Mary saw Bob and him dog.') == [False] * 3


def test_labelled_words_of_one_text_are_one_cluster():
  """All of a text's words are right or none: 40 texts, not 120 words."""
  text = 'James saw Ann and his dog.'
  held = pd.DataFrame(
    {
      'text': [f'{k} {text}' for k in range(40)],
      'target': '',
      'source_name': 'file',
      'places': json.dumps({1: '*', 3: '', 5: 'her'}),
    }
  )
  right, wrong = 'Mary saw Ann and her dog.', 'James saw Bob and his dog.'
  written = [f'{k} {wrong if k % 2 else right}' for k in range(40)]
  config_ = c.Config(measures=c.Measures(resamples=2000))

  def contenders(held, written):
    e = Experiment(config_, None, None)
    perturber.measure(e, held, {'one': written})
    return e.contenders

  found = contenders(held, written)
  quality = found['one']['sets']['all']['quality']
  assert quality['places']['value'] == 0.5
  texts = of_share(20, 40, 0.95)
  width = lambda one: one['high'] - one['low']
  assert width(quality['places']) == pytest.approx(width(texts), rel=0.15)
  # Of texts that stand twice the shares of whole texts are over texts as well.
  twice = pd.concat([held, held], ignore_index=True)
  found = contenders(twice, written * 2)
  for name in ('places', 'places_all'):
    one = found['one']['sets']['all']['quality'][name]
    assert width(one) == pytest.approx(width(texts), rel=0.15), name


def corpus(tmp_path):
  folder = tmp_path / 'corpus'
  folder.mkdir()
  for k in range(3):
    lines = [
      f'He saw his aunt {i + k}.' if i % 2 else 'Rain.' for i in range(6)
    ]
    (folder / f'{k}.txt').write_text('\n'.join(lines) + '\n')
  return folder


def test_a_perturbed_corpus_is_the_same_on_every_engine(tmp_path, monkeypatch):
  pytest.importorskip('distributed')
  monkeypatch.setattr(shard_map, 'cores', lambda: 1)
  folder = corpus(tmp_path)

  def run(name, **changes):
    asked = config(folder, corpus__path=str(folder), **changes)
    asked.recipe = 'perturb_corpus'
    results = perturb_corpus.run(asked, tmp_path / name)
    made = sorted((tmp_path / name / 'corpus').glob('*.txt'))
    return results, [path.read_text() for path in made]

  local, texts = run('local')
  _, again = run('dask', corpus__backend='dask')
  assert texts == again and len(texts) == 3
  changeable = local.facts['texts with a person to change']
  assert local.facts['changed'] == changeable == 9
  assert local.facts['gender'] == 9 and local.facts['rows'] == 18
  assert 'Rain.' in texts[0] and texts[0].count('\n') == 6
  # Appended, each text stands before its perturbation.
  _, both = run('both', corpus__both=True)
  assert both[0].count('\n') == 9


def test_hints_stand_before_the_words_that_rules_flag():
  text = 'Mary met Tom; later she, a Québec girl, paid him.'
  marked, starts = person_tagger.hinted(text, 'Mary')
  hint = person_tagger.HINT
  assert marked.replace(f'{hint} ', '') == text
  assert marked.startswith(f'{hint} Mary met Tom; later {hint} she')
  assert f'{hint} him' not in marked and f'{hint} Tom' not in marked
  for word, start in zip(parallel.words(text), starts, strict=True):
    assert marked[start:].startswith(word)


def test_a_tagger_learns_no_text_that_it_would_read_in_part(copy, tmp_path):
  """The end of a long one was cut off, in training and where hints are put; a
  held-out one stopped a run after its training."""
  asked = config(copy, perturb__learner='tagger')
  pairs = panda.read(copy)
  model = person_tagger.start(asked, pairs)
  word, attribute = pairs['word'][0], pairs['attribute'][0]
  count = lambda text: int(
    tokens.encode(model.tokenizer, [text], None).lengths[0]
  )
  text = f'{word} sold a boat'
  while count(perturb.prompt(word, attribute, text)) < model.longest:
    text += ' .'
  bare = perturb.prompt(word, attribute, text)
  assert count(bare) == model.longest  # that it fits but for its hint
  longer = pairs[pairs['split'] == 'train'][:1].assign(text=text, target=text)
  longer = longer.assign(word=word, attribute=attribute)
  log, lines = small.heard()
  both = pd.concat([pairs, longer], ignore_index=True)
  kept, facts = person_tagger.fitting(model, both, log)
  assert facts['train pairs too long, left out'] == 1
  assert '1 train pairs too long, left out' in lines[0]
  assert facts['train pairs'] == len(kept['train'])
  assert text not in set(kept['train']['text'])
  model = model.replace(params=model.init(0), device_mesh=None)
  read = perturbing.readable(model, [word] * 2, [attribute] * 2, [text, word])
  assert list(read) == [False, True]
  held = pd.DataFrame(
    {'text': [text, word], 'word': word, 'attribute': attribute}
  )
  left = perturber.readable(model, held, log)
  assert left['text'].to_dict() == {0: word}
  assert lines[1] == 'left out: 1 (held-out pairs too long for the model)'
  ages = pairs.assign(axis='age')
  with pytest.raises(UserError, match='no pair of gender is in split train'):
    person_tagger.fitting(model, ages[ages['axis'] == 'gender'], log)


def test_a_limit_is_a_sample_of_each_source_and_split(tmp_path, monkeypatch):
  """The first rows of the templates were of one age alone."""
  sources = ('descriptors',)
  (tmp_path / 'x').mkdir()
  asked = config(tmp_path / 'x', perturb__sources=sources)
  with Log(tmp_path, main=False) as log:
    every = parallel.read(sources, tmp_path, 0)
    once, again = (perturber.read(asked, log) for _ in range(2))
    monkeypatch.setattr(splits, 'SEED', 1)
    other = perturber.read(asked, log)
  pd.testing.assert_frame_equal(once, again)
  assert (once.groupby('split').size() == 24).all()
  assert set(once['axis']) == {'age', 'race'}
  assert list(once['id']) == [i for i in every['id'] if i in set(once['id'])]
  assert set(other['id']) != set(once['id'])


def test_panda_is_cut_by_the_seed_and_held_out_texts_are_not_learned(
  copy, monkeypatch
):
  """The seed was not handed on, nor was a text of both files told."""
  table = pd.read_json(copy / 'valid.jsonl', lines=True)
  train = pd.read_json(copy / 'train.jsonl', lines=True)
  both = pd.concat([train, table[-5:], train[-1:]])
  both.to_json(copy / 'train.jsonl', orient='records', lines=True)
  log, lines = small.heard()
  asked = config(copy, data__limit=0)
  one = perturber.read(asked, log)
  monkeypatch.setattr(splits, 'SEED', 1)
  other = perturber.read(asked, log)
  held = lambda t: set(t.loc[t['split'] != 'train', 'text'])
  test = lambda t: set(t.loc[t['split'] == 'test', 'text'])
  assert held(one) == held(other) and test(one) != test(other)
  assert held(one).isdisjoint(one.loc[one['split'] == 'train', 'text'])
  assert 'left out: 5 (training rows whose text is held out)' in lines
  assert 'left out: 1 (rows written twice)' in lines
  assert len(held(one)) == 20  # a row of both files stays held out


def test_a_word_of_panda_must_stand_in_its_text():
  """'he' is not in 'the dog', where it was not found after the training."""
  rows = {
    'original': ['the dog ran', 'He ran', "the men's dog"],
    'selected_word': ['he', 'he', 'men'],
    'target_attribute': ['woman'] * 3,
    'perturbed': ['she dog ran', 'She ran', "the women's dog"],
    'split': ['train'] * 3,
  }
  table, left = panda.clean(pd.DataFrame(rows))
  assert list(table['text']) == ['He ran', "the men's dog"]
  assert left['panda: selected word not in the text'] == 1
