"""The one table of measures: every name in results.json, and how to read it.

What `assess` computes, what recipes compare, `--list`, the glossary of the
page, leading columns, pictures and the words of verdicts come from MEASURES,
and `results.write` refuses a name without a row. A measure that `assess`
computes is one row, with a function where a new one is needed.

In results.json a measure is named `[ATTRIBUTE/]NAME[ at THRESHOLD]`, as in
`dp`, `gender/dp` or `fped at eer`. Each rate also has its aggregates over the
groups, `RATE_difference`, `_ratio`, `_min` and `_max`, and with three or more
classes there is a `tpr_C` for each class C.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

INF = float('inf')


class Measure(NamedTuple):
  """One row. `kind` says what computes it, and what `kernel` and `of` mean.

  confusion: of everyone; `kernel` is the address of a function of confusion
    counts [*b, label, decision] -> [*b] in numpy, NaN where it is undefined.
  scores: of everyone; `kernel` is the address of a function as
    rankings.log_loss, which gives an Estimate, or None where it is none of
    this many classes.
  rate: of each group; `of` holds two masks over (tn, fp, fn, tp): which rows
    are counted, and among which. An accuracy is a rate too.
  rank: of each group, in quality.SUITE.
  gap: between groups, of the mean of the rates `of`; `kernel` is 'range' (the
    largest difference between two groups) or 'sum' (of the distances to the
    rate of everyone). Where 1 is equal, the measure is 1 − gap.
  rank gap: between groups, of the rank `of`; 'range', 'min' or 'largest'.
  flips: of edited texts, by texts/flips.py.
  own: by the recipe or the benchmark that writes it.
  """

  kind: str
  kernel: str
  label: str  # what people call it, as in the middle of a sentence
  about: str
  better: int  # 1: more is better, −1: less is better, 0: neither
  ideal: float | None  # of a perfect model, or of equal groups
  low: float = 0.0
  high: float = 1.0
  of: tuple = ()
  leads: bool = False  # compared, and a column where contenders stand together
  pictured: bool = False
  empty: str = ''  # why it is undefined, where it is


Rows = dict[str, Measure]
_RATE, _RANK = ('rate', ''), ('rank', '')
_FLIPS, _OWN = ('flips', ''), ('own', '')
_COUNTS, _RANKS = 'fairjax.metrics.quality:', 'fairjax.metrics.rankings:'
_ALL, _NEGATIVE, _POSITIVE = (1, 1, 1, 1), (1, 1, 0, 0), (0, 0, 1, 1)


# fmt: off
def _distances(name: str, words: str, leads: bool = False) -> Rows:
  """The sum of a rate's distances to that of everyone."""
  return {f'{name}ed': Measure(
    'gap', 'sum', f'{words} equality difference',
    f'sum over groups of |{name}r − overall {name}r|; 0 is equal',
    -1, 0.0, 0.0, INF, of=(f'{name}r',), leads=leads)}


def _weat(name: str, words: str, many: bool = True) -> Rows:
  """WEAT by one reading of a word; `many` tests are summed up."""
  effect = {f'weat_effect_{name}': Measure(
    *_OWN, f'effect size d ({words})',
    'how much nearer the first targets are to the first attribute, in standard '
    'deviations; 0 is no association', 0, 0.0, -2.0, 2.0)}
  return effect if not many else effect | {
    f'weat_mean_{name}': Measure(
      *_OWN, f'mean |d| ({words})',
      'the mean size of the effects of the tests', -1, 0.0, 0.0, 2.0,
      leads=True),
    f'weat_significant_{name}': Measure(
      *_OWN, f'significant of 100 tests ({words})',
      'tests whose one-sided permutation p, as published, is below .01; 1 of '
      '100 by chance', -1, 0.0, 0.0, 100.0),
  }


def _matched(
  name: str, words: str, about: str, low: float = 0.0, leads: bool = False
) -> Rows:
  """How alike the texts after matched prompts are, and two of one prompt."""
  return {
    f'paired_{name}': Measure(
      *_OWN, f'{words} of matched texts', about, 1, None, low),
    f'paired_{name}_floor': Measure(
      *_OWN, f'{words} of two texts of one prompt',
      f'mean {words} of two texts after one prompt: what drawing alone makes '
      'differ', 0, None, low),
    f'paired_{name}_loss': Measure(
      *_OWN, f'{words} that the group costs',
      f'{words} of two texts of one prompt less that of matched prompts; above '
      '0 the group changes what is written beyond drawing', -1, 0.0, low - 1.0,
      1.0 - low, leads=leads),
  }


def _of_groups(rate: str, of: str) -> Rows:
  """The papers' TPRD or FPRD, and what of it is not the wording's."""
  name = rate.lower()
  return {
    f'group_{name}': Measure(
      *_OWN, f'{rate} of the groups',
      f'share of the {of} texts of attribute 1 that are decided positive, less '
      f'that of the other {of} texts, each as it was written; 0 is equal',
      0, 0.0, -1.0, 1.0, leads=True),
    f'group_{name}_size': Measure(
      *_OWN, f"size of the groups' {rate}",
      f"distance of the groups' {rate} from 0, whichever group is ahead", -1,
      0.0),
    f'content_{name}': Measure(
      *_OWN, f'{rate} of their content',
      f"the part of the groups' {rate} that is left where the texts of both "
      'are worded both ways: what else they say, such as another occupation',
      0, 0.0, -1.0, 1.0),
  }


def _stereoset(name: str, words: str, both: str, terms: str) -> Rows:
  """StereoSet's scores by one reading of a sentence's tokens."""
  return {
    f'stereoset_ss_{name}': Measure(
      *_OWN, f'StereoSet stereotype score, SS ({words})',
      'percent of items whose stereotype beats the anti-stereotype, averaged '
      'over terms; 50 is no preference', 0, 50.0, 0.0, 100.0, leads=True),
    f'stereoset_lm_{name}': Measure(
      *_OWN, f'StereoSet language score, LM ({words})',
      'percent of associations that beat the unrelated one', 1, 100.0, 0.0,
      100.0, leads=True),
    f'stereoset_icat_{name}': Measure(
      *_OWN, f'StereoSet ICAT ({both})',
      'both scores in one: LM min(SS, 100 − SS) / 50 of the averages', 1, 100.0,
      0.0, 100.0),
    f'stereoset_icat_terms_{name}': Measure(
      *_OWN, f'StereoSet ICAT of terms{terms}',
      'ICAT of each term, averaged', 1, 100.0, 0.0, 100.0),
  }


MEASURES: dict[str, Measure] = {
  'auc': Measure(
    *_RANK, 'AUC',
    'a random positive row scores above a random negative one, ties count '
    'half; 0.5 is chance', 1, 1.0, leads=True, pictured=True,
    empty='rows of one label only'),
  'macro_auc': Measure(
    'scores', _RANKS + 'macro_auc', 'AUC over pairs of classes',
    'AUC of one class against one other, averaged over all ordered pairs of '
    'classes; 0.5 is chance', 1, 1.0, leads=True, pictured=True,
    empty='rows of one label only'),
  'base_rate': Measure(
    *_RATE, 'share labelled positive', 'share of rows labelled positive',
    0, None, of=(_POSITIVE, _ALL), pictured=True),
  'selection_rate': Measure(
    *_RATE, 'share decided positive', 'share of rows decided positive',
    0, None, of=((0, 1, 0, 1), _ALL), leads=True, pictured=True),
  'accuracy': Measure(
    'confusion', _COUNTS + 'accuracy', 'accuracy', 'share of right decisions',
    1, 1.0, of=((1, 0, 0, 1), _ALL), leads=True),
  'tpr': Measure(
    *_RATE, 'true positive rate', 'share of positive rows decided positive',
    1, 1.0, of=((0, 0, 0, 1), _POSITIVE), pictured=True,
    empty='no row of label 1'),
  'fpr': Measure(
    *_RATE, 'false positive rate', 'share of negative rows decided positive',
    -1, 0.0, of=((0, 1, 0, 0), _NEGATIVE), leads=True, pictured=True,
    empty='no row of label 0'),
  'tnr': Measure(
    *_RATE, 'true negative rate', 'share of negative rows decided negative',
    1, 1.0, of=((1, 0, 0, 0), _NEGATIVE), empty='no row of label 0'),
  'fnr': Measure(
    *_RATE, 'false negative rate', 'share of positive rows decided negative',
    -1, 0.0, of=((0, 0, 1, 0), _POSITIVE), leads=True,
    empty='no row of label 1'),
  'precision': Measure(
    *_RATE, 'precision', 'share of rows decided positive that are positive',
    1, 1.0, of=((0, 0, 0, 1), (0, 1, 0, 1)), empty='no row is decided 1'),
  'balanced_accuracy': Measure(
    'confusion', _COUNTS + 'balanced_accuracy', 'balanced accuracy',
    'share of right decisions, averaged over the classes', 1, 1.0,
    empty='rows of one label only'),
  'f1': Measure(
    'confusion', _COUNTS + 'f1', 'F1',
    'harmonic mean of precision and recall of the positive class', 1, 1.0,
    empty='no row has label 1 or is decided 1'),
  'macro_f1': Measure(
    'confusion', _COUNTS + 'macro_f1', 'macro F1',
    'F1 of each of three or more classes, averaged', 1, 1.0, empty='no rows'),
  'mcc': Measure(
    'confusion', _COUNTS + 'mcc', 'Matthews correlation',
    'correlation of label and decision, for any number of classes; 0 is '
    'chance, and where all decisions agree', 1, 1.0, -1.0,
    empty='all labels agree'),
  'pearson': Measure(
    *_OWN, "Pearson's r",
    'correlation of the label and the mean class, where classes are rounded '
    'scores; 0 is chance', 1, 1.0, -1.0, leads=True),
  'glue': Measure(
    *_OWN, 'GLUE average',
    "mean of the tasks' own measures: Matthews' correlation of CoLA, Pearson's "
    'r of STS-B, accuracy of the others', 1, 1.0, -1.0, leads=True),
  'log_loss': Measure(
    'scores', _RANKS + 'log_loss', 'log loss',
    'mean of −log of the probability given to the label', -1, 0.0, 0.0, INF),
  'bpsn_auc': Measure(
    *_RANK, 'BPSN AUC',
    'AUC of background positives against subgroup negatives', 1, 1.0,
    empty='no row of label 0 inside, or of label 1 outside'),
  'bnsp_auc': Measure(
    *_RANK, 'BNSP AUC',
    'AUC of subgroup positives against background negatives', 1, 1.0,
    empty='no row of label 1 inside, or of label 0 outside'),
  'positive_aeg': Measure(
    *_RANK, 'positive average equality gap',
    'how much higher than chance the positive rows of a group score than '
    'those of the others; 0 is equal', 0, 0.0, -0.5, 0.5,
    empty='no row of label 1 inside, or outside'),
  'negative_aeg': Measure(
    *_RANK, 'negative average equality gap',
    'how much higher than chance the negative rows of a group score than '
    'those of the others; 0 is equal', 0, 0.0, -0.5, 0.5,
    empty='no row of label 0 inside, or outside'),
  'dp': Measure(
    'gap', 'range', 'demographic parity',
    '1 − the largest gap between groups in the share decided positive; 1 is '
    'equal', 1, 1.0, of=('selection_rate',), leads=True, pictured=True),
  'dp_floor': Measure(
    'gap', 'range', 'demographic parity of a perfect predictor',
    'demographic parity of a perfect predictor of these labels: what being '
    'right gives here', 0, 1.0, of=('base_rate',)),
  'eqodd': Measure(
    'gap', 'range', 'equalised odds',
    '1 − the mean of the largest gaps in the false and the true positive '
    'rate; 1 is equal', 1, 1.0, of=('fpr', 'tpr'), leads=True),
  'eqopp1': Measure(
    'gap', 'range', 'equal opportunity',
    '1 − the largest gap in the true positive rate; 1 is equal',
    1, 1.0, of=('tpr',), leads=True),
  'eqopp0': Measure(
    'gap', 'range', 'equal opportunity of the negatives',
    '1 − the largest gap in the false positive rate; 1 is equal',
    1, 1.0, of=('fpr',)),
  **_distances('fp', 'false positive', leads=True),
  **_distances('fn', 'false negative', leads=True),
  **_distances('tp', 'true positive'),
  **_distances('tn', 'true negative'),
  'auc_gap': Measure(
    'rank gap', 'range', 'AUC gap',
    'largest difference between the AUCs within two groups; 0 is equal',
    -1, 0.0, of=('auc',)),
  'auc_min': Measure(
    'rank gap', 'min', 'least AUC', 'least AUC within a group',
    1, 1.0, of=('auc',)),
  'bpsn_auc_min': Measure(
    'rank gap', 'min', 'least BPSN AUC', 'least BPSN AUC of a group',
    1, 1.0, of=('bpsn_auc',)),
  'bnsp_auc_min': Measure(
    'rank gap', 'min', 'least BNSP AUC', 'least BNSP AUC of a group',
    1, 1.0, of=('bnsp_auc',)),
  'positive_aeg_max': Measure(
    'rank gap', 'largest', 'largest positive average equality gap',
    'largest positive average equality gap of a group, whatever its sign; 0 '
    'is equal', -1, 0.0, 0.0, 0.5, of=('positive_aeg',)),
  'negative_aeg_max': Measure(
    'rank gap', 'largest', 'largest negative average equality gap',
    'largest negative average equality gap of a group, whatever its sign; 0 '
    'is equal', -1, 0.0, 0.0, 0.5, of=('negative_aeg',)),
  'conditional_dp': Measure(
    *_OWN, 'demographic parity given the controls',
    '1 − the largest gap between groups in the share decided positive, with '
    'the levels of the control columns weighted alike in all groups; 1 is '
    'equal', 1, 1.0),
  'conditional_eqodd': Measure(
    *_OWN, 'equalised odds given the controls',
    '1 − the mean of the largest gaps in the false and the true positive '
    'rate, with the levels of the control columns weighted alike; 1 is equal',
    1, 1.0),
  'cost': Measure(
    *_OWN, 'cost of errors',
    'cost of a row: what audit.costs says of its error', -1, 0.0, 0.0, INF),
  'cost_gap': Measure(
    *_OWN, 'gap in the cost of errors',
    'largest difference between groups in the mean cost of a row; 0 is equal',
    -1, 0.0, 0.0, INF),
  'ece': Measure(
    *_OWN, 'expected calibration error',
    'how far the scores are from the share of positives, bin by bin; 0 is '
    'calibrated', -1, 0.0),
  'ece_max': Measure(
    *_OWN, 'largest calibration error of a group',
    'the expected calibration error of the group in which it is largest',
    -1, 0.0),
  'overconfidence': Measure(
    *_OWN, 'overconfidence',
    'mean score less the share of positives; above 0 the scores are too high',
    0, 0.0, -1.0, 1.0),
  'flips': Measure(
    *_FLIPS, 'decisions that flip',
    'share of the edited rows whose decision changes when the words that show '
    'a group are exchanged; 0 is equal', -1, 0.0, leads=True, pictured=True),
  'flips_up': Measure(
    *_FLIPS, 'decisions that flip to positive',
    'share of the edited rows that become positive', -1, 0.0),
  'flips_down': Measure(
    *_FLIPS, 'decisions that flip to negative',
    'share of the edited rows that become negative', -1, 0.0),
  'flips_positive': Measure(
    *_FLIPS, 'flips of rows labelled positive',
    'share of the edited rows labelled positive whose decision changes',
    -1, 0.0),
  'flips_negative': Measure(
    *_FLIPS, 'flips of rows labelled negative',
    'share of the edited rows labelled negative whose decision changes',
    -1, 0.0),
  'control_flips': Measure(
    *_FLIPS, 'flips under a matched control edit',
    'share of decisions that change when as many words are edited that show '
    'no group: plain sensitivity', -1, 0.0),
  'excess_flips': Measure(
    *_FLIPS, 'excess flips over the control',
    'flips less those under a matched control edit of the same rows; above 0 '
    'the group matters, not just the edit', -1, 0.0, -1.0, 1.0, leads=True,
    pictured=True),
  'score_change': Measure(
    *_FLIPS, 'mean change of score (counterfactual token fairness gap)',
    'mean size of the change of score when the words that show a group are '
    'exchanged; 0 is equal', -1, 0.0),
  'excess_change': Measure(
    *_FLIPS, 'excess change of score over the control',
    'change of score less that under a matched control edit', -1, 0.0, -1.0,
    1.0),
  'attribute_agreement': Measure(
    *_OWN, 'agreement of two attribute classifiers',
    'share of texts of which a classifier of words and one of characters see '
    'the same group', 1, 1.0),
  'label_kept': Measure(
    *_OWN, 'label kept',
    'share of rewrites that a classifier of the label, which never saw the '
    'text, decides as it decides the source', 1, 1.0),
  'self_bleu': Measure(
    *_OWN, 'self-BLEU',
    'mean BLEU-4 of each text against all others; 1 where all are alike',
    -1, 0.0),
  'tprd': Measure(
    *_FLIPS, 'true positive rate, female less male wording (TPRD)',
    'share of the same positive rows decided positive in their female '
    'wording, less that in their male wording; 0 is equal', 0, 0.0, -1.0, 1.0),
  'fprd': Measure(
    *_FLIPS, 'false positive rate, female less male wording (FPRD)',
    'share of the same negative rows decided positive in their female '
    'wording, less that in their male wording; 0 is equal', 0, 0.0, -1.0, 1.0),
  'tprd_size': Measure(
    *_OWN, 'size of TPRD of twins',
    'distance of TPRD from 0, whichever wording is decided positive more', -1,
    0.0),
  'fprd_size': Measure(
    *_OWN, 'size of FPRD of twins',
    'distance of FPRD from 0, whichever wording is decided positive more', -1,
    0.0),
  **_of_groups('TPRD', 'positive'),
  **_of_groups('FPRD', 'negative'),
  'top_vote': Measure(
    *_OWN, 'right top votes',
    'share of the known words most of whose occurrences become their partner',
    1, 1.0, leads=True),
  'transfer_accuracy': Measure(
    *_OWN, 'transfer accuracy',
    'share of the rewritten texts that an attribute classifier, which never '
    'saw them, takes for the other attribute', 1, 1.0, leads=True),
  'changed': Measure(
    *_OWN, 'share changed',
    'share of the texts that a rewrite changes', 0, None, leads=True),
  'distance': Measure(
    *_OWN, 'distance',
    'words put in, taken out or replaced, per word of the source', 0, None,
    0.0, INF, leads=True),
  'source_bleu': Measure(
    *_OWN, 'BLEU-4 against the source',
    'how much of the words of its source a rewrite keeps, in runs of up to '
    'four; 1 is a copy', 0, None),
  'exact': Measure(
    *_OWN, 'exact match',
    'share of the texts that equal the known twin in every word', 1, 1.0,
    leads=True),
  'changed_precision': Measure(
    *_OWN, 'precision of changed words',
    "share of the words that a rewrite changes that equal the known twin's",
    1, 1.0, leads=True),
  'changed_recall': Measure(
    *_OWN, 'recall of changed words',
    "share of the words that the known twin changes that equal the rewrite's",
    1, 1.0, leads=True),
  'unlisted_recall': Measure(
    *_OWN, 'recall of withheld words',
    'share of the words withheld from the targets and changed by the known '
    "twin that equal the rewrite's", 1, 1.0, leads=True),
  'unchanged': Measure(
    *_OWN, 'left unchanged',
    'share of the texts whose known twin has other words, and the rewrite none',
    -1, 0.0),
  'half_turned': Measure(
    *_OWN, 'half turned',
    'share of the texts of which some words are turned and others left',
    -1, 0.0),
  'wrong_agreement': Measure(
    *_OWN, 'agreement wrong',
    'share of the texts with a turned word in the wrong form: him for his, a '
    'for an', -1, 0.0),
  'wrong_partner': Measure(
    *_OWN, 'wrong partner',
    "share of the texts with a word turned into another than the known twin's",
    -1, 0.0),
  'others_changed': Measure(
    *_OWN, 'other words changed',
    'share of the texts with a changed word that the known twin keeps',
    -1, 0.0),
  'different': Measure(
    *_OWN, 'fairscore',
    'share of the texts whose predicted class is another once the text is '
    'perturbed; 0 is equal', -1, 0.0, leads=True, pictured=True),
  'both_correct': Measure(
    *_OWN, 'right before and after',
    'share of the texts that are predicted rightly as they are and perturbed',
    1, 1.0),
  'neither_correct': Measure(
    *_OWN, 'wrong before and after',
    'share of the texts that are predicted wrongly as they are and perturbed',
    -1, 0.0),
  'floor': Measure(
    *_OWN, 'fairscore of neutral rewrites',
    'share of the texts whose predicted class is another after a rewrite that '
    'turns no person: plain sensitivity', -1, 0.0),
  'excess': Measure(
    *_OWN, 'fairscore above that of neutral rewrites',
    'fairscore less that of neutral rewrites of the same texts; above 0 the '
    'person matters, not just the rewrite', -1, 0.0, -1.0, 1.0, leads=True),
  'changed_exact': Measure(
    *_OWN, 'exact where words change',
    'share of the texts whose known rewrite has other words that equal it in '
    'every word', 1, 1.0),
  'word_accuracy': Measure(
    *_OWN, 'word accuracy',
    '1 − the places that differ from the known rewrite, per word of the '
    'source', 1, 1.0),
  'bleu4': Measure(
    *_OWN, 'BLEU-4',
    'precision of n-grams of up to four words of the known rewrite, of all '
    'texts together, with the penalty of short ones', 1, 1.0, leads=True),
  'places': Measure(
    *_OWN, 'places right',
    'share of the labelled words of the source that are left, turned or taken '
    'out as their label says', 1, 1.0),
  'places_all': Measure(
    *_OWN, 'texts with all places right',
    'share of the texts with labelled words in which every one is left, turned '
    'or taken out as its label says', 1, 1.0),
  'token_accuracy': Measure(
    *_OWN, 'token accuracy',
    'share of the tokens of the known rewrite that are the likeliest, given '
    'those before them', 1, 1.0),
  'changed_accuracy': Measure(
    *_OWN, 'token accuracy where words change',
    'share of the tokens that the source does not have there that are the '
    'likeliest, given those before them', 1, 1.0),
  'changed_loss': Measure(
    *_OWN, 'held-out loss where words change',
    'mean loss of the tokens that the source does not have there', -1, 0.0,
    0.0, INF),
  'changed_perplexity': Measure(
    *_OWN, 'perplexity where words change',
    'exp of the mean loss of the tokens that the source does not have there',
    -1, 1.0, 1.0, INF),
  'turned_right': Measure(
    *_OWN, "people's words found",
    'share of the tokens of words to be turned that are marked', 1, 1.0),
  'kept_right': Measure(
    *_OWN, 'other words left',
    'share of the tokens of other words that are not marked', 1, 1.0),
  'recall': Measure(
    *_OWN, 'recall of known pairs',
    'share of the known pairs of words that the dictionary has', 1, 1.0,
    leads=True),
  'coverage': Measure(
    *_OWN, 'coverage of known pairs',
    'share of the known pairs of words that the dictionary has, each pair '
    'weighed by how often its words occur', 1, 1.0),
  'perplexity': Measure(
    *_OWN, 'perplexity',
    'exp of the mean loss of a token of held-out text; 1 is certainty',
    -1, 1.0, 1.0, INF, leads=True, pictured=True),
  'perplexity_per_text': Measure(
    *_OWN, 'perplexity (mean over texts)',
    'exp of the mean over texts of the mean loss of their tokens',
    -1, 1.0, 1.0, INF, leads=True, pictured=True),
  'perplexity_token_weighted': Measure(
    *_OWN, 'perplexity (mean over tokens)',
    'exp of the mean loss of all tokens, so that long texts weigh more',
    -1, 1.0, 1.0, INF, leads=True),
  'loss': Measure(
    *_OWN, 'held-out loss',
    'mean loss that training makes small, on held-out text', -1, 0.0, 0.0, INF,
    leads=True),
  'generator_loss': Measure(
    *_OWN, "generator's loss",
    'mean loss of a masked token', -1, 0.0, 0.0, INF),
  'detection_loss': Measure(
    *_OWN, "discriminator's loss",
    'mean loss of the decision whether a token was replaced',
    -1, 0.0, 0.0, INF),
  'found': Measure(
    *_OWN, 'replaced tokens flagged',
    'share of the replaced tokens that the discriminator flags', 1, 1.0),
  'false_alarms': Measure(
    *_OWN, 'original tokens flagged',
    'share of the original tokens that the discriminator flags', -1, 0.0),
  'probe_accuracy': Measure(
    *_OWN, 'group read by a linear probe',
    'share of texts that no eraser was fitted on whose gender, or group of '
    'method.axis (by word lists), a cross-validated linear classifier tells '
    'from their vectors; as many of each, so of two .5 is chance', -1, 0.5),
  'crows_original': Measure(
    *_OWN, 'CrowS-Pairs (original)',
    'percent of pairs whose more stereotyping sentence is the likelier, by the '
    'tokens that both share; 50 is no preference',
    0, 50.0, 0.0, 100.0, leads=True, pictured=True),
  'crows_bias_bench': Measure(
    *_OWN, 'CrowS-Pairs (bias-bench)',
    'percent of pairs whose more stereotyping sentence is the likelier, by the '
    'tokens that differ; not comparable with the original',
    0, 50.0, 0.0, 100.0, leads=True, pictured=True),
  'crows_aul': Measure(
    *_OWN, 'CrowS-Pairs (AUL)',
    'percent of pairs whose more stereotyping sentence is the likelier, by the '
    'mean likelihood of all tokens, none of them masked', 0, 50.0, 0.0, 100.0,
    leads=True, pictured=True),
  'crows_aula': Measure(
    *_OWN, 'CrowS-Pairs (AULA)',
    'percent of pairs whose more stereotyping sentence is the likelier, by the '
    'mean likelihood of all tokens, each weighted by the attention that it '
    'receives', 0, 50.0, 0.0, 100.0, leads=True, pictured=True),
  'crows_total': Measure(
    *_OWN, 'CrowS-Pairs (left to right)',
    'percent of pairs whose more stereotyping sentence is the likelier, by the '
    'likelihood of the whole sentences', 0, 50.0, 0.0, 100.0,
    leads=True, pictured=True),
  **_stereoset('probability', 'mean probability', 'mean probability', ''),
  **_stereoset('log', 'mean log-probability', 'log-probability', ' (log)'),
  **_weat('mean', 'mean of all tokens'),
  **_weat('words', 'word vectors', many=False),
  **_weat('first', 'first piece'),
  **_weat('cls', '[CLS]'),
  'lpbs_effect': Measure(
    *_OWN, 'LPBS effect d',
    'how much likelier a group is beside insults than beside praise, less the '
    'other groups, in standard deviations; 0 is no association', 0, 0.0, -2.0,
    2.0),
  'lpbs_mean': Measure(
    *_OWN, 'LPBS, mean |d|',
    'the mean size of the effects of the groups', -1, 0.0, 0.0, 2.0,
    leads=True),
  'winobias_log_odds': Measure(
    *_OWN, 'WinoBias log-odds',
    'log p of the pronoun of the stereotype less that of the other one; 0 is '
    'no preference', 0, 0.0, -INF, INF, leads=True, pictured=True),
  'winobias_score_gap': Measure(
    *_OWN, 'WinoBias gap of scores',
    "a classifier's score of the sentence with the pronoun of the stereotype "
    'less that with the other one; 0 is no preference', 0, 0.0, -INF, INF,
    leads=True, pictured=True),
  'winobias_wins': Measure(
    *_OWN, 'WinoBias pro wins',
    'percent of sentences whose pronoun of the stereotype is the likelier, or '
    'has the higher score of a classifier', 0, 50.0, 0.0, 100.0),
  'winogender_rho': Measure(
    *_OWN, 'Winogender ρ',
    'rank correlation of log p(she) − log p(he), or of the difference of a '
    "classifier's scores, with the share of women in an occupation", 0,
    0.0, -1.0, 1.0, leads=True, pictured=True),
  'bbq_accuracy_mean': Measure(
    *_OWN, 'BBQ accuracy (mean log p)',
    'percent of right answers; a third is chance', 1, 100.0, 0.0, 100.0,
    leads=True),
  'bbq_bias_mean': Measure(
    *_OWN, 'BBQ bias score (mean log p)',
    '1 where every answer follows the stereotype, −1 where every one is '
    'against it', 0, 0.0, -1.0, 1.0, leads=True, pictured=True),
  'bbq_accuracy_sum': Measure(
    *_OWN, 'BBQ accuracy (sum of log p)',
    'percent of right answers, by the likelihood of whole answers, which '
    'favours short ones',
    1, 100.0, 0.0, 100.0),
  'bbq_bias_sum': Measure(
    *_OWN, 'BBQ bias score (sum of log p)',
    '1 where every answer follows the stereotype, −1 where every one is '
    'against it, by the likelihood of whole answers', 0, 0.0, -1.0, 1.0),
  'log_perplexity': Measure(
    *_OWN, 'log-perplexity',
    'mean −log p of the tokens of a sentence, by which two models are compared',
    -1, 0.0, 0.0, INF),
  'log_odds_she': Measure(
    *_OWN, 'log-odds of she',
    'log p(she) − log p(he) of a sentence, by which two models are compared',
    0, 0.0, -INF, INF),
  'score_gap_she': Measure(
    *_OWN, 'gap of scores of she',
    "a classifier's score of a sentence with she less that with he, by which "
    'two models are compared', 0, 0.0, -INF, INF),
  'holistic_pairs': Measure(
    *_OWN, 'Likelihood Bias (p < .05)',
    'percent of pairs of descriptors whose perplexities differ; 5 is chance',
    -1, 5.0, 0.0, 100.0, leads=True, pictured=True),
  'holistic_pairs_fdr': Measure(
    *_OWN, 'Likelihood Bias (FDR .05)',
    'percent of pairs of descriptors whose perplexities differ, at a false '
    'discovery rate of 5 %', -1, 0.0, 0.0, 100.0,
    leads=True),
  'twins_log_odds': Measure(
    *_OWN, 'log-odds of twins',
    'log p of a text said of one group (of gender: male) less the mean of its '
    'versions of the others; 0 is no preference', 0, 0.0, -INF, INF, leads=True,
    pictured=True),
  'twins_gap': Measure(
    *_OWN, 'gap of twins',
    'log-odds of the likeliest group less those of the least likely one', -1,
    0.0, 0.0, INF, leads=True, pictured=True),
  'sembias_definition': Measure(
    *_OWN, 'SemBias definition',
    'percent of rows in which the pair of the definition is most like he and '
    'she', 1, 100.0, 0.0, 100.0, leads=True),
  'sembias_stereotype': Measure(
    *_OWN, 'SemBias stereotype',
    'percent of rows in which the pair of a stereotype is most like he and she',
    -1, 0.0, 0.0, 100.0, leads=True, pictured=True),
  'sembias_none': Measure(
    *_OWN, 'SemBias none',
    'percent of rows in which a pair without gender is most like he and she',
    -1, 0.0, 0.0, 100.0),
  'eec_gender': Measure(
    *_OWN, 'EEC female − male',
    "how much higher sentences about women score, by the paper's eleven pairs",
    0, 0.0, -INF, INF, leads=True, pictured=True),
  'eec_gender_persons': Measure(
    *_OWN, 'EEC female − male, by persons',
    'how much higher sentences about women score where each person weighs '
    'alike, so that names together weigh twice what phrases do',
    0, 0.0, -INF, INF),
  'eec_race': Measure(
    *_OWN, 'EEC African American − European',
    'how much higher sentences with African American names score', 0, 0.0,
    -INF, INF, leads=True, pictured=True),
  'mean_score': Measure(
    *_OWN, 'mean score of what is written',
    "mean of the classifier's score of the texts that a model writes", 0, None),
  'mean_score_gap': Measure(
    *_OWN, 'gap in the mean score of what is written',
    'largest difference between groups in the mean score of the texts written '
    'after their prompts; 0 is equal', -1, 0.0, leads=True, pictured=True),
  'expected_max': Measure(
    *_OWN, 'expected maximum (toxicity)',
    'mean over prompts of the highest score among the texts of one, as '
    'RealToxicityPrompts has it', 0, None),
  'expected_max_gap': Measure(
    *_OWN, 'gap in the expected maximum',
    'largest difference between groups in the expected maximum; 0 is equal',
    -1, 0.0, leads=True),
  'any_above': Measure(
    *_OWN, 'probability of one at or above the bound (toxicity probability)',
    'share of the prompts after which at least one text reaches the bound, as '
    'RealToxicityPrompts has it', 0, None),
  'any_above_gap': Measure(
    *_OWN, 'gap in the probability of one at or above the bound',
    'largest difference between groups in the share of prompts after which a '
    'text reaches the bound; 0 is equal', -1, 0.0),
  'no_group_score': Measure(
    *_OWN, 'mean score after prompts of no group',
    'mean score of the texts after matched prompts that name no group', 0,
    None),
  'over_no_group': Measure(
    *_OWN, 'mean score beyond that of no group',
    'mean score after the prompts of a group, less that after matched prompts '
    'that name no group; 0 is equal', 0, 0.0, -1.0, 1.0),
  'sentiment_parity': Measure(
    *_OWN, 'distance of the scores of matched prompts (sentiment parity)',
    'Wasserstein-1 of the distributions of the scores after matched prompts of '
    'two groups, the mean over pairs of groups; 0 is equal', -1, 0.0,
    leads=True),
  **_matched(
    'bleu', 'BLEU', 'mean of the smaller BLEU of the texts after matched '
    'prompts of two groups, words of groups masked; 1 is alike'),
  **_matched(
    'rouge_l', 'ROUGE-L', 'mean ROUGE-L of the texts after matched prompts of '
    'two groups, words of groups masked; 1 is alike', leads=True),
  **_matched(
    'cosine', 'cosine', "mean cosine of an encoder's vectors of the texts "
    'after matched prompts of two groups; 1 is alike', -1.0),
  'association_bias': Measure(
    *_OWN, 'stereotypical associations',
    "how unevenly occupations and traits stand beside words of the groups, by "
    'total variation from even; 0 is even', -1, 0.0),
  'cooccurrence_bias': Measure(
    *_OWN, 'co-occurrence bias',
    'mean size of log10 of how much oftener a target is near words of one '
    'group than of the other; 0 is equal', -1, 0.0, 0.0, INF),
  'honest': Measure(
    *_OWN, 'HONEST',
    'share of the texts with a word of the hurtful lexicon', -1, 0.0),
  'honest_gap': Measure(
    *_OWN, 'gap in HONEST',
    'largest difference between groups in the share of texts with a hurtful '
    'word; 0 is equal', -1, 0.0, leads=True),
}
# fmt: on


def bare(key: str) -> str:
  """The name without attribute, threshold and class."""
  return re.sub(r'^.*/| at [^ ]+$|(?<=tpr)_\d+$', '', key)


def is_known(key: str) -> bool:
  """Whether a name in results.json is a row, or an aggregate of a rate."""
  rate = bare(re.sub(r'_(difference|ratio|min|max)(?= at |$)', '', key))
  return bare(key) in MEASURES or rate in rates()


def measure(key: str) -> Measure | None:
  """The row of a name as it stands in results.json; None for others."""
  return MEASURES.get(bare(key))


def label(key: str) -> str:
  """What people call a measure; the key itself where it is no measure."""
  row = measure(key)
  return row.label if row else key


def in_print(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
  """An Estimate, of a measure in percent with one digit behind the point."""
  of = measure(key)
  return {**value, 'digits': 1} if of and of.high == 100.0 else {**value}


def about(key: str) -> str:
  """A line for the glossary; empty where it is no measure."""
  row = measure(key)
  if row is None:
    return ''
  known = row.label.lower() in (bare(key).replace('_', ' '), row.about)
  return row.about if known else f'{row.label}: {row.about}'


def in_order(values: Iterable[str]) -> list[str]:
  """Names as the table has them, rates after the rest; strangers last."""
  order = list(MEASURES)

  def place(key: str) -> tuple[int, int]:
    row = measure(key)
    if row is None:
      return 2, 0
    return int(row.kind == 'rate'), order.index(bare(key))

  return sorted(values, key=place)


def leading(keys: Iterable[str], pictured: bool = False) -> list[str]:
  """Those that are compared and shown side by side, or those with pictures."""
  rows = {key: measure(key) for key in in_order(dict.fromkeys(keys))}
  return [
    key
    for key, row in rows.items()
    if row and (row.pictured if pictured else row.leads)
  ]


def is_gap(key: str) -> bool:
  """Whether it compares groups' decisions."""
  return getattr(measure(key), 'kind', '') == 'gap'


def is_rate(key: str) -> bool:
  """Whether it is a rate and nothing more: good or bad only beside another."""
  return getattr(measure(key), 'kind', '') == 'rate'


def of_kind(*kinds: str) -> dict[str, Measure]:
  return {n: row for n, row in MEASURES.items() if row.kind in kinds}


def rates() -> dict[str, tuple]:
  """{rate: its two masks}."""
  return {
    n: row.of for n, row in of_kind('rate', 'confusion').items() if row.of
  }


def gaps() -> dict[str, tuple[tuple[str, ...], str, bool]]:
  """{gap: (the rates that it averages, 'range' or 'sum', is it 1 − gap?)}."""
  return {
    name: (row.of, row.kernel, row.ideal == 1)
    for name, row in of_kind('gap').items()
  }


def parities() -> dict[str, str]:
  """{rate: the parity of it alone}; errors first, then shares decided.

  An error is what its rate leaves: equal true positive rates are equal false
  negative rates.
  """
  alone = {
    row.of[0]: name
    for name, row in of_kind('gap').items()
    if (row.kernel, row.ideal, row.better, len(row.of)) == ('range', 1, 1, 1)
  }
  masks = {masks: name for name, masks in rates().items()}
  out = {}
  for rate, name in alone.items():
    counted, among = MEASURES[rate].of
    if MEASURES[rate].better > 0:
      counted = tuple(b - a for a, b in zip(counted, among))
    if (counted, among) in masks:
      out[masks[counted, among]] = name
  order = list(MEASURES)
  place = lambda rate: (MEASURES[rate].better, order.index(rate))
  return {rate: out[rate] for rate in sorted(out, key=place)}


def load(row: Measure) -> Callable:
  """The function at the address of a kernel."""
  module, _, function = row.kernel.partition(':')
  return getattr(importlib.import_module(module), function)
