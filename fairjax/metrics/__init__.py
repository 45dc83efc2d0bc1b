"""Arrays to measures with intervals; measures.py holds the table of them.

In this room:

  assess            The assessment of one test set: quality, fairness, groups,
                    warnings
  calibration       Calibration: do scores mean what they say, for every group?
  contrasts         Each group beside a reference: differences of rates,
                    conditional gaps, costs
  counts            Measures of confusion counts: rates, gaps, accuracy, F1,
                    Matthews
  gate              A gate: a rule over measures by which an audit fails, for
                    use in CI
  grades            Pearson's r of graded labels and predicted grades, with
                    intervals and tests
  group_thresholds  A threshold for each group, so that a chosen rate is equal
                    in all of them
  groups            Rates of groups, and the gaps between them
  kernels           Metric kernels: jitted where an accelerator is there, else
                    plain numpy
  measures          The one table of measures: every name in results.json, and
                    how to read it
  own               A user's own measures: of everyone, of each group, and the
                    gap between them
  paired            Paired tests: is one run better than another on the same
                    rows?
  quality           Quality of predictions: from counts, ranks and
                    probabilities
  rankings          Measures of ranks and probabilities: AUCs, log loss
  slices            Error rates of slices of one or two conditions: where is it
                    worst?
  thresholds        Every measure over thresholds, and the one that validation
                    rows choose
  warn              Warnings about degenerate measurements
"""

from fairjax.metrics.measures import MEASURES

__all__ = ['MEASURES']
