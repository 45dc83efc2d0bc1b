"""Example scores by name; adding one is one file and one line here."""

from fairjax.core.registry import Entry, installed, listed

# Each is score(predictions: Predictions, config: Config) -> [seeds, examples]
SCORES: dict[str, Entry] = {
  'ge': Entry(
    'fairjax.scores.error_scores:ge_scores',
    'distance between the logits of a text and of its twin',
  ),
  'el2n': Entry(
    'fairjax.scores.error_scores:el2n_scores',
    'length of the error of the predicted probabilities',
  ),
  'grand': Entry(
    'fairjax.scores.grand:grand_scores',
    'exact norm of the gradient of one example over all parameters',
  ),
  'forgetting': Entry(
    'fairjax.scores.forgetting:forgetting_scores',
    'how often a learned example is unlearned over the epochs',
  ),
  'stereotype': Entry(
    'fairjax.scores.error_scores:stereotype_scores',
    '1 where the text is harder than its twin, -1 where easier, else 0',
  ),
  'logit_gap': Entry(
    'fairjax.scores.error_scores:logit_gap_scores',
    "distance to the twin in the logit of measures.pos_label's class",
  ),
  'probability_gap': Entry(
    'fairjax.scores.error_scores:probability_gap_scores',
    "distance to the twin in the probability of measures.pos_label's class",
  ),
  'pvi': Entry(
    'fairjax.scores.error_scores:pvi_scores',
    'bits that a text adds to what is known of its label (PVI)',
  ),
  'wrong': Entry(
    'fairjax.scores.error_scores:wrong_scores',
    "1 where a label other than the row's own is predicted",
  ),
  'confidence': Entry(
    'fairjax.scores.cartography:confidence_scores',
    'mean probability of the own label over the epochs',
  ),
  'variability': Entry(
    'fairjax.scores.cartography:variability_scores',
    'deviation of the probability of the own label over the epochs',
  ),
  'correctness': Entry(
    'fairjax.scores.cartography:correctness_scores',
    'share of the epochs in which the own label is predicted',
  ),
}

installed('scores', SCORES, listed)

# Those that need the predictions of every epoch of a run.
TRACKED = ('forgetting', 'confidence', 'variability', 'correctness')
