"""Axes of identity beyond gender: their words, and when these mean people.

An axis is a table, its columns values (christian, muslim, …) and its rows
parallel words, each with its form; a user's file of that form is another. The
swapper of pairs/swapping exchanges them as it does words of gender.

In this room:

  age_plausibility  Whether an age of another part of life can stand in a
                    sentence
  ages              Ages in figures: eleven years old, a 44-year-old woman,
                    aged 70, in his 50s
  conjunctions      Conjunctions: what is joined to a word of an axis, and what
                    it would become
  exchange          The exchange of an axis: its values, and its words as the
                    swapper reads them
  forms             Whether a word of an axis means people where it stands, and
                    in which form
  people            Words that stand for people, and those that describe them
  reach             How many texts name an axis so that rules can exchange it
  rules             What a word of an axis becomes where it stands
  senses            Whether a word of an axis is said of people, by its
                    neighbours
"""
