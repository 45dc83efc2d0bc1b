"""Which benchmarks detect a known bias: models with planted associations.

For each association: a corpus → a small language model pretrained on it → every
benchmark. The page shows each benchmark's number over the planted association.
"""

import copy
import pathlib

from fairjax import artefacts, results, stages
from fairjax.benchmarks import planted_associations as planted
from fairjax.config import Config
from fairjax.metrics import measures
from fairjax.recipes import benchmarks, pretrain
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log

# Of each benchmark the number that should rise with the association.
CURVES = {
  'weat': 'weat_mean_mean',
  'crows': 'crows_original',
  'stereoset': 'stereoset_ss_log',
  'winobias': 'winobias_log_odds',
  'winogender': 'winogender_rho',
  'bbq': 'bbq_bias_mean',
  'sembias': 'sembias_stereotype',
}
CAUSAL = {'crows': 'crows_total'}


def run(config: Config, folder: pathlib.Path) -> Results:
  """associations → corpora → models → benchmarks → curves."""
  contenders = {}
  for association in config.benchmarks.associations:
    target = folder / f'association_{association:g}'
    text, data = target / 'corpus.txt', target / 'data'
    if mesh.is_main():
      lines = planted.corpus(
        association, config.benchmarks.sentences, config.seed
      )
      artefacts.write_text(text, '\n'.join(lines) + '\n')
      planted.write_tests(data)
    mesh.wait_for_all('planted')
    own = copy.deepcopy(config)
    own.recipe, own.data.name, own.data.path = 'pretrain', 'text', str(text)
    pretrain.run(own, target / 'pretrain')
    own.recipe, own.data.name, own.data.path = 'benchmarks', 'text', ''
    own.model = str(target / 'pretrain' / 'export' / 'seed_0')
    own.benchmarks.data = str(data)
    result = benchmarks.run(own, target / 'benchmarks')
    (one,) = result.contenders.values()
    contenders[f'association {association:g}'] = one | {
      'facts': {'planted association': association},
      'page': f'{target.name}/benchmarks/report.html',
    }
  with Log(folder, config, main=mesh.is_main()) as log:
    outcome = stages.results(
      config,
      data='planted',
      seeds=[],
      title='Benchmarks of models with a planted association',
      contenders=contenders,
      focus=next(iter(contenders)),
      notes=[
        'Every model is trained anew on its own corpus, so a difference '
        'between two points is of one training each.'
      ],
      sections=[curves(config, contenders)],
    )
    return stages.publish(folder, outcome, log)


def curves(config: Config, contenders: dict) -> dict:
  """Each benchmark's number over the association, with its interval."""
  parts = []
  for name in config.benchmarks.names:
    key, values = CURVES.get(name), []
    for one in contenders.values():
      whole = one['sets'][name]['fairness']
      if key not in whole:
        key = CAUSAL.get(name, key)
      values.append(whole.get(key, {'value': None, 'low': None, 'high': None}))
    if not key or any(v['value'] is None for v in values):
      continue
    at = [one['facts']['planted association'] for one in contenders.values()]
    ends = {
      side: [v['value'] if v.get(side) is None else v[side] for v in values]
      for side in ('low', 'high')
    }
    line = {'x': at, 'y': [v['value'] for v in values], **ends}
    parts.append(
      results.figure(
        'curves',
        f'curve_{name}',
        f'{measures.label(key)} over the planted association.',
        series={name: line},
        x_label='planted association',
        y_label=measures.label(key),
        reference=values[0].get('null'),
      )
    )
  return results.section('What each benchmark sees', *parts)
