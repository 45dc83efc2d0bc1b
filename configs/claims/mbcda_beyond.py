"""MBCDA's central claim, beyond the list: words that no target turned.

  python -m fairjax.main --config=configs/claims/mbcda_beyond.py

Half of the pairs of the word list are withheld from the targets, so that the
generator is never shown what they become; its discriminator only says which
group a text shows. Of the words that the known twins change, which share does
it change alike, with and without the discriminator (five of each)?

What its size decides, four times of five: ±.056 and ±.073 of recall of these
words, ±.047 and ±.052 of transfer, ±.035 to ±.12 of TPRD, ±.057 to ±.17 of
FPRD.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('claims/mbcda_planted')
  config.adversary.withheld = 0.5
  config.adversary.vectors = ()
  return config
