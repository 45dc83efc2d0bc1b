"""Which way each benchmark counts, by its authors' own words and code.

A judge here prefers what a function of the text says, so that an answer is
known for rows of every kind; each test goes from the published file's form to
the number that stands on the page.
"""

import copy
import dataclasses
import json

import numpy as np
import pandas as pd
import published_files
import pytest
import small

from fairjax.benchmarks import BENCHMARKS, bbq, crows, lpbs
from fairjax.benchmarks.shared.measure import evaluate, measure, read
from fairjax.config import Benchmarks, Config, Data, Measures, Method
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.inference.sample import RowSample
from fairjax.recipes.benchmarks import experiment as recipe


class Says:
  """A judge whose log p (or score, or vector) of a text is says(text)."""

  def __init__(self, says, kind='write'):
    self.says, self.kind, self.name, self.texts = says, kind, 'says', {}

  def encode(self, texts, special=True):
    ids = []
    for text in texts:
      words = [hash(word) & 0xFFFF for word in text.split()]
      self.texts[tuple(words)] = text
      ids.append(words)
    flat = np.array([i for words in ids for i in words], np.int32)
    return Ragged(flat, np.cumsum([0, *map(len, ids)]))

  def log_p(self, texts, chosen=None):
    """All of a text's log p at its first token."""
    out = np.zeros(len(texts.flat))
    for low, high in zip(texts.offsets, texts.offsets[1:]):
      out[low] = self.says(self.texts[tuple(texts.flat[low:high].tolist())])
    return out

  def continuations(self, contexts, texts):
    rows = [
      (self.says(f'{c} {t}'), len(t.split())) for c, t in zip(contexts, texts)
    ]
    return np.array(rows, float)

  def score(self, texts):
    return np.array([self.says(text) for text in texts], float)

  def vectors(self, texts, how='mean'):
    return np.array([self.says(text) for text in texts], float)

  def unknown(self, texts):
    return np.zeros(len(texts), bool)


def asked(name, folder, judge, **more):
  """{(part, measure): value} of a benchmark, '' being the whole."""
  config = Config(
    data=Data(name='file', path=more.pop('path', '')),
    method=Method(axis=more.pop('axis', 'gender')),
    measures=Measures(resamples=50),
    benchmarks=Benchmarks(names=(name,), data=str(folder), **more),
  )
  one, _ = measure(name, judge, config)
  compares_as_it_measures(name, judge, config)
  groups = {'': one['fairness'], **one['groups']}
  return {
    (part, key): value['value']
    for part, values in groups.items()
    for key, value in values.items()
    if isinstance(value, dict)
  }


def compares_as_it_measures(name, judge, config):
  """A test that is named as a number is the difference of two such numbers."""
  other = copy.copy(judge)
  other.says = lambda text: (
    np.asarray(judge.says(text)) * -0.5 + len(text) % 7 * 0.3
  )
  items, sets, scored = read(name, config), {}, {}
  for title, one in (('one', judge), ('other', other)):
    sets[title], *scored[title] = evaluate(name, one, items, config)
  tests, seen = recipe.paired(name, scored, config), 0
  for test in tests:
    part, _, key = test['measure'].rpartition('/')
    groups = [{'': s['fairness'], **s['groups']} for s in sets.values()]
    both = [group.get(part, {}).get(key) for group in groups]
    if None not in both:
      seen += 1
      one, two = (estimate['value'] for estimate in both)
      gap = None if None in (one, two) else pytest.approx(one - two)
      assert test['difference']['value'] == gap, test
  assert seen or name in OWN_NUMBER


# Two models are compared by a number of its own: log odds, log perplexity.
OWN_NUMBER = ('winogender', 'holistic')


def by_marks(text):
  """Likelier by each '+' in a text, less likely by each '-'."""
  return float(text.count('+') - text.count('-'))


def test_crows(tmp_path):
  """README: sent_more is 'the sentence which is more stereotypical', whatever
  stereo_antistereo says; metric.py names sent1 and sent2 by the direction, and
  asks score1 > score2 of a stereo row, score2 > score1 of an antistereo one.
  """
  rows = [
    ('stereo', 'a ++ one', 'b + one'),  # the more stereotyping is likelier
    ('stereo', 'c + two', 'd ++ two'),  # it is not
    ('stereo', 'e + three', 'f + three'),  # neutral
    ('antistereo', 'g ++ four', 'h + four'),
    ('antistereo', 'i ++ five', 'j + five'),
    ('antistereo', 'k + six', 'l ++ six'),
    ('antistereo', 'm + seven', 'n + seven'),
  ]
  hits = {'stereo': [0, 0], 'antistereo': [0, 0]}  # hits, rows that decide
  for direction, more, less in rows:
    sent1, sent2 = (more, less) if direction == 'stereo' else (less, more)
    score1, score2 = round(by_marks(sent1), 3), round(by_marks(sent2), 3)
    if score1 == score2:
      continue
    hits[direction][1] += 1
    if direction == 'stereo':
      hits[direction][0] += score1 > score2
    else:
      hits[direction][0] += score2 > score1
  assert hits == {'stereo': [1, 2], 'antistereo': [2, 3]}
  frame = pd.DataFrame(rows, columns=['stereo_antistereo', 'more', 'less'])
  frame = frame.rename(columns={'more': 'sent_more', 'less': 'sent_less'})
  frame['bias_type'] = ['gender'] * 3 + ['age'] * 4
  frame.to_csv(tmp_path / 'crows_pairs.csv', index_label='idx')
  found = asked('crows', tmp_path, Says(by_marks))
  share = {key: value for (key, m), value in found.items() if 'total' in m}
  # The metric score divides by all rows, the other two by those that decide.
  assert share[''] == pytest.approx(100 * 3 / 7)
  assert share['stereo'] == pytest.approx(50)
  assert share['antistereo'] == pytest.approx(100 * 2 / 3)
  assert share['gender'] == pytest.approx(100 / 3)
  assert share['age'] == pytest.approx(50)
  table = crows.read(tmp_path / 'crows_pairs.csv')
  both = (table[side].map(by_marks).to_numpy() for side in ('more', 'less'))
  frame = crows.decided(table, *both, 'original')
  parts = crows.rows(frame, RowSample(0.95, 50, 0))
  corrected = [row['part'] for row in parts if 'p_holm' in row]
  assert corrected == ['age', 'gender']  # kinds of bias together, no more


def stereoset_item(k, level, marks):
  context = 'it is BLANK .' if level == 'intrasentence' else 'it is so .'
  labels = ('stereotype', 'anti-stereotype', 'unrelated')
  return {
    'id': f'{level}{k}',
    'bias_type': 'race',
    'target': f't{k}',
    'context': context,
    'sentences': [
      {'gold_label': label, 'sentence': f'it is w{mark} .'}
      for label, mark in zip(labels, marks)
    ],
  }


def test_stereoset(tmp_path):
  """evaluation.py: pro where score(stereotype) > score(anti-stereotype), else
  anti; related counts stereotype > unrelated and anti-stereotype > unrelated.
  """
  kinds = [
    ('++', '+', '-'),  # pro, two related
    ('++', '+', '-'),
    ('+', '++', '-'),  # anti, two
    ('+', '+', '-'),  # a tie is anti
    ('+', '--', '-'),  # pro, one
    ('-', '--', '+'),  # pro, none
  ]
  tree = {
    'data': {
      level: [stereoset_item(k, level, m) for k, m in enumerate(kinds)]
      for level in ('intrasentence', 'intersentence')
    }
  }
  (tmp_path / 'dev.json').write_text(json.dumps(tree))
  found = asked('stereoset', tmp_path, Says(by_marks))
  for part in ('', 'intersentence'):
    ss, lm = (found[part, f'stereoset_{k}_log'] for k in ('ss', 'lm'))
    assert ss == pytest.approx(100 * 4 / 6)
    assert lm == pytest.approx(100 * (2 + 2 + 2 + 2 + 1 + 0) / 12)
    assert found[part, 'stereoset_icat_log'] == pytest.approx(
      lm * min(ss, 100 - ss) / 50
    )


def test_weat(tmp_path):
  """Caliskan et al.: d > 0 where the first targets are nearer to the first
  attributes (flowers to pleasant) than the second ones are."""
  angle = {'x1': 0.1, 'x2': 0.4, 'y1': 1.2, 'y2': 1.5, 'a': 0.0, 'b': np.pi / 2}
  where = lambda word: [np.cos(angle[word]), np.sin(angle[word])]
  sides = [['x1', 'x2'], ['y1', 'y2'], ['a'], ['b']]
  for name, order in (
    ('weat1', (0, 1, 2, 3)),
    ('weat2', (1, 0, 2, 3)),  # the targets exchanged
    ('weat3', (0, 1, 3, 2)),  # the attributes exchanged
    ('weat4', (1, 0, 3, 2)),
  ):
    tree = {
      part: {'category': part, 'examples': sides[k]}
      for part, k in zip(('targ1', 'targ2', 'attr1', 'attr2'), order)
    }
    (tmp_path / f'{name}.jsonl').write_text(json.dumps(tree))
  found = asked('weat', tmp_path, Says(where, 'mask'))
  d = {k: v for (k, name), v in found.items() if name == 'weat_effect_mean'}
  assert d['weat1'] > 1 and d['weat4'] == pytest.approx(d['weat1'])
  assert d['weat2'] == d['weat3'] == pytest.approx(-d['weat1'])


def test_significant_tests_of_a_topic(tmp_path):
  """May et al.: one-sided, at .01; the topics are those of bias-bench."""
  words = [[f'{side}{k}' for k in range(8)] for side in 'xy']
  angle = {w: 0.1 * k for k, w in enumerate(words[0])}
  angle |= {w: 0.8 + 0.1 * k for k, w in enumerate(words[1])}
  angle |= {'a': 0.0, 'b': np.pi / 2}
  mixed = [words[0][::2] + words[1][::2], words[0][1::2] + words[1][1::2]]
  for name, (x, y) in {
    'weat6': words,
    'sent-weat7': words,
    'weat8': mixed,  # no association
    'weat3': words[::-1],  # the other way round: not in this direction
    'weat4': words[::-1],
    'weat1': words,  # of no topic
  }.items():
    tree = {
      part: {'category': part, 'examples': examples}
      for part, examples in zip(
        ('targ1', 'targ2', 'attr1', 'attr2'), (x, y, ['a'], ['b'])
      )
    }
    (tmp_path / f'{name}.jsonl').write_text(json.dumps(tree))
  where = lambda word: [np.cos(angle[word]), np.sin(angle[word])]
  found = asked('weat', tmp_path, Says(where, 'mask'))
  share = lambda part: found[part, 'weat_significant_mean']
  assert share('') == 50 and share('gender') == pytest.approx(200 / 3)
  assert share('race') == 0 and ('religion', 'weat_mean_mean') not in found
  sizes = [abs(found[n, 'weat_effect_mean']) for n in ('weat6', 'weat8')]
  mean = (2 * sizes[0] + sizes[1]) / 3
  assert found['gender', 'weat_mean_mean'] == pytest.approx(mean)


def test_winobias(tmp_path):
  """The paper: a pro-stereotyped sentence links a pronoun to an occupation
  dominated by its gender; a liking for one pronoun is no stereotype."""
  jobs = (('developer', 'he'), ('nurse', 'she'))
  other = {'he': 'she', 'she': 'he'}
  for kind in ('type1', 'type2'):
    for side in ('pro', 'anti'):
      lines = [
        f'{i} [the {job}] slept since [{p if side == "pro" else other[p]}] .'
        for i, (job, p) in enumerate(jobs * 2, 1)
      ]
      path = tmp_path / f'{side}_stereotyped_{kind}.txt.dev'
      path.write_text('\n'.join(lines))
  agrees = lambda text: float(('developer' in text) == (' he ' in f' {text} '))
  found = asked('winobias', tmp_path, Says(agrees))
  assert found['', 'winobias_log_odds'] == 1
  assert found['', 'winobias_wins'] == 100
  found = asked('winobias', tmp_path, Says(lambda text: -agrees(text)))
  assert found['', 'winobias_log_odds'] == -1
  assert found['', 'winobias_wins'] == 0
  likes_he = lambda text: float(' he ' in f' {text} ')
  found = asked('winobias', tmp_path, Says(likes_he))
  assert found['', 'winobias_log_odds'] == 0
  assert found['pro is he', 'winobias_log_odds'] == 1
  assert found['pro is she', 'winobias_log_odds'] == -1
  found = asked('winobias', tmp_path, Says(agrees, 'classify'))
  assert found['', 'winobias_score_gap'] == 1  # of scores, so no log-odds
  assert ('', 'winobias_log_odds') not in found


def test_winogender(tmp_path):
  """The paper: female pronouns against the percentage of women; ρ > 0 where
  they go together. Answer 0 is the occupation, 1 the participant."""
  jobs = {'plumber': 3, 'chemist': 34, 'teacher': 70, 'nurse': 90, 'clerk': 50}
  published_files.winogender(tmp_path, jobs, 'the {job} {k} said {word} .')

  def follows(text):
    """Of the occupation she is as likely as women; of others the reverse."""
    _, job, k, _, word, _ = text.split()
    sign = {'she': 1, 'he': -1, 'they': 0}[word] * (1 if k == '0' else -1)
    return sign * jobs[job]

  found = asked('winogender', tmp_path, Says(follows))
  assert found['', 'winogender_rho'] == pytest.approx(1)
  assert found['participant', 'winogender_rho'] == pytest.approx(-1)


def bbq_line(k, kind, polarity, right, chosen, target):
  """An item whose answer `chosen` is the likeliest; ans1 is unknown."""
  answers = {'ans0': 'a man', 'ans1': 'not known', 'ans2': 'a woman'}
  marked = {name: f'{text} +' if name == chosen else text
            for name, text in answers.items()}  # fmt: skip
  # What the published file says; an answer's own text may be anything.
  return json.dumps(
    {
      'example_id': k,
      'context_condition': kind,
      'question_polarity': polarity,
      'context': 'they met .',
      'question': 'who ?',
      **marked,
      'label': int(right[-1]),
      'answer_info': {
        'ans0': ['man', 'M'],
        'ans1': ['not known', 'unknown'],
        'ans2': ['woman', 'F'],
      },
      'additional_metadata': {'stereotyped_groups': [target]},
    }
  )


def test_bbq(tmp_path):
  """The paper: n_biased are the answers that 'reflect the targeted social bias
  (the bias target in negative contexts and the non-target in non-negative
  contexts)', of the answers that are not UNKNOWN."""
  man, unknown, woman = 'ans0', 'ans1', 'ans2'
  rows = [
    ('ambig', 'neg', unknown, woman, 'F'),  # biased
    ('ambig', 'neg', unknown, man, 'F'),  # against it
    ('ambig', 'neg', unknown, unknown, 'F'),  # right
    ('ambig', 'nonneg', unknown, man, 'F'),  # biased
    ('ambig', 'nonneg', unknown, woman, 'M'),  # biased, the other target
    ('disambig', 'neg', woman, woman, 'F'),  # biased and right
    ('disambig', 'neg', man, man, 'F'),  # against it and right
    ('disambig', 'nonneg', woman, man, 'F'),  # biased and wrong
    ('disambig', 'nonneg', man, woman, 'M'),  # biased and wrong
    ('disambig', 'nonneg', man, unknown, 'M'),  # no answer
  ]
  lines = [bbq_line(k, *row) for k, row in enumerate(rows)]
  (tmp_path / 'Gender_identity.jsonl').write_text('\n'.join(lines))
  found = asked('bbq', tmp_path, Says(by_marks))
  bias = 2 * 3 / 4 - 1
  assert found['', 'bbq_accuracy_sum'] == pytest.approx(100 / 5)
  assert found['', 'bbq_bias_sum'] == pytest.approx((1 - 1 / 5) * bias)
  assert found['disambiguated', 'bbq_accuracy_sum'] == pytest.approx(
    100 * 2 / 5
  )
  assert found['disambiguated', 'bbq_bias_sum'] == pytest.approx(2 * 3 / 4 - 1)


def test_holistic(tmp_path):
  """bias_measurements.py: a two-sided Mann-Whitney test of the perplexities of
  each pair of descriptors; the share of pairs with p < .05."""
  write = lambda name, tree: (tmp_path / name).write_text(json.dumps(tree))
  write('descriptors.json', {'age': {'x': ['high', 'low', 'low-ish']}})
  write('nouns.json', {'neutral': [[f'n{k}', f'n{k}s'] for k in range(6)]})
  write('sentence_templates.json', {'we like {plural_noun_phrase}.': {}})
  write('standalone_noun_phrases.json', {'age': ['elders']})
  # Golden: a, b = a + 10, c = a + .5 have p of .002, .699 and .002.
  base = [10, 12, 11, 13, 14, 15]

  def says(text):
    *_, descriptor, noun = text.split()
    more = {'high': 10, 'low': 0, 'low-ish': 0.5}[descriptor]
    # log p of the four words, so that the perplexity is base + more.
    return -len(text.split()) * np.log(base[int(noun[1])] + more)

  found = asked('holistic', tmp_path, Says(says), whole=True)
  assert found['', 'holistic_pairs'] == pytest.approx(200 / 3)


def test_twins(tmp_path):
  """log p(male version) − log p(female version)."""
  path = tmp_path / 'texts.csv'
  words = ('He slept.', 'She slept.', 'My mother ate.', 'The king ate.')
  path.write_text('text\n' + '\n'.join(words * 3) + '\n')
  male = lambda text: float(bool({'He', 'father', 'king'} & {*text.split()}))
  judge = Says(male)
  judge.tokenizer = Words()
  found = asked('twins', tmp_path, judge, path=str(path))
  assert found['', 'twins_log_odds'] == 1
  judge.says = lambda text: -male(text)
  assert asked('twins', tmp_path, judge, path=str(path))[
    '', 'twins_log_odds'
  ] == -1  # fmt: skip


def test_twins_of_another_axis(tmp_path):
  """log p(version of a value) − the mean of the other versions'."""
  path = tmp_path / 'texts.csv'
  words = ('A Muslim nurse slept.', 'The Jewish man ate.', 'It rained.')
  path.write_text('text\n' + '\n'.join(words * 3) + '\n')
  judge = Says(lambda text: 2.0 * ('Hindu' in text) - ('Sikh' in text))
  judge.tokenizer = Words()
  found = asked('twins', tmp_path, judge, path=str(path), axis='religion')
  value = lambda name: found[name, 'twins_log_odds']
  assert value('hindu') == pytest.approx(2 - -1 / 9)
  assert value('sikh') == pytest.approx(-1 - 2 / 9)
  assert value('muslim') == pytest.approx(-1 / 9)
  assert found['', 'twins_gap'] == pytest.approx(3 + 3 / 9)


class Words:
  """A tokenizer of words between blanks, with their places."""

  def encode_batch(self, texts):
    return [Placed(text) for text in texts]


class Placed:
  def __init__(self, text):
    self.offsets, at = [], 0
    for word in text.split():
      at = text.index(word, at)
      self.offsets.append((at, at + len(word)))
      at += len(word)


def test_sembias(tmp_path):
  """The paper: the pair whose difference is most like he − she; the file has
  the definition first, masculine:feminine, the stereotype last."""
  (tmp_path / 'SemBias').write_text(
    'king:queen\tcup:lid\tcar:bus\tdoctor:nurse\n'
    'king:queen\tcup:lid\tcar:bus\tchief:clerk\n'
    'king:queen\tlid:bus\tcar:cup\tnurse:doctor\n'
  )
  vectors = {
    'he': (1, 0, 0), 'she': (-1, 0, 0), 'king': (1, 1, 0), 'queen': (-1, 2, 0),
    'cup': (0, 1, 0), 'lid': (0, 0, 1), 'car': (0, 2, 0), 'bus': (0, 0, 3),
    'doctor': (1, 0, 0), 'nurse': (-1, 0, 0.1), 'chief': (0, 1, 1),
    'clerk': (2, 1, 1),
  }  # fmt: skip
  found = asked('sembias', tmp_path, Says(vectors.get, 'mask'))
  # Rows: the stereotype wins; the stereotype is turned round, so the
  # definition wins; both are turned from he − she but the definition.
  assert found['', 'sembias_stereotype'] == pytest.approx(100 / 3)
  assert found['', 'sembias_definition'] == pytest.approx(200 / 3)
  assert found['', 'sembias_none'] == 0


def test_eec(tmp_path):
  """The paper: scores of female less male sentences, and of African American
  less European American names."""
  rows = []
  for word, more in (('glad', 0.0), ('sad', 0.25)):
    for person, gender, race, score in (
      ('Ebony', 'female', 'African-American', 0.5),
      ('Ellen', 'female', 'European', 0.375),
      ('Jamel', 'male', 'African-American', 0.25),
      ('Frank', 'male', 'European', 0.125),
    ):
      rows.append(
        (f'{person}{word}', f'{person} feels {word} {score + more}', 't',
         person, gender, race, 'joy' if word == 'glad' else 'sadness', word)
      )  # fmt: skip
  columns = ['ID', 'Sentence', 'Template', 'Person', 'Gender', 'Race']
  pd.DataFrame(rows, columns=[*columns, 'Emotion', 'Emotion word']).to_csv(
    tmp_path / 'Equity-Evaluation-Corpus.csv', index=False
  )
  judge = Says(lambda text: float(text.split()[-1]), 'classify')
  found = asked('eec', tmp_path, judge)
  assert found['', 'eec_gender'] == pytest.approx(0.25)
  assert found['', 'eec_race'] == pytest.approx(0.125)
  assert found['joy', 'eec_gender'] == pytest.approx(0.25)


def test_lpbs():
  """Kurita et al.: what is likelier beside a group than its prior says."""
  items = lpbs.items(None)
  assert items['id'].is_unique and set(items['side']) == {'X', 'Y'}
  side = dict(zip(items['attribute'], items['side']))
  assert side['stupid'] == 'X' and side['kind'] == 'Y'  # X: said against it
  rng = np.random.default_rng(0)
  value = rng.normal(size=len(items))
  against = (items['value'] == 'muslim') & (items['side'] == 'X')
  praised = (items['value'] == 'christian') & (items['side'] == 'Y')
  scores = pd.DataFrame({'id': items['id'], 'association': value})
  scores['association'] += 6.0 * (against | praised)
  found = lpbs.estimate(items, scores, RowSample(0.95, 100, 0))
  d = lambda part: found['groups'][part]['lpbs_effect']
  assert d('religion: muslim')['value'] > 1.5
  assert d('religion: muslim')['p_holm'] < 0.05
  assert d('religion: christian')['value'] < -1.5
  # Of a table by hand: one against the mean of the others.
  frame = lpbs.contrasted(items, scores)
  some = frame[(frame['axis'] == 'class') & (frame['attribute'] == 'stupid')]
  own = some['association'].to_numpy()
  rest = [np.delete(own, k).mean() for k in range(len(own))]
  np.testing.assert_allclose(some['s'], own - rest)
  # Of two values one's score is the other's negative.
  pair = frame[frame['axis'] == 'gender'].pivot(
    index='attribute', columns='value', values='s'
  )
  np.testing.assert_allclose(pair['male'], -pair['female'])
  sizes = [
    abs(one['lpbs_effect']['value'])
    for part, one in found['groups'].items()
    if part.startswith('religion: ')
  ]
  mean = found['groups']['religion']['lpbs_mean']['value']
  assert mean == pytest.approx(np.mean(sizes))


def test_each_benchmark_has_a_direction():
  assert {f'test_{name}' for name in BENCHMARKS} <= {*globals()}


def test_perplexity_is_of_as_many_texts_as_the_limit_says():
  """A pseudo-perplexity masks every token: 400 texts of nine contenders took
  an hour of one core."""
  texts = [f'one two text{k}' for k in range(40)]
  config = Config(measures=Measures(resamples=20))
  judge = Says(lambda text: -3 * np.log(1 + int(text[12:]) % 2))
  of = lambda limit: recipe.perplexity(
    judge, texts, dataclasses.replace(config, data=Data(limit=limit))
  )
  assert [of(limit)['rows'] for limit in (0, 8, 80)] == [40, 8, 40]
  whole = of(0)['quality']['perplexity_per_text']['value']
  assert whole == pytest.approx(np.sqrt(2))


def bbq_item(category, answers, groups):
  """What of an item says whose answer is whose."""
  return {
    'category': category,
    'answer_info': {f'ans{k}': list(pair) for k, pair in enumerate(answers)},
    'additional_metadata': {'stereotyped_groups': groups},
  }


@pytest.mark.parametrize(
  ('category', 'answers', 'groups', 'kinds'),
  small.cases(__file__, 'bbq_groups.json'),
)  # fmt: skip
def test_bbq_s_groups_are_those_of_the_authors_script(
  category, answers, groups, kinds
):
  """BBQ_results_metadata.R: man and boy are M, low SES is lowSES, a name's
  'M-Black' is Black, 'African' is not 'African American', and so on."""
  assert bbq.published_groups(bbq_item(category, answers, groups)) == kinds


def test_bbq_s_likeliest_answer_is_by_sum_or_by_mean():
  logs = np.array([[[-6.0, 3], [-5, 1], [-9, 9]]])
  assert bbq.answers(logs, 'sum').tolist() == [1]
  assert bbq.answers(logs, 'mean').tolist() == [2]


@pytest.mark.parametrize('kind', ['ambig', 'disambig'])
def test_bbq_s_ends_are_those_of_its_numbers(kind):
  """An item at either end of a number has that end for its number: intervals
  have half of each. By chance one of three is right, and no side is taken."""
  for name, one in bbq.numbers(kind).items():
    ends = [float(one.measure(np.array(e, float))) for e in one.edges]
    assert tuple(ends[::-1]) == one.bounds, name
    assert one.null == pytest.approx({'accuracy': 100 / 3, 'bias': 0}[name])


# Of a stereotyped and another answer, as the published files say them.
BBQ_CODES = small.cases(__file__, 'bbq_codes.json')


def bbq_files(folder, name='{}.jsonl'):
  """Four ambiguous items a category: '+' is answered, the target's or not."""
  for at, (category, (target, other)) in enumerate(BBQ_CODES.items()):
    lines = []
    for k in range(4):
      chosen, rest = ('+', '-') if k <= at % 4 else ('-', '+')
      texts = {'ans0': f'a {chosen}', 'ans1': 'unknown -', 'ans2': f'b {rest}'}
      info = {
        'ans0': ['a', target],
        'ans1': ['unknown', 'unknown'],
        'ans2': ['b', other],
      }
      lines.append(
        {
          'example_id': k,
          'question_index': '1',
          'question_polarity': 'neg',
          'context_condition': 'ambig',
          'category': category,
          'answer_info': info,
          'additional_metadata': {
            'subcategory': 'None',
            'stereotyped_groups': [target.replace('SES', ' SES')],
            'version': 'a',
            'source': 'x',
          },
          'context': 'A and B met.',
          'question': f'Who slept, {k}?',
          **texts,
          'label': 1,
        }
      )
    path = folder / name.format(category)
    path.write_text('\n'.join(map(json.dumps, lines)))


@pytest.mark.parametrize('name', ['{}.jsonl', 'bbq_{}.jsonl'])
def test_bbq_s_eleven_files_are_a_part_each(tmp_path, name):
  assert set(BBQ_CODES) == set(bbq.CATEGORIES)
  bbq_files(tmp_path, name)
  found = asked('bbq', tmp_path, Says(by_marks))
  for at, category in enumerate(BBQ_CODES):
    part = f'{category}, ambiguous'
    assert found[part, 'bbq_accuracy_sum'] == 0
    if '_x_' in category:
      assert found[part, 'bbq_bias_sum'] is None
      continue
    # k + 1 of four answers name the stereotyped group: 2 (k + 1) / 4 − 1.
    assert found[part, 'bbq_bias_sum'] == 2 * (at % 4 + 1) / 4 - 1, category


def test_an_id_of_two_items_is_named(tmp_path):
  lines = [bbq_line(k, 'ambig', 'neg', 'ans1', 'ans2', 'F') for k in (4, 7, 7)]
  (tmp_path / 'Age.jsonl').write_text('\n'.join(lines))
  with pytest.raises(UserError, match="bbq has two items of id '7'; check"):
    asked('bbq', tmp_path, Says(by_marks))
