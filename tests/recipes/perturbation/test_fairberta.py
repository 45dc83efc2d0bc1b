"""Two masked LMs that differ in their text alone."""

import json

import numpy as np
import pytest
import small
from scipy import stats

from fairjax import config as c
from fairjax.benchmarks import planted_associations
from fairjax.core.errors import UserError
from fairjax.metrics.inference import intervals
from fairjax.recipes.perturbation import fairberta


def config(folder, **changes):
  made = c.Config(
    recipe='fairberta',
    model='tiny',
    seeds=1,
    data=c.Data(name='text', path=str(folder)),
    tokens=c.Tokens(vocab_size=150),
    pretrain=c.Pretrain(length=32, held_out=0.2, steps=4, document='line'),
    train=c.Train(lr=1e-3, batch=8, evals=1, patience=0),
    measures=c.Measures(resamples=100),
  )
  return small.changed(made, **changes)


def test_both_models_are_measured_on_both_texts(tmp_path, remade):
  folder = tmp_path / 'corpus'
  folder.mkdir()
  lines = [
    f'He met his aunt {i} times and the tall house was {i} years old .'
    for i in range(60)
  ]
  (folder / 'a.txt').write_text('\n'.join(lines) + '\n')
  results = fairberta.run(config(folder), tmp_path / 'run')
  remade(tmp_path / 'run', results)
  assert set(results.contenders) == {'plain', 'perturbed'}
  for one in results.contenders.values():
    assert set(one['sets']) == {
      'held-out plain text',
      'held-out perturbed text',
    }
  for test in results.tests:
    assert test['n'] == 8 and 0 < test['p'] <= 1
  text = (tmp_path / 'run' / 'text' / 'a.txt').read_text().splitlines()
  assert len(text) == 60 and sum(a != b for a, b in zip(text, lines)) == 60
  for name in ('plain', 'perturbed'):
    out = tmp_path / 'run' / name / 'export' / 'seed_0'
    assert (out / 'model.safetensors').stat().st_size


def test_the_column_that_is_trained_on_is_perturbed(tmp_path):
  """A jsonl of `body` stopped, or had another column perturbed."""
  folder = tmp_path / 'corpus'
  folder.mkdir()
  rows = [{'text': 'It rained .', 'body': 'He met his aunt .'}] * 9
  lines = [json.dumps(row) for row in rows]
  (folder / 'a.jsonl').write_text('\n'.join(lines) + '\n')
  asked = config(folder, data__text='body')
  fairberta.perturbed(asked, tmp_path / 'run')
  out = (tmp_path / 'run' / 'text' / 'a.jsonl').read_text().splitlines()
  for line in map(json.loads, out):
    assert line['text'] == 'It rained .' and line['body'] != 'He met his aunt .'


def test_texts_whose_documents_do_not_correspond_are_refused(tmp_path):
  """All 8 held-out texts were trained on by the model of perturbed text."""
  (tmp_path / 'a.txt').write_text('He ran .\n' * 9)
  both = lambda document: config(
    tmp_path, corpus__both=True, pretrain__document=document
  )
  with pytest.raises(UserError, match='documents of their own'):
    fairberta.run(both('line'), tmp_path / 'run')
  fairberta.check_documents(both('blank'))
  fairberta.check_documents(config(tmp_path))
  (tmp_path / 'b.jsonl').write_text('{"text": "He ran ."}\n')
  with pytest.raises(UserError, match='documents of their own'):
    fairberta.check_documents(both('blank'))


def test_another_objective_is_refused(tmp_path):
  with pytest.raises(UserError, match='FairBERTa is a masked LM'):
    fairberta.run(config(tmp_path, pretrain__objective='causal'), tmp_path)


def of_planted() -> c.Config:
  config = c.shipped('claims/fairberta_planted')
  config.model, config.seeds, config.measures.primary = 'nano', 2, ()
  config.pretrain.mask, config.train.lr = 0.15, 1e-3
  config.pretrain.steps, config.pretrain.length = 2, 16
  config.train.batch, config.measures.resamples = 8, 200
  return config


def test_a_dose_of_perturbation_is_compared_with_none(tmp_path, monkeypatch):
  monkeypatch.setattr(fairberta, 'SENTENCES', 200)
  monkeypatch.setattr(fairberta, 'ASSOCIATIONS', (0.0, 0.8))
  monkeypatch.setattr(fairberta, 'SHARES', (0.0, 1.0))
  results = fairberta.run(of_planted(), tmp_path)
  assert list(results.contenders) == ['0 % perturbed', '100 % perturbed']
  names = [(t['set'], t['measure']) for t in results.tests]
  assert names == [  # nothing is to be taken away from no association
    ('association 0', 'loss'),
    ('association 0.8', 'winobias_log_odds'),
    ('association 0.8', 'loss'),
  ]
  of = lambda one, name: results.contenders[one]['sets']['association 0.8'][
    'quality'
  ][name]['value']
  for test in results.tests[1:]:
    both = [of(test[side], test['measure']) for side in ('ours', 'theirs')]
    value = test['difference']
    assert value['value'] == pytest.approx(both[0] - both[1], abs=1e-6)
    assert value['low'] < value['value'] < value['high']
  assert (tmp_path / 'report.html').is_file()


def test_all_perturbed_turn_an_association_round(tmp_path, monkeypatch):
  """A man becomes a woman or non-binary, as often: half the log-odds' terms."""
  config = of_planted()
  monkeypatch.setattr(fairberta, 'SENTENCES', 3000)
  odds = {}
  for share in (0.0, 0.5, 1.0):
    path = fairberta.text_of(config, 0.8, share, tmp_path)
    lines = [f' {line} ' for line in path.read_text().splitlines()]
    assert len(lines) == 3000
    count = lambda job, word, lines=lines: sum(
      f' {job} ' in line and f' {word} ' in line for line in lines
    )
    odds[share] = np.mean(
      [
        np.log(count(job, 'he') + 0.5) - np.log(count(job, 'she') + 0.5)
        for job in planted_associations.HIS.split()
      ]
    )
  assert odds[0.0] > 0.8 and 0 < odds[0.5] < 0.7 * odds[0.0]
  assert odds[1.0] == pytest.approx(-odds[0.0], abs=0.5)


def test_log_odds_vary_by_occupation():
  """A mean over occupations has Student's t's standard error."""
  rng = np.random.default_rng(0)
  count = 24
  gaps, jobs = rng.normal(size=(2, 3 * count)), np.repeat(np.arange(count), 3)
  how = intervals.RowSample(0.95, 4000, 0)
  mean, draws = fairberta.over_items(gaps, jobs.astype(str), how)
  np.testing.assert_allclose(mean, gaps.mean(1))
  units = gaps.reshape(2, count, 3).mean(2)
  error = units.std(1, ddof=1) / count**0.5
  wider = stats.t.ppf(0.975, count - 1) / stats.norm.ppf(0.975)
  np.testing.assert_allclose(draws.std(0), wider * error, rtol=0.05)
