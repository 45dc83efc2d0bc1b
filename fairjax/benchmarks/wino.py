"""WinoBias and Winogender: which pronoun does an occupation bring?

WinoBias (Zhao et al. 2018, arXiv:1804.06876): the same sentence with a pronoun
that agrees with the stereotype of the occupation (pro) and with one that does
not (anti). A masked LM reads both pronouns at one mask, a causal LM both
sentences, a classifier scores both. The mean log-odds pro − anti is free of a
model's overall liking for one pronoun, since the pronoun is 'he' in half of
the pro sentences; the share of pro wins is not. Sentences of one pair of
occupations are one cluster.

Winogender (Rudinger et al. 2018, arXiv:1804.09301): log p(she) − log p(he) of
an occupation's sentences against the percentage of women in it; ρ is
Spearman's, with the interval of Bonett and Wright (2000) over occupations.
"""

import pathlib
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from fairjax.benchmarks import estimates, sources
from fairjax.benchmarks.estimates import Options, Outcome
from fairjax.data.tokens import Ragged, take
from fairjax.errors import UserError
from fairjax.metrics import likelihood

ORIGIN = {
  'winobias': 'github.com/uclanlp/corefBias (WinoBias/wino/data, MIT)',
  'winogender': 'github.com/rudinger/winogender-schemas (data, MIT)',
}
VERSIONS = {
  'a4e0ebae': 'WinoBias dev',
  '14c04d4c19be526e6e6999a9bd7c8cfd': 'WinoBias, pro, type 1, dev',
  '2f6a4489d2cfe27cb737e6a514a57f47': 'WinoBias, anti, type 1, dev',
  '7b6ae90cd7ae4c7d88f1916dd80cfaaf': 'WinoBias, anti, type 2, dev',
  'c20185a85b17130e36eca0241900766b': 'WinoBias, pro, type 2, dev',
  '1db72808f40718a79375e5a0df6c619f': 'the published 720 sentences',
  '0493172a5e91e5cfb482f5f889f07392': 'the published statistics',
}
MASCULINE = ('he', 'him', 'his', 'himself')
FEMININE = ('she', 'her', 'hers', 'herself')
LIMITS = (
  'A preference for a pronoun is evidence about forty (or sixty) occupations '
  'in written-out templates, not about how a model resolves pronouns.'
)


def read_winobias(folder: str | pathlib.Path) -> pd.DataFrame:
  """id, kind, pro, anti, he (the pro pronoun is masculine), cluster."""
  out, names, broken = [], [], []
  for kind in ('type1', 'type2'):
    paths = [
      sources.locate(
        folder,
        (f'{side}_stereotyped_{kind}*dev*', f'{side}_stereotyped_{kind}*'),
        'winobias',
        ORIGIN['winobias'],
      )
      for side in ('pro', 'anti')
    ]
    names += [sources.version(path, VERSIONS) for path in paths]
    sides = [_lines(path) for path in paths]
    if len(sides[0]) != len(sides[1]):
      raise UserError(
        f'{paths[0]} has {len(sides[0])} lines and {paths[1]} '
        f'{len(sides[1])}; line i of one must be the pair of line i of the '
        'other'
      )
    for number, (pro, anti) in enumerate(zip(*sides)):
      pronouns = _pronouns(pro, anti)
      if not pronouns:
        broken.append(f'{kind}:{number + 1}')
        continue
      out.append(
        {
          'id': f'{kind}:{number + 1}',
          'kind': kind,
          'pro': pro,
          'anti': anti,
          'he': pronouns[0] in MASCULINE,
          'cluster': f'{kind}:{number // 2}',
        }
      )
  if len(broken) > len(out):
    raise UserError(
      f'the sentences of {folder} are no pairs that differ in pronouns (first '
      f'{broken[0]}); give the files as they were published'
    )
  table = pd.DataFrame(out)
  if broken:
    names.append(
      f'{len(broken)} pairs are left out, since they differ in more than '
      f'pronouns: {", ".join(broken)}'
    )
  table.attrs['versions'] = names
  return table


def _pronouns(pro: str, anti: str) -> list[str]:
  """The first's pronouns that the second turns, if nothing else differs."""
  sides = [re.findall(r'\w+', text.lower()) for text in (pro, anti)]
  if len(sides[0]) != len(sides[1]):
    return []
  differ = [(a, b) for a, b in zip(*sides) if a != b]
  turned = all(
    {a, b} <= {*MASCULINE, *FEMININE} and (a in MASCULINE) != (b in MASCULINE)
    for a, b in differ
  )
  return [a for a, _ in differ] if turned else []


def _lines(path: pathlib.Path) -> list[str]:
  lines = path.read_text(encoding='utf-8').splitlines()
  return [
    re.sub(r'[\[\]]', '', re.sub(r'^\d+\s+', '', line))
    for line in lines
    if line.strip()
  ]


def contrast(
  judge, ones: Sequence[str], others: Sequence[str]
) -> tuple[np.ndarray, list[str]]:
  """log-odds of texts that differ in words, and the words that are dropped.

  Masked: Σ log p(one's word) − log p(other's) over the places that differ,
  all of them masked; a word of several tokens makes NaN. Left to right:
  Σ log p of all tokens. Of a classifier: the difference of its scores.
  """
  if judge.kind == 'classify':
    scores = judge.score([*ones, *others])
    return scores[: len(ones)] - scores[len(ones) :], []
  texts = judge.encode([t for pair in zip(ones, others) for t in pair])
  if judge.kind == 'write':
    total, _ = likelihood.totals(judge.log_p(texts), texts)
    return total[::2] - total[1::2], []
  rows, places, tokens, dropped = [], [], [], []
  for i in range(len(ones)):
    one, other = (
      texts.flat[texts.offsets[k] : texts.offsets[k + 1]]
      for k in (2 * i, 2 * i + 1)
    )
    words = [re.findall(r'\w+', t) for t in (ones[i], others[i])]
    differ = [(a, b) for a, b in zip(*words) if a != b]
    at = np.flatnonzero(one != other) if len(one) == len(other) else []
    if not differ or len(at) != len(differ):
      dropped += [f'{a} / {b}' for a, b in differ] or [ones[i]]
      continue
    rows += [i] * len(at)
    places += list(at)
    tokens += list(zip(one[at], other[at]))
  gap = np.full(len(ones), np.nan)
  if not rows:
    return gap, dropped
  rows, places = np.array(rows), np.array(places)
  masked = texts.flat.copy()
  masked[texts.offsets[2 * rows] + places] = judge.mask_id
  shown = take(Ragged(masked, texts.offsets), 2 * rows)
  logs = judge.log_p_at(shown, places, np.array(tokens)).astype(np.float64)
  gap[rows] = 0
  np.add.at(gap, rows, logs[:, 0] - logs[:, 1])
  return gap, dropped


def dropped_note(dropped: list[str], items: int) -> list[str]:
  if not dropped:
    return []
  names = ', '.join(sorted(set(dropped))[:8])
  return [
    f'{len(dropped)} of {items} items are dropped, since the model has no '
    f'single token for a word of theirs: {names}'
  ]


def run_winobias(folder, judge, options: Options) -> Outcome:
  table = read_winobias(folder)
  gap, dropped = contrast(judge, list(table['pro']), list(table['anti']))
  table['value'] = gap
  notes = table.attrs['versions'] + dropped_note(dropped, len(table))
  unit = 'score' if judge.kind == 'classify' else 'log-odds'
  rows, every = [], []
  he = table['he'].to_numpy()
  for kind, some in [('all', table), *table.groupby('kind', sort=True)]:
    parts = {kind: some}
    if kind == 'all':
      parts |= {'pro is he': table[he], 'pro is she': table[~he]}
    for part, few in parts.items():
      value, cluster = few['value'].to_numpy(), few['cluster'].to_numpy()
      real = np.isfinite(value)
      estimate, p = estimates.mean(value, cluster, options, 0.0)
      rows.append(
        estimates.row(
          f'{unit} pro − anti',
          part,
          real.sum(),
          estimate,
          0.0,
          p,
          'Bayesian bootstrap of occupation pairs',
        )
      )
      won = np.where(real, 100.0 * (value > 0) + 50.0 * (value == 0), np.nan)
      estimate, p = estimates.mean(won, cluster, options, 50.0)
      rows.append(
        estimates.row(
          'pro wins, %',
          part,
          real.sum(),
          estimate,
          50.0,
          p,
          'Bayesian bootstrap of occupation pairs',
        )
      )
    every.append(some.assign(metric=f'{unit} pro − anti', part=kind))
  return Outcome(rows, pd.concat(every, ignore_index=True), notes)


def read_winogender(folder: str | pathlib.Path) -> pd.DataFrame:
  """id, occupation, of (occupation or participant), he, she, women (%)."""
  find = lambda name: sources.locate(
    folder, (name,), 'winogender', ORIGIN['winogender']
  )
  path, numbers = find('all_sentences.tsv'), find('occupations-stats.tsv')
  frame = sources.table(path, ('sentid', 'sentence'))
  women = sources.table(numbers, ('occupation', 'bls_pct_female'))
  women = dict(zip(women['occupation'], women['bls_pct_female'].astype(float)))
  parts = frame['sentid'].str.extract(
    r'^(?P<occupation>[^.]+)\.(?P<other>[^.]+)\.(?P<answer>[01])\.'
    r'(?P<gender>male|female|neutral)(?:\.txt)?$'
  )
  if parts['gender'].isna().any():
    row = int(parts['gender'].isna().to_numpy().argmax())
    raise UserError(
      f'{path} has the sentid {frame["sentid"][row]!r} in row {row}, which '
      'names no gender; give the file as it was published'
    )
  keys = ['occupation', 'other', 'answer']
  wide = parts.assign(text=frame['sentence']).pivot(
    index=keys, columns='gender', values='text'
  )
  wide = wide.reset_index()
  unknown = set(wide['occupation']) - set(women)
  if unknown:
    raise UserError(
      f'{numbers} has no row for {sorted(unknown)[0]!r}, which {path} speaks '
      'of; give both files of one version'
    )
  table = pd.DataFrame(
    {
      'id': wide[keys].agg('.'.join, axis=1),
      'occupation': wide['occupation'],
      'of': np.where(wide['answer'] == '0', 'occupation', 'participant'),
      'he': wide['male'],
      'she': wide['female'],
      'women': wide['occupation'].map(women),
    }
  )
  table.attrs['versions'] = [
    sources.version(one, VERSIONS) for one in (path, numbers)
  ]
  return table


def correlation(
  x: np.ndarray, y: np.ndarray, options: Options
) -> tuple[dict, float | None]:
  """Spearman's ρ; interval and p by atanh ρ, se² = (1 + ρ²/2) / (n − 3)."""
  n = len(x)
  if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
    return estimates.estimate(None, note='too few different values'), None
  rho = float(stats.spearmanr(x, y).statistic)
  if abs(rho) >= 1:
    return estimates.estimate(rho, note='the order is the same'), None
  z, se = np.arctanh(rho), np.sqrt((1 + rho**2 / 2) / (n - 3))
  reach = stats.norm.ppf((1 + options.level) / 2) * se
  p = float(2 * stats.norm.sf(abs(z) / se))
  return estimates.estimate(rho, np.tanh(z - reach), np.tanh(z + reach)), p


def run_winogender(folder, judge, options: Options) -> Outcome:
  table = read_winogender(folder)
  gap, dropped = contrast(judge, list(table['she']), list(table['he']))
  table['value'] = gap
  notes = table.attrs['versions'] + dropped_note(dropped, len(table))
  rows = []
  for part, some in table.groupby('of', sort=True):
    means = some.groupby('occupation')[['value', 'women']].mean().dropna()
    value, p = correlation(
      means['value'].to_numpy(), means['women'].to_numpy(), options
    )
    rows.append(
      estimates.row(
        'ρ of log-odds she − he with % women',
        f'pronoun is the {part}',
        len(means),
        value,
        0.0,
        p,
        'Bonett-Wright z',
      )
    )
  items = table.assign(
    metric='log-odds she − he', part=table['of'], cluster=table['occupation']
  )
  return Outcome(rows, items, notes)
