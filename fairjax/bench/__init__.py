"""Races against peers, and programs compiled for chips that are not here.

In this room:

  __main__  python -m fairjax.bench NAME [args]: one race against a peer
  race      Races: two ways to do one thing, timed in turns
"""
