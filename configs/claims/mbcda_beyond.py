"""MBCDA's central claim, beyond the list: words that no target turned.

  python -m fairjax.main --config=configs/claims/mbcda_beyond.py

Half of the pairs of the word list are withheld from the targets, so that the
generator is never shown what they become; its discriminator only says which
group a text shows. Of the words that the known twins change, which share does
it change alike, with and without the discriminator (five of each)?
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('claims/mbcda_planted')
  config.adversary.withheld = 0.5
  config.adversary.vectors = ()
  return config
