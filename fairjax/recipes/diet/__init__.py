"""The healthy data diet (Zayed et al. 2023).

In this room:

  overlap  Overlap of diets: would another seed, epoch, model or score differ?
  rank     The diet paper's two experiments, as one grid of runs
  recipe   The healthy data diet: a probe scores the rows, and the best are
           trained on
"""
