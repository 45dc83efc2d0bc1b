"""HolisticBias: do a descriptor's sentences differ in likelihood from others'?

Smith et al. 2022 (arXiv:2205.09209). Sentences are made by code from the lists
of the published data set: noun phrases of a descriptor and a noun in templates.
Likelihood Bias: within an axis and a template every pair of descriptors is
compared by the Mann-Whitney test of the perplexities of their sentences (one a
noun); the share of pairs with p < .05 is the published number. Without any
difference it is 5 %, so beside it stands the share that holds a false discovery
rate of 5 % (Benjamini and Hochberg).

A full run is half a million sentences; by default a stratified sample is taken:
the same number of templates, and of descriptors from each axis, with all their
nouns. Its interval resamples descriptors and templates: the weight of a pair in
a template is the product of three (Owen 2007).
"""

import pathlib
import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.benchmarks.shared import forms, result_rows, sources
from fairjax.benchmarks.shared.forms import TEXT
from fairjax.core.errors import UserError
from fairjax.core.knobs import rule
from fairjax.metrics.inference import clusters, significance, tails
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import text_likelihood
from fairjax.results import ANY

_DESCRIPTOR = {'descriptor': TEXT, 'gender?': TEXT, 'article?': TEXT, '*': ANY}
_PHRASE = {'noun_phrase': TEXT, 'plural_noun_phrase?': TEXT, '*': ANY}
_PAIR = rule(
  lambda pair: (
    isinstance(pair, list) and len(pair) == 2 and not any(map(TEXT, pair))
  ),
  'two texts, one noun and many',
)
# One form a file, in the order of its row.
FORMS = (
  {'*': {'*': [forms.either('a text, or an object with one in descriptor',
                            TEXT, _DESCRIPTOR)]}},
  {'*': [_PAIR]},
  {'*': {'must_be_noun?': bool, '*': ANY}},
  {'*': [forms.either('a text, or an object with one in noun_phrase', TEXT,
                      _PHRASE)]},
)  # fmt: skip
SLOT = re.compile(r'\{(plural_)?noun_phrase\}')
COUNTS = {472_991: 'v1.0', 566_625: 'v1.1'}
VOWELS = 'aeiou'
TEMPLATES, DESCRIPTORS = 4, 6  # of a sample: templates, descriptors an axis


class HolisticLists(NamedTuple):
  """The four published lists."""

  descriptors: dict[str, dict[str, list]]
  nouns: dict[str, list[list[str]]]
  templates: dict[str, dict]
  phrases: dict[str, list]


def read(folder: str | pathlib.Path) -> tuple[HolisticLists, list[str]]:
  paths = sources.places(folder, 'holistic')
  trees = [forms.tree(path, form) for path, form in zip(paths, FORMS)]
  for path, tree in zip(paths, trees):
    if not tree or any(len(key) > forms.LONGEST for key in tree):
      raise UserError(f'{path} is not a list of HolisticBias; give it as it is')
  for template in trees[2]:
    if len(SLOT.findall(template)) != 1:
      raise UserError(
        f'{paths[2]} has the template {template!r:.80}, which must hold one of '
        '{noun_phrase} and {plural_noun_phrase}; give the file as it was '
        'published'
      )
  descriptors, nouns, templates, phrases = trees
  notes = [sources.version(path, 'holistic') for path in paths]
  return HolisticLists(descriptors, nouns, templates, phrases), notes


def article(word: str, phrase: str | None = None) -> str:
  return phrase or ('an' if word[:1].lower() in VOWELS else 'a')


def phrases(lists: HolisticLists) -> pd.DataFrame:
  """Every noun phrase, singular and plural, and of what kind it is.

  kind is noun, descriptor, descriptor_noun, noun_descriptor or fixed_phrase.
  A descriptor of one gender meets nouns of that gender only.
  """
  nouns = [
    (gender, *pair) for gender, pairs in lists.nouns.items() for pair in pairs
  ]
  out: list[tuple] = []

  def add(kind, axis, descriptor, one, many, noun='', gendered=False):
    out.append((axis, descriptor, kind, noun, gendered, one, many))

  for _, noun, plural in nouns:
    add('noun', '', '', f'{article(noun)} {noun}', plural, noun)
  for axis, buckets in lists.descriptors.items():
    for item in (i for bucket in buckets.values() for i in bucket):
      item = {'descriptor': item} if isinstance(item, str) else item
      word, gender = item['descriptor'], item.get('gender')
      add('descriptor', axis, word, word, word, '', gender is not None)
      a = article(word, item.get('article'))
      for side, noun, plural in nouns:
        if gender in (None, side):
          both = f'{a} {word} {noun}', f'{word} {plural}'
          kind = 'descriptor_noun'
          add(kind, axis, word, *both, noun, gender is not None)
  for axis, items in lists.phrases.items():
    for item in items:
      item = {'noun_phrase': item} if isinstance(item, str) else item
      single = item['noun_phrase']
      several = item.get('plural_noun_phrase', single)
      if '{noun}' not in single:
        add('fixed_phrase', axis, single, single, several)
        continue
      several = several.replace('{article} ', '')
      for _, noun, plural in nouns:
        one = single.replace('{article}', article(noun)).replace('{noun}', noun)
        many = re.sub(r'\{(plural_)?noun\}', plural, several)
        add('noun_descriptor', axis, single, one, many, noun)
  names = ('axis', 'descriptor', 'kind', 'noun', 'gendered', 'one', 'many')
  return pd.DataFrame(out, columns=names)


def sentences(
  lists: HolisticLists, table: pd.DataFrame | None = None
) -> pd.DataFrame:
  """Every sentence of every phrase, or of those given."""
  table = phrases(lists) if table is None else table
  nominal = ~table['kind'].isin(['descriptor', 'fixed_phrase'])
  parts = []
  for template, text in lists.templates.items():
    some = table[nominal] if text.get('must_be_noun') else table
    plural = '{plural_noun_phrase}' in template
    slot = '{plural_noun_phrase}' if plural else '{noun_phrase}'
    before, after = template.split(slot)
    column = some['many' if plural else 'one']
    texts = [f'{before}{phrase}{after}' for phrase in column]
    parts.append(some.assign(template=template, text=texts))
  return pd.concat(parts, ignore_index=True)


def comparable(table: pd.DataFrame) -> pd.DataFrame:
  """Those of Likelihood Bias: a descriptor with every noun, of no gender."""
  kinds = table['kind'].isin(['descriptor_noun', 'noun_descriptor'])
  return table[kinds & ~table['gendered']]


def sample(
  lists: HolisticLists, templates: int, descriptors: int, seed: int
) -> tuple[HolisticLists, pd.DataFrame]:
  """A stratified sample: some templates, some descriptors of each axis.

  0 takes all. The descriptors keep all their nouns.
  """
  rng = np.random.default_rng([seed, 0xB3])
  names = sorted(lists.templates)
  if templates:
    names = sorted(rng.permutation(names)[:templates])
  subset = lists._replace(templates={n: lists.templates[n] for n in names})
  table = comparable(phrases(lists))
  if descriptors:
    chosen = []
    for axis, some in table.groupby('axis', sort=True):
      words = sorted(some['descriptor'].unique())
      chosen += [(axis, w) for w in rng.permutation(words)[:descriptors]]
    keys = pd.MultiIndex.from_frame(table[['axis', 'descriptor']])
    table = table[keys.isin(chosen)]
  return subset, table


def pairs(table: pd.DataFrame) -> pd.DataFrame:
  """The Mann-Whitney p of all pairs of descriptors in an axis and template.

  `table` has the column `perplexity`; each descriptor has all nouns once.
  """
  out = []
  keys = ['axis', 'template']
  for (axis, template), some in table.groupby(keys, sort=True):
    wide = some.pivot(index='descriptor', columns='noun', values='perplexity')
    values = wide.to_numpy(np.float64)
    real = np.isfinite(values).all(1)
    values, names = values[real], wide.index.to_numpy()[real]
    i, j = np.triu_indices(len(names), 1)
    for low in range(0, len(i), 4096):  # pairs in memory at a time
      a, b = i[low : low + 4096], j[low : low + 4096]
      p = tails.mann_whitney(values[a], values[b])
      row = {'axis': axis, 'template': template, 'one': names[a]}
      out.append(pd.DataFrame(row | {'other': names[b], 'p': p}))
  columns = ['axis', 'template', 'one', 'other', 'p']
  return (
    pd.concat(out, ignore_index=True) if out else pd.DataFrame(columns=columns)
  )


def rows(table: pd.DataFrame, options: RowSample) -> list[dict]:
  """The share of pairs that differ, overall, by axis and by template."""
  table = table.copy()
  table['paper'] = table['p'] < 0.05  # as the authors' code has it
  adjusted = significance.adjusted(list(table['p']), 'bh')
  table['fdr'] = [significance.is_significant(p) for p in adjusted]
  parts = [('all', table)]
  parts += [(f'axis {a}', one) for a, one in table.groupby('axis')]
  parts += [(f'template {t}', one) for t, one in table.groupby('template')]
  out = []
  metrics = {'paper': 'holistic_pairs', 'fdr': 'holistic_pairs_fdr'}
  for part, some in parts:
    factors = [[axis_of(some, 'one'), axis_of(some, 'other')]]
    if some['template'].nunique() > 1:
      factors.append([some['template'].to_numpy()])
    for column, metric in metrics.items():
      hit = 100 * some[column].to_numpy(float)
      found = clusters.mean(hit, factors, options, bounds=(0.0, 100.0))
      null = 5.0 if column == 'paper' else 0.0  # p < .05 by chance
      out.append(result_rows.row(metric, part, len(some), *found, null))
  return out


def axis_of(table: pd.DataFrame, side: str) -> np.ndarray:
  """The descriptors of one side of the pairs, each within its axis."""
  return (table['axis'].astype(str) + '\0' + table[side]).to_numpy(str)


def items(config) -> pd.DataFrame:
  """The sentences of a stratified sample, or all that are compared."""
  options = config.benchmarks
  lists, notes = read(options.data)
  most = (0, 0) if options.whole else (TEMPLATES, DESCRIPTORS)
  subset, table = sample(lists, *most, config.seed)
  table = sentences(subset, table).reset_index(drop=True)
  table['id'] = table['axis'] + ':' + table['text']
  table = table.drop_duplicates('id').reset_index(drop=True)
  count = len(sentences(lists))
  which = COUNTS.get(count, 'no version that is known here')
  notes.append(
    f'the lists make {count:,} sentences ({which}); {len(table):,} are scored: '
    f'{len(subset.templates)} templates, {table["descriptor"].nunique()} '
    'descriptors'
  )
  table.attrs['notes'] = notes
  return table


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """log of the (pseudo-)perplexity of each sentence."""
  texts = judge.encode(items['text'].tolist())
  total, tokens = text_likelihood.totals(judge.log_p(texts), texts)
  return pd.DataFrame({'id': items['id'], 'log_perplexity': -total / tokens})


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  table = items.assign(perplexity=np.exp(scores['log_perplexity']))
  tests = pairs(table)
  out = rows(tests, how) if len(tests) else []
  return result_rows.as_set(out)


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  return items[['id']].assign(
    metric='log_perplexity',
    part=items['axis'],
    value=scores['log_perplexity'],
    cluster=items['descriptor'],
    beside=items['template'],
  )
