"""Axes of identity beyond gender: their words, and when these mean people.

An axis is a table, its columns values (christian, muslim, …) and its rows
parallel words, each with its form; a user's file of that form is another. The
swapper of pairs/swapping exchanges them as it does words of gender.
"""
