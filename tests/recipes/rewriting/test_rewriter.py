"""Sampled texts, and a rewriter learned."""

import functools
import json
import types

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import small

from fairjax import config as c
from fairjax.core import backend
from fairjax.core.errors import UserError
from fairjax.data.batching import seq2seq
from fairjax.data.batching.tokens import ragged
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import rewrites
from fairjax.models import build, families, objectives, rewriting
from fairjax.models.families import bart, gpt2
from fairjax.models.folders import hf
from fairjax.recipes.rewriting import rewriter, sampled
from fairjax.stages import Experiment
from fairjax.train import step
from fairjax.train.progress import Log

VOCAB = 40
SIZE = {'vocab': VOCAB, 'width': 16, 'depth': 1, 'heads': 2, 'hidden': 24}
SIZE |= {'dropout': 0.0, 'attention_dropout': 0.0, 'deviation': 0.3}
BESIDE = {'decoder_depth': 1, 'decoder_heads': 2, 'decoder_hidden': 24}
SHAPES = {
  'bart': bart.BartShape(**SIZE, **BESIDE, longest=64, activation_dropout=0.0),
  'gpt2': gpt2.GPT2Shape(
    **SIZE, positions=64, embedding_dropout=0.0, eos=2, bos=2, pad=2
  ),
}


def some_pairs(n=6):
  draw = np.random.default_rng(3)
  side = lambda: [
    [*draw.integers(4, VOCAB, draw.integers(2, 9)).tolist(), 2]
    for _ in range(n)
  ]
  return side(), side()


def gradients_of(model, loss):
  return jax.jit(lambda *x: step.gradients(model, *x, None, 1, loss))


def padded(rows, fill):
  width = max(map(len, rows))
  return np.array([[*row, *[fill] * (width - len(row))] for row in rows])


@pytest.mark.parametrize('family', SHAPES)
def test_loss_and_gradients_are_those_of_transformers(family, tmp_path, torch):
  transformers = pytest.importorskip('transformers')
  module = families.module(SHAPES[family], 'write')
  model = build.from_folder(module, None)
  params = model.init(0)
  sources, targets = some_pairs()
  between = 3 if family == 'gpt2' else None
  pairs = seq2seq.pool(ragged(sources), ragged(targets), separator=between)
  made = seq2seq.training(pairs, [0], len(sources))
  batch = {name: jnp.asarray(value[0]) for name, value in made[0].items()}
  loss = step.Loss(*objectives.loss(objectives.denoised))
  (ours, _), grads = gradients_of(model, loss)(params, batch)

  hf.save(tmp_path, module, params)
  name = {'bart': 'BartForConditionalGeneration', 'gpt2': 'GPT2LMHeadModel'}
  twin = getattr(transformers, name[family]).from_pretrained(tmp_path).train()
  if family == 'bart':
    read, labels = padded(sources, 1), padded(targets, -100)
    mask = read != 1
  else:
    joined = [[*a, 3, *b] for a, b in zip(sources, targets)]
    read = padded(joined, 0)
    mask = padded([[1] * len(row) for row in joined], 0) > 0
    labels = padded(
      [[-100] * (len(a) + 1) + b for a, b in zip(sources, targets)], -100
    )
  result = twin(
    input_ids=torch.tensor(read),
    attention_mask=torch.tensor(mask.astype(int)),
    labels=torch.tensor(labels),
  )
  logits, labels = result.logits, torch.tensor(labels)
  if family == 'gpt2':
    logits, labels = logits[:, :-1], labels[:, 1:]
  theirs = torch.nn.functional.cross_entropy(
    logits.reshape(-1, VOCAB), labels.reshape(-1)
  )
  assert abs(theirs.item() - result.loss.item()) < 1e-6
  theirs.backward()
  assert abs(float(ours) - theirs.item()) < 1e-5
  weights = dict(twin.named_parameters())
  for path, value in hf.to_hf(module, grads).items():
    if path in weights and weights[path].grad is not None:
      gold = weights[path].grad.numpy()
      np.testing.assert_allclose(value, gold, atol=1e-5, err_msg=path)


@pytest.fixture(autouse=True)
def of_gpt2(monkeypatch):
  monkeypatch.setattr(rewriting, 'FAMILY', 'gpt2')


def config(**changes):
  made = c.Config(
    model='tiny',
    seeds=1,
    tokens=c.Tokens(vocab_size=120),
    train=c.Train(
      lr=8e-3, batch=32, epochs=32, evals=0.0625, patience=0, warmup=0.1
    ),
    measures=c.Measures(resamples=100),
  )
  return small.changed(made, **changes)


WORDS = 'she he her his man woman saw met the dog big house'.split()
TURNED = {'she': 'he', 'he': 'she', 'man': 'woman', 'woman': 'man'}


def table(n=160):
  draw = np.random.default_rng(0)
  texts = [
    [WORDS[j] for j in draw.integers(0, len(WORDS), 5)] for _ in range(n)
  ]
  return pd.DataFrame(
    {
      'source': [' '.join(text) for text in texts],
      'target': [' '.join(TURNED.get(w, w) for w in text) for text in texts],
      'split': ['test'] * 20 + ['valid'] * 20 + ['train'] * (n - 40),
    }
  )


def test_a_rewriter_learns_and_is_written_for_transformers(tmp_path, torch):
  pairs, asked = table(), config()
  with Log(tmp_path, asked, main=True) as log:
    made = rewriter.fit(Experiment(asked, tmp_path, log), pairs)
    again = rewriter.fit(Experiment(asked, tmp_path, log), pairs)
  test = pairs[pairs['split'] == 'test']
  written = rewriter.write(asked, made.model, test['source'])
  assert np.mean(written == test['target']) > 0.8
  assert rewriter.write(asked, again.model, test['source']) == written
  ids = rewriter.write_tokens(asked, made.model, test['source'])
  counts = rewriter.compare(made.model, test, ids)
  result = rewrites.estimates(
    counts, rewrites.measures, intervals.options_of(asked)
  )
  assert result['exact']['value'] == np.mean(written == test['target'])
  quality = made.quality
  assert quality['perplexity']['value'] < 1.2
  assert quality['changed_perplexity']['low'] >= 1

  transformers = pytest.importorskip('transformers')
  folder = rewriter.save(made.model, tmp_path / 'out')
  net = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
  tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
  between = tokenizer.convert_tokens_to_ids(rewriting.SEPARATOR)
  assert between == rewriting.separator(made.model)
  source = [*tokenizer(test['source'].iloc[0])['input_ids'], between]
  theirs = net.generate(torch.tensor([source]), max_new_tokens=12)
  text = tokenizer.decode(theirs[0, len(source) :], skip_special_tokens=True)
  assert text == written[0]


def test_an_accelerator_compiles_one_shape_of_pairs():
  draw = np.random.default_rng(0)
  texts = ragged([[1] * n for n in draw.integers(4, 40, 600)])
  none = np.zeros(600, np.int32)
  pool = seq2seq.PairPool(texts, texts, texts, none)
  job = types.SimpleNamespace(
    config=config(train__batch=8),
    train=pool,
    seeds=[0],
    device_mesh=types.SimpleNamespace(shape={'data': 1}),
  )
  shapes = {}
  for name in ('cpu', 'gpu'):
    with backend.made_for(name):
      shapes[name] = {*rewriter.pair_batches(job, None).plan(0).rows}
  assert len(shapes['cpu']) > 1 and len(shapes['gpu']) == 1


def test_special_tokens_are_learned_by_weights_and_tokenizer(tmp_path):
  pairs = table(60)
  model = rewriter.start(config(), pairs, ['<PERT_SEP>'])
  id_ = model.tokenizer.token_to_id('<PERT_SEP>')
  assert model.tokenizer.encode('he, she <PERT_SEP> x').ids.count(id_) == 1
  assert model.init(0)['word']['embedding'].shape[0] == model.shape.vocab > id_


def test_stopping_by_bleu_writes_and_is_another_stage(tmp_path, monkeypatch):
  pairs = table(100)
  asked = config(train__epochs=2, train__evals=0.5)
  with Log(tmp_path, asked, main=True) as log:
    rewriter.fit(Experiment(asked, tmp_path, log), pairs)
    asked.train.metric_for_best = 'bleu'
    monkeypatch.setattr(rewriter, 'DECODED', 4)
    history = rewriter.fit(Experiment(asked, tmp_path, log), pairs).fit
  assert all(0 <= row['bleu'] <= 1 for row in history.history)
  assert len(list((tmp_path / 'training').glob('*/fit.json'))) == 2
  row = json.loads((tmp_path / 'metrics.jsonl').read_text().splitlines()[-1])
  assert 'changed_perplexity' in row


def test_rewrites_of_one_text_are_one_in_what_is_held_out(tmp_path):
  """Each held-out pair eight times says no more of the loss than once."""
  pairs, asked = table(60), config(train__epochs=0.5)
  test = pairs[pairs['split'] == 'test']
  widths = []
  with Log(tmp_path, asked, main=True) as log:
    for times in (0, 7):
      own = pd.concat([pairs, *[test] * times], ignore_index=True)
      loss = rewriter.fit(Experiment(asked, tmp_path, log), own).quality['loss']
      widths.append(loss['high'] - loss['low'])
  assert widths[1] == pytest.approx(widths[0], rel=0.3)


def test_pairs_of_other_labels_are_another_stage(tmp_path):
  """With reuse= a discriminator was its own control, of shuffled labels."""
  pairs, asked = table(60), config(train__epochs=0.5)
  label = np.arange(60) % 2
  with Log(tmp_path, asked, main=True) as log:
    for own in (label, 1 - label, label):
      e = Experiment(asked, tmp_path, log)
      rewriter.fit(e, pairs.assign(label=own))
  assert len(list((tmp_path / 'training').glob('*/fit.json'))) == 2


def test_texts_that_are_too_long_are_counted_or_refused(tmp_path):
  pairs, asked = table(60), config()
  model = rewriter.start(asked, pairs)
  long = ' '.join(['dog'] * 2 * model.longest)
  _, fits = rewriting.pool(model, [long, 'he'], ['she', 'she'])
  assert fits.tolist() == [False, True]
  with pytest.raises(UserError, match='1 text of 2 have more tokens'):
    rewriter.write(asked, model.replace(params=model.init(0)), ['he', long])


@pytest.mark.parametrize('right', [0.0, 1.0])
def test_shares_of_few_pairs_have_ends_and_losses_none(right):
  """All tokens of six pairs right, or none, is no proof of all pairs."""
  names = ('loss', 'token_accuracy')
  count = np.array([4.0, 6, 5, 3, 8, 4])
  loss = count * np.array([1.5, 2.5, 2, 3, 1, 2])
  rows = np.stack([loss, right * count, count, count], 1)
  how = intervals.RowSample(0.95, 2000, 0)
  means = functools.partial(rewriter.ratios, names)
  found = rewriter.estimates(names, rows, means, how)
  share, mean = found['token_accuracy'], found['loss']
  # Clopper and Pearson's of 6 of 6 is .459 wide.
  assert 0.2 < share['high'] - share['low'] < 0.6
  assert share['value'] == right and 0 <= share['low'] <= share['high'] <= 1
  assert 1 < mean['low'] < mean['value'] < mean['high'] < 3


def tables_of(rows):
  frame = pd.DataFrame(rows, columns=['text', 'label', 'group'])
  frame.insert(0, 'id', [str(k) for k in range(len(frame))])
  return frame


def test_occupations_are_sided_by_the_training_texts():
  train = [('x', 0, 'F')] * 3 + [('x', 0, 'M')] + [('x', 1, 'M')] * 4
  train += [('x', 2, 'F'), ('x', 2, 'M')]
  tables = {
    'train': tables_of(train),
    'test': tables_of([('x', 0, 'M'), ('x', 3, 'F'), ('x', 2, 'F')]),
  }
  shows = {s: (t['group'] == 'F').to_numpy(int) for s, t in tables.items()}
  out = sampled.two_labels(tables, shows)
  # Of all .4 are women: of class 0 .75, of class 1 none, of class 2 half.
  assert out['train']['label'].tolist() == [1] * 4 + [0] * 4 + [1] * 2
  assert out['test']['label'].tolist() == [1, 1]  # class 3 has no side


def test_texts_of_a_class_without_a_side_are_counted(tmp_path):
  """Class 3 is in no training text: its test texts went without a word."""
  train = [('x', 0, 'F')] * 3 + [('x', 1, 'M')] * 3 + [('x', 2, 'F')]
  tables = {
    'train': tables_of(train),
    'test': tables_of([('x', 0, 'M'), ('x', 3, 'F'), ('x', 3, 'F')]),
  }
  with Log(tmp_path, main=True) as log:
    out = sampled.sampled(c.Config(), tables, log)
  assert len(out['test']) == 1
  said = '2 texts of classes that no training text has are left out (test)'
  assert said in (tmp_path / 'log.txt').read_text()


@pytest.mark.parametrize('share', [0.12, 0.8])
def test_the_imbalance_is_that_of_table_1(share):
  rng = np.random.default_rng(0)
  rows = [('x', int(y), 'FM'[int(a)]) for y, a in rng.integers(0, 2, (4000, 2))]
  tables = {'train': tables_of(rows), 'test': tables_of(rows[:900])}
  shows = {s: (t['group'] == 'F').to_numpy(int) for s, t in tables.items()}
  out = sampled.imbalanced(tables, shows, share, 3)
  cell = lambda t, y, g: ((t['label'] == y) & (t['group'] == g)).sum()
  train = out['train']
  part = cell(train, 1, 'F') / (train['label'] == 1).sum()
  assert part == pytest.approx(share, abs=0.005)
  assert cell(train, 0, 'M') == cell(train, 1, 'F')  # mirrored
  assert abs(train['label'].mean() - 0.5) < 0.002
  four = [cell(out['test'], y, g) for y in (0, 1) for g in 'FM']
  assert len(set(four)) == 1 and four[0] > 150
  again = sampled.imbalanced(tables, shows, share, 3)['train']
  other = sampled.imbalanced(tables, shows, share, 4)['train']
  assert again.equals(train) and list(other['id']) != list(train['id'])
  with pytest.raises(UserError, match=r'rewriters\.imbalance'):
    first = {'train': shows['train'][:2]}
    sampled.imbalanced({'train': tables['train'][:2]}, first, 0.5, 0)


def test_a_text_without_a_group_is_of_neither(tmp_path):
  """It was taken for one of the second."""
  tables = {
    'train': tables_of([('x', 0, 'F'), ('x', 1, ''), ('x', 1, 'M')]),
    'test': tables_of([('x', 0, 'F'), ('x', 1, 'M')]),
  }
  with Log(tmp_path, main=False) as log:
    out = sampled.sampled(c.Config(), tables, log)
  assert list(out['train']['group']) == ['F', 'M'] and len(out['test']) == 2
