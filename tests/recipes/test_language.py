"""Recipes over a language model's folder, end to end on tiny random ones."""

import json

import jax
import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax.data import tokens
from fairjax.errors import UserError
from fairjax.models import bart, encoder, gpt2, heads, hf
from fairjax.recipes import likelihood

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
    module = bart.Bart(
      bart.Shape(
        **ends | small,
        decoder_depth=1,
        decoder_heads=2,
        decoder_hidden=24,
        start=3,
        deviation=0.5,
      )
    )
  elif family == 'gpt2':
    module = gpt2.GPT2(gpt2.Shape(**ends | small, deviation=0.5))
  else:
    module = heads.MaskedLM(
      encoder.Shape(vocab=VOCAB, embedding=16, deviation=0.5, **small)
    )
  params = hf.complete(module, {}, jax.random.key(0))
  files = sorted((path / 'words').iterdir())
  hf.save(path / family, module, params, files)
  return path / family


@pytest.mark.parametrize('family', ['gpt2', 'bert'])
def test_likelihood(tmp_path, family):
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
  per_text = results['perplexity']['per_text']
  np.testing.assert_allclose(per_text['value'], np.exp(losses.mean()))
  assert per_text['low'] < per_text['value'] < per_text['high']
  again = json.loads((tmp_path / 'run' / 'results.json').read_text())
  assert again == results and results['kind'] == measures_kind(family)
  # A text file, a line each, says the same.
  (tmp_path / 'texts.txt').write_text('\n'.join(TEXTS) + '\n')
  config.data.path, config.data.id = str(tmp_path / 'texts.txt'), ''
  again = likelihood.run(config, tmp_path / 'other')
  assert again['perplexity'] == results['perplexity']


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
  assert run()['rows'] == 2
  path.write_text('the car\n' + 'a nurse ' * 40 + '\n')
  with pytest.raises(UserError, match=r"the text '1' of .* has more tokens"):
    run()
  config.tokens.max_length = 12
  assert run()['notes'] == ['1 texts were cut to 12 tokens']
  config.tokens.max_length = 99
  with pytest.raises(UserError, match=r'max_length is 99, but .* for 34'):
    run()
  config.tokens.max_length = 0
  config.model = str(folder_of('bart', tmp_path))
  path.write_text('the car\n')
  with pytest.raises(UserError, match='a BART gives no likelihood'):
    run()
  config.model = 'mini'
  with pytest.raises(UserError, match="model 'mini' has no weights"):
    run()
  shape = encoder.Shape(
    vocab=VOCAB, width=16, depth=1, heads=2, hidden=24, embedding=16
  )
  bare = encoder.Encoder(shape)
  params = hf.complete(bare, {}, jax.random.key(0))
  hf.save(tmp_path / 'bare', bare, params)
  config.model = str(tmp_path / 'bare')
  with pytest.raises(UserError, match='is no masked language model'):
    run()
