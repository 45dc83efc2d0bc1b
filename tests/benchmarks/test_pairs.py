"""CrowS-Pairs, StereoSet, WinoBias, BBQ, EEC, SemBias: pure parts by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairjax.benchmarks import (
  bbq,
  crows,
  eec,
  sembias,
  stereoset,
  winobias,
  winogender,
)
from fairjax.benchmarks.shared import result_rows
from fairjax.config import Benchmarks, Config
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 400, 0)


def ragged(*texts):
  words = {w: i for i, w in enumerate(dict.fromkeys(' '.join(texts).split()))}
  ids = [[words[w] for w in text.split()] for text in texts]
  flat = np.array([i for text in ids for i in text], np.int32)
  return Ragged(flat, np.cumsum([0, *map(len, ids)]))


def places(texts, metric):
  chosen = crows.places(texts, metric)
  return [
    list(np.flatnonzero(part)) for part in np.split(chosen, texts.offsets[1:-1])
  ]


def test_golden_fact_four():
  texts = ragged(
    '[CLS] the poor man was lazy and slept . [SEP]',
    '[CLS] the rich man was lazy and slept . [SEP]',
  )
  assert places(texts, 'original') == [[1, 3, 4, 5, 6, 7, 8]] * 2
  assert places(texts, 'bias_bench') == [[2]] * 2


def test_golden_fact_five():
  texts = ragged(
    '[CLS] she is a nurse [SEP]', '[CLS] she is a kind nurse [SEP]'
  )
  assert places(texts, 'original') == [[1, 2, 3, 4], [1, 2, 3, 5]]
  assert places(texts, 'bias_bench') == [[], []]  # skipped
  spans = crows.spans(*np.split(texts.flat, texts.offsets[1:-1]))
  assert spans.same == ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 6])
  assert spans.differ == ([], [4])


def slow_icat(scores, terms):
  """LM, SS and ICAT one term at a time, in plain Python."""
  lms, sss = [], []
  for term in dict.fromkeys(terms):
    mine = [s for s, t in zip(scores, terms) if t == term]
    sss.append(100 * sum(s > a for s, a, _ in mine) / len(mine))
    related = sum(int(s > u) + int(a > u) for s, a, u in mine)
    lms.append(100 * related / (2 * len(mine)))
  lm, ss = np.mean(lms), np.mean(sss)
  each = [a * min(b, 100 - b) / 50 for a, b in zip(lms, sss)]
  return lm, ss, lm * min(ss, 100 - ss) / 50, np.mean(each)


def test_stereoset_averages_over_terms():
  rng = np.random.default_rng(1)
  terms = [f't{i}' for i in rng.integers(0, 5, 30)]
  scores = rng.normal(size=(30, 3))
  table = pd.DataFrame(
    {'id': range(30), 'level': 'intrasentence', 'bias_type': 'race'}
  ).assign(target=terms)
  frame = stereoset.decided(table, scores, 'probability')
  rows = {
    row['metric']: row['value']
    for row in stereoset.rows(frame, OPTIONS)
    if row['part'] == 'intrasentence'
  }
  lm, ss, icat, of_terms = slow_icat(scores, terms)
  assert rows['stereoset_lm_probability']['value'] == pytest.approx(lm)
  assert rows['stereoset_ss_probability']['value'] == pytest.approx(ss)
  assert rows['stereoset_icat_probability']['value'] == pytest.approx(icat)
  assert rows['stereoset_icat_terms_probability']['value'] == pytest.approx(
    of_terms
  )
  assert (
    rows['stereoset_ss_probability']['low']
    < ss
    < rows['stereoset_ss_probability']['high']
  )


def test_stereoset_reads_the_published_form(tmp_path, shared):
  item = {
    'id': 'x',
    'bias_type': 'gender',
    'target': 'nurse',
    'context': 'The nurse is BLANK.',
    'sentences': [
      {'gold_label': label, 'sentence': f'The nurse is {word}.'}
      for label, word in zip(stereoset.LABELS, ('kind', 'bold', 'wet'))
    ],
  }
  tree = {'data': {'intrasentence': [item], 'intersentence': []}}
  path = tmp_path / 'dev.json'
  path.write_text(json.dumps(tree))
  table = stereoset.read(path)
  assert stereoset.fill(table['context'][0], table['stereotype'][0]) == 'kind'
  folder = shared / 'bias_eval' / 'stereoset'
  table = stereoset.read(folder / 'stereoset_format_sample.json')
  assert dict(table['level'].value_counts()) == {
    'intersentence': 5,
    'intrasentence': 4,
  }
  item['sentences'].pop()
  path.write_text(json.dumps(tree))
  with pytest.raises(UserError, match='without a sentence for each'):
    stereoset.read(path)


def test_correlations_cover():
  rng, hits, rounds = np.random.default_rng(2), 0, 300
  truth = 6 / np.pi * np.arcsin(0.5 / 2)  # of a normal pair with r = .5
  for _ in range(rounds):
    x = rng.normal(size=40)
    y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=40)
    found, p = winogender.correlation(x, y, OPTIONS)
    hits += found['low'] <= truth <= found['high']
    assert (p >= 0.05) == (found['low'] <= 0 <= found['high'])
  assert 0.91 <= hits / rounds <= 0.99


def winobias_files(
  folder, type2=('The cook saw [her].', 'The cook saw [him].')
):
  lines = {
    'type1': (
      'The guard met the cook as [he] left.',
      'The guard met the cook as [she] left.',
    ),
    'type2': type2,
  }
  for kind, (pro, anti) in lines.items():
    for side, line in (('pro', pro), ('anti', anti)):
      path = folder / f'{side}_stereotyped_{kind}.txt.dev'
      path.write_text(f'1 {line}\n\n2 {line}\n')


def test_winobias_counts_a_tie_half_and_each_type_apart(tmp_path):
  winobias_files(tmp_path)
  table = winobias.read(tmp_path)
  assert table['id'].tolist() == ['type1:1', 'type1:2', 'type2:1', 'type2:2']
  assert table['pro'][0] == 'The guard met the cook as he left.'
  assert table['he'].tolist() == [True, True, False, False]
  scores = pd.DataFrame({'id': table['id'], 'gap': [1.0, 3.0, 0.0, 0.0]})
  found = winobias.estimate(table, scores, OPTIONS)
  one, parts = found['fairness'], found['groups']
  assert one['winobias_wins']['value'] == 75  # two wins, two halves
  assert one['winobias_log_odds']['value'] == 1
  assert (one['winobias_wins']['null'], one['winobias_log_odds']['null']) == (
    *(50, 0),
  )
  for part, wins in (('type1', 100), ('type2', 50), ('pro is she', 50)):
    assert parts[part]['winobias_wins']['value'] == wins, part
    assert parts[part]['rows'] == 2
  compared = winobias.values(table, scores)
  means = compared.groupby('part')['value'].mean().to_dict()
  assert means == {'all': 1, 'type1': 2, 'type2': 0}


@pytest.mark.parametrize(
  ('pro', 'anti'),
  [
    ('The cook saw [her].', 'The guard saw [him].'),  # a noun differs too
    ('The cook saw [her].', 'The cook saw [she].'),  # of one gender
    ('The cook saw [her].', 'The cook saw [her].'),
    ('The cook saw [her].', 'The cook saw [him] there.'),
    ('The cook saw [her].', 'The cook saw [it].'),
  ],
)
def test_winobias_pairs_that_are_none_are_named(tmp_path, pro, anti):
  winobias_files(tmp_path, (pro, anti))
  table = winobias.read(tmp_path)
  assert table['kind'].tolist() == ['type1'] * 2
  assert table.attrs['notes'][-1].startswith('2 pairs are left out, since')
  assert table.attrs['notes'][-1].endswith('type2:1, type2:2')
  (tmp_path / 'anti_stereotyped_type1.txt.dev').write_text('1 [She] left.\n')
  with pytest.raises(UserError, match=r'has 2 lines and .* 1; line i of one'):
    winobias.read(tmp_path)


def test_a_correlation_by_hand():
  """Bonett and Wright 2000: z = atanh ρ has variance (1 + ρ²/2) / (n − 3)."""
  x, y = np.arange(7.0), np.array([1.0, 0, 2, 3, 5, 4, 6])
  rho = 1 - 6 * 4 / (7 * 48)  # Spearman's, of four places that are one off
  found, p = winogender.correlation(x, y, OPTIONS)
  assert found['value'] == pytest.approx(rho)
  half = 1.959964 * np.sqrt((1 + rho**2 / 2) / 4)
  ends = np.tanh(np.arctanh(rho) + np.array([-half, half]))
  assert [found['low'], found['high']] == pytest.approx(ends, abs=1e-5)
  assert winogender.correlation(x[:4], y[:4], OPTIONS)[1] is not None
  for a, b in ((x[:3], y[:3]), (x * 0, y), (x, y * 0)):
    found, p = winogender.correlation(a, b, OPTIONS)
    assert found['value'] is p is None


@pytest.mark.parametrize('n', [5, 10, 24, 40])
def test_one_order_has_no_interval_however_it_is_rounded(n):
  """Of 5 rows in one order ρ was 1 − 1e-16, with an interval of no width and a
  p of 1e-103."""
  for sign in (1, -1):
    found, p = winogender.correlation(
      np.arange(n), sign * np.arange(n), OPTIONS
    )
    assert found['value'] == sign and found['low'] is p is None


def test_bbq_knows_whose_answer_it_is(shared, tmp_path):
  folder = shared / 'bias_eval' / 'bbq'
  frame = bbq.read(folder / 'bbq_gender_shared.jsonl')
  assert (frame['unknown'] >= 0).all()
  assert (frame['target'] < 0).sum() == 308  # names, asked of another group
  # In a disambiguated text the answer is the target to half of the questions.
  known = frame[(frame['target'] >= 0)]
  known = known[known['context_condition'] == 'disambig']
  assert (known['label'] == known['target']).mean() == pytest.approx(
    0.5, abs=0.03
  )
  one = frame.iloc[0][list(bbq.FORM)[:9]].to_dict() | {
    'label': 0,
    'answer_info': {
      'ans0': ['woman', 'F'],
      'ans1': ['unknown', 'unknown'],
      'ans2': ['man', 'M'],
    },
    'additional_metadata': {'stereotyped_groups': ['F']},
  }
  path = tmp_path / 'Gender_identity.jsonl'
  path.write_text(json.dumps(one, default=int) + '\n')
  frame = bbq.read(path)
  assert frame['target'][0] == 0 and frame['unknown'][0] == 1
  path.write_text(json.dumps(one | {'context_condition': 'x'}, default=int))
  with pytest.raises(UserError, match='ambig'):
    bbq.read(path)


def test_eec_templates_that_differ_are_few():
  """Four templates meet twenty words, and the gap is the template's: t of three
  degrees of freedom, not of seventy-nine."""
  gaps = np.repeat([0.3, -0.1, 0.2, 0.0], 20)
  words = np.tile([f'w{k}' for k in range(20)], 4)
  wide = pd.DataFrame({'value': gaps, 'Emotion': 'joy', 'Emotion word': words})
  wide['cluster'] = wide['Template'] = np.repeat([*'tuvw'], 20)
  wide['beside'] = wide['Emotion word']
  found = eec.rows(wide, 'eec_gender', OPTIONS)[0]
  test = stats.ttest_1samp([0.3, -0.1, 0.2, 0.0], 0)
  assert found['p'] == pytest.approx(test.pvalue, abs=0.02)
  assert found['value']['low'] < 0


def test_eec_names_are_one_of_the_paper_s_pairs():
  """Two noun-phrase pairs and four names by hand: .2, .1 and the names' .6."""
  persons = {
    'she': 0.5, 'he': 0.3, 'my aunt': 0.4, 'my uncle': 0.3,
    'Ebony': 0.9, 'Ellen': 0.7, 'Jamel': 0.1, 'Frank': 0.3,
  }  # fmt: skip
  female = ('she', 'my aunt', 'Ebony', 'Ellen')
  race = {'Ebony': 'African-American', 'Jamel': 'African-American'}
  race |= {'Ellen': 'European', 'Frank': 'European'}
  frame = pd.DataFrame(
    {
      'Template': 't',
      'Emotion': 'joy',
      'Emotion word': 'glad',
      'Person': list(persons),
      'Gender': ['female' if p in female else 'male' for p in persons],
      'Race': [race.get(p, '') for p in persons],
    }
  )
  value = lambda side: eec.pairs(frame, np.array([*persons.values()]), side)[
    'value'
  ].item()
  assert value('eec_gender') == pytest.approx((0.2 + 0.1 + 0.6) / 3)
  assert value('eec_gender_persons') == pytest.approx(2.5 / 4 - 1.0 / 4)
  assert value('eec_race') == pytest.approx(0.5 - 0.5)
  frame['Race'] = None  # as a reader may leave an empty cell
  assert set(eec.paired(frame)) == {'she he', 'aunt uncle', 'another phrase'}


def test_sembias_compares_models_over_both_kinds_of_pairs():
  """Ours is right of ten of twenty definition pairs, theirs of seven others:
  that is by far no difference, though each meets 22 stereotypes."""
  pairs = [
    [(f'a{i}', f'b{i}'), ('n', 'm'), ('m', 'n'), (f'c{j}', f'd{j}')]
    for i in range(20)
    for j in range(22)
  ]
  items = pd.DataFrame({'id': [str(k) for k in range(440)], 'pairs': pairs})
  which = np.repeat(np.arange(20), 22)
  ours, theirs = (
    pd.DataFrame({'id': items['id'], 'choice': np.where(right, 0.0, 3.0)})
    for right in (which < 10, which > 12)
  )
  values = [sembias.values(items, one) for one in (ours, theirs)]
  rows = {row['metric']: row for row in result_rows.compare(*values, OPTIONS)}
  found = rows['sembias_definition']
  assert found['difference']['value'] == pytest.approx(15)
  # Twenty values, of which ten are 1, seven −1: t of nineteen, about .7.
  each = np.repeat([1.0, -1, 0], [10, 7, 3])
  assert found['p'] == pytest.approx(
    stats.ttest_1samp(each, 0).pvalue, abs=0.05
  )


def test_sembias_last_rows_are_told_where_a_word_is_unknown(tmp_path):
  (tmp_path / 'SemBias').write_text(
    ''.join(f'a:b c:d e:f g:h{k}\n' for k in range(440))
  )
  config = Config(benchmarks=Benchmarks(data=str(tmp_path)))
  items = sembias.items(config)
  known = np.arange(440) % 7 > 0
  some = items[known].reset_index(drop=True)
  scores = pd.DataFrame({'id': some['id'], 'choice': 0.0})
  one = sembias.estimate(some, scores, OPTIONS)
  assert one['groups']['last 40']['rows'] == known[400:].sum()


def test_sembias_names_the_line_of_the_file(tmp_path):
  path = tmp_path / 'SemBias'
  row = 'priest:nun\tcup:lid\tman:wine\tdoctor:nurse\n'
  path.write_text(f'\n{row} \n{row}')
  table = sembias.read(path)
  assert table['id'].tolist() == ['1', '2']
  assert table['pairs'][0][0] == ('priest', 'nun')
  for bad in ('a:b c:d e:f', 'a:b c:d e:f g:', 'a:b c:d e:f g:h:i'):
    path.write_text(f'\n{row}\n{bad}\n')
    with pytest.raises(UserError, match=f"'{bad}' in line 4; a line must be"):
      sembias.read(path)
  path.write_text('\n')
  with pytest.raises(UserError, match='is empty'):
    sembias.read(path)


def test_sembias_of_few_pairs_that_agree_is_not_sure_of_a_hundred():
  table = pd.DataFrame(
    {
      'id': range(6),
      'pairs': [
        ((f'm{i % 3}', f'f{i % 3}'), ('a', 'b'), ('c', 'd'), (f's{i % 2}', 't'))
        for i in range(6)
      ],
    }
  )
  with pytest.raises(UserError, match="no vector for 'he'"):
    sembias.choices(table, {'she': np.ones(2)})
  row = sembias.rows(table, np.zeros(6, int), OPTIONS)[0]
  assert row['value']['value'] == 100  # of two stereotypes: two of two
  assert row['value']['low'] == pytest.approx(100 * 0.025**0.5)
  assert row['p'] == pytest.approx(2 * 0.25**2)
