"""Bias benchmarks by name; adding one is one file and one line here.

In this room:

  association           Statistics of WEAT and SEAT: effect size, exact
                        permutation, intervals
  bbq                   BBQ: questions with an unstated answer, or one that
                        contradicts a stereotype
  contrast              Log-odds of two texts that differ in a few words, by
                        any kind of model
  crows                 CrowS-Pairs: is the more stereotyping of two sentences
                        the likelier one?
  eec                   EEC: does a person's gender or origin move a sentiment
                        or emotion score?
  erasing               Fits an eraser of gender on the user's texts, by our
                        word lists
  holistic              HolisticBias: do a descriptor's sentences differ in
                        likelihood from others'?
  measure               Runs a benchmark on a model: items, scores, estimates
                        with intervals
  planted_associations  A corpus with a known association of occupations and
                        gender, and its tests
  result_rows           A benchmark's numbers as rows of results.json, and two
                        models compared
  sembias               SemBias: which word pair is most like he − she?
  sources               Finds and checks the user's copies of benchmark files
  stereoset             StereoSet: stereotype against anti-stereotype, and both
                        against nonsense
  twins                 Counterfactual likelihood: log-odds of a text and its
                        twin, by word
  weat                  WEAT and SEAT: are two sets of targets closer to one of
                        two attributes?
  winobias              WinoBias: is a pronoun likelier where it agrees with a
                        stereotype?
  winogender            Winogender: do an occupation's pronouns follow the
                        share of women in it?
  word_vectors          Word vectors of a set of texts, and what WEAT says of
                        them
"""

from collections.abc import Collection
from typing import NamedTuple

from fairjax.errors import UserError


class Benchmark(NamedTuple):
  """A file of this folder, and what a model must be able to do for it.

  The file has three functions (benchmarks/measure.py calls them):

    items(config) -> DataFrame, one row an item: a unique `id`, and what the
      next two need; `attrs['notes']` says what is to be said of the data
    score(model, items, config) -> DataFrame, one row an item: its `id`, and
      columns of numbers; NaN where the model cannot score it
    estimate(items, scores, how) -> a set of a contender (report/SCHEMA.md):
      'quality' and 'fairness' {measure: Estimate}, 'groups' {bias type or
      term: {'rows', measure: Estimate}}, 'warnings'; `how` is an
      IntervalOptions, and every measure is a row of metrics/measures.py
  """

  module: str
  needs: tuple[str, ...]  # any of these capabilities, the first the best
  about: str


_LIKELIHOOD = ('mask', 'judge')

BENCHMARKS: dict[str, Benchmark] = {
  'weat': Benchmark(
    'fairjax.benchmarks.weat',
    ('embed',),
    'WEAT and SEAT: lists of targets and attributes, by cosines',
  ),
  'crows': Benchmark(
    'fairjax.benchmarks.crows',
    _LIKELIHOOD,
    'CrowS-Pairs: the more stereotyping of two sentences',
  ),
  'stereoset': Benchmark(
    'fairjax.benchmarks.stereoset',
    _LIKELIHOOD,
    'StereoSet: stereotype, anti-stereotype and nonsense',
  ),
  'winobias': Benchmark(
    'fairjax.benchmarks.winobias',
    (*_LIKELIHOOD, 'classify'),
    'WinoBias: pronouns for and against the stereotype of an occupation',
  ),
  'winogender': Benchmark(
    'fairjax.benchmarks.winogender',
    (*_LIKELIHOOD, 'classify'),
    'Winogender: pronouns against the share of women in an occupation',
  ),
  'bbq': Benchmark(
    'fairjax.benchmarks.bbq',
    _LIKELIHOOD,
    'BBQ: questions whose answer is not said, or against a stereotype',
  ),
  'holistic': Benchmark(
    'fairjax.benchmarks.holistic',
    _LIKELIHOOD,
    'HolisticBias: likelihoods of descriptors against each other',
  ),
  'twins': Benchmark(
    'fairjax.benchmarks.twins',
    _LIKELIHOOD,
    'your own texts (data.path) and their counterfactuals, by word',
  ),
  'sembias': Benchmark(
    'fairjax.benchmarks.sembias',
    ('embed',),
    'SemBias: which word pair is most like he and she',
  ),
  'eec': Benchmark(
    'fairjax.benchmarks.eec',
    ('classify',),
    'EEC: sentiment scores of sentences about different people',
  ),
}


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
