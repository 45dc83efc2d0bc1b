"""Which benchmarks detect a known bias: models with planted associations.

For each association: a corpus → a small language model pretrained on it → every
benchmark. The page shows each benchmark's number over the planted association.
"""

import copy
import pathlib
from collections.abc import Mapping, Sequence

from fairjax import results, stages
from fairjax.benchmarks import BENCHMARKS
from fairjax.benchmarks import planted_associations as planted
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.metrics import measures
from fairjax.recipes.benchmarks.recipe import measured
from fairjax.recipes.language import pretrain
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log


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
    pretrain.trained(own, target / 'pretrain')
    own.recipe, own.data.name, own.data.path = 'benchmarks', 'text', ''
    own.model = str(target / 'pretrain' / 'export' / 'seed_0')
    own.benchmarks.data = str(data)
    page = target / 'benchmarks'
    with Log(page, own, main=mesh.is_main()) as log:
      result = stages.publish(page, measured(own, page, log), log)
    (one,) = result.contenders.values()
    contenders[f'association {association:g}'] = one | {
      # Warnings about files and lists stand on the page of each model.
      'sets': {n: s | {'warnings': []} for n, s in one['sets'].items()},
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
      focus=list(contenders)[-1],
      notes=[
        *seen(config, contenders),
        'Every model is trained anew on its own corpus, so a difference '
        'between two points is of one training each.',
      ],
      sections=[curves(config, contenders)],
    )
    return stages.publish(folder, outcome, log)


def values_of(
  config: Config, contenders: Mapping[str, Mapping]
) -> dict[str, tuple[str, list[dict]]]:
  """{benchmark: (its measure, one value a contender)} where all have one."""
  out = {}
  for name in config.benchmarks.names:
    part = BENCHMARKS[name].told
    wholes = [
      one['sets'][name]['groups'][part]
      if part
      else one['sets'][name]['fairness']
      for one in contenders.values()
    ]
    for key in BENCHMARKS[name].headline:
      values = [whole.get(key, {}) for whole in wholes]
      if all(value.get('value') is not None for value in values):
        out[name] = key, values
        break
  return out


def label(name: str, key: str) -> str:
  part = BENCHMARKS[name].told
  return measures.label(key) + (f', {part}' if part else '')


def rises(values: Sequence[Mapping]) -> bool:
  """Whether the last number is above the first, beyond both intervals."""
  low, high = (
    one[side] if one.get(side) is not None else one['value']
    for one, side in ((values[-1], 'low'), (values[0], 'high'))
  )
  return low > high


def seen(config: Config, contenders: Mapping[str, Mapping]) -> list[str]:
  """Which benchmarks see the association, and which do not."""
  each = values_of(config, contenders)
  sides = [
    [label(name, k) for name, (k, v) in each.items() if rises(v) == side]
    for side in (True, False)
  ]
  lines = (
    'From the least association to the most, these rise beyond their '
    'intervals: ',
    'These do not: ',
  )
  return [
    line + ', '.join(names) + '.' for line, names in zip(lines, sides) if names
  ]


def curves(config: Config, contenders: Mapping[str, Mapping]) -> dict:
  """Each benchmark's number over the association, with its interval."""
  parts, rows = [], []
  at = [one['facts']['planted association'] for one in contenders.values()]
  for name, (key, values) in values_of(config, contenders).items():
    ends = {
      side: [v['value'] if v.get(side) is None else v[side] for v in values]
      for side in ('low', 'high')
    }
    title, null = label(name, key), values[0].get('null')
    line = {'x': at, 'y': [v['value'] for v in values], **ends}
    rows.append(
      {'benchmark': title, 'no preference': null}
      | {f'association {x:g}': value for x, value in zip(at, values)}
      | {'rises': rises(values)}
    )
    parts.append(
      results.figure(
        'curves',
        f'curve_{name}',
        f'{title} over the planted association.',
        series={name: line},
        x_label='planted association',
        y_label=title,
        reference=null,
      )
    )
  return results.section(
    'What each benchmark sees', results.table(rows), *parts
  )
