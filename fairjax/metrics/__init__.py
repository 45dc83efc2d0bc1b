"""Arrays to measures with intervals; measures.py holds the table of them."""

from fairjax.metrics.measures import MEASURES

__all__ = ['MEASURES']
