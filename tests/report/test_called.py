"""Contenders go by people's names on a page, and by their own elsewhere."""

import html
import json
import pathlib
import re

from fairjax import results
from fairjax.report import names, page
from fairjax.report.names import NAMES

DIET = (
  pathlib.Path(__file__).parents[2] / 'configs/claims/results/quickstart_diet'
)


def test_a_diet_s_page_speaks_of_diets(tmp_path):
  kept = results.of(json.loads((DIET / 'results.json').read_text()))
  results.write(tmp_path, kept)
  whole = page.report(tmp_path)
  shown = whole[whole.index('<h1>') : whole.rindex('To take away')]
  said = html.unescape(re.sub(r'<svg.*?</svg>|<[^>]+>', ' ', shown, flags=re.S))
  assert 'healthy diet is above no mitigation in demographic parity' in said
  own = kept.sets['test']['quality']['auc']['value']
  assert f'healthy diet ({kept.model}) has an AUC of {own:.3f}' in said
  assert 'at most half the rows of all twins (CDA) ' in said
  assert 'Healthy diet: 1200 rows and 1200 twins' in said  # a note
  assert said.count('unhealthy_random') == 1  # as configs call it
  assert not re.search(r'above none|of none|diet healthy_random', said)
  assert results.read(tmp_path).focus == 'healthy_random'  # files keep it


def test_names_are_told_apart():
  assert len(set(NAMES.values())) == len(NAMES)
  kept = results.of(json.loads((DIET / 'results.json').read_text()))
  kept.contenders['healthy diet'] = kept.contenders['none']
  assert names.by_people(kept) is kept


def test_what_is_no_contender_stays():
  words = names.said_by_people
  assert words('none of 3 rows', NAMES) == 'none of 3 rows'
  assert words('above none in AUC', NAMES) == ('above no mitigation in AUC')
  assert words('my_healthy_random', NAMES) == 'my_healthy_random'
