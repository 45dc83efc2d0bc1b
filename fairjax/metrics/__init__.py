"""Arrays to measures with intervals; measures.py holds the table of them.

In this room:

  assess           The assessment of one test set: quality, fairness, groups,
                   warnings
  calibration      Calibration: do scores mean what they say, for every group?
  clustered_rates  Draws of the rates of groups whose rows hang together, by
                   the jackknife
  clusters         Numbers over items that are not independent: intervals and p
                   by clusters
  contrasts        Each group beside a reference: differences of rates,
                   conditional gaps, costs
  counterfactual   Measures of counterfactual texts, with intervals and paired
                   tests
  counts           Measures of confusion counts: rates, gaps, accuracy, F1,
                   Matthews
  diversity        Self-BLEU: how alike the texts of a set are (Zhu et al.
                   2018)
  estimates        One reported number: its value, interval, seeds, and what
                   there is to say
  fairscore        Fairscore: how often a prediction changes when a text is
                   perturbed
  flips            Counterfactual flips: how an edit of a text changes the
                   decision on it
  gate             A gate: a rule over measures by which an audit fails, for
                   use in CI
  grades           Pearson's r of graded labels and predicted grades, with
                   intervals and tests
  groups           Rates of groups, and the gaps between them
  intervals        Intervals and p values: resampling of examples and of seeds
  measures         The one table of measures: what computes each, and how to
                   read it
  paired           Paired tests: is one run better than another on the same
                   rows?
  quality          Quality of predictions: from counts, ranks and probabilities
  rankings         Measures of ranks and probabilities: AUCs, log loss
  ratios           Functions of sums over texts, and how sure they are
  resampling       The Bayesian bootstrap: weights of rows in resamples, by
                   cells or blocks
  rewrites         Quality of rewritten texts: exact match, BLEU-4, changed
                   words
  row_means        Means over rows, with intervals, for values that no count
                   table holds
  significance     P values of many tests, adjusted for their number and
                   printed
  slices           Error rates of slices of one or two conditions: where is it
                   worst?
  text_likelihood  Perplexity of texts, from the log-probabilities of their
                   tokens
  thresholds       Every measure over thresholds, and the one that validation
                   rows choose
  warn             Warnings about degenerate measurements
"""

from fairjax.metrics.measures import MEASURES

__all__ = ['MEASURES']
