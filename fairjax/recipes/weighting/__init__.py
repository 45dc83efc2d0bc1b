"""Instance weights (Zhang et al. 2020).

In this room:

  recipe  Instance weights (Zhang et al. 2020), end to end
"""
