"""fairjax: fairness by data for text models, in JAX."""

__version__ = '0.1.0'
