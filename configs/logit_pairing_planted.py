"""Counterfactual logit pairing on planted data, without a download.

  python -m fairjax.main --config=configs/logit_pairing_planted.py

Garg et al. 2019 (arXiv:1809.10610): the logits of a text and of its twin are
drawn together, with weight λ (--config.pairing.weights), beside no mitigation
and CDA. Your own csv: --config.data.name=file --config.data.path=my.csv.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('quickstart_diet')
  config.recipe = 'logit_pairing'
  config.pairing.weights = (1.0,)
  config.measures.primary = ()  # those of diets
  return config
