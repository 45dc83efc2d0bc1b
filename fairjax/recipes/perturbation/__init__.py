"""Perturbation augmentation (Qian et al. 2022).

In this room:

  fairberta       FairBERTa: masked LMs alike, on text and on the perturbed
                  text
  fairscore       The fairscore of a classifier that exists, or of two side by
                  side
  fairtune        Fairtuning: a classifier tuned on perturbed text, and its
                  fairscore
  glue            GLUE's tasks, and averages over them: Tables 2 and 3 of Qian
                  et al. (2022)
  library         Perturbations and the fairscore as functions of a column of
                  texts
  paired_file     Fairscores of models on one paired file: written, read,
                  predicted, tested
  person_tagger   A tagger of the words that are of one person, learned from
                  pairs
  perturb_corpus  Whole folders perturbed: one person of each window of text
                  rewritten
  perturber       A perturber: trained on parallel text, measured beside rules
                  on held-out
  perturbing      Texts perturbed: the person drawn, the rewriter, what comes
                  back
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Perturbation augmentation (Qian et al. 2022)',
  ('fairtune', 'perturber', 'fairberta')
  # What earlier runs, which are kept, called parts of these.
  + ('fairtune_glue', 'fairberta_planted'),
)
