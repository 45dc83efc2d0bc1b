"""Benchmarks side by side by axis."""

import pandas as pd

from fairjax.benchmarks import BENCHMARKS, bbq
from fairjax.benchmarks.shared import by_axis
from fairjax.config.axes import AXES
from fairjax.pairs.axes import exchange

# The nine bias types of CrowS-Pairs.
CROWS = (
  *('race-color', 'socioeconomic', 'gender', 'disability', 'nationality'),
  *('sexual-orientation', 'physical-appearance', 'religion', 'age'),
)
# The axes of HolisticBias's descriptors that are one of ours.
HOLISTIC = (
  *('ability', 'age', 'body_type', 'gender_and_sex', 'nationality'),
  *('race_ethnicity', 'religion', 'sexual_orientation', 'socioeconomic_class'),
)


def test_every_category_has_its_axis_and_no_other():
  crows = [by_axis.axis_of('crows', part) for part in CROWS]
  assert len(set(crows)) == 9 and '' not in crows
  assert by_axis.axis_of('crows', 'stereo') == ''
  held = [by_axis.axis_of('holistic', f'axis {part}') for part in HOLISTIC]
  assert sorted(held) == sorted(crows)
  own = [by_axis.axis_of('bbq', f'{c}, ambiguous') for c in bbq.CATEGORIES]
  assert own.count('') == 2  # of two axes at once
  assert sorted(filter(None, own)) == sorted(crows)
  assert by_axis.axis_of('bbq', 'Age, disambiguated') == ''
  for part, axis in (
    ('intrasentence, race', 'race'),
    ('intrasentence, profession', ''),
    ('intersentence, race', ''),
    ('intersentence', ''),
  ):
    assert by_axis.axis_of('stereoset', part) == axis
  alone = pd.DataFrame({'category': ['bbq_gender_shared'] * 2})
  assert by_axis._only('bbq', alone) == 'gender'
  for axis in AXES:
    assert by_axis.axis_of('lpbs', exchange.called(axis))
    assert by_axis.axis_of('lpbs', f'{axis}: muslim') == ''


def number(value, p=None):
  return {'value': value, 'low': value - 1, 'high': value + 1, 'p': p}


def test_the_table_is_of_every_number_and_holm_is_over_all_of_them():
  crows = {
    'fairness': {'crows_original': number(60.0), 'crows_aul': number(51.0)},
    'groups': {
      'race-color': {
        'rows': 9,
        'crows_original': number(70.0, 0.01),
        'crows_aul': number(50.0, 0.9),
      },
      'age': {'rows': 4, 'crows_original': number(40.0, 0.02)},
      'stereo': {'rows': 9, 'crows_original': number(99.0, 1e-9)},
    },
  }
  gendered = {'fairness': {'winobias_log_odds': number(0.3, 0.001)}}
  one = {'fairness': {'bbq_bias_mean': number(0.1, 0.3)}, 'groups': {}}
  items = {
    'crows': pd.DataFrame(),
    'winobias': pd.DataFrame(),
    'bbq': pd.DataFrame({'category': ['Religion'] * 3}),
  }
  sets = {'crows': crows, 'winobias': gendered, 'bbq': one, 'texts': {}}
  rows, said = by_axis.lines(sets, items)
  assert [row['axis'] for row in rows] == ['gender', 'race', 'religion', 'age']
  label = 'CrowS-Pairs (original)'
  assert rows[1][label]['value'] == 70.0 and rows[3][label]['value'] == 40.0
  assert rows[1]['CrowS-Pairs (AUL)']['value'] == 50.0
  # Holm of .001, .01, .02, .3, .9: .005, .04, .06, .6, .9.
  (words,) = said
  assert 'over the 5 numbers' in words
  assert 'gender by' in words and 'race by CrowS-Pairs (original) (70' in words
  assert 'age by' not in words and 'p 0.04' in words
  assert rows[2]['BBQ bias']['value'] == 0.1
  assert rows[1][label]['digits'] == 1 and 'digits' not in rows[2]['BBQ bias']
  for name, row in BENCHMARKS.items():  # each shows what it can measure
    assert row.headline or row.by_axis or name in ('twins', 'eec'), name


def test_a_number_of_the_level_is_one_of_the_sure():
  """Five p of .01, adjusted .05 each: Holm rejects what is no larger."""
  groups = {
    part: {'rows': 9, 'crows_original': number(60.0, 0.01)}
    for part in ('race-color', 'age', 'religion', 'disability', 'nationality')
  }
  one = {'fairness': {'crows_original': number(60.0)}, 'groups': groups}
  _, (said,) = by_axis.lines({'crows': one}, {'crows': pd.DataFrame()})
  assert said.startswith('Apart from no preference, at p ≤ 0.05 by Holm over')
  assert said.count('p 0.05') == 5
