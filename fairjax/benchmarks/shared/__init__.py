"""What benchmarks share: files and forms, statistics, rows of results.

In this room:

  association   Statistics of WEAT and SEAT: effect size, exact permutation,
                intervals
  by_axis       Benchmarks side by side by axis of identity, with Holm over
                what is shown
  contrast      Log-odds of two texts that differ in a few words, by any kind
                of model
  erasing       Fits an eraser of an axis on the user's texts, and probes for
                what is left
  forms         What a benchmark's file must hold, field by field, and the
                sentence if not
  measure       Runs a benchmark on a model: items, scores, estimates with
                intervals
  result_rows   A benchmark's numbers as rows of results.json, and two models
                compared
  sources       Finds and checks the user's copies of benchmark files
  word_vectors  Word vectors of a set of texts, and what WEAT says of them
"""
