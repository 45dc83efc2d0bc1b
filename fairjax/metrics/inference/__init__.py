"""Every interval and p: shares, means, differences, gaps, clusters.

In this room:

  averages          The mean of independent estimates, from their intervals
  clustered_excess  Whether some rows are more often bad than the others, over
                    clusters
  clustered_rates   Draws of the rates of groups whose rows hang together, by
                    the jackknife
  clusters          Numbers over items that are not independent: intervals and
                    p by clusters
  estimates         One reported number: its value, interval, seeds, and what
                    there is to say
  extremes          How far a largest value, or a range, of estimates is from
                    the true one
  group_means       Means of groups whose rows hang together across the groups
  intervals         Intervals and p values: resampling of examples and of seeds
  ratios            Functions of sums over texts, and how sure they are
  resampling        The Bayesian bootstrap: weights of rows in resamples, by
                    cells or blocks
  row_means         Means over rows, with intervals, for values that no count
                    table holds
  row_weights       Weights of rows: how many rows of the population each
                    stands for
  significance      P values of many tests, adjusted for their number and
                    printed
  tails             Tails and quantiles of distributions, and exact tests of
                    counts
"""
