"""MBCDA end to end at the smallest size, and its parts."""

import json

import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax.benchmarks.shared import word_vectors
from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import counterfactual
from fairjax.recipes.mbcda import algorithm, experiment
from fairjax.recipes.mbcda import parallel as pairing
from fairjax.recipes.rewriting import contenders
from fairjax.report import verdict
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import mesh
from fairjax.train.progress import Log


def config_of(**adversary):
  config = c.shipped('mbcda_planted')
  config.planted.rows, config.planted.test_rows = 120, 60
  config.tokens.vocab_size = 300
  config.rewriters.epochs, config.rewriters.seeds = 1.0, 2
  config.rewriters.generators = 2
  config.adversary = c.Adversary(
    **{'labels': ('filtered',), 'epochs': 1.0, 'vectors': (), **adversary}
  )
  config.measures.resamples = 20
  return config


@pytest.fixture(scope='module')
def ran(tmp_path_factory):
  folder = tmp_path_factory.mktemp('mbcda')
  return experiment.run(config_of(vectors=(8,)), folder), folder


def test_a_set_without_quality_has_no_columns():
  """Word vectors have associations, and no quality to lead by."""
  sets = {
    'texts': {'quality': {'exact': {'value': 1.0}}},
    'word vectors, 50 wide': {'rows': 3, 'scores': {}},
  }
  (line,) = contenders.rows({'one': {'sets': sets}})
  assert line == {'contender': 'one', 'exact match': {'value': 1.0}}


def test_word_vectors_of_all_contenders_are_of_the_same_words(tmp_path):
  """A word that one contender alone writes often adds nothing to its effect."""
  pytest.importorskip('gensim')
  jobs = [part[:3] for part in word_vectors.TESTS[0].targets]
  sources = pd.DataFrame(
    {'text': [f'she saw her {a} he saw his {b}' for a, b in zip(*jobs)] * 8}
  )
  sources['text'] += ' herself himself'
  written = [text + ' pilot librarian' for text in sources['text']]
  rewrites = {
    'dictionary': {'train': [sources['text'].tolist()]},
    'generator': {'train': [written]},
  }
  config = config_of(vectors=(8,))
  with Log(tmp_path, config) as log:
    found = Experiment(config, tmp_path, log)
    experiment.vectors(found, {'train': sources}, rewrites, ('dictionary',))
  # Each against the texts alone, and the generator against the dictionary.
  pairs = ['dictionary original', 'generator original', 'generator dictionary']
  assert [f'{t["ours"]} {t["theirs"]}' for t in found.tests] == pairs
  for test in found.tests:
    assert test['set'] == 'word vectors, 8 wide'
    assert test['measure'] == 'work/weat_effect_words' and test['n'] == 6
    effects = [
      found.contenders[test[side]]['sets'][test['set']]['groups']['work']
      for side in ('ours', 'theirs')
    ]
    ours, theirs = (one['weat_effect_words']['value'] for one in effects)
    assert test['difference']['value'] == pytest.approx(ours - theirs)
    assert (
      'holm, 3 tests' in test['adjusted'] and test['p_adjusted'] >= test['p']
    )
  sets = [
    one['sets']['word vectors, 8 wide'] for one in found.contenders.values()
  ]
  (items,) = {one['groups']['work']['rows'] for one in sets}
  assert items == 6
  (notes,) = {tuple(one['notes']) for one in sets}
  assert 'in the texts of some contender and are left out for all' in notes[0]


@pytest.mark.slow
def test_every_generator_is_measured_beside_the_original(ran):
  results, folder = ran
  assert list(results.contenders) == [
    'original',
    'dictionary',
    'dictionary without names',
    'BART on repaired, filtered',
    'BART on repaired, filtered + discriminator',
  ]
  one = results.contenders['BART on repaired, filtered']['sets']
  assert {'transfer_accuracy', 'distance'} <= one['texts']['quality'].keys()
  assert {'group_tprd', 'tprd', 'f1'} <= one['classifier']['quality'].keys()
  # The planted test texts have twins by construction.
  plain = results.contenders['dictionary']['sets']['known twins']['quality']
  assert plain['exact']['value'] > 0.6
  said = one['classifier']['warnings']  # one epoch of 120 rows
  assert said and all('constant predictor' in words for words in said)
  tested = {(one['ours'], one['theirs']) for one in results.tests}
  filtered = 'BART on repaired, filtered'
  assert (f'{filtered} + discriminator', filtered) in tested
  pairs = {'attribute_agreement', 'label_kept'}
  assert one['pairs']['quality'].keys() == pairs
  same = results.contenders['original']['sets']
  turned = {
    name: one['sets']['texts']['quality']['transfer_accuracy']['value']
    for name, one in results.contenders.items()
  }
  assert turned['dictionary'] - turned['original'] > 0.3
  assert same['pairs']['quality']['label_kept']['value'] == 1.0
  # Two generators are two planes of what is said of their texts.
  for part in ('texts', 'known twins', 'pairs', 'classifier'):
    for value in one[part]['quality'].values():
      assert len(value['seeds']) == 2, part
  kept = pd.read_parquet(folder / 'texts' / 'dictionary' / 'test.parquet')
  assert list(kept) == ['id', 'text', 'label', 'group', 'twin']
  (two,) = (folder / 'texts').glob('*discriminator/test.parquet')
  assert list(pd.read_parquet(two))[-2:] == ['twin', 'twin_1']
  assert (folder / 'sheet.csv').exists()
  page = (folder / 'report.html').read_text()
  assert 'control: shuffled groups' in page
  assert 'share of the larger group' in page
  assert json.loads((folder / 'results.json').read_text())['recipe'] == 'mbcda'


@pytest.mark.slow
def test_the_generator_of_two_players_is_a_bart_alone(ran):
  _, folder = ran
  places = sorted(folder.glob('generator/BART-*/export/config.json'))
  assert len(places) == 2
  for place in places:
    assert json.loads(place.read_text())['model_type'] == 'bart'


def test_a_discriminator_that_names_the_larger_group_is_said_to_be_blind():
  """On 75 of 100 of one group, .76 is chance; on 50 it is not."""
  line = lambda share, name='repaired': {
    'discriminator': name,
    'held-out accuracy': {'value': 0.76, 'low': 0.71, 'high': 0.80},
    'share of the larger group': share,
  }
  assert 'repaired text is right on 0.760' in experiment.blind(line(0.75))
  assert 'adversary.epochs' in experiment.blind(line(0.75))
  assert experiment.blind(line(0.5)) == ''
  assert experiment.blind(line(0.75, experiment.CONTROL)) == ''


def test_the_filter_is_judged_though_it_is_made_first():
  """Contenders are tested against earlier ones, and filtered is the first."""
  how, shows = RowSample(0.95, 200, 0), np.ones(60, int)
  turned = {
    'original': 0,
    'BART on repaired, filtered': 50,
    'BART on repaired': 30,
    'BART on dictionary': 20,
  }
  parts = {
    name: {
      contenders.TEXTS: [
        counterfactual.drawn(
          counterfactual.transfer(shows, np.where(np.arange(60) < k, 0.1, 0.9)),
          how,
        )
      ]
    }
    for name, k in turned.items()
  }
  alone = list(turned)[1:]
  found = Experiment(c.Config(), None, None)
  contenders.grid(found, parts, 60, alone)
  for theirs, gap in (('BART on repaired', 20), ('BART on dictionary', 30)):
    sides = ('BART on repaired, filtered', theirs)
    one = verdict.over_examples(found.tests, *sides)[0]['difference']
    assert one['value'] == pytest.approx(gap / 60)
    assert verdict.of_interval(one) == 'holds'


def test_each_batch_of_pairs_has_the_weight():
  pairs = [{'share': np.ones((2, 1), np.float32)}]
  pushed = algorithm.WeightedPairBatches(Pairs(pairs))
  assert len(pushed) == 1 and pushed[0]['push'].tolist() == [[1.0], [1.0]]
  # The devices are told where each array of a batch lies.
  assert {*pushed[0]} <= {*mesh.EXAMPLES}


class Pairs(list):
  steps_per_epoch = 4


def parallel(kept, group):
  n = len(group)
  return pairing.Parallel(
    pd.DataFrame(
      {
        'split': ['train', 'valid'] * (n // 2),
        'source': [f'he {i}' for i in range(n)],
        'dictionary': [f'she {i}' for i in range(n)],
        'repaired': [f'she is {i}' for i in range(n)],
        'group': group,
        'kept': kept,
      }
    ),
    {0: 'men', 1: 'women'},
    {'value': 0.9},
  )


def test_targets_are_chosen_by_name_and_want_the_other_group():
  frame = parallel([True, True, False, True] * 2, [0, 0, 1, 1, 1, 1, 0, 0])
  filtered = pairing.pairs_of(frame, 'filtered')
  assert len(filtered) == 6 and filtered['target'][0] == 'she is 0'
  assert list(filtered['label']) == [1, 1, 0, 0, 0, 1]
  raw = pairing.pairs_of(frame, 'dictionary')
  assert len(raw) == 8 and raw['target'][0] == 'she 0'


def test_the_filter_is_counted_by_group():
  said = pairing.described(parallel([True, False, True, True], [0, 0, 1, 1]))
  assert '1 of 4 rewrites' in said
  assert '(1 of 2 of men and 0 of 2 of women)' in said


def test_one_group_alone_is_refused():
  frame = parallel([True] * 4, [1, 0, 1, 0])
  with pytest.raises(UserError, match='train holds sources of 1 group'):
    pairing.pairs_of(frame, 'unfiltered')


def test_what_is_missing_is_said_before_any_work(tmp_path):
  config = config_of()
  config.rewriters.generator = ''
  with pytest.raises(UserError, match='generator is empty'):
    experiment.run(config, tmp_path)


def test_what_only_measures_trains_nothing_again():
  """An ablation or word vectors less keeps the players' fits."""
  whole = identity(config_of(), 'adversary')
  less = {'labels': ('dictionary',), 'vectors': (20,)}
  for name, value in less.items():
    assert identity(config_of(**{name: value}), 'adversary') == whole, name
  assert identity(config_of(dropout=0.5), 'adversary') != whole
