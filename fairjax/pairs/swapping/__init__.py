"""Counterfactuals by word lists and rules of context.

In this room:

  axis_values     Which value of an axis a text names, and how it reads with
                  another
  context         Senses of ambiguous words, by rules on their neighbours
  controls        Matched control edits: as many words changed, and none that
                  shows a group
  corpus          Counterfactuals of whole folders, shard by shard
                  (corpora/shard_map.py)
  dictionary      Counterfactual text by dictionary: each text with the other
                  group's words
  english         Whether texts are in English, which our own words and rules
                  are
  listed          The listed words that a text holds, and what each becomes
  names           First names and their counterparts: a bijection between men's
                  and women's
  neighbour_scan  The neighbours of a scan's candidates, vectorised
  neighbours      Neighbouring words: where they are, and the sets that rules
                  test for
  neutral         Verbs that agree with singular they: she walks -> they walk,
                  by rule
  persons         First names of persons among capitalised words, by rules
  pronouns        Pronoun rules: her is his or him; his is her or, alone, hers
  scan            Candidate positions of listed words in a column, vectorised
  swap_eval       Accuracy of a swap: changed words against files of known
                  twins
  tags            An optional tagger for her and his: 'spacy:MODEL', or a
                  function
  word_lists      Word lists for swaps: our own gender list, and lists of a
                  user's
"""
