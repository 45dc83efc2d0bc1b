"""Counterfactual texts by rules, with no models inside.

In this room:

  attributes      Words that reveal an attribute, from a seed pair of words:
                  pure functions
  chain           One person of a text, by rules: the mentions that a
                  perturbation turns
  context         Senses of ambiguous words, by rules on their neighbours
  controls        Matched control edits: as many words changed, and none that
                  shows a group
  corpus          Counterfactuals of whole folders, shard by shard
                  (data/shard_map.py)
  dictionary      Counterfactual text by dictionary: each text with the other
                  group's words
  flow_words      A dictionary of counterfactual words from votes of their
                  occurrences
  grown           Seed pairs grown from one: words whose difference repeats its
                  own
  names           First names and their counterparts: a bijection between men's
                  and women's
  neighbours      Neighbouring words: where they are, and the sets that rules
                  test for
  neutral         Verbs that agree with singular they: she walks -> they walk,
                  by rule
  parallel        Parallel text for perturbers: one person turned, everybody
                  else untouched
  persons         First names of persons among capitalised words, by rules
  perturb         Perturbation: which word of a text, to which attribute, and
                  what is kept
  pronouns        Pronoun rules: her is his or him; his is her or, alone, hers
  recase          Case, accents and spacing of a source, restored in a
                  rewritten text
  repair          Error correction of swapped texts: masks, candidates, choices
  rewrite_errors  Errors of a rewrite whose right form is known, by kind
  scan            Candidate positions of listed words in a column, vectorised
  sheet           A sheet of pairs for human annotation, written and read
  swap_eval       Accuracy of a swap: changed words against files of known
                  twins
  tags            An optional tagger for her and his: 'spacy:MODEL', or a
                  function
  two_genders     Parallel text from sentences in which two persons differ in
                  gender
  word_lists      Word lists for swaps: our own gender list, and lists of a
                  user's
"""
