"""The tables of configs/RESULTS.md, made from the kept runs.

  python configs/claims/kept_tables.py   # rewrites the tables, nothing else

A table stands between `<!-- kept: NAME -->` and `<!-- end -->`: a row a
contender of configs/claims/results/NAME, a column a measure of a test set, and
the difference of the contender in focus to each other one in all columns but
the first, over examples and seeds, with its raw p (corrected: CLAIMS.md).
"""

import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / 'RESULTS.md'
BLOCK = re.compile(r'(<!-- kept: (\w+) -->\n).*?(<!-- end -->)', re.S)

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


def page(text: str) -> str:
  """RESULTS.md with every table made anew."""
  return BLOCK.sub(lambda m: f'{m[1]}\n{table(m[2])}\n{m[3]}', text)


if __name__ == '__main__':
  PAGE.write_text(page(PAGE.read_text('utf-8')), 'utf-8')
