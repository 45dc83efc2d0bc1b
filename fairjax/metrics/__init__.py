"""Measures by name; adding one is one file and one line here."""

from fairjax.registry import Entry

_COUNTS = 'fairjax.metrics.counts:'
_RANKS = 'fairjax.metrics.rankings:'

METRICS: dict[str, Entry] = {
  'accuracy': Entry(_COUNTS + 'of_everyone', 'share of right decisions'),
  'balanced_accuracy': Entry(
    _COUNTS + 'of_everyone', 'mean over labels of the share found'
  ),
  'f1': Entry(_COUNTS + 'of_everyone', 'F1 of class 1'),
  'macro_f1': Entry(
    _COUNTS + 'of_everyone', 'mean F1 of three or more classes'
  ),
  'mcc': Entry(_COUNTS + 'of_everyone', 'Matthews correlation, any classes'),
  'auc': Entry(_RANKS + 'of_group', 'area under the ROC curve, ties half'),
  'macro_auc': Entry(
    _RANKS + 'macro_auc', 'mean AUC over pairs of classes, one against one'
  ),
  'log_loss': Entry(_RANKS + 'log_loss', 'mean of -log p(label)'),
  'rates': Entry(
    _COUNTS + 'of_group',
    'of each group: base and selection rate, accuracy, tpr, fpr, tnr, fnr, '
    'precision; over groups their difference, ratio, min and max',
  ),
  'dp': Entry(
    _COUNTS + 'gaps', '1 - largest gap between groups in the selection rate'
  ),
  'dp_floor': Entry(
    _COUNTS + 'gaps', 'dp of a perfect predictor on these rows'
  ),
  'eqopp0': Entry(
    _COUNTS + 'gaps', '1 - largest gap between groups in the fpr'
  ),
  'eqopp1': Entry(
    _COUNTS + 'gaps', '1 - largest gap between groups in the tpr'
  ),
  'eqodd': Entry(_COUNTS + 'gaps', 'mean of eqopp0 and eqopp1'),
  'fped': Entry(_COUNTS + 'gaps', 'sum over groups of |fpr - overall fpr|'),
  'fned': Entry(_COUNTS + 'gaps', 'sum over groups of |fnr - overall fnr|'),
  'tped': Entry(_COUNTS + 'gaps', 'sum over groups of |tpr - overall tpr|'),
  'tned': Entry(_COUNTS + 'gaps', 'sum over groups of |tnr - overall tnr|'),
  'auc_gap': Entry(_RANKS + 'gaps', 'largest gap between groups in the AUC'),
  'auc_min': Entry(_RANKS + 'gaps', 'least AUC within a group'),
  'bpsn_auc': Entry(
    _RANKS + 'of_group', 'AUC of background positives, subgroup negatives'
  ),
  'bnsp_auc': Entry(
    _RANKS + 'of_group', 'AUC of background negatives, subgroup positives'
  ),
  'positive_aeg': Entry(
    _RANKS + 'of_group',
    'average equality gap of label 1, above 0: scored higher',
  ),
  'negative_aeg': Entry(
    _RANKS + 'of_group',
    'average equality gap of label 0, above 0: scored higher',
  ),
}
