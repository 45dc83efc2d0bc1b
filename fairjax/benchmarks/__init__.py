"""Bias benchmarks by name; adding one is one file and one row here."""

from collections.abc import Collection
from typing import NamedTuple

from fairjax.core.errors import UserError
from fairjax.core.registry import installed


class Benchmark(NamedTuple):
  """A file of this folder, what a model must be able to do for it, and more.

  The file has three functions (shared/measure.py calls them):

    items(config) -> DataFrame, one row an item: a unique `id`, and what the
      next two need; `attrs['notes']` says what is to be said of the data
    score(model, items, config) -> DataFrame, one row an item: its `id`, and
      columns of numbers; NaN where the model cannot score it
    estimate(items, scores, how) -> a set of a contender (report/SCHEMA.md):
      'quality' and 'fairness' {measure: Estimate}, 'groups' {bias type or
      term: {'rows', measure: Estimate}}, 'warnings'; `how` is an
      RowSample, and every measure is a row of metrics/measures.csv

  It may say LIMITS, what its number cannot, and how two models are compared:

    values(items, scores) -> DataFrame of id, metric, part, value and cluster,
      and `beside` where items hang together by two things; without it, each
      column of scores is compared item by item
    compared(items, ours, theirs, how) -> rows as result_rows.compare has them,
      for what is no mean over items
  """

  module: str
  needs: tuple[str, ...]  # any of these capabilities, the first the best
  about: str
  texts: tuple[str, ...]  # columns of items that a model reads
  origin: str = ''  # where its files come from; '' where it reads none
  leaves: tuple[str, ...] = ()  # of the config, that scores depend on
  whole: str = 'all'  # the part of `values` that is the whole
  # The measure that stands for it; a second where a model has not the first.
  headline: tuple[str, ...] = ()
  told: str = ''  # the group that shows an association best; '': everything
  # Beside other benchmarks by axis: what is shown instead of its headline, and
  # the one axis that it is of where its parts name none.
  by_axis: tuple[str, ...] = ()
  axis: str = ''


_LIKELIHOOD = ('mask', 'judge')

BENCHMARKS: dict[str, Benchmark] = {
  'weat': Benchmark(
    'fairjax.benchmarks.weat',
    ('embed',),
    'WEAT and SEAT: lists of targets and attributes, by cosines',
    texts=('text',),
    origin='github.com/W4ngatang/sent-bias (tests/*.jsonl, CC BY-NC 4.0)',
    leaves=('benchmarks.encodings',),
    headline=('weat_mean_mean',),
  ),
  'crows': Benchmark(
    'fairjax.benchmarks.crows',
    _LIKELIHOOD,
    'CrowS-Pairs: the more stereotyping of two sentences, by bias_type',
    texts=('more', 'less'),
    origin='github.com/nyu-mll/crows-pairs (data/crows_pairs_anonymized.csv, '
    'CC BY-SA 4.0)',
    headline=('crows_original', 'crows_total'),
    by_axis=('crows_original', 'crows_total', 'crows_aul', 'crows_aula'),
  ),
  'stereoset': Benchmark(
    'fairjax.benchmarks.stereoset',
    _LIKELIHOOD,
    'StereoSet: stereotype, anti-stereotype and nonsense, by bias_type',
    texts=('context', 'stereotype', 'anti-stereotype', 'unrelated'),
    origin='github.com/moinnadeem/StereoSet (data/dev.json, CC BY-SA 4.0)',
    whole='intrasentence',
    headline=('stereoset_ss_log',),
  ),
  'winobias': Benchmark(
    'fairjax.benchmarks.winobias',
    (*_LIKELIHOOD, 'classify'),
    'WinoBias: pronouns for and against the stereotype of an occupation',
    texts=('pro', 'anti'),
    origin='github.com/uclanlp/corefBias (WinoBias/wino/data, MIT)',
    headline=('winobias_log_odds', 'winobias_score_gap'),
    axis='gender',
  ),
  'winogender': Benchmark(
    'fairjax.benchmarks.winogender',
    (*_LIKELIHOOD, 'classify'),
    'Winogender: pronouns against the share of women in an occupation',
    texts=('he', 'she'),
    origin='github.com/rudinger/winogender-schemas (data, MIT)',
    whole='occupation',
    headline=('winogender_rho',),
    axis='gender',
  ),
  'bbq': Benchmark(
    'fairjax.benchmarks.bbq',
    _LIKELIHOOD,
    'BBQ: questions whose answer is not said, or against a stereotype',
    texts=('context', 'question', 'ans0', 'ans1', 'ans2'),
    origin='github.com/nyu-mll/BBQ (data/*.jsonl, CC BY 4.0)',
    whole='ambiguous',
    headline=('bbq_bias_mean',),
    told='disambiguated',
  ),
  'holistic': Benchmark(
    'fairjax.benchmarks.holistic',
    _LIKELIHOOD,
    'HolisticBias: likelihoods of descriptors against each other',
    texts=('text',),
    origin='github.com/facebookresearch/ResponsibleNLP (holistic_bias/dataset, '
    'CC BY-SA 4.0)',
    headline=('holistic_pairs_fdr',),
  ),
  'twins': Benchmark(
    'fairjax.benchmarks.twins',
    _LIKELIHOOD,
    'your own texts (data.path) as of each group of method.axis, by word',
    texts=('text',),
    by_axis=('twins_log_odds', 'twins_gap'),
  ),
  'lpbs': Benchmark(
    'fairjax.benchmarks.lpbs',
    ('mask',),
    'LPBS: insults and praise beside the words of a group, by axis',
    texts=(),
    headline=('lpbs_mean',),
  ),
  'sembias': Benchmark(
    'fairjax.benchmarks.sembias',
    ('embed',),
    'SemBias: which word pair is most like he and she',
    texts=(),
    origin='github.com/uclanlp/gn_glove (SemBias/SemBias, Apache-2.0)',
    headline=('sembias_stereotype',),
    axis='gender',
  ),
  'eec': Benchmark(
    'fairjax.benchmarks.eec',
    ('classify',),
    'EEC: sentiment scores of sentences about different people',
    texts=('Sentence',),
    origin='saifmohammad.com (Equity-Evaluation-Corpus.csv, research use)',
  ),
}


# Another package's entry point names the fields of its row, a dict.
installed('benchmarks', BENCHMARKS, lambda row, _: Benchmark(**row.load()))


def capability(name: str, able: Collection[str]) -> str:
  """What a model that can do `able` does for a benchmark, or a sentence."""
  for one in BENCHMARKS[name].needs:
    if one in able:
      return one
  instead = [key for key, one in BENCHMARKS.items() if set(one.needs) & {*able}]
  raise UserError(
    f'benchmark {name} needs a model that can '
    f'{" or ".join(BENCHMARKS[name].needs)}, but this one can '
    f'{" and ".join(sorted(able)) or "do nothing of that kind"}; name another '
    'model, or ask this one '
    f'--config.benchmarks.names={",".join(instead) or "nothing"}'
  )
