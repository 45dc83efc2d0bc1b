"""What models write: prompts in, a page out, on tiny models and functions."""

import importlib
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
import small

import fairjax
from fairjax import config as c
from fairjax.core.errors import Failed, UserError
from fairjax.data.batching import tokens
from fairjax.models.reading import judge
from fairjax.recipes.language import generate_corpus
from fairjax.recipes.writing import (
  experiment,
  matched,
  measure,
  prompts,
  rows,
  scores,
  templates,
  words,
  writers,
)
from fairjax.stages.asking import AuditedModel

FEW = {'n_resamples': 100}


@pytest.fixture(scope='module')
def model(tmp_path_factory):
  """A GPT-2 folder with random weights that knows the templates' words."""
  path = tmp_path_factory.mktemp('gpt2') / 'model'
  texts = templates.make(['gender'])['prompt'].tolist()
  tokenizer = tokens.train_tokenizer(texts, 120)
  how = {'positions': 48, 'deviation': 0.4}
  return small.folder_of(path, 'gpt2', tokenizer, **how)


def rude(texts):
  """A score that is higher the more letters e a text has."""
  return [min(0.95, 0.1 + 0.12 * text.count('e')) for text in texts]


def biased(prompts):
  """It writes of women what it does not write of men."""
  out = []
  for k, prompt in enumerate(prompts):
    women = re.search(r'\b(woman|girl|mother|sister|wife)\b', prompt)
    own = 'a nurse and bad' if women else 'a miner and good'
    out.append(f'{own} {"day" if k % 2 else "night"} {len(prompt) % 3}')
  return out


biased.toxic = lambda texts: [0.8 if 'bad' in t else 0.1 for t in texts]


def config_of(model, tmp_path=None, **writing):
  own = {'samples': 3, 'limit': 3} | writing
  gate = {k: own.pop(k) for k in ('fail_if', 'fail_on', 'batch') if k in own}
  return c.Config(
    recipe='writing',
    model=model,
    generate=c.Generate(temperature=1.0, top_p=0.9, max_new_tokens=5),
    measures=c.Measures(resamples=200),
    data=c.Data(limit=own.pop('limit')),
    audit=c.Audit(**gate),
    writing=c.Writing(**own),
  )


@pytest.fixture(scope='module')
def run(model, tmp_path_factory):
  """A run of a model of ours, scored by the planted classifier."""
  folder = tmp_path_factory.mktemp('run')
  lexicon = folder / 'hurtful.txt'
  lexicon.write_text('nurse\nman\n')
  config = config_of(model, classifier='planted', lexicon=str(lexicon))
  return config, folder, experiment.run(config, folder)


def test_a_page_is_made_of_what_a_model_writes(run, remade):
  config, folder, found = run
  remade(folder, found)
  one = found.sets['templates']
  assert {'female', 'male'} == one['groups'].keys()
  for key in ('selection_rate', 'mean_score', 'expected_max', 'any_above',
              'honest', 'over_no_group'):  # fmt: skip
    value = one['groups']['male'][key]
    assert value['low'] <= value['value'] <= value['high'], key
  for key in ('mean_score_gap', 'sentiment_parity', 'paired_bleu',
              'paired_rouge_l_loss', 'dp', 'honest_gap'):  # fmt: skip
    assert one['fairness'][key]['low'] is not None, key
  html = (folder / 'report.html').read_text()
  assert 'after prompts about' in html and str(folder) not in html
  assert config.model not in html.partition('How it was made')[0]


def test_numbers_of_groups_are_those_of_the_texts(run):
  """By pandas, from texts.parquet."""
  _, folder, found = run
  table = pd.read_parquet(folder / 'texts.parquet')
  one = found.sets['templates']
  for group, some in table[table['group'] != ''].groupby('group'):
    values = {k: v['value'] for k, v in one['groups'][group].items()
              if isinstance(v, dict)}  # fmt: skip
    each = some.groupby('prompt')['score'].max()
    nobody = table[table['group'] == '']['score'].mean()
    want = {
      'mean_score': some['score'].mean(),
      'selection_rate': (some['score'] >= 0.5).mean(),
      'expected_max': each.mean(),
      'any_above': (each >= 0.5).mean(),
      'over_no_group': some['score'].mean() - nobody,
    }
    for key, number in want.items():
      assert values[key] == pytest.approx(number, abs=1e-6), key
  means = table[table['group'] != ''].groupby('group')['score'].mean()
  gap = one['fairness']['mean_score_gap']['value']
  assert gap == pytest.approx(np.ptp(means), abs=1e-6)


def test_words_of_the_groups_are_masked_and_no_others():
  mask = words.masker('gender')
  wanted = ['M', 'met', 'M', 'M,', 'a', 'nurse']
  said = mask('She met HIS aunt, a nurse').replace(words.MASK, 'M')
  assert said.split() == wanted
  assert words.masker('team')('She met him') == 'She met him'


def test_a_prompt_of_two_pairs_is_held_against_both():
  """Texts of its second pair were numbered on from those of the first, so that
  none met its match."""
  frame = pd.DataFrame(
    [
      ('The woman was', 'f', 'one'),
      ('The man was', 'm', 'one'),
      ('The woman was', 'f', 'two'),
      ('The gentleman was', 'm', 'two'),
    ],
    columns=['prompt', 'group', 'pair'],
  ).assign(attribute='g', cluster='t')
  written = {p: ['x', 'y', 'z'] for p in frame['prompt']}
  table, _ = rows.texts(frame, written)
  across, _ = matched.indices(table, [('f', 'm')])
  assert len(across) == 6
  lines = [(r, c) for r in frame.to_dict('records') for c in 'xyz']
  given = pd.DataFrame([r | {'continuation': c} for r, c in lines])
  assert rows.texts(given, {})[0]['sample'].tolist() == [0, 1, 2] * 4


def test_prompts_of_nobody_need_no_attribute():
  """A prompt that names no group names none of any attribute."""
  line = lambda **cells: {'template': 't', **cells}
  frame = pd.DataFrame(
    [
      line(prompt='The person', group='', attribute=''),
      line(prompt='The woman', group='female', attribute='gender'),
      line(prompt='The man', group='male', attribute='gender'),
      line(prompt='The old one', group='old', attribute='age'),
      line(prompt='The young one', group='young', attribute='age'),
    ]
  )
  found, _ = prompts.read(c.Config(), frame)
  nobody = found[found['group'] == '']
  assert nobody['attribute'].tolist() == ['gender', 'age']
  assert nobody['prompt'].tolist() == ['The person'] * 2
  assert (found.groupby('attribute')['pair'].nunique() == 1).all()
  frame.loc[2, 'attribute'] = ''
  with pytest.raises(UserError, match="'male' and no attribute in row 2"):
    prompts.read(c.Config(), frame)


def test_parity_is_the_mean_over_pairs_of_groups():
  """|a - b| of matched prompts, by hand; without matches there is none."""
  score = {'x': (0.1, 0.3), 'y': (0.5, 0.9), 'z': (0.2, 0.2)}
  table = pd.DataFrame(
    [
      {'group': g, 'pair': f'p{k}', 'score': v, 'sample': 0}
      | {'continuation': 'a b', 'cluster': f'{g}{k}', 'attribute': 'team'}
      for g, values in score.items()
      for k, v in enumerate(values)
    ]
  )
  (known,) = rows.of_attributes(table)
  config = c.Config()
  how = measure.options_of(config)
  each, found = matched.measure(config, known, None, how)
  assert [row['groups'] for row in each] == [*itertools.combinations('xyz', 2)]
  strong = [row['strong']['value'] for row in each]
  assert found['sentiment_parity']['value'] == pytest.approx(np.mean(strong))
  assert strong[0] == pytest.approx(0.5) and min(strong) > 0
  bare = matched.measure(config, known, None, how._replace(resamples=0))[1]
  assert bare['sentiment_parity']['value'] == pytest.approx(np.mean(strong))
  ends = [bare['sentiment_parity'][key] for key in ('low', 'high', 'null')]
  assert ends == [None] * 3  # and not 0, where nothing was drawn
  (alone,) = rows.of_attributes(table.assign(pair=''))
  assert matched.measure(config, alone, None, how) == ([], {})


def test_alike_texts_are_held_against_two_of_one_prompt():
  """Loops over pairs, groups and samples, by other words than the code's."""
  said = {
    ('x', 'p0'): ('a b c d', 'a b c e'),
    ('y', 'p0'): ('a b q d', 'r s t u'),
    ('x', 'p1'): ('k l m', 'k l n'),
    ('y', 'p1'): ('k l m', 'v w z'),
  }
  table = pd.DataFrame(
    [
      {'group': g, 'pair': p, 'score': score, 'sample': k}
      | {'continuation': text, 'whole': text, 'cluster': p}
      | {'attribute': 'team'}
      for (g, p), texts in said.items()
      for k, (text, score) in enumerate(
        zip(texts, (0.1, 0.5 + 0.1 * int(p[1])))
      )
    ]
  )
  table.loc[table['group'] == 'y', 'score'] = 0.4
  (known,) = rows.of_attributes(table)
  config = c.Config()
  found = matched.measure(config, known, None, measure.options_of(config))[1]
  for name, of in matched.MEASURES.items():
    apart = [
      np.mean([of(*both) for both in zip(said['x', p], said['y', p])])
      for p in ('p0', 'p1')
    ]
    alike = [np.mean([of(*said[g, p]) for g in 'xy']) for p in ('p0', 'p1')]
    want = {
      '': np.mean(apart),
      '_floor': np.mean(alike),
      '_loss': np.mean(alike) - np.mean(apart),
    }
    for key, value in want.items():
      assert found[f'paired_{name}{key}']['value'] == pytest.approx(value), key
  # |.1 - .4| twice, |.5 - .4| and |.6 - .4|: the widest, of every part in turn
  (other,) = rows.of_attributes(table.assign(attribute='side'))
  three = matched.examples([known, other], 3)
  assert [one['scores'] for one in three] == ['0.10, 0.40'] * 3
  assert [one['text'] for one in three] == ['a b c d', 'a b c d', 'k l m']


def test_a_second_run_asks_nobody_again(run, monkeypatch):
  config, folder, found = run
  monkeypatch.setattr(writers.decode_texts, 'generate', None)
  again = experiment.run(config, folder)
  assert again.sets == found.sets


def test_a_killed_run_goes_on_to_the_same_texts(run, tmp_path, monkeypatch):
  """In smaller pieces than the undisturbed one."""
  config, calm, _ = run
  monkeypatch.setattr(generate_corpus, 'CHUNK', 36)
  calls, real = [], writers.decode_texts.generate

  def falls(*args, **rest):
    calls.append(1)
    if len(calls) == 3:
      raise KeyboardInterrupt
    return real(*args, **rest)

  monkeypatch.setattr(writers.decode_texts, 'generate', falls)
  with pytest.raises(KeyboardInterrupt):
    experiment.run(config, tmp_path / 'cut')
  done = len(list((tmp_path / 'cut' / 'writing').glob('*.made.json')))
  experiment.run(config, tmp_path / 'cut')
  read = lambda folder: pd.read_parquet(folder / 'texts.parquet')
  pd.testing.assert_frame_equal(read(calm), read(tmp_path / 'cut'))
  assert done == 2 and len(calls) == 3 + 4 - done


def test_a_planted_gap_is_found_and_the_gate_fails(tmp_path):
  result = fairjax.write(biased, biased.toxic, samples=2, limit=6, options=FEW)
  assert result['mean_score_gap']['value'] == pytest.approx(0.7)
  assert result['dp']['value'] == pytest.approx(0)
  assert result['mean_score_gap']['low'] > 0.3
  over = result.results.sets['templates']['groups']
  assert over['female']['over_no_group']['value'] == pytest.approx(0.7)
  assert over['male']['over_no_group']['value'] == pytest.approx(0)
  assert result['association_bias']['value'] > 0.3  # nurse and miner: .5 each
  assert result['paired_bleu_loss']['low'] > 0
  assert 'after prompts about women, 100 are decided' in repr(result)
  assert len(result.groups) == 2 and 'mean_score' in result.by_group
  assert result.plot().axes and 'iframe' in result._repr_html_()
  page = result.save(tmp_path / 'saved').read_text()
  assert '‘positive’' in page
  config = config_of('x', classifier='planted', fail_if='mean_score_gap>0.2')
  gated, _ = experiment.write(config, None, biased, None, biased.toxic)
  assert gated.facts['gate'] == 'failed'


def test_without_a_classifier_the_lexicon_leads(tmp_path):
  words = tmp_path / 'words.txt'
  words.write_text('bad\n')
  result = fairjax.write(biased, limit=4, options=FEW | {'lexicon': words})
  assert result['honest_gap']['value'] == 1.0
  assert 'mean_score_gap' not in result


def test_cosines_are_of_the_vectors_of_an_encoder(model):
  result = fairjax.write(
    biased, biased.toxic, samples=2, limit=1, options=FEW | {'encoder': model}
  )
  table = result.texts
  once = table.drop_duplicates(['pair', 'group', 'sample'])
  wide = once.pivot(
    index=['pair', 'sample'], columns='group', values='continuation'
  )
  vectors = judge.load(model, c.Config()).vectors
  a, b = (vectors(list(wide[group])) for group in ('female', 'male'))
  norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
  want = ((a * b).sum(1) / norms).mean()
  assert result['paired_cosine']['value'] == pytest.approx(want, abs=1e-4)
  assert result['paired_cosine_loss']['value'] is not None


# Prompts


def read(source, **writing):
  config = config_of('x', **({'limit': 0} | writing))
  return prompts.read(config, source)[0]


def test_each_template_has_each_group_and_nobody():
  frame = templates.make(['gender', 'religion'])
  for _, some in frame.groupby('attribute'):
    sizes = some.groupby(['cluster', 'group']).size()
    assert len(some['cluster'].unique()) == len(templates.TEMPLATES)
    named = sizes[sizes.index.get_level_values('group') != '']
    assert named.nunique() == 1
    # Whoever is matched: every group once, and nobody.
    by_pair = some.groupby('pair')['group'].agg(lambda g: len({*g}))
    assert (by_pair == some['group'].nunique()).all()
  assert 'The Muslim neighbour worked as' in set(frame['prompt'])


def test_a_limit_draws_whole_clusters():
  few = read(None, limit=2)
  assert few['cluster'].nunique() == 2
  assert set(few['group']) == {'', 'female', 'male'}


def test_a_users_file_is_read_with_its_template(tmp_path):
  path = tmp_path / 'mine.csv'
  path.write_text(
    'prompt,group,template\nA nun said,nun,said\nA cook said,cook,said\n'
    'One said,,said\nA nun ate,nun,ate\nA cook ate,cook,ate\n'
  )
  frame = read(None, prompts=str(path))
  assert frame['cluster'].tolist() == ['said'] * 3 + ['ate'] * 2
  assert frame['pair'].tolist() == ['said|0'] * 3 + ['ate|0'] * 2
  table = pd.DataFrame({'prompt': ['a b', 'c d'], 'group': ['x', 'y']})
  assert read(table)['cluster'].tolist() == ['a b', 'c d']


def test_texts_that_stand_written_are_scored_as_they_are():
  table = pd.DataFrame(
    {
      'prompt': ['A he'] * 12 + ['A she'] * 12,
      'group': ['m'] * 12 + ['f'] * 12,
      'template': [f't{k % 6}' for k in range(24)],
      'continuation': ['bad'] * 6 + ['fine'] * 18,
    }
  )
  result = fairjax.write(lambda texts: None, biased.toxic, table, options=FEW)
  assert result['mean_score_gap']['value'] == pytest.approx(0.35)


REGARD = ('negative', 'neutral', 'other', 'positive')
# What a regard classifier says of twelve texts, six of either group.
CHANCES = (
  (0.7, 0.2, 0.05, 0.05), (0.1, 0.6, 0.2, 0.1), (0.55, 0.3, 0.1, 0.05),
  (0.9, 0.04, 0.03, 0.03), (0.25, 0.25, 0.25, 0.25), (0.0, 0.1, 0.1, 0.8),
  (0.1, 0.2, 0.1, 0.6), (0.5, 0.2, 0.2, 0.1), (0.05, 0.05, 0.1, 0.8),
  (0.3, 0.6, 0.05, 0.05), (0.2, 0.1, 0.1, 0.6), (0.02, 0.9, 0.04, 0.04),
)  # fmt: skip


@pytest.mark.parametrize('category', REGARD)
def test_regard_and_toxicity_are_those_of_evaluate(category):
  """evaluate's regard: of each category the mean of either group and their
  difference (average_data_regard, regard_difference); its toxicity_ratio: the
  share of texts whose score is threshold or more. Golden, by hand."""

  def pipeline(texts):  # of top_k=4: all labels, the likeliest first
    out = []
    for text in texts:
      known = text.startswith('text')
      chances = CHANCES[int(text.split()[-1])] if known else [0.25] * 4
      said = [{'label': n, 'score': c} for n, c in zip(REGARD, chances)]
      out.append(sorted(said, key=lambda one: -one['score']))
    return out

  table = pd.DataFrame(
    {
      'prompt': ['A he'] * 6 + ['A she'] * 6,
      'group': ['m'] * 6 + ['f'] * 6,
      'template': [f't{k % 6}' for k in range(12)],
      'continuation': [f'text {k}' for k in range(12)],
    }
  )
  result = fairjax.write(
    lambda texts: None, pipeline, table, options=FEW | {'pos_label': category}
  )
  data, references, ratio = {
    'negative': (2.5 / 6, 1.17 / 6, (3 / 6, 1 / 6)),
    'neutral': (1.49 / 6, 2.05 / 6, (1 / 6, 2 / 6)),
    'other': (0.73 / 6, 0.59 / 6, (0, 0)),
    'positive': (1.28 / 6, 2.19 / 6, (1 / 6, 3 / 6)),
  }[category]
  groups = result.groups
  assert groups.loc['m', 'mean_score'] == pytest.approx(data)
  assert groups.loc['f', 'mean_score'] == pytest.approx(references)
  assert list(groups.loc[['m', 'f'], 'selection_rate']) == pytest.approx(ratio)
  gap = result['mean_score_gap']['value']
  assert gap == pytest.approx(abs(data - references))


def test_bold_and_real_toxicity_prompts_are_read(tmp_path):
  bold = tmp_path / 'gender_prompt.json'
  bold.write_text(
    json.dumps(
      {
        'American_actors': {'A_B': ['A B is ', 'A B was '], 'C': ['C is ']},
        'American_actresses': {'D': ['D is ']},
      }
    )
  )
  frame = read(None, prompts=str(bold))
  assert frame['attribute'].unique().tolist() == ['gender']
  assert frame['group'].tolist() == ['American actors'] * 3 + [
    'American actresses'
  ]
  assert frame['cluster'].tolist() == ['A_B', 'A_B', 'C', 'D']
  toxic = tmp_path / 'prompts.jsonl'
  lines = [
    {'prompt': {'text': text, 'toxicity': x}, 'continuation': {'text': 'x'}}
    for text, x in (('She was', 0.1), ('He is', 0.7), ('It is', 0.2),
                    ('The man and the woman', 0.9))
  ]  # fmt: skip
  toxic.write_text('\n'.join(map(json.dumps, lines)))
  frame = read(None, prompts=str(toxic))
  by = {k: list(zip(d['prompt'], d['group']))
        for k, d in frame.groupby('attribute')}  # fmt: skip
  assert by['gender'] == [('She was', 'female'), ('He is', 'male'),
                          ('It is', '')]  # fmt: skip
  assert [g for _, g in by['prompt']] == [
    'not toxic', 'toxic', 'not toxic', 'toxic'
  ]  # fmt: skip


def test_a_term_in_two_groups_is_told_before_anything(tmp_path):
  axis = tmp_path / 'mine.csv'
  axis.write_text('form,a,b\nadjective,red,blue\nnoun,red,cyan\nnouns,x,red\n')
  config = config_of('x', axes=(str(axis),))
  with pytest.raises(UserError, match="has 'red' of a and of b"):
    experiment.write(config, None, lambda texts: 1 / 0, None, rude)
  axis.write_text('form,a,b\nname,Redism,Bluism\n')
  with pytest.raises(UserError, match='neither an adjective nor a noun'):
    experiment.write(config, None, lambda texts: 1 / 0, None, rude)


# Writers that are functions


def test_a_function_is_asked_again_kept_and_held_to_a_rate(
  tmp_path, monkeypatch
):
  clock, slept, calls = [0.0], [], []

  def sleep(seconds):
    slept.append(seconds)
    clock[0] += seconds

  monkeypatch.setattr(writers.time, 'sleep', sleep)
  monkeypatch.setattr(writers.time, 'monotonic', lambda: clock[0])

  def flaky(asked):
    calls.append(list(asked))
    if len(calls) in (2, 3):
      raise ConnectionError('busy')
    return [f'so {k}' for k, _ in enumerate(asked)]

  config = config_of('x', batch=2, samples=1, rate=30.0)
  writer = writers.load(config, flaky)._replace(made_from='me')
  texts = writers.written(writer, ['a', 'b', 'c'], tmp_path)
  assert texts == [['so 0'], ['so 1'], ['so 0']]
  assert [len(one) for one in calls] == [2, 1, 1, 1]
  assert sum(slept) >= 3 * 2.0  # thirty a minute: two seconds apart
  assert writers.written(writer, ['a', 'b', 'c'], tmp_path) == texts
  assert len(calls) == 4

  def dead(asked):
    raise ConnectionError('no network')

  writer = writers.load(config, dead)
  with pytest.raises(UserError, match=r'failed 4 times .*no network'):
    writers.written(writer, ['a'])


def test_what_a_model_of_ours_cannot_write_is_told(model):
  config = config_of(model)
  config.generate.temperature = 0.0
  with pytest.raises(UserError, match=r'writing\.samples is 3'):
    writers.load(config)
  config = config_of(model)
  config.generate.max_new_tokens = -1
  with pytest.raises(UserError, match=r'generate\.max_new_tokens is not set'):
    writers.load(config)
  with pytest.raises(UserError, match=r"take samples='1'"):
    fairjax.write(model, rude, options={'temperature': 0.0})


# Classifiers whose labels can be told, and not


def test_classes_are_found_by_name_or_asked_for(tmp_path):
  model = lambda *names: AuditedModel('m', classes=names)
  assert scores.positive_class(model('toxic', 'not toxic'), '') == 0
  assert scores.positive_class(model('negative', 'positive'), 'NEGATIVE') == 0
  for names in (('LABEL_0', 'LABEL_1'), ('negative', 'neutral', 'positive')):
    with pytest.raises(UserError, match='do not say'):
      scores.positive_class(model(*names), '')
    with pytest.raises(UserError, match='name one of them'):
      scores.positive_class(model(*names), 'regard')
  assert scores.positive_class(model('a', 'b', 'c'), 'c') == 2


@pytest.mark.parametrize(
  'answer',
  [
    lambda t: ['Rude' if 'bad' in x else 'fine' for x in t],
    lambda t: [{'label': 'rude' if 'bad' in x else 'fine', 'score': 1.0}
               for x in t],
    lambda t: [[{'label': 'rude', 'score': float('bad' in x)},
                {'label': 'fine', 'score': 1.0 - ('bad' in x)}] for x in t],
  ],
)  # fmt: skip
def test_answers_in_words_are_scores_of_the_class_that_is_named(answer):
  result = fairjax.write(
    biased, answer, samples=1, limit=3, options=FEW | {'pos_label': 'rude'}
  )
  assert result['mean_score_gap']['value'] == pytest.approx(1.0)


def test_a_column_of_two_is_the_one_that_is_named():
  columns = lambda t: [[float('bad' in x), 1 - float('bad' in x)] for x in t]
  write = lambda one: fairjax.write(
    biased, columns, samples=1, limit=3, options=FEW | {'pos_label': one}
  )
  none, first, second = (
    write(one).groups['mean_score'] for one in (None, '0', '1')
  )
  assert none.equals(second) and not none.equals(first)
  assert first.to_dict() == pytest.approx((1 - second).to_dict())


def test_a_gate_ends_the_run(tmp_path, monkeypatch):
  (tmp_path / 'hosted.py').write_text(
    'def write(prompts):\n  return ["bad" if "man" in p.split() else "ok"'
    ' for p in prompts]\n'
    'def judge(texts):\n  return [float("bad" in t) for t in texts]\n'
  )
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))
  config = config_of(
    'hosted:write', classifier='hosted:judge', fail_if='mean_score_gap>0.01',
    samples=1, limit=12, fail_on='value', batch=16,
  )  # fmt: skip
  with pytest.raises(Failed, match='mean_score_gap'):
    experiment.run(config, tmp_path / 'run')
  assert len(list((tmp_path / 'run/writing').glob('*.json'))) > 6
  config.audit.fail_if = 'no_such>1'
  with pytest.raises(UserError, match=r'audit\.fail_if names'):
    experiment.run(config, tmp_path / 'run')


def test_a_chat_model_decides_by_prompt_and_is_audited(model, monkeypatch):
  """configs/audit_prompt.py, of a tiny model: p(yes) of yes and no."""
  monkeypatch.setenv('GGUF', model)
  config = c.shipped('audit_prompt')
  example = importlib.import_module(config.audit.model.partition(':')[0])
  monkeypatch.setattr(example, 'PROMPT', 'The {text} was known. Answer:')
  texts = ['He worked', 'She worked', 'A man', 'The woman'] * 5
  chances = example.toxic(texts)
  judge = example.model()
  ask = lambda text, answer: judge.continuations(
    [f'The {text} was known. Answer:'], [answer]
  )[0, 0]
  odds = ask('A man', 'yes') - ask('A man', 'no')
  assert chances[2] == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-5)
  rows = pd.DataFrame({'text': texts, 'label': [0, 1] * 10})
  rows['sex'] = ['m', 'f'] * 10
  result = fairjax.audit(
    example.toxic, rows, groups='sex', options=FEW | {'swaps': 'gender'}
  )
  assert 'flips' in result and 'dp' in result
