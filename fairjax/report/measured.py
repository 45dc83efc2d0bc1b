"""Measurements on a page: contenders, test sets, paired tests."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import results as parts
from fairjax.data.tables import answers
from fairjax.metrics import measures
from fairjax.metrics.inference import significance
from fairjax.report import tables, words, written
from fairjax.report.names import of_set, opened
from fairjax.report.pictures import figures, plots
from fairjax.report.render import drawn
from fairjax.report.tables import plural
from fairjax.results import Results

MOST_GROUPS = 40  # in one picture
WIDEST = 5  # columns of estimates that fit a page; more are folded


def warnings(results: Results, kind: str = 'warnings') -> list[str]:
  """Each warning once, with its set and contenders; so the 'notes' of sets."""
  about: dict[tuple[str, str], list[str]] = {}
  for contender, one in results.contenders.items():
    for name, own in one['sets'].items():
      for warning in own.get(kind, ()):
        about.setdefault((name, warning), []).append(contender)
  focus = results.focus or next(iter(results.contenders), '')
  order = sorted(about.items(), key=lambda one: focus not in one[1])
  every, out = len(results.contenders), []
  for (name, warning), who in order:
    names = ', '.join(who) if len(who) < 3 else f'{len(who)} contenders'
    of = of_set(name) if len(who) == every else f'{of_set(name)}, {names}'
    out.append(f'{of}: {words.in_classes(results, warning)}')
  return out


def daggers(results: Results) -> set[tuple[str, str, str]]:
  """(set, contender, measure) that a t-test over seeds tells from the base.

  Adjusted over the tests of seeds; there are none where a contender is compared
  with several others.
  """
  bases: dict[str, set[str]] = {}
  for test in results.tests:
    bases.setdefault(test['ours'], set()).add(test['theirs'])
  tested = [t for t in results.tests if 't-test' in t['test']]
  p = significance.adjusted([t['p'] for t in tested])
  return {
    (test['set'], test['ours'], test['measure'])
    for test, adjusted in zip(tested, p)
    if len(bases[test['ours']]) == 1
    and significance.is_significant(adjusted, 1 - results.level)
  }


def side_by_side(results: Results, name: str) -> list[dict]:
  """A row a contender of a set, with its leading measures, or else all.

  Of a set that has numbers of its groups alone, those. Of none, no rows.
  """
  of_groups = lambda groups: {
    f'{group}/{key}': value
    for group, rates in groups.items()
    for key, value in rates.items()
    if tables.is_estimate(value)
  }
  by_contender = {
    c: results.measured(c, name)
    or of_groups(one['sets'][name].get('groups', {}))
    for c, one in results.contenders.items()
    if name in one['sets']
  }
  every = [key for one in by_contender.values() for key in one]
  keys = [key for key in measures.leading(every) if not measures.is_rate(key)]
  keys = keys or list(measures.in_order(dict.fromkeys(every)))
  if not keys:
    return []
  if {'recall', 'precision'} <= {*every}:  # of pairs: neither says much alone
    keys = ['precision', *keys]
  sure = daggers(results)
  return [
    {'contender': contender}
    | {
      key: tables.of_measure(key, values[key])
      | ({'mark': '†'} if (name, contender, key) in sure else {})
      for key in keys
      if key in values
    }
    for contender, values in by_contender.items()
  ]


def contenders(results: Results) -> list[dict]:
  """All contenders side by side, set by set, and what each of them is."""
  if len(results.contenders) < 2:
    return []
  body: list[dict] = []
  keys: list[str] = []
  for name in results.set_names():
    rows = side_by_side(results, name)
    body += _one_set(name, rows) if rows else []
    keys += [key for row in rows for key in row if key != 'contender']
  # Of the contenders' own runs, those below this one's folder only.
  pages = {
    name: one['page']
    for name, one in results.contenders.items()
    if re.fullmatch(r'[\w.=+-]+(/[\w.=+-]+)*', one.get('page', ''))
    and '..' not in one['page'].split('/')
  }
  about = lambda key: words.in_classes(results, measures.about(key))
  return written.sections(
    'contenders.txt',
    sets=body,
    daggers=daggers(results),
    seeds=plural(len(results.seeds), 'seed'),
    alpha=f'{1 - results.level:.2g}',
    meaning=[
      {'measure': heading(key), 'meaning': about(key)}
      for key in measures.leading(keys)
      if not measures.is_rate(key)
    ],
    facts=[
      {'contender': name, **one['facts']}
      for name, one in results.contenders.items()
      if one.get('facts')
    ],
    pages={'part': 'pages', 'pages': pages},
  )


def _one_set(name: str, rows: Sequence[Mapping]) -> list[dict]:
  """The table of a set; of many measures the last ones in a fold."""
  columns = list(dict.fromkeys(k for r in rows for k in r if k != 'contender'))
  head = {'contender': 'contender'}
  tables_ = [
    parts.table(rows, head | {k: heading(k) for k in columns[at : at + WIDEST]})
    for at in range(0, len(columns), WIDEST)
  ]
  out = [parts.heading(f'On {of_set(name)}'), *tables_[:1]]
  out += [parts.fold('More measures', *tables_[1:])] * (len(tables_) > 1)
  pictures = []
  for key in measures.leading(columns, pictured=True):
    values = {r['contender']: r[key] for r in rows if key in r}
    if any(map(tables.defined, values.values())):
      # No point is hollow: a level is not tested against anything here.
      plot = plots.forest(values, measures.label(key), zero=None)
      caption = f'{capital(key)} on {of_set(name)}; {_better(key)}.'
      pictures.append(drawn(f'contenders_{key}_{name}', plot, caption))
  return [*out, parts.fold('Pictures', *pictures)] if pictures else out


def heading(key: str) -> str:
  """'demographic parity at eer' of dp at eer, led by the attribute if any."""
  attribute = key.rpartition('/')[0]
  limit = key.rpartition(' at ')[2] if ' at ' in key else ''
  words = measures.label(key)
  words += f' at {limit}' * (limit not in words)
  return f'{attribute}: {words}' if attribute else words


def capital(key: str) -> str:
  label = heading(key)
  return label[:1].upper() + label[1:]


def _better(key: str) -> str:
  row = measures.measure(key)
  side_ = {1: 'right', -1: 'left'}.get(row.better if row else 0)
  return f'{side_} is better' if side_ else 'neither side is better'


def in_full(results: Results, predictions: pd.DataFrame | None) -> list[dict]:
  """A section for each test set of the contender in focus."""
  out = []
  for name, one in results.sets.items():
    known = predictions is not None
    scores = known and _scores(name, predictions, results, one)
    out += written.sections(
      'test_set.txt',
      name=name,
      called=of_set(name),
      focus=len(results.contenders) > 1 and opened(results.focus),
      level=tables.percent(results.level),
      most=MOST_GROUPS,
      **_numbers(results, one),
      **_groups(results, name, one.get('groups') or {}),
      ungrouped=known and not one.get('fairness'),
      **scores or {'roc': None},
    )
  return [section for section in out if section['parts']]


def _numbers(results: Results, one: Mapping) -> dict:
  """The measures that lead side by side, the others, and gaps in every rate."""
  own, more = tables.split_aggregates(one.get('fairness', {}))
  pair: list[list] = []
  rest: list[list] = []
  for title, values in (('Quality', one.get('quality', {})), ('Fairness', own)):
    leads = set(measures.leading(values))
    for into, lead in ((pair, True), (rest, False)):
      if some := {k: v for k, v in values.items() if (k in leads) == lead}:
        into.append([parts.heading(title), _measures(results, some)])
  side = lambda blocks: blocks and {'part': 'side', 'blocks': blocks}
  return {'leading': side(pair), 'others': side(rest), 'gaps': more}


def _measures(results: Results, values: Mapping) -> dict:
  """A row a measure, by the name that people know, and ours in brackets; with
  what chance alone gives a gap where that is known."""
  rows = []
  about: dict[str, str] = {}
  for key in measures.in_order(values):
    of, value = measures.measure(key), values[key]
    own = of and measures.label(key).casefold() != key
    title = words.in_classes(results, capital(key)) + f' ({key})' * bool(own)
    row = {'measure': title, 'value': tables.of_measure(key, value)}
    rows.append(row | {'by chance': value['null']} if 'null' in value else row)
    # Of several attributes a measure is explained once.
    meaning = words.in_classes(results, of.about if of else '')
    about[title] = '' if meaning in about.values() else meaning
  return parts.table(rows) | {'about': about}


def _groups(results: Results, name: str, groups: Mapping) -> dict:
  """A picture of the rates of the largest groups, and every number."""
  columns = dict.fromkeys(key for g in groups.values() for key in g)
  known = lambda k: any(tables.is_estimate(g.get(k)) for g in groups.values())
  keys = [*filter(known, columns)]
  of_rates = [k for k in keys if k in measures.rates()]
  rates = measures.leading(of_rates, pictured=True) or keys
  largest = sorted(groups, key=lambda g: -groups[g].get('rows', 0))
  # Where classes have names a picture says what is counted, not its term.
  named = words.sides(results) != words.SIDES
  says = lambda k: words.in_classes(results, measures.MEASURES[k].about)
  of = lambda k: says(k) if named and k in of_rates else words.label(results, k)
  rows = {
    words.group(g): {
      'rows' if k == 'rows' else of(k): groups[g][k]
      for k in ('rows', *rates)
      if k in groups[g]
    }
    for g in groups
    if g in largest[:MOST_GROUPS]
  }
  called = lambda k: words.in_classes(results, heading(k))
  heads = {'group': 'group'} | {k: called(k) for k in columns}
  if 'effective_rows' in heads:
    heads['effective_rows'] = 'rows by weight'
  each = [{'group': g, **values} for g, values in groups.items()]
  return {
    'rates': rates and drawn(f'rates_{name}', plots.rates(rows), ''),
    'groups': groups and parts.table(each, heads),
  }


def _scores(
  name: str, predictions: pd.DataFrame, results: Results, one: Mapping
) -> dict:
  """ROC curves and histograms of the positive class's probability.

  Their groups are those measured: predictions hold the column of data.group,
  and measures.groups may name another.
  """
  if 'label' not in predictions:
    return {}
  rows = predictions[predictions['set'] == name]
  score, what = probabilities(rows, results.pos_label, results.classes)
  if not len(rows) or not len(score):
    return {}
  label = (rows['label'] == results.pos_label).to_numpy()
  group = rows['group'].fillna('').astype(str).to_numpy()
  if one.get('groups') and not {*group} - {''} <= {*one['groups']}:
    group = np.full(len(group), '', object)
  group = pd.Series(group).map({g: words.group(g) for g in {*group}}).to_numpy()
  names, counts = np.unique(group[group != ''], return_counts=True)
  largest = names[np.argsort(-counts, kind='stable')][: len(figures.COLOURS)]
  by = {g: (label[group == g], score[:, group == g]) for g in largest}
  sides = words.sides(results)
  plot = plots.score_histograms(label, score, group, sides=sides)
  axes = (
    words.in_classes(results, measures.MEASURES[k].about)
    for k in ('fpr', 'tpr')
  )
  of_rates = [*axes] if sides != words.SIDES else ()
  roc = lambda of, by: drawn(f'{of}_{name}', plots.roc(by, *of_rates), '')
  return {
    'what': what,
    'roc': roc('roc', {'all rows': (label, score)}),
    'roc_groups': len(by) > 1 and roc('roc_groups', by),
    'most_of': len(names) > len(largest),
    'histograms': drawn(f'scores_{name}', plot, ''),
    'grouped': len(names),
  }


def probabilities(
  rows: pd.DataFrame, positive: int, classes: Sequence[str]
) -> tuple[np.ndarray, str]:
  """Scores [s, n] of the positive class, and what they are."""
  name = classes[positive] if positive < len(classes) else ''
  name = f'‘{tables.printable(name)}’' if name else f'class {positive}'
  chances = answers.of_run(rows)
  two = 'p0' in rows  # of two classes, P(1) is kept
  what = f'the probability of {name}{"" if two else " against the rest"}'
  return chances[..., positive], what


def tests(results: Results) -> list[dict]:
  """Paired comparisons: forests of the effects, and the numbers."""
  body: list[dict] = []
  for title, rows in tables.differences(results.tests).items():
    body.append(parts.heading(title))
    own = next(iter(rows[0]))
    for key in measures.leading((r['measure'] for r in rows), pictured=True):
      of = [row for row in rows if row['measure'] == key]
      effects = {row[own]: row['difference'] for row in of}
      label = heading(key)
      hollow = 'A hollow point: the interval holds 0.'
      caption = f'{title}: {label}; {_better(key)}. {hollow}'
      plot = plots.forest(effects, f'{label}, difference')
      body.append(drawn(f'difference_{key}_{title}', plot, caption))
    shown = [{**row, 'measure': heading(row['measure'])} for row in rows]
    body.append(parts.fold(f'{plural(len(rows), "test")}', parts.table(shown)))
  return [parts.section('Paired tests', *body)] if body else []
