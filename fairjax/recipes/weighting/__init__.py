"""Instance weights (Zhang et al. 2020)."""
