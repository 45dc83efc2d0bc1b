"""Stages 4 to 6 of FairFlow on tiny models, end to end and piece by piece."""

import itertools
import shutil

import numpy as np
import pandas as pd
import pytest
import small

from fairjax import config as c
from fairjax import data as datasets
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.tables import files
from fairjax.methods import augment
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import counterfactual
from fairjax.models import Bundle
from fairjax.recipes.fairflow import experiment
from fairjax.recipes.rewriting import (
  contenders,
  counterfactual_texts,
  repairing,
  sampled,
)
from fairjax.recipes.rewriting.counterfactual_texts import RewriteInputs
from fairjax.stages import Experiment
from fairjax.train.progress import Log

SPLITS = 'train', 'test'
FAMILIES = {'detect': 'electra', 'mask': 'bert', 'infill': 'bart'}


@pytest.fixture(scope='module')
def models(tmp_path_factory):
  """Folders of an ELECTRA, a masked LM and a BART that know no language."""
  config = c.Config()
  config.planted.rows, config.planted.test_rows = 60, 30
  tables, _, _ = datasets.load_tables(config)
  tokenizer = tokens.train_tokenizer(list(tables['train']['text']), 300)
  root = tmp_path_factory.mktemp('models')
  how = {'positions': 66, 'deviation': 0.4}
  return {
    can: small.folder_of(root / can, family, tokenizer, can, **how)
    for can, family in FAMILIES.items()
  }


def config_of(models, **changes):
  config = c.Config(recipe='counterfactual_texts', model=models['mask'])
  config.planted.rows, config.planted.test_rows = 60, 30
  config.repair.detector = models['detect']
  config.rewriters.generator = models['infill']
  config.rewriters.epochs = 1.0
  config.rewriters.seeds = 2
  config.rewriters.contenders = ('dictionary',)
  config.measures.resamples = 100
  config.net.dropout = (0.0,)
  return small.changed(config, **changes)


@pytest.mark.slow
def test_all_contenders_are_judged_on_the_same_texts(models, tmp_path, shared):
  config = config_of(models, rewriters__fluency=models['mask'])
  config.rewriters.gold = str(shared / 'geco')
  config.rewriters.gold_rows = 4
  results = counterfactual_texts.run(config, tmp_path)
  names = [
    'original',
    'dictionary',
    'dictionary + repair',
    'dictionary + BART',
    'dictionary + repair + BART',
  ]
  assert list(results.contenders) == names
  for name in names:
    sets = results.contenders[name]['sets']
    assert {'transfer_accuracy', 'changed', 'distance'} <= set(
      sets['texts']['quality']
    )
    assert 'perplexity_token_weighted' in sets['texts']['quality']
    assert set(sets['classifier']['quality']) == {
      'accuracy',
      'f1',
      'tprd',
      'fprd',
      'tprd_size',
      'fprd_size',
      *('group_tprd', 'group_fprd', 'group_tprd_size', 'group_fprd_size'),
      *('content_tprd', 'content_fprd'),
    }
    if name != 'original':
      quality = sets['GECO to male']['quality']
      assert quality['exact']['value'] is not None
      assert 0 <= quality['half_turned']['value'] <= 1
  original = results.contenders['original']['sets']['texts']['quality']
  assert original['changed']['value'] == original['distance']['value'] == 0
  assert {t['theirs'] for t in results.tests} == {
    'original',
    'dictionary',
    'dictionary + BART',
  }
  assert all('p_adjusted' in t for t in results.tests)
  page = (tmp_path / 'report.html').read_text()
  assert 'Tables 2, 3 and 4' in page and 'GECO' in page
  assert 'other words changed' in page
  # What a contender wrote is a table with twins that other recipes read.
  place = tmp_path / 'texts' / 'dictionary-+-repair' / 'train.parquet'
  data = c.Data(name='file', path=str(place), twin='twin', group='group')
  twins = files.load(c.Config(data=data))['train']
  assert (twins['twin'] != '').all()


def test_only_masks_are_written_and_texts_without_are_not_read(
  models, monkeypatch
):
  config = config_of(models)
  helpers = repairing.load(config)
  texts = ['He left early.', 'The king of a town', 'a [MASK] stays', 'SHE']
  seen = []
  spans = lambda detector, texts, *rest: [
    [(0, 2)] if t.startswith('He') else [(2, 8)] if 'MASK' in t else []
    for t in texts
  ]
  fill = repairing.fill.fill_texts

  def watched(module, params, tokenizer, texts, **rest):
    seen.extend(texts)
    return fill(module, params, tokenizer, texts, **rest)

  monkeypatch.setattr(repairing, 'odd', spans)
  monkeypatch.setattr(repairing.fill, 'fill_texts', watched)
  frame = repairing.repaired(config, helpers, texts)
  assert seen == ['[MASK] left early.']
  assert list(frame['repair'][1:]) == texts[1:]
  first = frame['repair'][0]
  assert first.endswith(' left early.') and first[0].isupper()
  assert first.split()[0].isalpha()
  assert frame['odd'].tolist() == [1, 0, 0, 0]


def test_a_bart_fills_masks_and_nothing_else(models, monkeypatch):
  config = config_of(models, repair__filler=models['infill'])
  monkeypatch.setattr(repairing, 'THETA', -50.0)
  helpers = repairing.load(config)
  frame = repairing.repaired(config, helpers, ['He left, early?'])
  assert frame['mask'][0] == '[MASK]' != frame['repair'][0]
  monkeypatch.setattr(repairing, 'THETA', 1e6)
  frame = repairing.repaired(config, helpers, ['He left, early?'])
  assert frame['repair'][0] == frame['mask'][0] == 'He left, early?'


def test_a_text_is_repaired_once(models, monkeypatch, tmp_path):
  """Stage 4 knew the repair of each, and the contender's texts made it anew."""
  config = config_of(models, rewriters__generator='')
  read = []
  plain = repairing.repaired

  def counted(config, helpers, swaps):
    read.extend(swaps)
    return plain(config, helpers, swaps)

  monkeypatch.setattr(repairing, 'repaired', counted)
  texts = ['He left.', 'She has left now.', 'He left.', 'The king left.']
  tables = {'train': pd.DataFrame({'text': texts, 'id': [*'abcd']})}
  with Log(tmp_path, config) as log:
    m = counterfactual_texts.material(Experiment(config, tmp_path, log), None)
    swap = counterfactual_texts.swapper(m, 'dictionary')
    repairs = counterfactual_texts.repairs_of(m, tables, 'dictionary', swap)
    writers = counterfactual_texts.writers_of(
      m, tables, {'dictionary': swap}, {'dictionary': repairs}, {}
    )
    (repair,) = writers['dictionary + repair']
    assert repair.write(texts) == list(repairs['train']['repair'])
    assert read == swap(texts)
    more = repair.write(['His son left.', *texts, 'His son left.'])
  assert read == swap([*texts, 'His son left.'])
  frame = plain(m.e.config, m.helpers, swap(['His son left.']))
  wanted = [frame['repair'][0], *repairs['train']['repair']]
  assert more == [*wanted, frame['repair'][0]]


@pytest.mark.parametrize(
  ('changes', 'says'),
  [
    ({'rewriters__positive': 'nobody'}, 'the groups are'),
    ({'rewriters__contenders': ('fairflow',)}, 'method.words'),
  ],
)
def test_mistakes_are_one_sentence(models, tmp_path, changes, says):
  config = config_of(models, rewriters__generator='', **changes)
  with pytest.raises(UserError, match=says) as caught:
    counterfactual_texts.run(config, tmp_path)
  assert '\n' not in str(caught.value)


@pytest.mark.parametrize('part', ['detector', 'filler', 'generator', 'fluency'])
def test_a_folder_with_another_s_tokenizer_is_refused_before_any_work(
  models, tmp_path, part, monkeypatch
):
  """Detector, filler and generator may have vocabularies of their own (words
  meet by their places), but each must have that of its own weights."""
  can = {'detector': 'detect', 'fluency': 'mask'}.get(part, 'infill')
  place = tmp_path / can
  shutil.copytree(models[can], place)
  more = [f'{"".join(x)}q' for x in itertools.product('bcdfg', repeat=4)]
  tokens.save_tokenizer(tokens.train_tokenizer(more, 900), place)
  where = 'repair' if part in ('detector', 'filler') else 'rewriters'
  config = config_of(models, **{f'{where}__{part}': str(place)})
  monkeypatch.setattr(counterfactual_texts.stages, 'load', None)  # no table
  with pytest.raises(UserError, match=r'but .* has vectors for') as caught:
    counterfactual_texts.run(config, tmp_path / 'run')
  assert '\n' not in str(caught.value)


def test_what_is_read_last_is_looked_at_first(models, tmp_path):
  """FairFlow's first stages take minutes; a wrong folder is told before."""
  for name, part in (('fluency', r'config\.json'), ('gold', r'_train\.jsonl')):
    config = config_of(models, **{f'rewriters__{name}': str(tmp_path)})
    config.data.path = str(tmp_path / 'texts.csv')
    with pytest.raises(UserError, match=part):
      experiment.run(config, tmp_path / 'run')
  assert not list((tmp_path / 'run').rglob('*.parquet'))


def test_texts_of_one_group_or_one_label_are_refused(models, tmp_path):
  config = config_of(models, rewriters__generator='')
  rows = pd.DataFrame({'text': ['she ran'] * 9, 'group': 'female'})
  with pytest.raises(UserError, match="all texts are of the group 'female'"):
    counterfactual_texts.contenders.attribute(config, rows)
  with pytest.raises(UserError, match='no text names its group'):
    counterfactual_texts.contenders.attribute(config, rows.assign(group=None))
  with pytest.raises(UserError, match=r'data\.group'):
    counterfactual_texts.contenders.attribute(
      config, rows.drop(columns='group')
    )
  path = tmp_path / 'one.csv'
  rows = pd.DataFrame({'text': [f'she ran {i}' for i in range(40)]})
  rows.assign(label=1, group='a').to_csv(path, index=False)
  config.data = c.Data(name='file', path=str(path), group='group')
  with pytest.raises(UserError, match=r'training rows of .* have the label'):
    counterfactual_texts.run(config, tmp_path / 'run')


def test_a_dictionary_of_another_language_is_refused(models, tmp_path):
  path = tmp_path / 'words.csv'
  path.write_text('ragazza,ragazzo\nregina,re\n')
  config = config_of(
    models, rewriters__generator='', rewriters__contenders=('fairflow',)
  )
  config.method.words = str(path)
  with pytest.raises(
    UserError, match=r'changes none of the \d+ training texts'
  ):
    counterfactual_texts.run(config, tmp_path / 'run')


def test_what_is_written_is_kept_before_it_is_judged(tmp_path):
  """A stop in the classifiers decoded every text again."""
  asked = []

  def write(texts):
    asked.append(len(texts))
    return [text.upper() for text in texts]

  rows = pd.DataFrame(
    {'id': ['a', 'b'], 'text': ['x', 'y'], 'label': [0, 1], 'group': 'g'}
  )
  tables = {'train': rows, 'test': rows[:1]}
  with Log(tmp_path, main=False) as log:
    m = RewriteInputs(Experiment(c.Config(), tmp_path, log))
    writers = {'one': [counterfactual_texts.Writer(write)] * 2}
    first = counterfactual_texts.rewritten(m, tables, writers)
    assert first == {'one': {'train': [['X', 'Y']] * 2, 'test': [['X']] * 2}}
    assert asked == [2, 2, 1, 1]
    assert counterfactual_texts.rewritten(m, tables, writers) == first
    assert asked == [2, 2, 1, 1]
    kept = pd.read_parquet(tmp_path / 'texts' / 'one' / 'train.parquet')
    assert list(kept) == ['id', 'text', 'label', 'group', 'twin', 'twin_1']
    tokenizer = tokens.train_tokenizer(['a b c'], 30)
    model = Bundle(
      None, None, None, params={'w': np.ones(2)}, tokenizer=tokenizer
    )
    for weight in (1.0, 2.0):  # another model writes again
      one = model.replace(params={'w': np.full(2, weight)})
      own = {'one': [counterfactual_texts.Writer(write, one)]}
      asked.clear()
      counterfactual_texts.rewritten(m, tables, own)
      assert asked == [2, 1]


def test_texts_too_long_for_a_generator_are_counted(tmp_path):
  """They stayed as they are, and counted as rewritten without a word."""
  tokenizer = tokens.train_tokenizer(['a b c'], 30)
  model = Bundle(
    *(None, None, None), params={}, tokenizer=tokenizer, longest=5
  )  # [CLS] a b c [SEP]
  rows = pd.DataFrame(
    {
      'id': ['a', 'b', 'c'],
      'text': ['a b c', 'a b c a', 'a b c a b'],
      'label': [0, 1, 0],
      'group': 'g',
    }
  )
  tables = {'train': rows, 'test': rows[:1]}
  one = counterfactual_texts.Writer(list, model)
  writers = {'BART': [one] * 2, 'list': [one._replace(model=None)]}
  assert counterfactual_texts.unread(tables, writers) == {
    'texts too long for BART, left as they are, train': 2
  }
  with Log(tmp_path, main=True) as log:
    m = RewriteInputs(Experiment(c.Config(), tmp_path, log))
    counterfactual_texts.rewritten(m, tables, writers)
  said = (tmp_path / 'log.txt').read_text()
  assert 'BART: 2 of 3 texts are too long for its model' in said
  assert said.count('too long') == 1


@pytest.mark.parametrize(
  ('seeds', 'versions', 'asked'),
  [
    (3, 1, [(5, 3, 'a')]),
    (3, 3, [(5, 1, 'a'), (6, 1, 'b'), (7, 1, 'c')]),
    (3, 2, [(5, 2, 'a'), (7, 1, 'b')]),
    (1, 2, [(5, 1, 'a')]),
  ],
)
def test_each_generator_s_texts_train_their_share_of_the_classifiers(
  monkeypatch, tmp_path, seeds, versions, asked
):
  judges, seen = counterfactual_texts.contenders, []

  def train(e, config, tables, name, twins, reference):
    seen.append((config.seed, config.seeds, twins[0]))
    return np.zeros((config.seeds, 2)), np.ones((config.seeds, 2))

  monkeypatch.setattr(judges, 'answers', train)
  config = c.Config(seed=5)
  config.rewriters.seeds = seeds
  texts = {'train': [[letter] for letter in 'abc'[:versions]]}
  e = Experiment(config, tmp_path, None)
  own, twin = judges.trained(e, {}, 'x', texts, [])
  assert seen == asked
  assert own.shape == twin.shape == (seeds, 2) and twin.all()


@pytest.mark.parametrize('pos_label', [1, 0])
def test_rates_are_of_the_positive_label(monkeypatch, tmp_path, pos_label):
  """Of label 1 whatever was positive, TPRD and FPRD had changed places."""
  draw, n = np.random.default_rng(0), 60
  label, group = draw.integers(0, 2, (2, n))
  score = draw.random((1, n))
  rows = pd.DataFrame(
    {
      'text': [f'{"she" if g else "he"} met {k}' for k, g in enumerate(group)],
      'label': label,
      'group': np.where(group, 'a', 'b'),
    }
  )
  tables = {s: rows.assign(id=[f'{s}{k}' for k in range(n)]) for s in SPLITS}
  judge = lambda *_: (score, score)
  monkeypatch.setattr(contenders, 'trained', judge)
  config = c.Config(measures=c.Measures(resamples=50, pos_label=pos_label))
  texts = list(rows['text'])
  found = Experiment(config, tmp_path, None)
  contenders.measure(found, tables, {}, texts)
  quality = found.contenders['original']['sets']['classifier']['quality']
  positive = label == pos_label
  chosen = (score[0] >= 0.5) == bool(pos_label)
  rate = lambda of: [chosen[of & (group == g)].mean() for g in (1, 0)]
  for name, of in (('group_tprd', positive), ('group_fprd', ~positive)):
    one, two = rate(of)
    assert quality[name]['value'] == pytest.approx(one - two), name
  hits = (positive & chosen).sum()
  f1 = 2 * hits / (positive.sum() + chosen.sum())
  assert quality['f1']['value'] == pytest.approx(f1)


def test_of_more_classes_the_positive_one_is_the_label_that_is_made():
  config = c.Config(measures=c.Measures(pos_label=2))
  table = lambda *labels: {'train': pd.DataFrame({'label': labels})}
  assert sampled.of_two(config, table(0, 1, 2)).measures.pos_label == 1
  config.measures.pos_label = 0
  assert sampled.of_two(config, table(0, 1)).measures.pos_label == 0


def test_the_exported_generator_is_the_one_that_wrote(models, tmp_path):
  """After a longer fit in the same folder the first one's was still there."""
  tables, _, _ = datasets.load_tables(config_of(models))
  targets = {s: rows['twin'].tolist() for s, rows in tables.items()}
  place = tmp_path / 'generator' / 'x' / 'export' / 'model.safetensors'
  exports = []
  for epochs in (1.0, 2.0):  # another rate would be another program
    config = config_of(models, rewriters__epochs=epochs)
    with Log(tmp_path, config, main=True) as log:
      m = RewriteInputs(Experiment(config, tmp_path, log))
      own = counterfactual_texts.generator_config(config)
      counterfactual_texts.tuned(m, own, tables, targets, 'x', {})
    exports.append(place.read_bytes())
  assert exports[0] != exports[1]


@pytest.mark.parametrize(
  ('knob', 'value'),
  [
    ('axis', 'religion'),
    ('scope', 'pronouns'),
    ('direction', 'male'),
    ('names_file', 'names.csv'),
    ('tagger', 'spacy:en'),
  ],
)
def test_classifiers_read_the_contender_s_texts_however_words_are_swapped(
  knob, value
):
  """By these knobs all contenders' classifiers read the dictionary's swaps."""
  config = c.Config()
  setattr(config.method, knob, value)
  own = contenders.classifier_config(config)
  rows = pd.DataFrame(
    {'id': ['a', 'b'], 'text': ['she ran', 'the muslim man'], 'label': [0, 1]}
  ).assign(twin=['one', 'two'])
  made = augment.augment({'train': rows}, own)['train']
  assert list(made['text']) == ['she ran', 'the muslim man', 'one', 'two']


def test_a_set_of_known_twins_has_its_own_number_of_rows():
  """Each was said to have as many as the largest."""
  twins = [(f'he ran {k}', f'she ran {k}') for k in range(7)]
  pairs = {'few': twins[:3], 'many': twins}
  written = {'x': {w: [[b for _, b in own]] for w, own in pairs.items()}}
  config = c.Config(measures=c.Measures(resamples=50))
  e = Experiment(config, None, None)
  contenders.gold(e, pairs, written)
  found = e.contenders['x']['sets']
  assert {where: one['rows'] for where, one in found.items()} == {
    'few': 3,
    'many': 7,
  }


def test_versions_that_no_classifier_reads_are_said():
  texts = {'train': [['a'], ['b'], ['c']]}
  config = c.Config()
  config.rewriters.seeds = 2
  (said,) = contenders.unread(config, texts)
  assert said.startswith('1 of 3 versions is read by no classifier')
  assert '--config.rewriters.seeds=3' in said
  config.rewriters.seeds = 3
  assert contenders.unread(config, texts) == []


def test_attribute_1_is_the_same_group_in_every_split():
  """A split without the first group took the next one for attribute 1."""
  tables = {
    'train': pd.DataFrame({'group': ['a', 'b', 'c', '']}),
    'test': pd.DataFrame({'group': ['b', 'c', 'b', '']}),
  }
  config = contenders.named(c.Config(), tables)
  assert config.rewriters.positive == 'a'
  with pytest.raises(UserError, match="'a', but the groups are b, c"):
    contenders.attribute(config, tables['test'])
  config.rewriters.positive = 'c'
  assert contenders.named(config, tables).rewriters.positive == 'c'
  assert list(contenders.attribute(config, tables['test'])) == [0, 1, 0, 0]


def test_a_pair_of_contenders_is_tested_once():
  """Two baselines stand against each other one way round, not both."""
  draw, how = np.random.default_rng(0), RowSample(0.95, 50, 0)
  label = np.repeat([0, 1], 20)

  def one():
    scores = draw.random((2, 1, 40))
    return [counterfactual.drawn(counterfactual.rates(label, *scores), how)]

  names = ('original', 'first', 'second', 'ours')
  parts = {name: {'texts': one()} for name in names}
  found = Experiment(c.Config(), None, None)
  contenders.grid(found, parts, 40, ('first', 'second'))
  pairs = {(test['ours'], test['theirs']) for test in found.tests}
  assert pairs == {
    *((name, 'original') for name in names[1:]),
    *(('second', 'first'), ('ours', 'first'), ('ours', 'second')),
  }


def test_who_is_below_a_plain_swap_is_said():
  """By the interval of exact texts against the swap, and nothing else."""
  test = lambda name, against, high, measure='exact': {
    **{'set': 'known twins', 'ours': name, 'theirs': against},
    'measure': measure,
    'difference': {'value': -0.3, 'low': -0.5, 'high': high},
  }
  tests = [
    test('worse', 'dictionary', -0.1),
    test('perhaps', 'dictionary', 0.1),
    test('unknown', 'dictionary', None),
    test('behind another', 'generator', -0.1),
    test('of words', 'dictionary', -0.1, 'changed_recall'),
  ]
  quality = {'exact': {'value': 0.5, 'low': 0.4, 'high': 0.6}}
  e = Experiment(c.Config(), None, None)
  e.add('worse', 'known twins', {'rows': 9, 'quality': quality})

  def said(tests):
    e.tests = tests
    (section,) = counterfactual_texts.worse(e, ['known twins'], 'dictionary')
    return section['parts'][0]

  lead = said(tests)
  assert lead['text'] == (
    'Below dictionary in exact texts: worse (known twins).'
  )
  assert lead['kind'] == 'warning'
  assert said(tests[1:])['text'].startswith('None is below dictionary')
