"""Axes of identity as tables: their values, and the words for people of each.

In this room:

  table  The table of an axis: its values, and their words, row by row
"""
