"""Two masked LMs that differ in their text alone."""

import pytest

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.recipes.perturbation import fairberta


def config(folder, **changes):
  made = c.Config(
    recipe='fairberta',
    model='tiny',
    seeds=1,
    data=c.Data(name='text', path=str(folder)),
    tokens=c.Tokens(vocab_size=150),
    pretrain=c.Pretrain(length=32, held_out=0.2, steps=4, document='line'),
    corpus=c.Corpus(workers=1),
    train=c.Train(lr=1e-3, batch=8, evals=1, patience=0),
    measures=c.Measures(resamples=100),
  )
  for name, value in changes.items():
    part, field = name.split('__')
    setattr(getattr(made, part), field, value)
  c.validate(made)
  return made


def test_both_models_are_measured_on_both_texts(tmp_path, monkeypatch, remade):
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path / 'cache'))
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


def test_another_objective_is_refused(tmp_path):
  with pytest.raises(UserError, match='FairBERTa is a masked LM'):
    fairberta.run(config(tmp_path, pretrain__objective='causal'), tmp_path)
