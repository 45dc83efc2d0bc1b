"""Counterfactual texts by rules, with no models inside.

In this room:

  attributes      Words that reveal an attribute, from a seed pair of words:
                  pure functions
  flow_words      A dictionary of counterfactual words from votes of their
                  occurrences
  recase          Case, accents and spacing of a source, restored in a
                  rewritten text
  repair          Error correction of swapped texts: masks, candidates, choices
  rewrite_errors  Errors of a rewrite whose right form is known, by kind
  sheet           A sheet of pairs for human annotation, written and read
  word_sets       The sets of words that rules test for, by name, from
                  word_sets.csv
"""
