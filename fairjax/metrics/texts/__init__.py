"""Measures of texts: rewrites, flips, likelihoods.

In this room:

  cooccurrence     Co-occurrence of words: how texts bring targets and groups'
                   words together
  counterfactual   Measures of counterfactual texts, with intervals and paired
                   tests
  fairscore        Fairscore: how often a prediction changes when a text is
                   perturbed
  flips            Counterfactual flips: how an edit of a text changes the
                   decision on it
  hurtful          HONEST: how often what is written has a hurtful word
  rewrites         Quality of rewritten texts: exact match, BLEU-4, changed
                   words
  similarity       How alike two texts are: BLEU both ways, and ROUGE-L
  text_likelihood  Perplexity of texts, from the log-probabilities of their
                   tokens
"""
