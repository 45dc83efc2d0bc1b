"""The one table of measures: what computes each, and how to read it.

What `assess` computes, what recipes compare, `--list`, the glossary of the
page, leading columns, pictures and the words of verdicts come from MEASURES.
A measure is one row; one that needs a new kernel is one function and one row.

In results.json a measure is named `[ATTRIBUTE/]NAME[ at THRESHOLD]`, as in
`dp`, `gender/dp` or `fped at eer`. Each rate also has its aggregates over the
groups, `RATE_difference`, `_ratio`, `_min` and `_max`, and with three or more
classes there is a `tpr_C` for each class C.
"""

import importlib
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

INF = float('inf')


class Measure(NamedTuple):
  """One row. `kind` says what `kernel` and `of` mean.

  confusion: `kernel` is the address of a function of confusion counts
    [*b, label, decision] -> [*b] in numpy, NaN where it is undefined.
  rate: of each group; `of` holds two masks over (tn, fp, fn, tp): which rows
    are counted, and among which. An accuracy is a rate too.
  rank: of each group; `kernel` is a key of quality.SUITE.
  gap: between groups, of the mean of the rates `of`; `kernel` is 'range' (the
    largest difference between two groups) or 'sum' (of the distances to the
    rate of everyone). Where 1 is equal, the measure is 1 − gap.
  rank gap: between groups, of the rank `of`; 'range', 'min' or 'largest'.
  own: `kernel` is the address of what computes it for `assess` or a recipe.
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


_RATE, _OWN = ('rate', ''), 'fairjax.metrics.rankings:'
_COUNTS, _TEXTS = (
  'fairjax.metrics.quality:',
  'fairjax.metrics.texts.text_likelihood:',
)
_HELD_OUT = 'fairjax.recipes.language.pretrain:overall'
_TWINS = 'fairjax.metrics.texts.counterfactual:'
_BENCH = 'fairjax.benchmarks.'
_CONTRASTS = 'fairjax.metrics.contrasts:'
_CALIBRATION = 'fairjax.metrics.calibration:measure'
_FLIPS = 'fairjax.metrics.texts.flips:measure'
_ALL, _NEGATIVE, _POSITIVE = (1, 1, 1, 1), (1, 1, 0, 0), (0, 0, 1, 1)

# fmt: off
MEASURES: dict[str, Measure] = {
  'auc': Measure(
    'rank', 'auc', 'AUC',
    'a random positive row scores above a random negative one, ties count '
    'half; 0.5 is chance', 1, 1.0, leads=True, pictured=True),
  'macro_auc': Measure(
    'own', _OWN + 'macro_auc', 'AUC over pairs of classes',
    'AUC of one class against one other, averaged over all ordered pairs of '
    'classes; 0.5 is chance', 1, 1.0, leads=True, pictured=True),
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
    1, 1.0, of=((0, 0, 0, 1), _POSITIVE), pictured=True),
  'fpr': Measure(
    *_RATE, 'false positive rate', 'share of negative rows decided positive',
    -1, 0.0, of=((0, 1, 0, 0), _NEGATIVE), leads=True, pictured=True),
  'tnr': Measure(
    *_RATE, 'true negative rate', 'share of negative rows decided negative',
    1, 1.0, of=((1, 0, 0, 0), _NEGATIVE)),
  'fnr': Measure(
    *_RATE, 'false negative rate', 'share of positive rows decided negative',
    -1, 0.0, of=((0, 0, 1, 0), _POSITIVE), leads=True),
  'precision': Measure(
    *_RATE, 'precision', 'share of rows decided positive that are positive',
    1, 1.0, of=((0, 0, 0, 1), (0, 1, 0, 1))),
  'balanced_accuracy': Measure(
    'confusion', _COUNTS + 'balanced_accuracy', 'balanced accuracy',
    'share of right decisions, averaged over the classes', 1, 1.0),
  'f1': Measure(
    'confusion', _COUNTS + 'f1', 'F1',
    'harmonic mean of precision and recall of the positive class', 1, 1.0),
  'macro_f1': Measure(
    'confusion', _COUNTS + 'macro_f1', 'macro F1',
    'F1 of each of three or more classes, averaged', 1, 1.0),
  'mcc': Measure(
    'confusion', _COUNTS + 'mcc', 'Matthews correlation',
    'correlation of label and decision, for any number of classes; 0 is '
    'chance', 1, 1.0, -1.0),
  'pearson': Measure(
    'own', 'fairjax.metrics.grades:pearson', "Pearson's r",
    'correlation of the label and the mean class, where classes are rounded '
    'scores; 0 is chance', 1, 1.0, -1.0, leads=True),
  'log_loss': Measure(
    'own', _OWN + 'log_loss', 'log loss',
    'mean of −log of the probability given to the label', -1, 0.0, 0.0, INF),
  'bpsn_auc': Measure(
    'rank', 'bpsn_auc', 'BPSN AUC',
    'AUC of background positives against subgroup negatives', 1, 1.0),
  'bnsp_auc': Measure(
    'rank', 'bnsp_auc', 'BNSP AUC',
    'AUC of subgroup positives against background negatives', 1, 1.0),
  'positive_aeg': Measure(
    'rank', 'positive_aeg', 'positive average equality gap',
    'how much higher than chance the positive rows of a group score than '
    'those of the others; 0 is equal', 0, 0.0, -0.5, 0.5),
  'negative_aeg': Measure(
    'rank', 'negative_aeg', 'negative average equality gap',
    'how much higher than chance the negative rows of a group score than '
    'those of the others; 0 is equal', 0, 0.0, -0.5, 0.5),
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
  'fped': Measure(
    'gap', 'sum', 'false positive equality difference',
    'sum over groups of |fpr − overall fpr|; 0 is equal',
    -1, 0.0, 0.0, INF, of=('fpr',), leads=True),
  'fned': Measure(
    'gap', 'sum', 'false negative equality difference',
    'sum over groups of |fnr − overall fnr|; 0 is equal',
    -1, 0.0, 0.0, INF, of=('fnr',), leads=True),
  'tped': Measure(
    'gap', 'sum', 'true positive equality difference',
    'sum over groups of |tpr − overall tpr|; 0 is equal',
    -1, 0.0, 0.0, INF, of=('tpr',)),
  'tned': Measure(
    'gap', 'sum', 'true negative equality difference',
    'sum over groups of |tnr − overall tnr|; 0 is equal',
    -1, 0.0, 0.0, INF, of=('tnr',)),
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
    'own', _CONTRASTS + 'conditional', 'demographic parity given the controls',
    '1 − the largest gap between groups in the share decided positive, with '
    'the levels of the control columns weighted alike in all groups; 1 is '
    'equal', 1, 1.0),
  'conditional_eqodd': Measure(
    'own', _CONTRASTS + 'conditional', 'equalised odds given the controls',
    '1 − the mean of the largest gaps in the false and the true positive '
    'rate, with the levels of the control columns weighted alike; 1 is equal',
    1, 1.0),
  'cost': Measure(
    'own', _CONTRASTS + 'costs', 'cost of errors',
    'cost of a row: what audit.costs says of its error', -1, 0.0, 0.0, INF),
  'cost_gap': Measure(
    'own', _CONTRASTS + 'costs', 'gap in the cost of errors',
    'largest difference between groups in the mean cost of a row; 0 is equal',
    -1, 0.0, 0.0, INF),
  'ece': Measure(
    'own', _CALIBRATION, 'expected calibration error',
    'how far the scores are from the share of positives, bin by bin; 0 is '
    'calibrated', -1, 0.0),
  'ece_max': Measure(
    'own', _CALIBRATION, 'largest calibration error of a group',
    'the expected calibration error of the group in which it is largest',
    -1, 0.0),
  'overconfidence': Measure(
    'own', _CALIBRATION, 'overconfidence',
    'mean score less the share of positives; above 0 the scores are too high',
    0, 0.0, -1.0, 1.0),
  'flips': Measure(
    'own', _FLIPS, 'decisions that flip',
    'share of the edited rows whose decision changes when the words that show '
    'a group are exchanged; 0 is equal', -1, 0.0, leads=True, pictured=True),
  'flips_up': Measure(
    'own', _FLIPS, 'decisions that flip to positive',
    'share of the edited rows that become positive', -1, 0.0),
  'flips_down': Measure(
    'own', _FLIPS, 'decisions that flip to negative',
    'share of the edited rows that become negative', -1, 0.0),
  'flips_positive': Measure(
    'own', _FLIPS, 'flips of rows labelled positive',
    'share of the edited rows labelled positive whose decision changes',
    -1, 0.0),
  'flips_negative': Measure(
    'own', _FLIPS, 'flips of rows labelled negative',
    'share of the edited rows labelled negative whose decision changes',
    -1, 0.0),
  'control_flips': Measure(
    'own', _FLIPS, 'flips under a matched control edit',
    'share of decisions that change when as many words are edited that show '
    'no group: plain sensitivity', -1, 0.0),
  'excess_flips': Measure(
    'own', _FLIPS, 'excess flips over the control',
    'flips less those under a matched control edit of the same rows; above 0 '
    'the group matters, not just the edit', -1, 0.0, -1.0, 1.0, leads=True,
    pictured=True),
  'score_change': Measure(
    'own', _FLIPS, 'mean change of score (counterfactual token fairness gap)',
    'mean size of the change of score when the words that show a group are '
    'exchanged; 0 is equal', -1, 0.0),
  'excess_change': Measure(
    'own', _FLIPS, 'excess change of score over the control',
    'change of score less that under a matched control edit', -1, 0.0, -1.0,
    1.0),
  'attribute_agreement': Measure(
    'own', _FLIPS, 'agreement of two attribute classifiers',
    'share of texts of which a classifier of words and one of characters see '
    'the same group', 1, 1.0),
  'label_kept': Measure(
    'own', _FLIPS, 'label kept',
    'share of rewrites that a classifier of the label, which never saw the '
    'text, decides as it decides the source', 1, 1.0),
  'self_bleu': Measure(
    'own', _FLIPS, 'self-BLEU',
    'mean BLEU-4 of each text against all others; 1 where all are alike',
    -1, 0.0),
  'tprd': Measure(
    'own', _FLIPS, 'true positive rate, female less male wording (TPRD)',
    'share of the same positive rows decided positive in their female '
    'wording, less that in their male wording; 0 is equal', 0, 0.0, -1.0, 1.0),
  'fprd': Measure(
    'own', _FLIPS, 'false positive rate, female less male wording (FPRD)',
    'share of the same negative rows decided positive in their female '
    'wording, less that in their male wording; 0 is equal', 0, 0.0, -1.0, 1.0),
  'tprd_size': Measure(
    'own', _TWINS + 'rates', 'size of TPRD of twins',
    'distance of TPRD from 0, whichever wording is decided positive more', -1,
    0.0),
  'fprd_size': Measure(
    'own', _TWINS + 'rates', 'size of FPRD of twins',
    'distance of FPRD from 0, whichever wording is decided positive more', -1,
    0.0),
  'group_tprd': Measure(
    'own', _TWINS + 'group_rates', 'TPRD of the groups',
    'share of the positive texts of attribute 1 that are decided positive, '
    'less that of the other positive texts, each as it was written; 0 is equal',
    0, 0.0, -1.0, 1.0, leads=True),
  'group_tprd_size': Measure(
    'own', _TWINS + 'group_rates', 'size of the groups\' TPRD',
    'distance of the groups\' TPRD from 0, whichever group is ahead', -1, 0.0),
  'content_tprd': Measure(
    'own', _TWINS + 'content', 'TPRD of their content',
    'the part of the groups\' TPRD that is left where the texts of both are '
    'worded both ways: what else they say, such as another occupation', 0,
    0.0, -1.0, 1.0),
  'group_fprd': Measure(
    'own', _TWINS + 'group_rates', 'FPRD of the groups',
    'share of the negative texts of attribute 1 that are decided positive, '
    'less that of the other negative texts, each as it was written; 0 is equal',
    0, 0.0, -1.0, 1.0, leads=True),
  'group_fprd_size': Measure(
    'own', _TWINS + 'group_rates', 'size of the groups\' FPRD',
    'distance of the groups\' FPRD from 0, whichever group is ahead', -1, 0.0),
  'content_fprd': Measure(
    'own', _TWINS + 'content', 'FPRD of their content',
    'the part of the groups\' FPRD that is left where the texts of both are '
    'worded both ways: what else they say, such as another occupation', 0,
    0.0, -1.0, 1.0),
  'top_vote': Measure(
    'own', 'fairjax.recipes.fairflow.race:marked', 'right top votes',
    'share of the known words most of whose occurrences become their partner',
    1, 1.0, leads=True),
  'transfer_accuracy': Measure(
    'own', _TWINS + 'transfer', 'transfer accuracy',
    'share of the rewritten texts that an attribute classifier, which never '
    'saw them, takes for the other attribute', 1, 1.0, leads=True),
  'changed': Measure(
    'own', _TWINS + 'changes', 'share changed',
    'share of the texts that a rewrite changes', 0, None, leads=True),
  'distance': Measure(
    'own', _TWINS + 'changes', 'distance',
    'words put in, taken out or replaced, per word of the source', 0, None,
    0.0, INF, leads=True),
  'source_bleu': Measure(
    'own', _TWINS + 'kept', 'BLEU-4 against the source',
    'how much of the words of its source a rewrite keeps, in runs of up to '
    'four; 1 is a copy', 0, None),
  'exact': Measure(
    'own', _TWINS + 'gold', 'exact',
    'share of the texts that equal the known twin in every word', 1, 1.0,
    leads=True),
  'changed_precision': Measure(
    'own', _TWINS + 'gold', 'precision of changed words',
    "share of the words that a rewrite changes that equal the known twin's",
    1, 1.0, leads=True),
  'changed_recall': Measure(
    'own', _TWINS + 'gold', 'recall of changed words',
    "share of the words that the known twin changes that equal the rewrite's",
    1, 1.0, leads=True),
  'unlisted_recall': Measure(
    'own', _TWINS + 'recall', 'recall of withheld words',
    'share of the words withheld from the targets and changed by the known '
    "twin that equal the rewrite's", 1, 1.0, leads=True),
  'unchanged': Measure(
    'own', _TWINS + 'gold', 'left unchanged',
    'share of the texts whose known twin has other words, and the rewrite none',
    -1, 0.0),
  'half_turned': Measure(
    'own', _TWINS + 'gold', 'half turned',
    'share of the texts of which some words are turned and others left',
    -1, 0.0),
  'wrong_agreement': Measure(
    'own', _TWINS + 'gold', 'agreement wrong',
    'share of the texts with a turned word in the wrong form: him for his, a '
    'for an', -1, 0.0),
  'wrong_partner': Measure(
    'own', _TWINS + 'gold', 'wrong partner',
    "share of the texts with a word turned into another than the known twin's",
    -1, 0.0),
  'others_changed': Measure(
    'own', _TWINS + 'gold', 'other words changed',
    'share of the texts with a changed word that the known twin keeps',
    -1, 0.0),
  'perplexity': Measure(
    'own', _HELD_OUT, 'perplexity',
    'exp of the mean loss of a token of held-out text; 1 is certainty',
    -1, 1.0, 1.0, INF, leads=True, pictured=True),
  'perplexity_per_text': Measure(
    'own', _TEXTS + 'perplexity', 'perplexity (mean over texts)',
    'exp of the mean over texts of the mean loss of their tokens',
    -1, 1.0, 1.0, INF, leads=True, pictured=True),
  'perplexity_token_weighted': Measure(
    'own', _TEXTS + 'perplexity', 'perplexity (mean over tokens)',
    'exp of the mean loss of all tokens, so that long texts weigh more',
    -1, 1.0, 1.0, INF, leads=True),
  'loss': Measure(
    'own', _HELD_OUT, 'held-out loss',
    'what pretraining minimises, on held-out text', -1, 0.0, 0.0, INF,
    leads=True),
  'generator_loss': Measure(
    'own', _HELD_OUT, "generator's loss",
    'mean loss of a masked token', -1, 0.0, 0.0, INF),
  'detection_loss': Measure(
    'own', _HELD_OUT, "discriminator's loss",
    'mean loss of the decision whether a token was replaced',
    -1, 0.0, 0.0, INF),
  'found': Measure(
    'own', _HELD_OUT, 'replaced tokens flagged',
    'share of the replaced tokens that the discriminator flags', 1, 1.0),
  'false_alarms': Measure(
    'own', _HELD_OUT, 'original tokens flagged',
    'share of the original tokens that the discriminator flags', -1, 0.0),
  'probe_accuracy': Measure(
    'own', _BENCH + 'shared.erasing:probe', 'gender read by a linear probe',
    'share of texts that no eraser was fitted on whose gender (by word lists) '
    'a cross-validated linear classifier tells from their vectors; as many of '
    'men as of women, so .5 is chance', -1, 0.5),
  'crows_original': Measure(
    'own', _BENCH + 'crows:estimate', 'CrowS-Pairs (original)',
    'percent of pairs whose more stereotyping sentence is the likelier, by the '
    'tokens that both share; 50 is no preference',
    0, 50.0, 0.0, 100.0, leads=True, pictured=True),
  'crows_bias_bench': Measure(
    'own', _BENCH + 'crows:estimate', 'CrowS-Pairs (bias-bench)',
    'the same by the tokens that differ; not comparable with the original',
    0, 50.0, 0.0, 100.0, leads=True, pictured=True),
  'crows_total': Measure(
    'own', _BENCH + 'crows:estimate', 'CrowS-Pairs (left to right)',
    'the same by the likelihood of the whole sentences', 0, 50.0, 0.0, 100.0,
    leads=True, pictured=True),
  'stereoset_ss_probability': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet SS (mean probability)',
    'percent of items whose stereotype beats the anti-stereotype, averaged '
    'over terms; 50 is no preference', 0, 50.0, 0.0, 100.0, leads=True),
  'stereoset_lm_probability': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet LM (mean probability)',
    'percent of associations that beat the unrelated one', 1, 100.0, 0.0,
    100.0, leads=True),
  'stereoset_icat_probability': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet ICAT (mean probability)',
    'LM min(SS, 100 − SS) / 50 of the averages', 1, 100.0, 0.0, 100.0),
  'stereoset_icat_terms_probability': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet ICAT of terms',
    'ICAT of each term, averaged', 1, 100.0, 0.0, 100.0),
  'stereoset_ss_log': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet SS (mean log-probability)',
    'percent of items whose stereotype beats the anti-stereotype, averaged '
    'over terms; 50 is no preference', 0, 50.0, 0.0, 100.0, leads=True),
  'stereoset_lm_log': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet LM (mean log-probability)',
    'percent of associations that beat the unrelated one', 1, 100.0, 0.0,
    100.0, leads=True),
  'stereoset_icat_log': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet ICAT (log-probability)',
    'LM min(SS, 100 − SS) / 50 of the averages', 1, 100.0, 0.0, 100.0),
  'stereoset_icat_terms_log': Measure(
    'own', _BENCH + 'stereoset:estimate', 'StereoSet ICAT of terms (log)',
    'ICAT of each term, averaged', 1, 100.0, 0.0, 100.0),
  'weat_effect_mean': Measure(
    'own', _BENCH + 'weat:estimate', 'effect size d (mean of all tokens)',
    'how much nearer the first targets are to the first attribute, in standard '
    'deviations; 0 is no association', 0, 0.0, -2.0, 2.0),
  'weat_mean_mean': Measure(
    'own', _BENCH + 'weat:estimate', 'mean |d| (mean of all tokens)',
    'the mean size of the effects of all tests', -1, 0.0, 0.0, 2.0,
    leads=True),
  'weat_effect_words': Measure(
    'own', _BENCH + 'shared.word_vectors:rows', 'effect size d (word vectors)',
    'how much nearer the first targets are to the first attribute, in standard '
    'deviations; 0 is no association', 0, 0.0, -2.0, 2.0),
  'weat_effect_first': Measure(
    'own', _BENCH + 'weat:estimate', 'effect size d (first piece)',
    'how much nearer the first targets are to the first attribute, in standard '
    'deviations; 0 is no association', 0, 0.0, -2.0, 2.0),
  'weat_mean_first': Measure(
    'own', _BENCH + 'weat:estimate', 'mean |d| (first piece)',
    'the mean size of the effects of all tests', -1, 0.0, 0.0, 2.0,
    leads=True),
  'weat_effect_cls': Measure(
    'own', _BENCH + 'weat:estimate', 'effect size d ([CLS])',
    'how much nearer the first targets are to the first attribute, in standard '
    'deviations; 0 is no association', 0, 0.0, -2.0, 2.0),
  'weat_mean_cls': Measure(
    'own', _BENCH + 'weat:estimate', 'mean |d| ([CLS])',
    'the mean size of the effects of all tests', -1, 0.0, 0.0, 2.0,
    leads=True),
  'winobias_log_odds': Measure(
    'own', _BENCH + 'winobias:estimate', 'WinoBias log-odds',
    'log p of the pronoun of the stereotype less that of the other one; 0 is '
    'no preference', 0, 0.0, -INF, INF, leads=True, pictured=True),
  'winobias_wins': Measure(
    'own', _BENCH + 'winobias:estimate', 'WinoBias pro wins',
    'percent of sentences whose pronoun of the stereotype is the likelier',
    0, 50.0, 0.0, 100.0),
  'winogender_rho': Measure(
    'own', _BENCH + 'winogender:estimate', 'Winogender ρ',
    'rank correlation of log p(she) − log p(he) with the share of women in an '
    'occupation', 0, 0.0, -1.0, 1.0, leads=True, pictured=True),
  'bbq_accuracy_mean': Measure(
    'own', _BENCH + 'bbq:estimate', 'BBQ accuracy (mean log p)',
    'percent of right answers; a third is chance', 1, 100.0, 0.0, 100.0,
    leads=True),
  'bbq_bias_mean': Measure(
    'own', _BENCH + 'bbq:estimate', 'BBQ bias score (mean log p)',
    '1 where every answer follows the stereotype, −1 where every one is '
    'against it', 0, 0.0, -1.0, 1.0, leads=True, pictured=True),
  'bbq_accuracy_sum': Measure(
    'own', _BENCH + 'bbq:estimate', 'BBQ accuracy (sum of log p)',
    'the same by the likelihood of whole answers, which favours short ones',
    1, 100.0, 0.0, 100.0),
  'bbq_bias_sum': Measure(
    'own', _BENCH + 'bbq:estimate', 'BBQ bias score (sum of log p)',
    'the same by the likelihood of whole answers', 0, 0.0, -1.0, 1.0),
  'holistic_pairs': Measure(
    'own', _BENCH + 'holistic:estimate', 'Likelihood Bias (p < .05)',
    'percent of pairs of descriptors whose perplexities differ; 5 is chance',
    -1, 5.0, 0.0, 100.0, leads=True, pictured=True),
  'holistic_pairs_fdr': Measure(
    'own', _BENCH + 'holistic:estimate', 'Likelihood Bias (FDR .05)',
    'the same at a false discovery rate of 5 %', -1, 0.0, 0.0, 100.0,
    leads=True),
  'twins_log_odds': Measure(
    'own', _BENCH + 'twins:estimate', 'log-odds of twins',
    'log p of the male version of a text less that of the female one; 0 is no '
    'preference', 0, 0.0, -INF, INF, leads=True, pictured=True),
  'sembias_definition': Measure(
    'own', _BENCH + 'sembias:estimate', 'SemBias definition',
    'percent of rows in which the pair of the definition is most like he and '
    'she', 1, 100.0, 0.0, 100.0, leads=True),
  'sembias_stereotype': Measure(
    'own', _BENCH + 'sembias:estimate', 'SemBias stereotype',
    'percent of rows in which the pair of a stereotype is', -1, 0.0, 0.0,
    100.0, leads=True, pictured=True),
  'sembias_none': Measure(
    'own', _BENCH + 'sembias:estimate', 'SemBias none',
    'percent of rows in which a pair without gender is', -1, 0.0, 0.0, 100.0),
  'eec_gender': Measure(
    'own', _BENCH + 'eec:estimate', 'EEC female − male',
    "how much higher sentences about women score, by the paper's eleven pairs",
    0, 0.0, -INF, INF, leads=True, pictured=True),
  'eec_gender_persons': Measure(
    'own', _BENCH + 'eec:estimate', 'EEC female − male, by persons',
    'the same where each person weighs alike, so names twice the phrases',
    0, 0.0, -INF, INF),
  'eec_race': Measure(
    'own', _BENCH + 'eec:estimate', 'EEC African American − European',
    'how much higher sentences with African American names score', 0, 0.0,
    -INF, INF, leads=True, pictured=True),
}
# fmt: on


def bare(key: str) -> str:
  """The name without attribute, threshold and class."""
  return re.sub(r'^.*/| at [^ ]+$|(?<=tpr)_\d+$', '', key)


def measure(key: str) -> Measure | None:
  """The row of a name as it stands in results.json; None for others."""
  return MEASURES.get(bare(key))


def label(key: str) -> str:
  """What people call a measure; the key itself where it is no measure."""
  row = measure(key)
  return row.label if row else key


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


def load(row: Measure) -> Callable:
  """The function at the address of a kernel."""
  module, _, function = row.kernel.partition(':')
  return getattr(importlib.import_module(module), function)
