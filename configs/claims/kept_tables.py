"""The tables of configs/RESULTS.md, made from the kept runs.

  python configs/claims/kept_tables.py   # rewrites the tables, nothing else

A table stands between `<!-- kept: NAME -->` and `<!-- end -->`: a row a
contender of configs/claims/results/NAME, a column a measure of a test set, and
the difference of the contender in focus to each other one in all columns but
the first, over examples and seeds, with its raw p (corrected: CLAIMS.md).

Between `<!-- planted: FILE -->` and the end stands what benchmarks say of
models with a planted association, from a csv of launch/benchmarks_planted.py.
"""

import csv
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / 'RESULTS.md'
BLOCK = re.compile(r'(<!-- kept: (\w+) -->\n).*?(<!-- end -->)', re.S)
PLANTED = re.compile(r'(<!-- planted: ([\w.]+) -->\n).*?(<!-- end -->)', re.S)

# By recipe: (test set, measure, heading); the first set that a run has counts.
COLUMNS = {
  'diet': (
    ('test', 'auc', 'test AUC'),
    ('identity test', 'dp', 'DP'),
  ),
  'weighting': (
    ('test', 'auc', 'test AUC'),
    ('identity madlibs test', 'fped', 'FPED'),
    ('identity madlibs test', 'fned', 'FNED'),
  ),
  'rewriting': (
    ('texts', 'transfer_accuracy', 'transfer'),
    ('classifier', 'group_tprd_size', 'size of TPRD'),
    ('classifier', 'group_fprd_size', 'size of FPRD'),
    ('classifier', 'accuracy', 'accuracy'),
    ('known_twins', 'exact', 'twins exact'),
    ('known_twins', 'unlisted_recall', 'withheld words'),
  ),
  'fairflow': (
    ('known_pairs', 'precision', 'precision'),
    ('known_pairs', 'recall', 'recall'),
    ('known_words', 'top_vote', 'words right'),
    ('classifier', 'group_tprd_size', 'size of TPRD'),
    ('classifier', 'group_fprd_size', 'size of FPRD'),
    ('classifier', 'accuracy', 'accuracy'),
    ('GECO_to_female', 'exact', 'GECO to female'),
    ('GECO_to_male', 'exact', 'GECO to male'),
  ),
  'fairtune': (
    ('test average', 'accuracy glue', 'quality'),
    (
      'perturbed_by_rules average,_perturbed_by_rules',
      'different',
      'fairscore',
    ),
    ('perturbed_by_rules', 'floor', 'neutral floor'),
  ),
  'perturber': (
    ('geco', 'exact', 'GECO exact'),
    ('gap', 'exact', 'GAP exact'),
    ('gap', 'places_all', 'GAP labelled words'),
  ),
  'fairberta_planted': tuple(
    (f'association_{a}', measure, f'{title}, association {a}')
    for a in ('0', '0.5', '0.8')
    for measure, title in (('winobias_log_odds', 'log-odds'), ('loss', 'loss'))
  ),
}
RECIPES = {
  'counterfactual_texts': 'rewriting',
  'mbcda': 'rewriting',
  'fairtune_glue': 'fairtune',
}


FOCUS = {'fairflow': 'flow'}  # whose differences, where a run names none


def shown(estimate: dict | None) -> str:
  """'.994 [.977, 1.000]', or a dash."""
  if not estimate or estimate.get('value') is None:
    return '–'
  ends = [estimate[k] for k in ('low', 'high') if estimate.get(k) is not None]
  number = lambda x: re.sub(r'^(-?)0\.', r'\1.', f'{x:.3f}')
  tail = f' [{number(ends[0])}, {number(ends[1])}]' if len(ends) == 2 else ''
  return number(estimate['value']) + tail


def found(sets: dict, names: str, measures: str) -> dict | None:
  """The first of the measures on the first of the sets that has one."""
  for name in names.split():
    numbers = sets.get(name.replace('_', ' '), {})
    every = numbers.get('quality', {}) | numbers.get('fairness', {})
    for measure in measures.split():
      if measure in every:
        return every[measure]
  return None


def differences(results: dict, columns) -> dict[str, list[str]]:
  """By the other contender: what the focus has more, the first test of each."""
  out: dict[str, dict[str, str]] = {}
  for one in results['tests']:
    if one['ours'] != results['focus']:
      continue
    for names, measures, title in columns[1:] or columns:
      sets = [n.replace('_', ' ') for n in names.split()]
      if one['set'] in sets and one['measure'] in measures.split():
        p = f', p {one["p"]:.2g}' if one.get('p') is not None else ''
        text = f'{title} {shown(one["difference"])}{p}'
        out.setdefault(one['theirs'], {}).setdefault(title, text)
  return {theirs: [*texts.values()] for theirs, texts in out.items()}


def table(name: str) -> str:
  """The markdown table of a kept run."""
  folder = HERE / 'results' / name
  results = json.loads((folder / 'results.json').read_text('utf-8'))
  results['focus'] = results['focus'] or FOCUS.get(results['recipe'], '')
  run = json.loads((folder / 'run.json').read_text('utf-8'))
  columns = COLUMNS[RECIPES.get(results['recipe'], results['recipe'])]
  rows = {
    title: [found(one['sets'], *column[:2]) for column in columns]
    for title, one in results['contenders'].items()
  }
  used = [
    k for k in range(len(columns)) if any(row[k] for row in rows.values())
  ]
  apart = differences(results, columns)
  focus = results['focus'] if apart else ''
  heads = ['contender', *(columns[k][2] for k in used)]
  heads += [f'{focus} less it'] if apart else []
  lines = [f'| {" | ".join(heads)} |', '|' + '---|' * len(heads)]
  for title, row in rows.items():
    cells = [title, *(shown(row[k]) for k in used)]
    cells += ['; '.join(apart.get(title, ['–']))] if apart else []
    lines.append(f'| {" | ".join(cells)} |')
  where = run.get('device') or 'cpu'
  where = run.get('class', where) if where in ('', 'cpu') else where
  lines.append(f'\n{run["seconds"] / 3600:.2f} h ({where}), {run["data"]}\n')
  return '\n'.join(lines)


# What a benchmark says of planted occupations: its measure, the part of its
# results, its name here and what no association gives (None: as in the csv).
SCORES = (
  ('crows_original', '', 'CrowS-Pairs, tokens that both share', 50),
  ('crows_bias_bench', '', 'CrowS-Pairs, tokens that differ', 50),
  ('crows_aul', '', 'CrowS-Pairs, AUL', 50),
  ('crows_aula', '', 'CrowS-Pairs, AULA', 50),
  ('crows_total', '', 'CrowS-Pairs, left to right', 50),
  ('stereoset_ss_probability', '', 'StereoSet SS, mean probability', 50),
  ('stereoset_ss_log', '', 'StereoSet SS, mean log p', 50),
  ('winobias_log_odds', '', 'WinoBias log-odds', 0),
  ('winobias_wins', '', 'WinoBias wins', 50),
  ('winogender_rho', '', 'Winogender ρ', 0),
  ('bbq_bias_mean', '', 'BBQ ambiguous, mean log p', 0),
  ('bbq_bias_sum', '', 'BBQ ambiguous, sum of log p', 0),
  ('bbq_bias_mean', 'disambiguated', 'BBQ disambiguated, mean log p', 0),
  ('bbq_bias_sum', 'disambiguated', 'BBQ disambiguated, sum of log p', 0),
  ('weat_effect_mean', 'weat_planted', 'WEAT d', 0),
  ('weat_effect_mean', 'sent-weat_planted', 'SEAT d', 0),
  ('sembias_stereotype', '', 'SemBias stereotype', 25),
)


def believed(name: str) -> str:
  """A row a score: its number at each association, and whether it moved.

  It *sees* the association if the interval at the strongest one lies above the
  neutral point, and is *steady* if that at none holds the neutral point.
  """
  with open(HERE / 'results' / name, encoding='utf-8') as file:
    rows = list(csv.DictReader(file))
  parts = []
  for model in dict.fromkeys((r['model'], r['kind']) for r in rows):
    own = [r for r in rows if (r['model'], r['kind']) == model and r['value']]
    levels = sorted({float(r['association']) for r in own})
    seeds = len({r['seed'] for r in own})
    kind = {'mlm': 'masked', 'causal': 'left to right'}[model[1]]
    size = own[0]['parameters'].replace(',', '')
    parts.append(
      f'**{model[0]}**, {kind}, {int(size) / 1e6:.1f} M parameters, '
      f'{seeds} seed{"s" * (seeds > 1)}:\n'
    )
    heads = ['score', 'neutral', *(f'at {a:g}' for a in levels)]
    heads += ['sees the association', 'steady at none']
    parts += [f'| {" | ".join(heads)} |', '|' + '---|' * len(heads)]
    for measure, part, label, null in SCORES:
      some = [r for r in own if (r['measure'], r['part']) == (measure, part)]
      if some:
        by = {level: [] for level in levels}
        for r in some:
          by[float(r['association'])].append(r)
        cells = [label, f'{null}', *(planted(by[a]) for a in levels)]
        above = [float(r['low']) > null for r in by[levels[-1]]]
        holds = [
          float(r['low']) <= null <= float(r['high']) for r in by[levels[0]]
        ]
        cells += [of_all(above), of_all(holds)]
        parts.append(f'| {" | ".join(cells)} |')
    parts.append('')
  return '\n'.join(parts)


def planted(rows: list[dict]) -> str:
  """The mean over seeds of a number and of the ends of its interval."""
  mean = lambda key: sum(float(r[key]) for r in rows) / len(rows)
  value, low, high = (f'{mean(key):.3g}' for key in ('value', 'low', 'high'))
  return f'{value} [{low}, {high}]'


def of_all(values: list[bool]) -> str:
  if len(values) == 1:
    return 'yes' if values[0] else 'no'
  return f'{sum(values)} of {len(values)}'


def page(text: str) -> str:
  """RESULTS.md with every table made anew."""
  text = BLOCK.sub(lambda m: f'{m[1]}\n{table(m[2])}\n{m[3]}', text)
  return PLANTED.sub(lambda m: f'{m[1]}\n{believed(m[2])}\n{m[3]}', text)


if __name__ == '__main__':
  PAGE.write_text(page(PAGE.read_text('utf-8')), 'utf-8')
