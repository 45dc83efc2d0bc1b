"""Audits of Hugging Face folders and of our runs, and the rows behind a gap."""

import dataclasses
import json
import shutil
import types

import numpy as np
import pandas as pd
import pytest
import small
import transformers

import fairjax
from fairjax import results, stages
from fairjax.config import Config, seed_list
from fairjax.core import artefacts, knobs
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.tables import audit_table
from fairjax.models import families
from fairjax.models.folders import hf, of_runs
from fairjax.recipes import train
from fairjax.recipes.audit import recipe as recipe
from fairjax.recipes.benchmarks import asked
from fairjax.recipes.perturbation import fairscore, library
from fairjax.stages import audited as models
from fairjax.stages import fits
from fairjax.train import checkpoint, loop
from fairjax.train.progress import Log

SHAPE = {
  **{'model_type': 'bert', 'vocab_size': 120, 'hidden_size': 16},
  **{'num_hidden_layers': 1, 'num_attention_heads': 2},
  **{'intermediate_size': 24, 'max_position_embeddings': 40},
  'initializer_range': 0.4,
}
DEBERTA = SHAPE | {
  **{'model_type': 'deberta-v2', 'relative_attention': True},
  **{'share_att_key': True, 'position_biased_input': False},
  **{'norm_rel_ebd': 'layer_norm', 'pos_att_type': 'p2c|c2p'},
  'position_buckets': 8,
}


def rows(n=80):
  rng = np.random.default_rng(0)
  label, sex = rng.integers(0, 2, n), rng.integers(0, 2, n)
  texts = [
    f'{"she" if s else "he"} was {"bad" if y else "good"} in the big house'
    for y, s in zip(label, sex)
  ]
  return pd.DataFrame(
    {
      'text': texts,
      'label': np.array(['fine', 'rude'])[label],
      'gender': np.array(['male', 'female'])[sex],
    }
  )


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
  return written(tmp_path_factory.mktemp('model'), SHAPE)


def written(path, shape, labels=('rude', 'fine'), **settings):
  """A classifier of random weights, with names of its own."""
  tokenizer = tokens.train_tokenizer(list(rows()['text']), 120)
  tokens.save_tokenizer(tokenizer, path / 'words')
  module = families.module(
    families.shape_from_hf(shape), 'classify', classes=len(labels)
  )
  files = sorted((path / 'words').iterdir())
  target = path / 'mine'
  hf.save(target, module, small.params_of(module), files, settings, labels)
  return target


def config(**audit):
  made = Config(recipe='audit', seeds=1)
  made.data.name, made.measures.resamples = 'file', 100
  for key, value in audit.items():
    setattr(made.audit, key, value)
  return made


def test_a_folder_is_read_with_its_own_names(folder):
  frame = rows()
  made = config(groups=('gender',))
  found, parts = recipe.audit(
    made, str(folder), audit_table.of_frame(frame, made)
  )
  model = fairjax.load(folder)
  p = model.predict_proba(frame['text'])
  assert model.placed()[0] is model.placed()[0]  # so it is compiled once
  (one,) = parts.values()
  # The model's class 0 is rude, the data's class 1.
  np.testing.assert_allclose(one.scores[0], p[:, 0], atol=1e-6)
  assert found.classes == ['fine', 'rude']
  assert 'flips' in found.measured(found.focus, 'data')
  wrong = frame.assign(label=frame['label'].map({'fine': 'a', 'rude': 'b'}))
  made.data.labels = 'a=0,b=1'
  with pytest.raises(UserError, match='calls its classes rude, fine'):
    recipe.audit(made, str(folder), audit_table.of_frame(wrong, made))


MULTI = {'problem_type': 'multi_label_classification'}
TOXIC = ('toxic', 'threat', 'insult')


def by_transformers(folder, model, texts):
  """[n, {label: score}] by the pipeline's own rule, of our logits.

  The logits are those of torch to 1e-5 (tests/models); what is made of them,
  and what config.json means, is transformers' own code here.
  """
  from transformers.pipelines.text_classification import (
    TextClassificationPipeline,
  )

  bundle, params = model.placed()
  table = pd.DataFrame({'text': texts, 'label': 0})
  logits = loop.predict(
    bundle, params, stages.pool(bundle, table), bundle.device_mesh, 8
  )[0]

  class Tensor:
    def __init__(self, row):
      self.row = row

    def float(self):
      return self

    def numpy(self):
      return self.row

  config = transformers.AutoConfig.from_pretrained(folder)
  pipe = types.SimpleNamespace(model=types.SimpleNamespace(config=config))
  outputs = [
    TextClassificationPipeline.postprocess(
      pipe, {'logits': [Tensor(row)]}, top_k=None, _legacy=False
    )
    for row in logits
  ]
  return [{one['label']: one['score'] for one in row} for row in outputs]


@pytest.mark.parametrize(
  ('labels', 'settings'),
  [
    (TOXIC, MULTI),
    (TOXIC, {'problem_type': 'single_label_classification'}),
    (('rude', 'fine'), {'problem_type': None}),
    (('toxic',), {}),
    (('LABEL_0',), {}),
  ],
  ids=str,
)
def test_probabilities_are_those_of_transformers(labels, settings, tmp_path):
  folder = written(tmp_path, SHAPE, labels, **settings)
  model, texts = fairjax.load(folder), list(rows(7)['text'])
  found = model.predict_proba(texts)
  assert found.shape == (7, len(labels))
  wanted = by_transformers(folder, model, texts)
  wanted = [[row[label] for label in labels] for row in wanted]
  np.testing.assert_allclose(found, wanted, atol=1e-6)
  several = settings == MULTI or len(labels) == 1
  decided = model.predict(texts)
  if several:
    np.testing.assert_array_equal(decided, found >= 0.5)
  else:
    assert set(decided) <= set(labels)


def test_labels_that_may_hold_together_are_audited_one_by_one(tmp_path):
  folder = written(tmp_path, SHAPE, TOXIC, **MULTI)
  frame = rows()
  frame['label'] = frame['label'].map({'fine': 'ok', 'rude': 'toxic'})
  p = fairjax.load(folder).predict_proba(frame['text'])
  audit = lambda made: recipe.audit(
    made, str(folder), audit_table.of_frame(frame, made)
  )
  found, parts = audit(config(groups=('gender',)))
  assert list(found.contenders) == [f'mine {label}' for label in TOXIC]
  for k, one in enumerate(parts.values()):
    np.testing.assert_allclose(one.scores[0], p[:, k], atol=1e-6)
    assert one.edits
  assert {t['ours'] for t in found.tests} == {'mine threat', 'mine insult'}
  made = config(groups=('gender',), classes=('Insult',))
  found, parts = audit(made)
  np.testing.assert_allclose(parts['mine insult'].scores[0], p[:, 2], atol=1e-6)
  # The data's names may be in the other order: toxic is its class 0.
  made = config(classes=('toxic',))
  made.data.labels, made.measures.pos_label = 'toxic=0,ok=1', 0
  _, parts = audit(made)
  np.testing.assert_allclose(parts['mine toxic'].scores[0], p[:, 0], atol=1e-6)
  with pytest.raises(UserError, match="'rude', but the labels of mine are tox"):
    audit(config(classes=('rude',)))


@pytest.mark.parametrize('positive', [0, 1])
@pytest.mark.parametrize('way', ['array', 'seeds', 'column', 'predict', 'pt'])
def test_decided_classes_are_classes_whichever_is_positive(positive, way):
  """Of an array and of a `predict` 1 was the positive class, class 0 or not."""
  frame = rows()
  code = (frame['label'] == 'rude').astype(int).to_numpy()
  by_text = dict(zip(frame['text'], code))

  class Decides:
    def predict(self, texts):
      return np.array([by_text[text] for text in texts])

  given = {
    'array': code,
    'seeds': np.stack([code, code]),
    'column': pd.DataFrame({'decision': code}),
    'predict': Decides(),
  }
  if way == 'pt':
    torch = pytest.importorskip('torch')
    given['pt'] = lambda texts: torch.tensor(Decides().predict(texts))
  made = config()
  made.data.labels, made.measures.pos_label = 'fine=0,rude=1', positive
  (one,) = models.load(
    given[way], made, audit_table.of_frame(frame, made).table, ('fine', 'rude')
  )
  scores = one.scores
  if scores is None:
    scores = one.predict(list(frame['text']))
  assert (scores.argmax(-1) == code).all()


@pytest.mark.parametrize(
  'word', ['toxic', 'ok', 'not toxic', 'angry', '1', '0']
)
@pytest.mark.parametrize('first', [True, False])
def test_rows_of_one_class_are_of_the_class_that_it_is(word, first):
  """Toxic rows alone were rows of class 0: all that is right was wrong."""
  detected = word in ('toxic', 'angry', '1')
  other = {'toxic': 'ok', 'ok': 'toxic', 'not toxic': 'toxic'}.get(word, 'fine')
  names = {'1': ['ok', 'toxic'], '0': ['ok', 'toxic']}.get(word, [word, other])
  names = names if first else names[::-1]
  right = {'1': 'toxic', '0': 'ok'}.get(word, word)

  class Model:
    classes_ = np.array(names)

    def predict_proba(self, texts):
      chances = [0.9, 0.1] if names[0] == right else [0.1, 0.9]
      return np.tile(chances, (len(texts), 1))

  frame = rows().assign(label=word)
  how = {'n_resamples': 50, 'swaps': ()}
  how |= {'pos_label': 'angry'} if word == 'angry' else {}
  found = fairjax.audit(Model(), frame, groups='gender', options=how)
  assert found['accuracy']['value'] == 1
  assert found['base_rate']['value'] == found['selection_rate']['value']
  assert found['base_rate']['value'] == detected
  read = audit_table.of_frame(frame, config()).remarks
  assert any('read as class 0' in one for one in read) == (word == 'angry')


@pytest.mark.parametrize('positive', [0, 1])
def test_fractions_and_what_holds_are_of_the_positive_class(positive):
  frame, made = rows(), config()
  made.data.labels, made.measures.pos_label = 'fine=0,rude=1', positive
  table = audit_table.of_frame(frame, made).table
  label = table['label'].to_numpy()
  holds = label == positive
  by_text = dict(zip(frame['text'], holds))
  for given in (holds, np.where(holds, 0.75, 0.0), holds.astype(float)):
    (one,) = models.load(given, made, table, ('fine', 'rude'))
    assert (one.scores.argmax(-1) == label).all()
  for kind in (bool, float):
    ask = lambda texts, kind=kind: [kind(by_text[text]) for text in texts]
    (one,) = models.load(ask, made, table, ('fine', 'rude'))
    found = one.predict(list(frame['text'])).argmax(-1)
    assert (found == label).all()


def test_a_single_logit_is_audited_and_a_regression_is_not(tmp_path, folder):
  one = written(tmp_path / 'one', SHAPE, ('LABEL_0',))
  frame = rows().assign(label=(rows()['label'] == 'rude').astype(int))
  p = fairjax.load(one).predict_proba(frame['text'])
  for source in (str(one), fairjax.load(one)):
    made = config(groups=('gender',))
    _, parts = recipe.audit(made, source, audit_table.of_frame(frame, made))
    (found,) = parts.values()
    np.testing.assert_allclose(found.scores[0], p[:, 0], atol=1e-6)
  number = written(tmp_path / 'r', SHAPE, ('x',), problem_type='regression')
  odd = written(tmp_path / 'odd', SHAPE, TOXIC, problem_type='multilabel')
  for path, words in (
    (number, 'is a regression'),
    (odd, "problem_type 'multilabel'; it must be one of"),
  ):
    with pytest.raises(UserError, match=words):
      recipe.audit(made, str(path), audit_table.of_frame(frame, made))
  made = config(classes=('rude',))
  with pytest.raises(UserError, match='one of the classes of mine is right'):
    recipe.audit(made, str(folder), audit_table.of_frame(rows(), made))


def test_scores_stand_beside_the_labels_as_they_were(folder):
  """Names came back as numbers."""
  scored = fairjax.score(fairjax.load(folder), rows(), ('el2n',))
  assert scored['label'].tolist() == rows()['label'].tolist()
  assert set(scored['label']) == {'fine', 'rude'} and 'el2n' in scored


def test_scores_of_labels_that_may_hold_together_are_refused(tmp_path):
  model = fairjax.load(written(tmp_path, SHAPE, TOXIC, **MULTI))
  with pytest.raises(UserError, match='no classifier of which one class is'):
    fairjax.score(model, rows().assign(label=0))


@pytest.mark.parametrize('shape', [SHAPE, DEBERTA], ids=['BERT', 'DeBERTa'])
def test_the_training_rows_behind_a_gap_are_listed(shape, tmp_path):
  folder, frame = written(tmp_path / 'model', shape), rows()
  frame.to_csv(tmp_path / 'train.csv', index=False)
  made = config(groups=('gender',), training=str(tmp_path / 'train.csv'))
  found, _ = recipe.audit(made, str(folder), audit_table.of_frame(frame, made))
  section = next(
    s
    for s in found.sections
    if s['heading'].startswith('Training rows of most influence')
  )
  strip = next(p for p in section['parts'] if p['part'] == 'texts')
  values = [float(row['influence']) for row in strip['rows']]
  assert values == sorted(values, reverse=True) and values[0] > 0
  # Equal texts with equal labels have equal influence.
  same = {(r['text'], r['label']): r['influence'] for r in strip['rows']}
  assert all(
    same[r['text'], r['label']] == r['influence'] for r in strip['rows']
  )
  with pytest.raises(UserError, match='needs gradients of'):
    recipe.audit(
      made, lambda t: np.full(len(t), 0.4), audit_table.of_frame(frame, made)
    )


def test_a_config_comes_back_from_its_json():
  made = config(groups=('a', 'b'), costs='fp=1')
  made.train.lr = 0.5
  tree = json.loads(json.dumps(dataclasses.asdict(made)))
  assert knobs.of_tree(Config, tree) == made
  for damaged in (
    *([], 7),
    *(tree | one for one in ({'data': 5}, {'train': []}, {'model': None})),
    tree | {'seeds': 'two'},
    tree | {'train': tree['train'] | {'lr': [1]}},
    tree | {'audit': tree['audit'] | {'groups': 'a'}},
  ):
    with pytest.raises(UserError, match=r'r/config\.json'):
      knobs.of_tree(Config, damaged, 'r/config.json')


@pytest.mark.parametrize('found', [[], 7, 'x', {'recipe': ['train']}, {}, None])
def test_a_damaged_run_is_one_sentence(found, tmp_path):
  (tmp_path / 'results.json').write_text(json.dumps(found))
  with pytest.raises(UserError, match='without one model or predictions'):
    models.load(str(tmp_path), config(), rows(), ())


def unfitted(made, folder):
  """The model of a run in `folder` before any step, and its parameters."""
  made.model, made.planted = 'tiny', small.fitted().planted
  made.tokens.vocab_size = 150
  stages.keep_config(made, folder)
  with Log(folder, main=False) as log:
    model = stages.prepare(made, stages.load(made, folder, log), log)
    params = loop.initial(model, seed_list(made))
    stages.export(made, model, params, folder, log)
  return model, params


def test_models_that_another_run_exported_are_not_those_of_a_run(tmp_path):
  """Of two seeds the second, and both where nothing was exported, stayed; so
  did those of another recipe."""
  for seeds in (2, 1):
    made = Config(seeds=seeds)
    made.train.export = True
    unfitted(made, tmp_path)
    there = sorted(one.name for one in (tmp_path / 'export').glob('seed_*'))
    assert there == ['seed_0', 'seed_1'][:seeds]
  path = tmp_path / 'config.json'
  same = dataclasses.replace(made, wandb='other')
  same.train.export, same.measures.resamples = False, 7
  for other, is_of_run in ((made, True), (same, True), (Config(), False)):
    artefacts.write_json(path, other)
    assert of_runs.is_of_run(tmp_path) == is_of_run
  artefacts.write_json(path, made)
  assert [one.name for one in of_runs.exports(tmp_path)] == ['seed_0']
  artefacts.write_json(tmp_path / 'results.json', {'recipe': 'train'})
  fairscore.classifier(str(tmp_path))
  made.recipe, made.train.export = 'diet', False
  artefacts.write_json(tmp_path / 'config.json', made)
  assert of_runs.exports(tmp_path) == []
  found = results.plain(results.Results(recipe='diet'))
  artefacts.write_json(tmp_path / 'results.json', found)
  with pytest.raises(UserError, match='left no classifier'):
    fairscore.classifier(str(tmp_path))


def test_an_export_reads_as_much_of_a_text_as_its_run(tmp_path):
  """Of texts longer than tokens.max_length it read all that it had places for,
  and transformers' pipeline too."""
  made = Config(seeds=1)
  made.train.export, made.tokens.max_length = True, 8
  model, params = unfitted(made, tmp_path)
  texts = ['she is so', 'she is so rude and he is not, they said to us ' * 3]
  table = pd.DataFrame({'text': texts, 'label': 0})
  trained = fits.probabilities(made, model, params, table)[0]
  folder = tmp_path / 'export' / 'seed_0'
  exported = fairjax.load(folder)
  np.testing.assert_allclose(exported.predict_proba(texts), trained, atol=1e-6)
  theirs = transformers.AutoTokenizer.from_pretrained(folder)
  ours = tokens.encode(model.tokenizer, texts[1:], model.longest).flat
  assert theirs(texts[1], truncation=True)['input_ids'] == ours.tolist()
  file = folder / 'tokenizer_config.json'
  said = artefacts.read_json(file)
  assert said['model_max_length'] == 8
  # What others write who have no opinion; numbers that are none are said.
  for value, longest in ((None, 512), (10**30, 512), (1e30, 512), (9.0, 9)):
    artefacts.write_json(file, said | {'model_max_length': value})
    assert fairjax.load(folder).bundle.longest == longest, value
  for value in ('many', True, 2, float('nan')):
    file.write_text(json.dumps({'model_max_length': value}))
    with pytest.raises(UserError, match='json has model_max_length'):
      fairjax.load(folder)


@pytest.fixture(scope='module')
def blind(tmp_path_factory):
  """The folder of a run that reads no gender, and its parameters."""
  made, folder = Config(seeds=1), tmp_path_factory.mktemp('blind')
  made.method.name, made.train.export = 'blind', True
  return folder, unfitted(made, folder)[1]


def test_a_blind_run_reads_blind_texts_where_it_is_audited(blind, tmp_path):
  """It read she and he, which were taken from what it was fitted on."""
  shutil.copytree(blind[0], tmp_path, dirs_exist_ok=True)

  def of_run():
    (one,) = models.load(str(tmp_path), config(), rows(), ())
    return one.predict(['She was rude.', 'He was rude.', 'It was rude.'])

  exported = of_run()
  # So it does where the library asks it, and where its rows are scored.
  loaded = fairjax.load(tmp_path / 'export' / 'seed_0')
  she, he, it = loaded.predict_proba(
    ['She was rude.', 'He was rude.', 'It was rude.']
  )
  assert (she == he).all() and (she != it).any()
  frame = pd.DataFrame({'text': ['She was rude.'], 'label': [1]})
  assert fairjax.score(loaded, frame, ('ge',))['ge'].tolist() == [0.0]
  # And where a benchmark asks it, whose kept scores are of what was read.
  path = str(tmp_path / 'export' / 'seed_0')
  judge = asked.load(path, Config(model=path))
  raw = judge._replace(reads=None)
  for model, same in ((judge, True), (raw, False)):
    one, two = model.score(['She was rude.', 'He was rude.'])
    assert (one == two) == same
  assert judge.fingerprint() != raw.fingerprint()
  artefacts.remove(tmp_path / 'export')
  fit = tmp_path / 'training' / 'a fit'
  checkpoint.write_weights(fit / 'weights.safetensors', blind[1])
  artefacts.seal(fit, 'a fit')
  artefacts.write_json(tmp_path / 'results.json', {'recipe': 'train'})
  for found in (exported, of_run()):
    assert (found[:, 0] == found[:, 1]).all()
    assert (found[:, 0] != found[:, 2]).any()


def test_a_blind_run_reads_blind_texts_where_its_fairscore_is_asked(
  blind, tmp_path
):
  """Its fairscore was that of words which it never read."""
  texts = [f'{word} was rude.' for word in ('She', 'A woman', 'Her mother')]
  twins = [f'{word} was rude.' for word in ('He', 'A man', 'His father')]
  path = tmp_path / 'paired.csv'
  frame = pd.DataFrame({'text': texts, 'perturbed': twins, 'label': 0})
  frame.assign(id=range(3)).to_csv(path, index=False)
  flips, run = [], blind[0]
  one = run / 'export' / 'seed_0'
  copied = shutil.copytree(one, tmp_path / 'copied')
  raw = shutil.copytree(one, tmp_path / 'raw')
  (raw / 'blind.json').unlink()
  for model in (run, one, copied, raw):
    asked = Config(recipe='fairscore', model=str(model), seeds=1)
    asked.fairscore.path, asked.fairscore.tolerance = str(path), 1e-9
    asked.measures.resamples = 20
    found = fairscore.run(asked, tmp_path / 'asked')
    (scored,) = found.contenders.values()
    (own,) = scored['sets'].values()
    flips.append(own['quality']['different']['value'])
  assert flips == [0, 0, 0, 1]  # a copy elsewhere says what it reads
  for model, same in ((one, True), (copied, True), (raw, False)):
    asked = Config(recipe='audit', seeds=1)
    (asks,) = models.of_folder(model, asked, None, None)
    both = [texts[0], twins[0]]
    by_library = library.predictor(str(model), both, asked)
    for predict in (asks.predict, by_library):
      (found,) = predict(both)
      assert (found[0] == found[1]).all() == same


def test_a_run_reads_texts_as_it_did_where_its_data_have_changed(tmp_path):
  """The words were learned anew, of the data as they are now."""
  frame, made = rows(), Config(seeds=1)
  frame['text'] = [f'{text} {k}' for k, text in enumerate(frame['text'])]
  made.data.name, made.data.path = 'file', str(tmp_path / 'my.csv')
  made.data.labels = 'fine=0,rude=1'
  frame.to_csv(tmp_path / 'my.csv', index=False)
  model, params = unfitted(made, tmp_path)
  fit = tmp_path / 'training' / 'a fit'
  checkpoint.write_weights(fit / 'weights.safetensors', params)
  fits.keep_words(made, model, fit)
  artefacts.seal(fit, 'a fit')
  other = [f'zebras {"do" if k % 2 else "go"} up {k}' for k in range(80)]
  frame.assign(text=other).to_csv(tmp_path / 'my.csv', index=False)
  again = models.made_again(tmp_path, fit / 'weights.safetensors')[2]
  assert again.tokenizer.get_vocab() == model.tokenizer.get_vocab()
  one = 'she was bad in the big house 1'
  assert again.tokenizer.encode(one).ids == model.tokenizer.encode(one).ids


def test_a_run_of_ours_is_audited_by_its_weights(tmp_path):
  """The model of a run is made again; its predictions come out as kept."""
  of_run = small.fitted()
  artefacts.write_json(tmp_path / 'run' / 'config.json', of_run)
  train.run(of_run, tmp_path / 'run')
  kept = artefacts.read_table(tmp_path / 'run' / 'predictions.parquet')
  p = kept[['p0', 'p1']].to_numpy().T
  before = np.stack([1 - p, p], -1)
  made = config()
  made.data, made.planted = of_run.data, of_run.planted
  found, parts = recipe.audit(
    made, str(tmp_path / 'run'), audit_table.read(made)
  )
  (one,) = parts.values()
  assert found.seeds == [0, 1] and one.edits
  np.testing.assert_allclose(one.chances, before, atol=1e-6)
  (weights,) = (tmp_path / 'run').glob('training/*/weights.safetensors')
  raw = bytearray(weights.read_bytes())
  raw[-3] ^= 1  # one bit of one number
  weights.write_bytes(raw)
  with pytest.raises(UserError, match='is not as the run wrote it'):
    recipe.audit(made, str(tmp_path / 'run'), audit_table.read(made))
  weights.unlink()
  _, parts = recipe.audit(made, str(tmp_path / 'run'), audit_table.read(made))
  (one,) = parts.values()
  np.testing.assert_allclose(one.chances, before, atol=1e-6)
  assert not one.edits
