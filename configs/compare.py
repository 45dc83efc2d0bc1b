"""Two per-sample logs of lm-evaluation-harness or inspect, compared in pairs.

  fairjax compare samples_a.jsonl samples_b.jsonl --groups=bias_type

Groups are fields of a document (of inspect: of a sample's metadata).
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='harness')
