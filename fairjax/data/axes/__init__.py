"""Axes of identity as tables: values, and the words for people of each."""
