"""The recipe from files to a page: benchmarks, two models, mitigations."""

import importlib

import numpy as np
import pandas as pd
import pytest
import small

from fairjax import config as c
from fairjax.benchmarks import BENCHMARKS
from fairjax.benchmarks.shared import measure, result_rows
from fairjax.core.errors import UserError
from fairjax.metrics.inference import clusters, intervals
from fairjax.models.folders import folder as folders
from fairjax.models.reading import judge as judging
from fairjax.recipes.benchmarks import downstream, mitigation_front, mitigations
from fairjax.recipes.benchmarks import experiment as recipe
from fairjax.recipes.diet import experiment as diet


def corpus(root):
  rng = np.random.default_rng(0)
  words = 'lazy kind rich poor old'.split()
  texts = [
    f'{"He She They".split()[k % 3]} slept and was {rng.choice(words)}.'
    for k in range(60)
  ]
  path = root / 'corpus.csv'
  pd.DataFrame({'text': texts}).to_csv(path, index=False)
  return path


def config(model, data, names, against='', **more):
  return c.Config(
    recipe='benchmarks',
    model=str(model),
    data=c.Data(name='file', path=more.pop('path', '')),
    measures=c.Measures(resamples=50),
    audit=c.Audit(against=against),
    benchmarks=c.Benchmarks(names=names, data=str(data), **more),
  )


# The tiny vocabularies have no word of a group, which lpbs needs.
MASKED = tuple(name for name in BENCHMARKS if name not in ('eec', 'lpbs'))


@pytest.mark.slow
def test_every_benchmark_of_a_masked_model_and_its_mitigations(
  nets, data, tmp_path
):
  texts = corpus(tmp_path)
  task = pd.read_csv(texts)
  task['label'] = task['text'].str.contains('lazy|poor').astype(int)
  task.to_csv(tmp_path / 'task.csv', index=False)
  own = config(
    nets['bert'].folder,
    data,
    MASKED,
    path=str(texts),
    mitigations=('leace', 'counterfactual', 'self_debias'),
    encodings=('mean', 'first', 'cls'),
    task=str(tmp_path / 'task.csv'),
  )
  own.pretrain.length, own.pretrain.steps = 16, 2
  own.train.batch, own.train.evals, own.pretrain.held_out = 4, 1, 0.2
  found = recipe.run(own, tmp_path / 'run')
  plain, _, trained, taken_back = found.contenders.values()
  for one in found.contenders.values():
    vectors = set() if one is taken_back else {'weat', 'sembias'}
    vectors |= {'probe'} if vectors else set()
    rest = {*MASKED, 'texts', 'task'} - {'weat', 'sembias'}
    assert set(one['sets']) == rest | vectors
    assert one['sets']['crows']['rows'] == 8
    assert any('md5' in w for w in one['sets']['crows']['warnings'])
    held = mitigations.parts(own)[1]  # no mitigation saw them
    assert one['sets']['texts']['rows'] == len(held)
    assert 0 <= one['sets']['task']['quality']['accuracy']['value'] <= 1
  assert plain['sets']['task'] == taken_back['sets']['task']
  assert plain['sets']['weat'] != trained['sets']['weat']
  assert plain['sets']['twins'] != taken_back['sets']['twins']
  twins = (
    tmp_path / 'run' / 'models' / 'counterfactual' / 'texts.txt'
  ).read_text()
  lines = twins.splitlines()
  assert lines[0].replace('He ', 'She ') == lines[1].replace('He ', 'She ')
  assert lines[0] != lines[1] and 'They' not in twins
  front = found.sections[0]
  assert front['heading'] == 'Harm against cost'
  html = (tmp_path / 'run' / 'report.html').read_text()
  for words in ('What it cannot say', '>WEAT and SEAT</h2>', 'by chance'):
    assert words in html
  assert {t['set'] for t in found.tests} == {*MASKED, 'task'}
  sets = found.contenders[nets['bert'].folder.name]['sets']
  assert set(sets['weat']['groups']) == {'weat6', 'sent-weat6'}
  effect = sets['weat']['groups']['sent-weat6']['weat_effect_mean']
  assert {'p', 'p_holm', 'p_published', 'floor_low'} <= set(effect)
  # What was exported is the model with its eraser, for transformers too.
  folder = tmp_path / 'run' / 'models' / 'leace'
  import torch
  import transformers

  net = transformers.AutoModelForMaskedLM.from_pretrained(folder)
  judge = judging.from_bundle(folders.load(folder), str(folder))
  texts = judge.encode(['He is a nurse.'])
  chosen = np.zeros(len(texts.flat), bool)
  chosen[2] = True
  ids = texts.flat.copy()
  ids[2] = judge.mask_id
  with torch.no_grad():
    logits = net(input_ids=torch.tensor(ids[None].astype(int))).logits[0, 2]
  slow = logits.log_softmax(-1)[int(texts.flat[2])].item()
  assert judge.log_p(texts, chosen)[2] == pytest.approx(slow, abs=1e-4)
  plain = nets['bert'].judge.log_p(texts, chosen)[2]
  assert abs(plain - slow) > 1e-4
  # Finished scores are taken, not made again.
  module = importlib.import_module(BENCHMARKS['crows'].module)
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(module, 'score', None)
    again = recipe.run(own, tmp_path / 'run')
  assert again.contenders == found.contenders


def test_two_causal_models_side_by_side(nets, data, tmp_path):
  names = ('crows', 'stereoset', 'bbq', 'winobias')
  own = config(
    nets['gpt2'].folder, data, names, against=str(nets['gpt2'].folder)
  )
  found = recipe.run(own, tmp_path)
  assert len(found.contenders) == 2
  assert found.tests and all(
    test['difference']['value'] in (0, None) for test in found.tests
  )
  one, other = found.contenders.values()
  assert one['sets'] == other['sets']
  assert 'crows_total' in one['sets']['crows']['fairness']


def test_a_regressor_of_sentiment_is_asked_for_its_values(nets, data, tmp_path):
  import torch
  from golden import make_encoders

  net = make_encoders.model(
    'bert', 'SequenceClassification', vocab_size=200, num_labels=1
  ).eval()
  net.save_pretrained(tmp_path)
  for name in ('tokenizer.json', 'tokenizer_config.json'):
    (tmp_path / name).write_text((nets['bert'].folder / name).read_text())
  found = recipe.run(config(tmp_path, data, ('eec',)), tmp_path / 'run')
  (one,) = found.contenders.values()
  frame = pd.read_csv(data / 'Equity-Evaluation-Corpus.csv')
  tokenizer = nets['bert'].judge.tokenizer
  with torch.no_grad():
    slow = [
      net(torch.tensor([tokenizer.encode(text).ids])).logits.item()
      for text in frame['Sentence']
    ]
  gap = np.mean(slow[1::2]) - np.mean(slow[::2])  # she less he
  value = one['sets']['eec']['fairness']['eec_gender']['value']
  assert value == pytest.approx(gap, abs=1e-5)


def test_bad_input_is_one_sentence(nets, data, tmp_path):
  run = lambda **more: recipe.run(
    config(nets['bert'].folder, **{'data': '', **more}), tmp_path
  )
  with pytest.raises(UserError, match=r'benchmarks.data is empty.*crows-pairs'):
    run(names=('crows',))
  with pytest.raises(UserError, match=r'data.path is empty.*twins'):
    run(names=('twins',))
  with pytest.raises(UserError, match=r'holds no crows_pairs.*nyu-mll'):
    (tmp_path / 'empty').mkdir()
    run(names=('crows',), data=tmp_path / 'empty')
  with pytest.raises(UserError, match=r'data.path is empty.*leace'):
    run(names=('crows',), data=data, mitigations=('leace',))


def test_without_names_it_runs_what_is_there(nets, data, tmp_path):
  own = config(nets['bert'].folder, tmp_path, ())
  for name in ('crows_pairs.csv', 'Equity-Evaluation-Corpus.csv'):
    (tmp_path / name).write_bytes((data / name).read_bytes())
  found = recipe.run(own, tmp_path / 'run')
  (one,) = found.contenders.values()
  assert {*one['sets']} == {'crows'} and 'stereoset (dev' in found.notes[-1]
  log = (tmp_path / 'run' / 'log.txt').read_text()
  assert log.index('and left out: weat (') < log.index('eec is left out: ')


def test_a_limit_draws_items_that_belong_together_or_is_refused(data):
  """`--limit` of CrowS, StereoSet and WinoBias was idle, without a word."""
  own = config('', data, ())
  tables, _ = recipe.items_of(own)
  own.data.limit = 7
  for name, unit in (
    ('crows', 'id'),
    ('stereoset', 'target'),
    ('winobias', 'cluster'),
  ):
    whole, some = tables[name], measure.read(name, own)
    said = f'{len(some)} of {len(whole)} items are drawn by the seed'
    assert some.attrs['notes'][0] == said and len(some) >= 6
    assert some[unit].nunique() == whole[unit].nunique() - 1
  with pytest.raises(UserError, match='weat is defined by all of its 18 items'):
    measure.read('weat', own)
  kept, said = recipe.items_of(own)
  assert {'weat', 'holistic'} == {*tables} - {*kept} and 'weat is' in said[0]


def test_items_with_unknown_tokens_are_named(nets, data, tmp_path):
  pairs = pd.read_csv(data / 'crows_pairs.csv', index_col='idx')
  pairs.loc[[1, 6], 'sent_less'] = 'He is a \u2603 nurse.'
  pairs.loc[2, 'sent_less'] = pairs.loc[2, 'sent_more']  # equal texts
  (tmp_path / 'data').mkdir()
  pairs.to_csv(tmp_path / 'data' / 'crows_pairs.csv', index_label='idx')
  own = config(nets['bert'].folder, tmp_path / 'data', ('crows',))
  one = recipe.run(own, tmp_path / 'run').contenders[nets['bert'].folder.name]
  crows = one['sets']['crows']
  assert crows['rows'] == 6
  assert any('2 of 8 items hold a token' in w for w in crows['warnings'])
  assert any('equal sentences' in w for w in crows['warnings'])
  pairs['sent_more'] = 'She is a \u2603 nurse.'
  pairs.to_csv(tmp_path / 'data' / 'crows_pairs.csv', index_label='idx')
  with pytest.raises(UserError, match='each of the 8 items of benchmark crows'):
    recipe.run(own, tmp_path / 'none')
  # Bytes are never unknown.
  own = config(nets['gpt2'].folder, tmp_path / 'data', ('crows',))
  one = recipe.run(own, tmp_path / 'two').contenders[nets['gpt2'].folder.name]
  assert one['sets']['crows']['rows'] == 8
  pairs[:0].to_csv(tmp_path / 'data' / 'crows_pairs.csv', index_label='idx')
  with pytest.raises(UserError, match='crows'):
    recipe.run(own, tmp_path / 'three')


def test_words_one_by_one_and_by_sense():
  texts = [
    'The king and his niece saw Her .',
    'She gave it to him, sir!',
    'Hm.',
  ]
  assert mitigations.word_by_word(texts) == [
    'The queen and her nephew saw His .',  # no sense is looked at
    'He gave it to her, madam!',
    'Hm.',
  ]
  pairs = mitigations.lines_of('cda', texts, c.Config())
  assert pairs[::2] == texts[:2] and len(pairs) == 4
  assert mitigations.lines_of('continued', texts, c.Config()) == texts[:2]


def test_texts_are_held_out_with_all_their_copies(tmp_path):
  own = c.Config(data=c.Data(name='file', path=str(corpus(tmp_path))))
  fitted, held = mitigations.parts(own)
  assert len(fitted) + len(held) == 60 and len(set(fitted + held)) == 15
  assert len(set(held)) == 3 and not set(held) & set(fitted)
  # Texts of one writer are on one side; without copies as ever.
  table = pd.DataFrame({'text': [f'She wrote {k}.' for k in range(40)]})
  table.assign(who=table.index % 8).to_csv(own.data.path)
  plain = mitigations.parts(own)
  assert [len(part) for part in plain] == [32, 8]
  order = np.random.default_rng([0, 0xB9]).permutation(40)
  assert plain[1] == [table['text'][k] for k in sorted(order[:8])]
  own.data.cluster = 'who'
  sides = [
    {int(t[:-1].split()[-1]) % 8 for t in p} for p in mitigations.parts(own)
  ]
  assert [len(side) for side in sides] == [6, 2] and not sides[0] & sides[1]
  table[:3].assign(text='The same.').to_csv(own.data.path)
  own.data.cluster = ''
  with pytest.raises(UserError, match='has 1 different text, too few'):
    mitigations.parts(own)


def test_harm_is_a_mean_over_what_all_have():
  set_of = lambda measure, value: {'fairness': {measure: {'value': value}}}
  one = {'crows': set_of('crows_original', 75.0)}
  one |= {'weat': set_of('weat_mean_mean', 1.0)}
  other = {'crows': set_of('crows_original', 40.0), 'bbq': set_of('x', 1)}
  sets = {'a': {'sets': one}, 'b': {'sets': other}}
  assert mitigation_front.distances(one) == {'crows': 0.5, 'weat': 0.5}
  assert mitigation_front.harm(sets) == {'a': 0.5, 'b': 0.2}
  # One from left to right has another measure of the name, which tells nothing.
  left = {'crows': set_of('crows_total', 40.0)} | {'weat': one['weat']}
  mixed = {'a': {'sets': one}, 'b': {'sets': left}}
  assert mitigation_front.harm(mixed) == {'a': 0.5, 'b': 0.5}
  said = mitigation_front.section(mixed)['parts'][0]['text']
  assert '(weat)' in said and 'Left out of it is crows' in said
  odds = {'winobias': set_of('winobias_log_odds', -np.log(3))}
  # Odds of 3 to 1 are probabilities of .75 and .25.
  assert mitigation_front.distances(odds)['winobias'] == pytest.approx(0.5)
  scores = {'winobias': set_of('winobias_score_gap', -0.5)}  # a classifier's
  assert mitigation_front.distances(scores)['winobias'] == 0.5
  part = mitigation_front.section(sets)['parts'][0]
  assert '(crows)' in part['text']


@pytest.mark.slow
def test_a_mitigated_model_starts_a_classifier_with_a_diet_and_weights(
  nets, data, tmp_path
):
  own = config(
    nets['bert'].folder,
    data,
    ('crows',),
    path=str(corpus(tmp_path)),
    mitigations=('counterfactual',),
  )
  own.pretrain.length, own.pretrain.steps = 16, 2
  own.train.batch, own.train.evals, own.pretrain.held_out = 4, 1, 0.2
  recipe.run(own, tmp_path / 'run')
  export = tmp_path / 'run/models/counterfactual/export/seed_0'
  both = small.config(
    recipe='diet',
    model=str(export),
    method=c.Method(name='reweight'),
    diet=c.Diet(factual=0.6, counterfactual=0.3, compare=('none',)),
  )
  found = diet.run(both, tmp_path / 'diet')
  assert len(found.contenders) == 2
  for one in found.contenders.values():
    assert one['sets']['test']['quality']['accuracy']['value'] is not None


@pytest.mark.slow
def test_the_mitigations_that_train_a_causal_model(nets, data, tmp_path):
  own = config(
    nets['gpt2'].folder,
    data,
    ('crows',),
    path=str(corpus(tmp_path)),
    mitigations=('continued', 'cda', 'dropout', 'inlp', 'sentence'),
  )
  own.pretrain.length, own.pretrain.steps = 16, 2
  own.train.batch, own.train.evals, own.pretrain.held_out = 4, 1, 0.2
  found = recipe.run(own, tmp_path / 'run')
  values = [
    one['sets']['texts']['quality']['perplexity_per_text']['value']
    for one in found.contenders.values()
  ]
  assert len(set(values)) == 6
  lines = lambda kind: (
    (tmp_path / 'run/models' / kind / 'texts.txt').read_text().splitlines()
  )
  assert lines('cda')[::2] == lines('continued') == lines('dropout')


@pytest.mark.parametrize('field', ['task', 'path'])
def test_a_file_without_texts_is_told_before_any_model(
  field, data, tmp_path, monkeypatch
):
  monkeypatch.setattr(recipe, 'contenders', lambda *_: pytest.fail('loaded'))
  bad = tmp_path / 'bad.csv'
  bad.write_text('comment,label\na,0\nb,1\n')
  made = config('none', data, ['crows'])
  if field == 'task':
    made.benchmarks.task = str(bad)
  else:
    made.data.path = str(bad)
  with pytest.raises(UserError, match="no column 'text'"):
    recipe.run(made, tmp_path / 'run')


def test_the_label_of_a_task_has_the_name_that_it_is_given(tmp_path):
  """data.label was not read: a column of another name could not be named."""
  path = tmp_path / 'task.csv'
  rows = [f'text {k},{"bad" if k % 3 else "good"}\n' for k in range(60)]
  path.write_text('text,kind\n' + ''.join(rows))
  made = c.Config(recipe='benchmarks')
  made.benchmarks.task = str(path)
  with pytest.raises(UserError, match=r'data\.label'):
    downstream.items(made)
  made.data.label, made.data.labels = 'kind', 'good=1,bad=0'
  items = downstream.items(made)
  assert len(items) == 60 and items['label'].sum() == 20


def test_a_false_discovery_rate_is_not_called_holm():
  one = {'value': 0.1, 'low': 0.0, 'high': 0.2, 'p': 0.01, 'items': 9}
  groups = {
    'male: nurse': {'rows': 9, 'twins_log_odds': one | {'p_fdr': 0.02}},
    'christian': {'rows': 9, 'twins_log_odds': one | {'p_holm': 0.03}},
  }
  sets = {'twins': {'fairness': {}, 'groups': groups}}
  part = recipe.section('twins', {'m': {'sets': sets}}, pd.DataFrame())
  table = next(p for p in part['parts'] if p['part'] == 'table')
  words, value = table['rows']
  assert (words['p (Holm)'], words['p (FDR)']) == (None, 0.02)
  assert (value['p (Holm)'], value['p (FDR)']) == (0.03, None)


def test_a_task_is_judged_over_different_texts():
  """Ten copies of a text are one, in the interval and between two models."""
  items = pd.DataFrame({'text': [f'text {k}' for k in range(20)] * 10})
  items = items.assign(id=items.index.astype(str), split='test')
  of = lambda right: pd.DataFrame({'id': items['id'], 'right': [*right] * 10})
  ours, theirs = of([1.0] * 14 + [0.0] * 6), of([1.0] * 10 + [0.0] * 10)
  how = intervals.RowSample(0.95, 0, 0)
  found = downstream.estimate(items, ours, how)['quality']['accuracy']
  assert found['value'] == pytest.approx(0.7)
  assert found['high'] - found['low'] > 0.3  # of 200 rows .13
  values = (downstream.values(items, one) for one in (ours, theirs))
  (test,) = result_rows.compare(*values, how)
  assert test['difference']['value'] == pytest.approx(0.2)
  assert 0.02 < test['p'] < 0.1  # t of 19: 2.18, .04
  once = items[:20], ours[:20]
  exact = downstream.estimate(*once, how)['quality']['accuracy']
  assert exact == clusters.share(14, 20, how)
