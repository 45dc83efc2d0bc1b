"""Dry runs: what each stage of a recipe would take on a target.

In this room:

  costs     What a fit, a sweep and decoding take, traced by shape and never
            run
  estimate  What each stage of a run would take on a target, counted and never
            run
  stages    The stages that a dry run counts, recipe by recipe
"""
