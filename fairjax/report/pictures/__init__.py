"""Pictures of results, each with its words.

In this room:

  figures      Figure style, and how figures are saved: png and svg
  group_plots  Plots of groups and flips, on one scale of percent
  plots        Plots: plain arrays and dicts in, a matplotlib Figure out
  spoken       Alternative texts of pictures, for screen readers
  word_plots   A map of words: partners, and where each was moved to
"""
