"""Recipes over a language model's folder, end to end on tiny random ones."""

import dataclasses
import json
import shutil

import jax
import numpy as np
import pandas as pd
import pytest
import small
from small import folder_of

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models.decoding import decode_texts as decoding
from fairjax.models.decoding.decode import Options
from fairjax.models.layers import int8
from fairjax.recipes.language import corpora, likelihood
from fairjax.recipes.language import generate_corpus as written

TEXTS = [
  'the nurse said that she was late',
  'a doctor and his car',
  'the car is late',
  'she is a nurse and he is a doctor',
]
VOCAB = 90


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
  monkeypatch.setattr(written, 'CHUNK', 5)


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
  """Folders of three families with random weights."""
  root, words = tmp_path_factory.mktemp('models'), tokens.train_tokenizer
  return {
    family: folder_of(root / family, family, words(TEXTS, VOCAB), deviation=0.5)
    for family in ('bart', 'gpt2', 'bert')
  }


def asked_of(model, path, **measures):
  return c.Config(
    recipe='likelihood',
    model=model,
    data=c.Data(name='file', path=str(path)),
    measures=c.Measures(**measures),
  )


@pytest.mark.parametrize('family', ['gpt2', 'bert'])
def test_likelihood(folders, tmp_path, family, remade):
  path = tmp_path / 'texts.csv'
  config = asked_of(folders[family], path, resamples=200)
  config.data.id, config.data.text = 'name', 'said'
  table = pd.DataFrame({'said': TEXTS, 'name': list('abcd')})
  table.to_csv(path, index=False)
  results = likelihood.run(config, tmp_path / 'run')
  found = pd.read_parquet(tmp_path / 'run' / 'likelihood.parquet')
  assert found['id'].tolist() == list('abcd')
  words = tokens.load_tokenizer(folders[family])
  lengths = [len(words.encode(text).ids) for text in TEXTS]
  scored = np.array(lengths) - (1 if family == 'gpt2' else 2)
  assert found['tokens'].tolist() == scored.tolist()
  losses = -found['log_likelihood'] / found['tokens']
  np.testing.assert_allclose(found['perplexity'], np.exp(losses))
  remade(tmp_path / 'run', results)
  own = results.sets['texts.csv']['quality']
  per_text = own['perplexity_per_text']
  np.testing.assert_allclose(per_text['value'], np.exp(losses.mean()))
  assert per_text['low'] < per_text['value'] < per_text['high']
  kind = {'gpt2': 'causal', 'bert': 'masked'}
  assert results.facts['likelihood'] == kind[family]
  # A text file, a line each, says the same.
  (tmp_path / 'texts.txt').write_text('\n'.join(TEXTS) + '\n')
  config.data.path, config.data.id = str(tmp_path / 'texts.txt'), ''
  again = likelihood.run(config, tmp_path / 'other')
  assert again.sets['texts.txt']['quality'] == own
  # Copies of the texts, or of the writers', make nothing surer.
  for column in ('', 'who'):
    copied = pd.concat([table] * 3, ignore_index=True)
    copied['name'], copied['who'] = range(12), list('abcd') * 3
    if column:  # other texts of the same writer
      more = [''] * 4 + [' he'] * 4 + [' she'] * 4
      copied['said'] = [a + b for a, b in zip(copied['said'], more)]
    copied.to_csv(path, index=False)
    config.data.path, config.data.cluster = str(path), column
    third = likelihood.run(config, tmp_path / f'third {column}')
    found = third.sets['texts.csv']['quality']['perplexity_per_text']
    assert any('12 rows are 4 clusters' in note for note in third.notes)
    wide = lambda one: np.log(one['high'] / one['low'])
    assert column or wide(found) == pytest.approx(wide(per_text), rel=0.05)


def test_likelihood_of_bad_input(folders, tmp_path):
  path = tmp_path / 'texts.txt'
  path.write_text('the car\n\na nurse\n')
  config = asked_of(folders['gpt2'], path, resamples=0)
  run = lambda: likelihood.run(config, tmp_path / 'run')

  def refused(sentence):
    with pytest.raises(UserError, match=sentence):
      run()

  refused(r'texts\.txt has no text in row 1')
  config.data.on_bad = 'drop'
  assert run().sets['texts.txt']['rows'] == 2
  path.write_text('the car\n' + 'a nurse ' * 40 + '\n')
  refused(r"the text '1' of .* has more tokens")
  config.tokens.max_length = 12
  assert run().notes == ['1 text longer than 12 tokens cut to that']
  config.tokens.max_length = 99
  refused(r'max_length is 99, but .* for 34')
  config.tokens.max_length = 0
  config.model = folders['bart']
  path.write_text('the car\n')
  refused('is a bart, which can write texts')
  config.model = 'mini'
  refused("model 'mini' has no weights")
  words = tokens.load_tokenizer(folders['bert'])
  config.model = folder_of(tmp_path / 'bare', 'bert', words, 'embed')
  refused('has no weights to fill masks')


def corpus_of(path, count=13):
  """A .txt, a .jsonl and a .parquet of texts of many lengths."""
  (path / 'deep').mkdir(parents=True)
  rng = np.random.default_rng(0)
  words = sorted({word for text in TEXTS for word in text.split()})
  draw = lambda: [
    ' '.join(rng.choice(words, n)) for n in rng.integers(1, 9, count)
  ]
  (path / 'a.txt').write_text('\n'.join(draw()) + '\n')
  rows = [{'n': i, 'text': text} for i, text in enumerate(draw())]
  lines = [json.dumps(row) for row in rows]
  (path / 'deep' / 'b.jsonl').write_text('\n'.join(lines) + '\n')
  table = pd.DataFrame({'text': draw(), 'n': np.arange(count)})
  table.to_parquet(path / 'deep' / 'c.parquet')
  return path


def config_of(model, tmp_path, *lines, **asked):
  """Of texts in tmp_path/source, which holds these lines if there are any."""
  source = tmp_path / 'source'
  if lines:
    source.mkdir(exist_ok=True)
    (source / 'a.txt').write_text('\n'.join(lines) + '\n')
  return c.Config(
    recipe='generate',
    model=model,
    corpus=c.Corpus(path=str(source)),
    generate=c.Generate(**({'max_new_tokens': 11} | asked)),
  )


def texts_of(config, folder):
  """What is written of a.txt."""
  written.run(config, folder)
  return (folder / 'corpus' / 'text' / 'a.txt').read_text().splitlines()


def files_of(folder):
  return {
    str(p.relative_to(folder)): p.read_bytes()
    for p in sorted(folder.rglob('*'))
    if p.is_file() and '.made' not in p.parts
  }


def test_generate_writes_texts_and_pairs(
  folders, tmp_path, capsys, remade, monkeypatch
):
  source = corpus_of(tmp_path / 'source')
  config = config_of(folders['bart'], tmp_path)
  out = tmp_path / 'run' / 'corpus'
  results = written.run(config, tmp_path / 'run')
  remade(tmp_path / 'run', results)
  rows = results.sections[0]['parts'][0]['rows']
  assert [row['shard'] for row in rows] == corpora.shard_map.find_shards(source)
  assert all(row['rows'] == 13 and row['status'] == 'made' for row in rows)
  shown = capsys.readouterr()
  assert '| shards' in shown.out and 'a.txt: 13 texts' in shown.err
  model = written.load(config)
  net = model.module, model.params, model.tokenizer
  lines = (source / 'deep' / 'b.jsonl').read_text().splitlines()
  for name, given in (
    ('a.txt', (source / 'a.txt').read_text().splitlines()),
    ('deep/b.jsonl', [json.loads(line)['text'] for line in lines]),
    ('deep/c.parquet', pd.read_parquet(source / 'deep/c.parquet')['text']),
  ):
    given = list(given)
    options = Options(max_new_tokens=11, forced_eos_token_id=3)
    wanted, found = decoding.generate_texts(*net, given, options)
    pairs = pd.read_parquet(out / 'pairs' / f'{name}.parquet')
    assert pairs['source'].tolist() == given
    assert pairs['generated'].tolist() == wanted
    assert pairs['id'].tolist() == [f'{name}:{i}' for i in range(13)]
    assert pairs['tokens'].tolist() == found.row_written.tolist()
  lines = (out / 'text' / 'a.txt').read_text().splitlines()
  pairs = pd.read_parquet(out / 'pairs' / 'a.txt.parquet')
  assert lines == pairs['generated'].tolist()
  table = pd.read_parquet(out / 'text' / 'deep' / 'c.parquet')
  assert table['n'].tolist() == list(range(13))
  assert not list((out / 'pairs').rglob('.parts/**/*.parquet'))
  # Chunks change no byte, and what killed workers left goes.
  whole = files_of(out / 'text')
  monkeypatch.setattr(written, 'CHUNK', 7)
  stale = tmp_path / 'hosts' / 'corpus' / 'text' / '.a.txt.0badcafe.part'
  stale.parent.mkdir(parents=True)
  stale.write_text('of a worker that was killed')
  written.run(config, tmp_path / 'hosts')
  assert files_of(tmp_path / 'hosts' / 'corpus' / 'text') == whole
  again = written.run(config, tmp_path / 'hosts').facts
  assert again['shards'] == again['shards kept'] > 0


def test_an_answer_is_what_is_written_after_the_prompt(folders, tmp_path):
  asked = {'max_new_tokens': 4, 'prompt': 'she said {text} and'}
  config = config_of(folders['gpt2'], tmp_path, *TEXTS, **asked)
  written.run(config, tmp_path / 'run')
  pairs = tmp_path / 'run' / 'corpus' / 'pairs' / 'a.txt.parquet'
  pairs.write_bytes(b'torn')  # which its texts do not show; trial 974
  assert written.run(config, tmp_path / 'run').facts['shards made'] == 1
  assert written.run(config, tmp_path / 'run').facts['shards kept'] == 1
  table = pd.read_parquet(pairs)
  model = written.load(config)
  prompts = [f'she said {text} and' for text in table['source']]
  net = model.module, model.params, model.tokenizer
  options = written.options_of(config, model)
  whole, result = decoding.generate_texts(*net, prompts, options)
  shown = model.tokenizer.decode_batch(
    [model.tokenizer.encode(p, add_special_tokens=False).ids for p in prompts]
  )
  answers = [all_[len(p) :].strip() for all_, p in zip(whole, shown)]
  # An answer may begin within a word.
  found = [text.removeprefix('##') for text in table['generated']]
  assert found == answers and any(answers)
  assert list(table['tokens']) == list(result.row_written)
  config.generate.prompt = 'no place'
  with pytest.raises(UserError, match=r'needs \{text\}'):
    written.run(config, tmp_path / 'other')


def test_a_drawn_text_knows_its_id_alone(folders, tmp_path, monkeypatch):
  """Neither the texts beside it nor its chunk."""
  how = {'temperature': 1.0, 'max_new_tokens': 6}
  config = config_of(folders['gpt2'], tmp_path, *TEXTS, **how)
  first = texts_of(config, tmp_path / 'one')
  monkeypatch.setattr(written, 'CHUNK', 3)
  assert texts_of(config, tmp_path / 'other') == first != TEXTS
  config.seed = 1
  assert texts_of(config, tmp_path / 'seed') != first


def test_a_worker_has_the_config_as_it_is():
  config = c.Config(model='bart', seed=3, perturb=c.Perturb(axes=('age',)))
  config.fairflow.rivals, config.generate.top_k = (), 7
  word = json.dumps(dataclasses.asdict(config))
  assert corpora.of_plain(word) == config != c.Config()


def test_a_stopped_job_goes_on_at_its_chunk(folders, tmp_path, monkeypatch):
  corpus_of(tmp_path / 'source')
  config = config_of(folders['bart'], tmp_path)
  written.run(config, tmp_path / 'calm')
  write, calls = decoding.generate_texts, []

  def falls(module, params, tokenizer, texts, *rest, **how):
    calls.append(len(texts))
    if len(calls) == 3:
      raise KeyboardInterrupt
    return write(module, params, tokenizer, texts, *rest, **how)

  monkeypatch.setattr(decoding, 'generate_texts', falls)
  with pytest.raises(KeyboardInterrupt):
    written.run(config, tmp_path / 'run')
  written.run(config, tmp_path / 'run')
  # 3 chunks a shard, 9 in all: one was begun twice, none of the others.
  assert len(calls) == 10 and calls[2] == calls[3] == 3
  calm, run = (files_of(tmp_path / x / 'corpus') for x in ('calm', 'run'))
  assert calm == run and len(run) == 9


@pytest.mark.parametrize('precision', ('float32', 'int8'))
@pytest.mark.parametrize('family', ('bart', 'bert'))
def test_masks_are_filled(folders, tmp_path, family, precision, monkeypatch):
  monkeypatch.setattr(int8, 'LARGE', 8)
  lines = ['the [MASK] is  late', 'a DOCTOR and his [MASK] [MASK]', 'no mask']
  how = {'task': 'fill', 'max_new_tokens': -1}
  config = config_of(folders[family], tmp_path, *lines, **how)
  config.net.precision = precision
  loaded = str(jax.tree.structure(written.load(config).params))
  assert ('uint8' in loaded) == (precision == 'int8')
  first, second, third = texts_of(config, tmp_path / 'run')
  assert first.startswith('the ') and first.endswith(' is  late')
  assert second.startswith('a DOCTOR and his ') and third == 'no mask'
  assert '[MASK]' not in first + second


def test_generate_of_bad_input(folders, tmp_path):
  config = config_of(folders['bart'], tmp_path, *['the car'] * 6, '', 'the car')
  source = tmp_path / 'source'
  (source / 'b.txt').write_text('the car\n')
  run = lambda: written.run(config, tmp_path / 'run')

  def refused(sentence):
    with pytest.raises(UserError, match=sentence):
      run()

  said = lambda: pd.read_parquet(tmp_path / 'run' / 'shards.parquet')['error']
  refused(r'1 of 2 shards are not done \(a\.txt')
  assert 'a.txt, line 7 is empty; give it a text' in said()[0]
  (source / 'a.txt').write_text('the car\n' * 6 + 'the car ' * 40 + '\n')
  refused('1 of 2 shards')
  assert 'a.txt, line 7 has more tokens than' in said()[0]
  config.data.on_bad = 'drop'
  (part,) = run().sections[0]['parts']
  assert {row['rows'] for row in part['rows']} == {7, 1}
  text = (tmp_path / 'run' / 'corpus' / 'text' / 'a.txt').read_text()
  assert text.splitlines()[6] == 'the car ' * 40
  for family, how, sentence in (
    ('bert', {'task': 'write'}, 'fills masks and writes no texts'),
    ('gpt2', {'task': 'fill'}, 'a gpt2, which can tag words from left to ri'),
    ('bart', {'task': 'fill'}, 'is 11, but infilling copies its source'),
  ):
    config = config_of(folders[family], tmp_path, **how)
    refused(sentence)
  # A tokenizer of more tokens than the weights have.
  words = tokens.load_tokenizer(config.model)
  words.add_special_tokens([f'<{i}>' for i in range(VOCAB)])
  tokens.save_tokenizer(words, tmp_path / 'bigger')
  config.tokens.tokenizer = str(tmp_path / 'bigger')
  refused(r'153 tokens, but .* has vectors for 63')
  config.corpus.path = ''
  refused(r'corpus\.path is empty')


OPTIONS = {
  'num_beams': 3,
  'max_length': 14,
  'min_length': 6,
  'no_repeat_ngram_size': 2,
  'forced_bos_token_id': 0,
  'forced_eos_token_id': 2,
  'early_stopping': True,
  'length_penalty': 2.0,
}


@pytest.fixture
def told(folders, tmp_path):
  """A function that loads a copy of BART's folder that decodes so."""

  def load(said, **asked):
    path = tmp_path / f'model {len(list(tmp_path.iterdir()))}'  # kept by name
    shutil.copytree(folders['bart'], path)
    (path / 'generation_config.json').write_text(json.dumps(said))
    config = config_of(str(path), tmp_path, **{'max_new_tokens': -1} | asked)
    return config, written.load(config)

  return load


def test_the_config_goes_over_the_folder(told):
  config, model = told(OPTIONS)
  assert written.options_of(config, model) == Options(**OPTIONS)
  config.generate = c.Generate(num_beams=1)
  found = written.options_of(config, model)
  assert (found.num_beams, found.min_length) == (1, 6)
  config.generate.task = 'fill'
  found = written.options_of(config, model)
  assert found.forced_bos_token_id is None and found.max_length == 0


@pytest.mark.parametrize(
  ('said', 'sentence'), small.cases(__file__, 'decodes_otherwise.json')
)
def test_a_folder_that_decodes_otherwise_is_refused(told, said, sentence):
  with pytest.raises(UserError, match=sentence):
    told(said)


@pytest.mark.parametrize(
  'said',
  [
    {},
    {'do_sample': False, 'temperature': 0.4},
    {'do_sample': True},
    {'do_sample': True, 'temperature': 0.6, 'top_p': 0.9},
    {'do_sample': True, 'top_k': 7},
    {'do_sample': True, 'top_k': 0},
  ],
)
def test_a_folder_that_draws_draws_as_transformers_would(told, said):
  transformers = pytest.importorskip('transformers')
  config, model = told(said)
  names = ('do_sample', 'temperature', 'top_k', 'top_p')
  theirs = transformers.GenerationConfig.from_pretrained(config.model)
  known = transformers.GenerationConfig._get_default_generation_params()
  wanted = [
    known[name] if getattr(theirs, name) is None else getattr(theirs, name)
    for name in names
  ]
  found = written.options_of(config, model)
  assert found.do_sample == wanted[0]
  if found.do_sample:
    assert [getattr(found, name) for name in names] == wanted
  # The config goes over it: the best token, or another way of drawing.
  config.generate.temperature = 0.0
  assert not written.options_of(config, model).do_sample
  config.generate.temperature, config.generate.top_k = 0.5, 3
  found = written.options_of(config, model)
  assert (found.do_sample, found.temperature, found.top_k) == (True, 0.5, 3)
  assert found.top_p == said.get('top_p', 1)
