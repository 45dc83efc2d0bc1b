"""Sources of the documentation site; `python -m fairjax.docs OUT` builds it.

In this room:

  __main__  Builds the documentation site from a checkout
"""
