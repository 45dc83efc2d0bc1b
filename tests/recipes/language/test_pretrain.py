"""Pretraining end to end: falls, resumes, exports, refuses."""

import dataclasses
import importlib.util
import json

import jax
import numpy as np
import pytest
import small
from corpus import SMALL
from tokenizers import Tokenizer, models

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.metrics.inference.sample import RowSample
from fairjax.models import families
from fairjax.models.folders import hf
from fairjax.recipes.language import pretrain
from fairjax.recipes.language.pretrain import OBJECTIVES
from fairjax.stages import Experiment
from fairjax.train import loop, mesh
from fairjax.train.progress import Log


def config(corpus, objective, **changes):
  mask = 0.3 if objective == 'bart' else 0.15
  made = c.Config(
    recipe='pretrain',
    model='tiny',
    seeds=1,
    data=c.Data(name='text', path=str(corpus)),
    tokens=c.Tokens(vocab_size=120),
    pretrain=c.Pretrain(
      objective=objective, mask=mask, length=32, held_out=0.1
    ),
    train=c.Train(
      lr=2e-3, batch=16, epochs=8, evals=0.5, warmup=0.1, patience=0
    ),
    measures=c.Measures(resamples=200),
  )
  return small.changed(made, **changes)


CLASSES = {
  'mlm': ('BertForMaskedLM',),
  'electra': ('ElectraForPreTraining', 'ElectraForMaskedLM'),
  'bart': ('BartForConditionalGeneration',),
  'causal': ('GPT2LMHeadModel',),
}


@pytest.mark.parametrize(
  'objective',
  [  # electra trains a masked LM too, and other tests here one alone
    pytest.param(name, marks=pytest.mark.slow if name == 'mlm' else ())
    for name in OBJECTIVES
  ],
)
def test_the_loss_falls_and_transformers_reads_what_is_written(
  objective, corpus, tmp_path, remade
):
  import transformers

  results = pretrain.trained(config(corpus, objective), tmp_path)
  lines = (tmp_path / 'metrics.jsonl').read_text().splitlines()
  history = [json.loads(line) for line in lines]
  assert history[-1]['loss'] < history[0]['loss']
  assert history[-1]['perplexity'] < history[0]['perplexity'] < 130
  found = results.sets['held_out']['quality']['perplexity']
  assert found['low'] < found['value'] < found['high']
  remade(tmp_path, results)
  page = (tmp_path / 'report.html').read_text()
  assert 'Measures on held-out text' in page and '<script' not in page
  folder = tmp_path / 'export' / 'seed_0'
  places = (folder, folder / 'generator')
  for name, place in zip(CLASSES[objective], places):
    assert (place / 'model.safetensors').stat().st_size
    if importlib.util.find_spec('torch'):  # its models need it
      _, about = getattr(transformers, name).from_pretrained(
        place, output_loading_info=True
      )
      assert not about['missing_keys'] and not about['unexpected_keys']
  read = transformers.AutoTokenizer.from_pretrained(folder)
  assert len(read) == results.facts['tokenizer']
  if objective != 'electra':
    return
  # And training goes on from it, generator and all, where it stopped.
  on = config(corpus, objective, train__epochs=0.25)
  on.model = str(folder)
  again = pretrain.trained(on, tmp_path / 'on')
  assert again.facts['parameters'] == results.facts['parameters']
  further = again.sets['held_out']['quality']['loss']['value']
  assert further < history[0]['loss']


def test_a_resumed_run_is_the_uninterrupted_one(corpus, tmp_path):
  asked = config(
    corpus, 'mlm', train__epochs=1.5, train__save_every=3, train__evals=1
  )
  asked.seeds = 2
  pretrain.trained(asked, tmp_path / 'whole')
  with small.stopped(4):
    pretrain.trained(asked, tmp_path / 'cut')
  pretrain.trained(asked, tmp_path / 'cut')
  names = ['metrics.jsonl', 'results.json']
  (weights,) = (tmp_path / 'whole' / 'training').glob('*/weights.safetensors')
  names.append(str(weights.relative_to(tmp_path / 'whole')))
  for name in names:
    a, b = ((tmp_path / run / name).read_bytes() for run in ('whole', 'cut'))
    assert a == b, name


# Bad input.


def refusal(asked, folder):
  with pytest.raises(UserError) as caught:
    pretrain.trained(asked, folder)
  return str(caught.value)


def test_mistakes_are_one_sentence(corpus, tmp_path):
  (tmp_path / 'empty').mkdir()
  cases = [
    ({'data__path': ''}, 'data.path is empty'),
    ({'data__path': str(tmp_path / 'empty')}, 'holds no shard'),
    ({'data__path': str(tmp_path / 'none.txt')}, 'does not exist'),
    ({'data__path': __file__}, 'must end in .txt'),
    ({'pretrain__length': 1024}, 'has positions for 512'),
    ({'pretrain__held_out': 1e-6}, '0 are held out'),
  ]
  for changes, sentence in cases:
    said = refusal(config(corpus, 'mlm', **changes), tmp_path / 'run')
    assert sentence in said and '\n' not in said
  for objective, sentence in (('bart', 'gpt2'), ('causal', 'gpt2')):
    asked = config(corpus, objective)
    asked.model = 'bert-base-uncased'
    asked.net.init = 'random'
    assert sentence in refusal(asked, tmp_path / 'run') or objective == 'bart'


def test_only_white_space_is_no_text(tmp_path):
  (tmp_path / 'a.txt').write_text(' \n\n\t\n')
  said = refusal(config(tmp_path, 'mlm'), tmp_path / 'run')
  assert 'there is no text in' in said and 'a.txt' in said


def test_tokenizers_that_do_not_fit(corpus, read, tmp_path):
  bare = Tokenizer(
    models.WordPiece({'a': 0, '<|endoftext|>': 1}, unk_token='a')
  )
  bare.save(str(tmp_path / 'bare.json'))
  asked = config(corpus, 'mlm', tokens__tokenizer=str(tmp_path / 'bare.json'))
  assert 'no mask token' in refusal(asked, tmp_path / 'run')
  # A folder whose weights know fewer tokens than the tokenizer.
  small = families.module(dataclasses.replace(SMALL, vocab=60), 'mask')
  tokens.save_tokenizer(read[0], tmp_path / 'files')
  hf.save(
    tmp_path / 'model',
    small,
    hf.complete(small, {}, jax.random.key(0)),
    sorted((tmp_path / 'files').iterdir()),
  )
  asked = config(corpus, 'mlm')
  asked.model = str(tmp_path / 'model')
  said = refusal(asked, tmp_path / 'run')
  assert 'vectors for 60' in said and '\n' not in said


def test_shares_of_few_documents_have_ends():
  """No false alarm in six documents is no proof that there is none."""
  sums = np.array([[[9.0, 0, 5, 5], [12, 0, 8, 8], [8, 0, 6, 6]] * 2])
  how = RowSample(0.95, 2000, 0)
  found = pretrain.shares(('detection_loss', 'false_alarms'), sums, how)
  assert list(found) == ['false_alarms']
  one = found['false_alarms']
  assert one['value'] == one['low'] == 0 and 0.2 < one['high'] < 0.6


def test_copies_of_a_held_out_document_are_one(tmp_path):
  """Five copies of each held-out document made intervals half as wide."""
  lines = [f'word{k} ran to house{k * 7 % 40} .' for k in range(40)]
  path = tmp_path / 'text.txt'
  path.write_text('\n'.join(lines * 10) + '\n')
  asked = config(path, 'causal', pretrain__held_out=0.5)
  asked.pretrain.document = 'line'
  text = pretrain.read(asked, jax.device_count(), Log(tmp_path, asked))
  assert len(np.unique(text.cluster)) == 40 < len(text.cluster)
  model = OBJECTIVES['causal'].model(asked, text.words)
  model = model.replace(device_mesh=mesh.make(asked.mesh, 1))
  params = loop.initial(model, [0])
  fit = loop.Fitted(params, 0, [0], [], {}, {})

  def found(text):
    e = Experiment(asked, tmp_path, None)
    pretrain.measure(e, text, model, fit)
    loss = e.contenders[asked.model]['sets']['held_out']['quality']['loss']
    return e.results().notes, loss['high'] - loss['low']

  said, width = found(text)
  assert width > 1.8 * found(text._replace(cluster=None))[1]
  (rows, *_) = pretrain.dependent(text.cluster, 'documents of the same words')
  assert f'{len(text.cluster)} rows are 40 clusters (documents of' in rows
  # No share of 200 draws is as small as 1 - .999.
  assert not said
  asked.measures.confidence_level = 0.999
  (said,), _ = found(text)
  assert said.startswith('200 resamples are too few') and '999 or more' in said
