"""Which benchmark sees an association that was planted in a model?

  python launch/benchmarks_planted.py WORK [--models tiny mini FOLDER]

For each model, association a and seed: a corpus in which occupations go with
gender to the degree a (fairjax/benchmarks/planted_associations.py), a language
model trained on it (a size) or trained further (the folder of a masked LM),
and every benchmark that has a form of its files about these occupations. What
is done is not done again. The numbers are in WORK/benchmarks_planted.csv; kept,
in configs/claims/results/, they are a table of configs/RESULTS.md
(python configs/claims/kept_tables.py). No download. A nano or tiny takes some
minutes of a core at each association and seed, a mini half an hour.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys

from fairjax.benchmarks import planted_associations as planted

ROOT = pathlib.Path(__file__).resolve().parents[1]
SENTENCES = 12_000
ALIKE = (  # of every model
  *('--config.pretrain.length=64', '--config.pretrain.document=line'),
  *('--config.pretrain.held_out=0.02', '--config.train.evals=1'),
)
FRESH = (
  *('--config.tokens.vocab_size=300', '--config.pretrain.steps=1800'),
  *('--config.train.lr=2e-3', '--config.train.batch=8'),
)
FURTHER = (
  *('--config.pretrain.steps=150', '--config.train.batch=16'),
  '--config.train.lr=1e-4',
)
NUMBERS = ('value', 'low', 'high', 'null', 'floor_low', 'floor_high', 'p')


def fairjax(*words: str) -> None:
  run = [sys.executable, '-m', 'fairjax.main', *words]
  subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def measured(
  work: pathlib.Path, model: str, kind: str, association: float, seed: int
) -> list[dict]:
  """A row a number of the benchmarks of one model."""
  name = pathlib.Path(model).name
  place = work / f'{name}_{kind}_{association:g}_{seed}'
  done = place / 'benchmarks' / 'results.json'
  if not done.is_file():
    corpus = work / f'corpus_{association:g}_{seed}.txt'
    lines = planted.corpus(association, SENTENCES, seed)
    corpus.write_text('\n'.join(lines) + '\n', 'utf-8')
    flags = FURTHER if '/' in model else FRESH
    flags += ('--config.pretrain.mask=0.3',) if kind == 'mlm' else ()
    fairjax(
      *('--config=configs/pretrain_mlm_mini.py', f'--workdir={place}'),
      *(f'--config.model={model}', f'--config.data.path={corpus}'),
      *(f'--config.pretrain.objective={kind}', f'--config.seed={seed}'),
      *(*ALIKE, *flags),
    )
    folders = str(place / 'export/seed_0'), str(work / 'data')
    fairjax('benchmarks', *folders, f'--workdir={done.parent}')
  fit = json.loads((place / 'results.json').read_text('utf-8'))
  results = json.loads(done.read_text('utf-8'))
  (contender,) = results['contenders'].values()
  key = {
    **{'model': name, 'kind': kind, 'association': association, 'seed': seed},
    'parameters': fit['facts']['parameters'],
  }
  return [
    key
    | {'benchmark': benchmark, 'part': part, 'measure': measure}
    | {k: number.get(k) for k in NUMBERS}
    for benchmark, one in contender['sets'].items()
    for part, numbers in {'': one['fairness'], **one['groups']}.items()
    for measure, number in numbers.items()
    if measure != 'rows'
  ]


def main() -> None:
  parser = argparse.ArgumentParser('benchmarks_planted', description=__doc__)
  parser.add_argument('work', type=pathlib.Path)
  parser.add_argument('--models', nargs='+', default=['tiny', 'mini'])
  parser.add_argument('--kinds', nargs='+', default=['mlm', 'causal'])
  parser.add_argument(
    '--associations', nargs='+', type=float, default=[0, 0.5, 0.9]
  )
  parser.add_argument('--seeds', type=int, default=2)
  given = parser.parse_args()
  data = given.work.resolve() / 'data'
  data.mkdir(parents=True, exist_ok=True)
  planted.write_tests(data)
  rows = []
  for model in given.models:
    for kind in given.kinds if '/' not in model else ['mlm']:
      for seed in range(given.seeds):
        for association in given.associations:
          rows += measured(data.parent, model, kind, association, seed)
          print(model, kind, association, seed, flush=True)
          with open(data.parent / 'benchmarks_planted.csv', 'w') as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == '__main__':
  main()
