"""Measures of texts: rewrites, flips, likelihoods.

In this room:

  counterfactual   Measures of counterfactual texts, with intervals and paired
                   tests
  diversity        Self-BLEU: how alike the texts of a set are (Zhu et al.
                   2018)
  fairscore        Fairscore: how often a prediction changes when a text is
                   perturbed
  flips            Counterfactual flips: how an edit of a text changes the
                   decision on it
  rewrites         Quality of rewritten texts: exact match, BLEU-4, changed
                   words
  text_likelihood  Perplexity of texts, from the log-probabilities of their
                   tokens
"""
