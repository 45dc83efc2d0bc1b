"""Sections of the page of what a model writes."""

from collections.abc import Sequence

from fairjax import results
from fairjax.config import Config
from fairjax.data.tables import labels
from fairjax.metrics import measures
from fairjax.metrics.inference import significance
from fairjax.models.decoding.decode import Options
from fairjax.recipes.language import generate_corpus
from fairjax.recipes.writing.measure import MeasuredTexts
from fairjax.report import tables

CLUSTERED = (
  'Intervals and p values are over templates (or clusters of a file): texts of '
  'one template are dependent, whatever group they are of'
)
METHOD = (
  'The k-th text after a prompt is held against the k-th after the matched '
  'prompt of the other group, words of groups masked. What drawing alone does '
  'is how alike two texts after one of these prompts are. Sentiment parity is '
  'that of Huang et al. 2020, similarities are as in langfair (Bouchard 2024), '
  'expected maximum and probability of one from the bound on as in '
  'RealToxicityPrompts (Gehman et al. 2020), stereotypical associations as in '
  'HELM (Liang et al. 2022), of prompt and text together.'
)
OF_GROUPS = ('selection_rate', 'mean_score', 'expected_max', 'any_above',
             'honest')  # fmt: skip
SIMILAR = ('bleu', 'rouge_l', 'cosine')


def drawn(own: Options, samples: int) -> dict:
  """How each text was drawn, for the facts."""
  facts = {'each token': generate_corpus.drawn(own)}
  return facts | ({'texts of a prompt': samples} if own.do_sample else {})


def sections(config: Config, measured: MeasuredTexts, scorer) -> list[dict]:
  every = (
    _groups(measured, scorer, config),
    _matched(measured),
    _company(measured),
    _texts(measured, scorer),
  )
  return [one for one in every if one]


def _groups(measured: MeasuredTexts, scorer, config: Config) -> dict | None:
  """What is written of each group, and beyond nobody."""
  by_group = measured.set['groups']
  keys = [k for k in OF_GROUPS if any(k in one for one in by_group.values())]
  if not keys:
    return None
  names = {
    'selection_rate': f'share from {config.writing.bound:g} on',
    'mean_score': 'mean score',
    'expected_max': 'expected maximum',
    'any_above': f'prompts with one from {config.writing.bound:g} on',
    'honest': 'with a hurtful word (HONEST)',
  }
  rows = [
    {'group': group, 'texts': one['rows']}
    | {names[k]: one[k] for k in keys if k in one}
    for group, one in by_group.items()
  ]
  caption = ''
  if scorer is not None:
    caption = f'The score is the probability of ‘{scorer.positive}’'
  gaps = [
    {'measure': measures.label(k), 'gap': v,
     'by chance': _number(v.get('null')), 'p': significance.p_text(v)}
    for k, v in measured.set['fairness'].items()
    if k.endswith('_gap') and tables.defined(v)
  ]  # fmt: skip
  parts = [results.table(rows, caption=caption, screen=True)]
  if gaps:
    parts.append(results.table(gaps, caption='Gaps between groups'))
  parts += _over(measured)
  return results.section('What is written of each group', *parts)


def _number(value) -> str:
  return '' if value is None else f'{value:.3f}'


def _over(measured: MeasuredTexts) -> list[dict]:
  """Groups against the matched prompts that name none."""
  if not measured.over:
    return []
  rows = [
    {
      'group': row['group'],
      'mean score': row['score'],
      'no group': row['nobody'],
      'difference': row['difference'],
      'p, adjusted': significance.p_text({'p': row['adjusted']}),
    }
    for row in measured.over
  ]
  sure = [
    row for row in measured.over if significance.is_significant(row['adjusted'])
  ]
  # Prompts whose groups are found by their words are other people's.
  matched = all(row.get('matched', True) for row in measured.over)
  nobody = f'{"matched " if matched else ""}prompts that name no group'
  words = (
    f'{len(sure)} of {len(rows)} groups differ from the {nobody} (adjusted p '
    f'of at most {significance.SURE:g}, Holm).'
  )
  return [
    results.table(rows, caption=f'Beside {nobody}'),
    results.text(words),
  ]


def _matched(measured: MeasuredTexts) -> dict | None:
  """Sentiment parity and similarity, each beside its floor."""
  fairness = measured.set['fairness']
  similar = [
    {
      'how alike': _of(key),
      'across groups': fairness[key],
      'two texts of one prompt': fairness.get(f'{key}_floor', ''),
      'difference': fairness.get(f'{key}_loss', ''),
    }
    for key in fairness
    if measures.bare(key) in {f'paired_{name}' for name in SIMILAR}
  ]
  parity = [
    {
      'groups': ' and '.join(row['groups']),
      'texts': row['texts'],
      'distance of the scores (strong parity)': row['strong'],
      'by chance': _number(row['strong'].get('null')),
      'difference of the shares (weak parity)': row['weak'],
    }
    for row in measured.pairs
  ]
  if not (similar or parity):
    return None
  parts = []
  if parity:
    parts.append(results.table(parity, caption='Counterfactual parity'))
  if similar:
    parts.append(
      results.table(similar, caption='Texts after matched prompts; 1 is alike')
    )
  parts.append(results.text(METHOD, kind='quiet'))
  return results.section('Matched prompts', *parts)


def _of(key: str) -> str:
  """'BLEU', of the groups of an attribute where there are several."""
  name = measures.label(key).partition(' of ')[0]
  attribute = key.rpartition('/')[0]
  return f'{name}, {attribute}' if attribute else name


def _company(measured: MeasuredTexts) -> dict | None:
  rows = [
    {'measure': measures.label(k), 'value': v,
     'by chance': _number(v.get('null'))}
    for k, v in measured.set['fairness'].items()
    if measures.bare(k) in ('association_bias', 'cooccurrence_bias')
  ]  # fmt: skip
  if not rows:
    return None
  words = (
    'Of few texts both are above 0 without any stereotype; beside the first '
    'stands what the targets of each text give beside the group of another.'
  )
  return results.section(
    'Occupations and traits beside words of the groups',
    results.table(rows),
    results.text(words, kind='quiet'),
  )


def _texts(measured: MeasuredTexts, scorer) -> dict | None:
  rows: Sequence[dict] = measured.examples
  if not rows:
    return None
  blur = labels.offensive([scorer.positive]) if scorer else None
  if 'twin' in rows[0]:
    heading = 'Matched texts whose scores differ most'
    return results.section(heading, results.texts(rows, blur=blur))
  return results.section(
    'Texts with the highest scores', results.texts(rows, ('text',), blur)
  )
