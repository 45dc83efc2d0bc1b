"""Measures of texts: rewrites, flips, likelihoods."""
