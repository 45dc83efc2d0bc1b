"""Recipes over a language model's folder, end to end on tiny random ones."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import families
from fairjax.models.decoding import decode_texts as decoding
from fairjax.models.decoding.decode import Options
from fairjax.models.families import bart, encoder, gpt2
from fairjax.models.folders import hf
from fairjax.models.layers import int8
from fairjax.recipes.language import corpora, likelihood
from fairjax.recipes.language import generate_corpus as written

ROOT = pathlib.Path(__file__).resolve().parents[3]

TEXTS = [
  'the nurse said that she was late',
  'a doctor and his car',
  'the car is late',
  'she is a nurse and he is a doctor',
]
VOCAB = 90


def folder_of(family, path):
  """A folder with random weights and a small tokenizer."""
  tokenizer = tokens.train_tokenizer(TEXTS, VOCAB)
  tokens.save_tokenizer(tokenizer, path / 'words')
  ends = {'vocab': VOCAB, 'pad': 0, 'bos': 2, 'eos': 3}
  small = {'width': 16, 'depth': 1, 'heads': 2, 'hidden': 24, 'positions': 34}
  if family == 'bart':
    small['longest'] = small.pop('positions') - 2
    module = bart.Bart(
      bart.BartShape(
        **ends | small,
        decoder_depth=1,
        decoder_heads=2,
        decoder_hidden=24,
        start=3,
        deviation=0.5,
      )
    )
  elif family == 'gpt2':
    module = gpt2.GPT2(gpt2.GPT2Shape(**ends | small, deviation=0.5))
  else:
    shape = encoder.EncoderShape(
      vocab=VOCAB, embedding=16, deviation=0.5, **small
    )
    module = families.module(shape, 'mask')
  params = hf.complete(module, {}, jax.random.key(0))
  files = sorted((path / 'words').iterdir())
  hf.save(path / family, module, params, files)
  return path / family


@pytest.mark.parametrize('family', ['gpt2', 'bert'])
def test_likelihood(tmp_path, family, remade):
  config = c.Config(
    recipe='likelihood',
    model=str(folder_of(family, tmp_path)),
    data=c.Data(name='file', path=str(tmp_path / 'texts.csv'), text='said'),
    measures=c.Measures(resamples=200),
  )
  table = pd.DataFrame({'said': TEXTS, 'name': list('abcd')})
  table.to_csv(tmp_path / 'texts.csv', index=False)
  config.data.id = 'name'
  results = likelihood.run(config, tmp_path / 'run')
  found = pd.read_parquet(tmp_path / 'run' / 'likelihood.parquet')
  assert found['id'].tolist() == list('abcd')
  words = tokens.load_tokenizer(tmp_path / family)
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
  assert results.facts['likelihood'] == measures_kind(family)
  # A text file, a line each, says the same.
  (tmp_path / 'texts.txt').write_text('\n'.join(TEXTS) + '\n')
  config.data.path, config.data.id = str(tmp_path / 'texts.txt'), ''
  again = likelihood.run(config, tmp_path / 'other')
  assert again.sets['texts.txt']['quality'] == own
  # Copies of the texts, or of the writers', make nothing surer.
  for column in (None, 'who'):
    copied = pd.concat([table] * 3, ignore_index=True)
    copied['name'], copied['who'] = range(12), list('abcd') * 3
    if column:  # other texts of the same writer
      more = [''] * 4 + [' he'] * 4 + [' she'] * 4
      copied['said'] = [a + b for a, b in zip(copied['said'], more)]
    copied.to_csv(tmp_path / 'texts.csv', index=False)
    config.data.path, config.data.cluster = str(tmp_path / 'texts.csv'), ''
    if column:
      config.data.cluster = column
    third = likelihood.run(config, tmp_path / f'third {column}')
    found = third.sets['texts.csv']['quality']['perplexity_per_text']
    assert any('12 rows are 4 clusters' in note for note in third.notes)
    wide = lambda one: np.log(one['high'] / one['low'])
    assert column or wide(found) == pytest.approx(wide(per_text), rel=0.05)


def measures_kind(family):
  return 'causal' if family == 'gpt2' else 'masked'


def test_likelihood_of_bad_input(tmp_path):
  path = tmp_path / 'texts.txt'
  path.write_text('the car\n\na nurse\n')
  config = c.Config(
    recipe='likelihood',
    model=str(folder_of('gpt2', tmp_path)),
    data=c.Data(name='file', path=str(path)),
    measures=c.Measures(resamples=0),
  )
  run = lambda: likelihood.run(config, tmp_path / 'run')
  with pytest.raises(UserError, match=r'texts\.txt has no text in row 1'):
    run()
  config.data.on_bad = 'drop'
  assert run().sets['texts.txt']['rows'] == 2
  path.write_text('the car\n' + 'a nurse ' * 40 + '\n')
  with pytest.raises(UserError, match=r"the text '1' of .* has more tokens"):
    run()
  config.tokens.max_length = 12
  assert run().notes == ['1 text longer than 12 tokens cut to that']
  config.tokens.max_length = 99
  with pytest.raises(UserError, match=r'max_length is 99, but .* for 34'):
    run()
  config.tokens.max_length = 0
  config.model = str(folder_of('bart', tmp_path))
  path.write_text('the car\n')
  with pytest.raises(UserError, match='is a bart, which can write texts'):
    run()
  config.model = 'mini'
  with pytest.raises(UserError, match="model 'mini' has no weights"):
    run()
  shape = encoder.EncoderShape(
    vocab=VOCAB, width=16, depth=1, heads=2, hidden=24, embedding=16
  )
  bare = families.module(shape, 'embed')
  params = hf.complete(bare, {}, jax.random.key(0))
  hf.save(tmp_path / 'bare', bare, params)
  config.model = str(tmp_path / 'bare')
  with pytest.raises(UserError, match='has no weights to fill masks'):
    run()


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


def config_of(tmp_path, family='bart', **asked):
  return c.Config(
    recipe='generate',
    model=str(folder_of(family, tmp_path)),
    corpus=c.Corpus(path=str(tmp_path / 'source'), workers=1),
    generate=c.Generate(**({'max_length': 12, 'chunk': 5} | asked)),
  )


def files_of(folder):
  return {
    str(p.relative_to(folder)): p.read_bytes()
    for p in sorted(folder.rglob('*'))
    if p.is_file() and '.made' not in p.parts
  }


def test_generate_writes_texts_and_pairs(tmp_path, capsys, remade):
  source = corpus_of(tmp_path / 'source')
  config = config_of(tmp_path)
  out = tmp_path / 'run' / 'corpus'
  results = written.run(config, tmp_path / 'run')
  remade(tmp_path / 'run', results)
  rows = results.sections[0]['parts'][0]['rows']
  assert [row['shard'] for row in rows] == corpora.shard_map.find_shards(source)
  assert all(row['rows'] == 13 and row['status'] == 'made' for row in rows)
  shown = capsys.readouterr()
  assert '3 shards' in shown.out and 'a.txt: 13 texts' in shown.err
  model = written.load(config)
  texts = {
    'a.txt': (source / 'a.txt').read_text().splitlines(),
    'deep/b.jsonl': [
      json.loads(line)['text']
      for line in (source / 'deep' / 'b.jsonl').read_text().splitlines()
    ],
    'deep/c.parquet': pd.read_parquet(source / 'deep' / 'c.parquet')['text'],
  }
  for name, given in texts.items():
    given = list(given)
    wanted, found = decoding.generate_texts(
      model.module,
      model.params,
      model.tokenizer,
      given,
      Options(max_length=12, forced_eos_token_id=3),
    )
    pairs = pd.read_parquet(out / 'pairs' / f'{name}.parquet')
    assert pairs['source'].tolist() == given
    assert pairs['generated'].tolist() == wanted
    assert pairs['id'].tolist() == [f'{name}:{i}' for i in range(13)]
    assert pairs['tokens'].tolist() == found.row_written.tolist()
    assert (pairs['tokens_per_step'] >= 1).all()
  lines = (out / 'text' / 'a.txt').read_text().splitlines()
  pairs = pd.read_parquet(out / 'pairs' / 'a.txt.parquet')
  assert lines == pairs['generated'].tolist()
  table = pd.read_parquet(out / 'text' / 'deep' / 'c.parquet')
  assert table['n'].tolist() == list(range(13))
  assert not list((out / 'pairs').rglob('.parts/**/*.parquet'))
  # Slots and chunks change no byte, and what killed workers left goes.
  whole = files_of(out / 'text')
  config.generate.chunk, config.generate.slots = 7, 3
  stale = tmp_path / 'hosts' / 'corpus' / 'text' / '.a.txt.0badcafe.part'
  stale.parent.mkdir(parents=True)
  stale.write_text('of a worker that was killed')
  written.run(config, tmp_path / 'hosts')
  assert files_of(tmp_path / 'hosts' / 'corpus' / 'text') == whole
  again = written.run(config, tmp_path / 'hosts').facts
  assert again['shards'] == again['shards kept'] > 0


def test_an_answer_is_what_is_written_after_the_prompt(tmp_path):
  corpus_of(tmp_path / 'source', 5)
  asked = {'max_length': -1, 'max_new_tokens': 4}
  asked['prompt'] = 'she said {text} and'
  config = config_of(tmp_path, 'gpt2', **asked)
  written.run(config, tmp_path / 'run')
  pairs = tmp_path / 'run' / 'corpus' / 'pairs'
  table = pd.read_parquet(pairs / 'a.txt.parquet')
  model = written.load(config)
  prompts = [f'she said {text} and' for text in table['source']]
  whole, result = decoding.generate_texts(
    model.module,
    model.params,
    model.tokenizer,
    prompts,
    written.options_of(config, model),
  )
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


def test_a_drawn_text_knows_its_id_alone(tmp_path):
  config = config_of(
    tmp_path, 'gpt2', temperature=1.0, max_new_tokens=6, max_length=-1
  )
  model = written.load(config)
  names = [f'a.txt:{k}' for k in range(len(TEXTS))]
  first = written._write(config, model, TEXTS, names)[0]
  again = written._write(config, model, TEXTS[::-1], names[::-1])[0]
  assert first == again[::-1] and first != list(TEXTS)
  config.seed = 1
  assert written._write(config, model, TEXTS, names)[0] != first


def test_a_worker_has_the_config_as_it_is():
  config = c.Config(model='bart', seed=3, perturb=c.Perturb(axes=('age',)))
  config.fairflow.rivals, config.generate.chunk = (), 7
  word = json.dumps(dataclasses.asdict(config))
  assert corpora.of_plain(word) == config != c.Config()


def test_a_stopped_job_goes_on_at_its_chunk(tmp_path, monkeypatch):
  corpus_of(tmp_path / 'source')
  config = config_of(tmp_path)
  written.run(config, tmp_path / 'calm')
  write, calls = written._write, []

  def falls(*rest):
    calls.append(len(rest[-1]))
    if len(calls) == 3:
      raise KeyboardInterrupt
    return write(*rest)

  monkeypatch.setattr(written, '_write', falls)
  with pytest.raises(KeyboardInterrupt):
    written.run(config, tmp_path / 'run')
  written.run(config, tmp_path / 'run')
  # 3 chunks a shard, 9 in all: one was begun twice, none of the others.
  assert len(calls) == 10 and calls[2] == calls[3] == 3
  calm, run = (files_of(tmp_path / x / 'corpus') for x in ('calm', 'run'))
  assert calm == run and len(run) == 6


@pytest.mark.slow
def test_kill_9_in_the_middle_changes_no_byte(tmp_path):
  source = corpus_of(tmp_path / 'source', count=300)
  config = config_of(tmp_path, chunk=4)
  command = [
    sys.executable,
    '-m',
    'fairjax.main',
    '--config=configs/generate.py',
    f'--config.model={config.model}',
    f'--config.corpus.path={source}',
    '--config.generate.max_length=12',
    '--config.generate.chunk=4',
  ]
  quiet = {'cwd': ROOT, 'stdout': subprocess.DEVNULL}
  quiet |= {'stderr': subprocess.DEVNULL, 'env': os.environ | {'XLA_FLAGS': ''}}
  again = [*command, f'--workdir={tmp_path}/run']
  started = subprocess.Popen(again, **quiet)
  parts = tmp_path / 'run' / 'corpus' / 'pairs' / '.parts'
  while started.poll() is None and len(list(parts.rglob('*.parquet'))) < 3:
    time.sleep(0.02)
  started.send_signal(signal.SIGKILL)
  assert started.wait() == -signal.SIGKILL
  left = {p: p.stat().st_mtime_ns for p in parts.rglob('*.parquet')}
  assert 3 <= len(left) < 225
  assert not list((tmp_path / 'run').glob('shards*.parquet'))
  for one in (again, [*command, f'--workdir={tmp_path}/calm']):
    subprocess.run(one, check=True, **quiet)
  run, calm = (files_of(tmp_path / x / 'corpus') for x in ('run', 'calm'))
  assert run == calm and len(run) == 6


def test_masks_are_filled(tmp_path):
  source = tmp_path / 'source'
  source.mkdir()
  lines = ['the [MASK] is  late', 'a DOCTOR and his [MASK] [MASK]', 'no mask']
  (source / 'a.txt').write_text('\n'.join(lines) + '\n')
  for family in ('bart', 'bert'):
    config = config_of(tmp_path, family, task='fill', max_length=-1, max_span=3)
    written.run(config, tmp_path / family / 'run')
    out = (tmp_path / family / 'run' / 'corpus' / 'text' / 'a.txt').read_text()
    first, second, third = out.splitlines()
    assert first.startswith('the ') and first.endswith(' is  late')
    assert second.startswith('a DOCTOR and his ') and third == 'no mask'
    assert '[MASK]' not in out


@pytest.mark.parametrize('family', ('bart', 'bert'))
def test_integers_write_and_fill(tmp_path, family, monkeypatch):
  monkeypatch.setattr(int8, 'LARGE', 8)
  source = tmp_path / 'source'
  source.mkdir()
  (source / 'a.txt').write_text('the [MASK] is  late\n')
  config = config_of(tmp_path, family, task='fill', max_length=-1, max_span=3)
  config.net.precision = 'int8'
  assert 'uint8' in str(jax.tree.structure(written.load(config).params))
  written.run(config, tmp_path / 'run')
  out = (tmp_path / 'run' / 'corpus' / 'text' / 'a.txt').read_text()
  assert out.startswith('the ') and '[MASK]' not in out
  written._load.cache_clear()


def test_generate_of_bad_input(tmp_path):
  source = tmp_path / 'source'
  source.mkdir()
  (source / 'a.txt').write_text('the car\n' * 6 + '\nthe car\n')
  (source / 'b.txt').write_text('the car\n')
  config = config_of(tmp_path)
  run = lambda: written.run(config, tmp_path / 'run')
  with pytest.raises(UserError, match=r'1 of 2 shards are not done \(a\.txt'):
    run()
  table = pd.read_parquet(tmp_path / 'run' / 'shards.parquet')
  assert 'a.txt, line 7 is empty; give it a text' in table['error'][0]
  (source / 'a.txt').write_text('the car\n' * 6 + 'the car ' * 40 + '\n')
  with pytest.raises(UserError, match='1 of 2 shards'):
    run()
  table = pd.read_parquet(tmp_path / 'run' / 'shards.parquet')
  assert 'a.txt, line 7 has more tokens than' in table['error'][0]
  config.data.on_bad = 'drop'
  (part,) = run().sections[0]['parts']
  assert {row['rows'] for row in part['rows']} == {7, 1}
  text = (tmp_path / 'run' / 'corpus' / 'text' / 'a.txt').read_text()
  assert text.splitlines()[6] == 'the car ' * 40
  for section, field, value, sentence in (
    ('generate', 'max_length', 99, 'max_length is 99'),
    ('corpus', 'path', '', r'corpus\.path is empty'),
  ):
    config = config_of(tmp_path)
    setattr(getattr(config, section), field, value)
    with pytest.raises(UserError, match=sentence):
      run()
  for family, task, sentence in (
    ('bert', 'write', 'fills masks and writes no texts'),
    (
      'gpt2',
      'fill',
      'is a gpt2, which can tag words from left to right, write texts and',
    ),
    ('bart', 'fill', 'max_length is 12, but infilling copies its source'),
  ):
    config = config_of(tmp_path, family, task=task)
    with pytest.raises(UserError, match=sentence):
      run()
  # A tokenizer of more tokens than the weights have.
  words = tokens.load_tokenizer(config.model)
  words.add_special_tokens([f'<{i}>' for i in range(VOCAB)])
  tokens.save_tokenizer(words, tmp_path / 'bigger')
  config.tokens.tokenizer = str(tmp_path / 'bigger')
  with pytest.raises(
    UserError, match=rf'153 tokens, but .* has vectors for {VOCAB}'
  ):
    run()


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


def test_the_config_goes_over_the_folder(tmp_path):
  config = config_of(tmp_path, max_length=-1)
  path = pathlib.Path(config.model) / 'generation_config.json'
  path.write_text(json.dumps(OPTIONS))
  written._load.cache_clear()
  model = written.load(config)
  found = written.options_of(config, model)
  assert found == Options(
    max_length=14,
    min_length=6,
    num_beams=3,
    length_penalty=2.0,
    early_stopping=True,
    no_repeat_ngram_size=2,
    forced_bos_token_id=0,
    forced_eos_token_id=2,
  )
  config.generate = c.Generate(
    num_beams=1,
    slots=4,
  )
  found = written.options_of(config, model)
  assert (found.num_beams, found.draft, found.min_length) == (1, 8, 6)
  config.generate.slots = 32  # which compute as long as they read
  assert written.options_of(config, model).draft == 0
  config.generate.task = 'fill'
  found = written.options_of(config, model)
  assert found.forced_bos_token_id is None and found.max_length == 0
  for said, sentence in (
    ({'do_sample': True, 'num_beams': 2}, r'\.json: do_sample is on, which'),
    ({'do_sample': 'yes'}, "has do_sample 'yes'; it must be true or false"),
    ({'do_sample': True, 'top_p': 1.2}, r'\.json: top_p is 1\.2; a number'),
    ({'do_sample': True, 'temperature': 'hot'}, "has temperature 'hot'; it m"),
    ({'top_k': 2.5}, r'has top_k 2\.5; it must be a whole number'),
    ({'min_p': 0.1}, r'sets min_p to 0\.1, which is not known here'),
    ({'stop_strings': ['END']}, 'sets stop_strings'),
    ({'guidance_scale': 1.5}, 'sets guidance_scale to 1.5'),
    ({'repetition_penalty': 1.3}, r'sets repetition_penalty to 1\.3'),
    ({'num_beams': 0}, r'generation_config\.json: num_beams is 0'),
    ({'eos_token_id': [2, 3]}, 'has 2 values of eos_token_id'),
  ):
    path.write_text(json.dumps(said))
    written._load.cache_clear()
    with pytest.raises(UserError, match=sentence):
      written.load(config)


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
def test_a_folder_that_draws_draws_as_transformers_would(tmp_path, said):
  transformers = pytest.importorskip('transformers')
  config = config_of(tmp_path, max_length=-1)
  path = pathlib.Path(config.model)
  (path / 'generation_config.json').write_text(json.dumps(said))
  written._load.cache_clear()
  model = written.load(config)
  names = ('do_sample', 'temperature', 'top_k', 'top_p')
  theirs = transformers.GenerationConfig.from_pretrained(path)
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
  assert found.draft == 0


def test_what_a_folder_draws_is_what_the_knobs_draw(tmp_path):
  config = config_of(tmp_path, max_length=8)
  path = pathlib.Path(config.model) / 'generation_config.json'
  said = {'do_sample': True, 'temperature': 0.8, 'top_p': 0.7, 'top_k': 5}
  texts, names = ['it was a day', 'he said'], ['a', 'b']

  def write():
    written._load.cache_clear()
    return written._write(config, written.load(config), texts, names)[0]

  path.write_text(json.dumps({}))
  best = write()
  path.write_text(json.dumps(said))
  drawn = write()
  path.write_text(json.dumps({}))
  config.generate.temperature, config.generate.top_p = 0.8, 0.7
  config.generate.top_k = 5
  assert drawn == write() != best
