"""Logs, harnesses and one's own files."""

import importlib.util
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairjax import config as c
from fairjax import main
from fairjax.config import shipped
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.data.tables import harness_logs
from fairjax.models import families
from fairjax.recipes import RECIPES, harness
from fairjax.report import words
from fairjax.results import Results
from fairjax.stages import bag_of_words
from fairjax.train.progress import Log


def lm_eval(path, values, axes='ab'):
  lines = [
    {'doc_id': k, 'doc': {'axis': axes[k % 2]}, 'filter': 'none', 'target': 1}
    | {'metrics': ['likelihood_diff'], 'likelihood_diff': v}
    for k, v in enumerate(values)
  ]
  path.write_text('\n'.join(map(json.dumps, lines)))
  return str(path)


def test_differences_are_paired_by_sample(tmp_path):
  rng = np.random.default_rng(0)
  a = rng.normal(1, 2, 200)
  b = a - rng.normal(0.4, 1, 200)
  own = (config := shipped('compare')).audit
  own.model, own.groups = lm_eval(tmp_path / 'a', a[:190]), ('axis',)
  own.against = lm_eval(tmp_path / 'b', b)
  results = harness.run(config, tmp_path / 'run')
  rows = results.sections[1]['parts'][0]['rows']
  assert words.lines(results)[0].startswith('a is higher than b in likelihood')
  gap = a[:190] - b[:190]
  ends = stats.t.interval(0.95, 189, gap.mean(), stats.sem(gap))
  found = [rows[0]['difference'][key] for key in ('value', 'low', 'high')]
  np.testing.assert_allclose(found, [gap.mean(), *ends], atol=0.01)
  assert rows[0]['theirs']['value'] == pytest.approx(b[:190].mean())
  assert (rows[2]['part'], rows[0]['verdict']) == ('axis: b', 'higher')
  assert '10 of 200 samples are in one log alone' in results.notes
  assert results.facts['fields of few values'] == 'axis'
  own.against = lm_eval(tmp_path / 'c', b, 'ac')
  with pytest.raises(UserError, match='asks something else than'):
    harness.run(config, tmp_path / 'other')


def test_logs_of_inspect_are_read_in_both_forms(tmp_path):
  samples = [
    {'id': k, 'metadata': {'axis': 'x'}, 'scores': {'choice': {'value': v}}}
    for k, v in enumerate(['C', 'I', 0.25])
  ]
  (plain := tmp_path / 'log.json').write_text(json.dumps({'samples': samples}))
  with zipfile.ZipFile(packed := tmp_path / 'log.eval', 'w') as file:
    for one in samples:
      file.writestr(f'samples/{one["id"]}.json', json.dumps(one))
  for path in (plain, packed):
    assert [*harness_logs.read(str(path), ('axis',))['value']] == [1, 0, 0.25]
  packed.write_text('{"samples": 3}')
  with pytest.raises(UserError, match='or of inspect; give one of --log_'):
    harness_logs.read(str(packed))


# These print, and keep no log.
WITHOUT = 'swap', 'generate', 'augment_corpus', 'perturb_corpus'


@pytest.mark.parametrize('name', [n for n in RECIPES if n not in WITHOUT])
def test_a_recipe_that_ends_in_an_error_closes_its_log(
  name, tmp_path, monkeypatch
):
  opened, closed, start, close = [], [], Log.__init__, Log.close

  def watched(self, *args, **kwargs):
    start(self, *args, **kwargs)
    opened.append(self)

  def ended(self, *args, **kwargs):
    close(self, *args, **kwargs)
    closed.append(self)

  monkeypatch.setattr(Log, '__init__', watched)
  monkeypatch.setattr(Log, 'close', ended)
  config = c.Config(
    recipe=name,
    model='tiny',
    data=c.Data(name='file', path=str(tmp_path / 'nowhere.csv')),
    measures=c.Measures(resamples=10),
    grid=c.Grid(),
    pretrain=c.Pretrain(),
  )
  with pytest.raises(UserError):
    find(RECIPES, 'recipe', name)(config, tmp_path)
  assert opened
  assert set(map(id, opened)) == set(map(id, closed))


def test_without_a_pretrained_model_a_small_one_learns(monkeypatch):
  """`nano` was a constant predictor after 2,000 rows."""
  monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
  names = ('train_csv', 'diet_csv')
  assert [c.shipped(name).model for name in names] == ['cnn', 'tiny']
  # Of a folder that is named the rate is that of fine-tuning.
  for name in (*names, 'weighting_csv'):
    for model, rate in (
      *((m, 1e-3) for m in (*families.SIZES, 'cnn')),
      ('bert', 1e-4),
    ):
      file = main.tidy(['', f'--config={name}', f'--config.model={model}'])[1]
      assert file.endswith(f'{name}.py:{model}')
      assert c.shipped(name, model).train.lr == rate


def test_a_bag_of_words_stands_beside_what_was_trained():
  rows = {'id': range(80), 'text': ['bad', 'good'] * 40, 'label': [1, 0] * 40}
  rows, own = pd.DataFrame(rows), c.Config()
  own.measures.resamples, found = 20, {}
  for name in ('planted', 'file'):
    own.data.name = name
    one = Results(contenders={'m': {'sets': {'test': {'quality': {}}}}})
    bag_of_words.with_baseline(own, {'train': rows}, {'test': rows}, one)
    found[name] = one.sets['test']['quality']
  assert found['planted'] == {}
  assert found['file']['words_accuracy']['value'] == 1.0
