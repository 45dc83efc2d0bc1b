"""MBCDA's central claim, beyond the list: words that no target turned.

  python -m fairjax.main --config=configs/claims/mbcda_beyond.py

Half of the pairs of the word list are withheld from the targets, so that the
generator is never shown what they become; its discriminator only says which
group a text shows. Of the words that the known twins change, which share does
it change alike, with and without the discriminator (twelve of each, as many as
a pilot of five said that the gaps need; its seeds are others)? Settings were
frozen on 28 November 2026 before this run of other texts and seeds.

What its size decides, four times of five: ±.058 and ±.062 of recall of these
words, ±.031 to ±.039 of transfer, ±.033 to ±.088 of TPRD, ±.034 to ±.1 of
FPRD.
"""

from fairjax import config as c

PRIMARY = (  # the paper's own claims; all else is exploratory
  'BART on repaired, filtered + discriminator against BART on repaired, '
  'filtered: transfer_accuracy on texts',
  'BART on repaired, filtered + discriminator against BART on repaired, '
  'filtered: group_tprd_size on classifier',
  'BART on repaired, filtered + discriminator against BART on repaired, '
  'filtered: group_fprd_size on classifier',
  'BART on repaired, filtered + discriminator against original: '
  'group_tprd_size on classifier',
  'BART on repaired, filtered + discriminator against original: '
  'group_fprd_size on classifier',
  'BART on repaired, filtered + discriminator against dictionary: '
  'unlisted_recall on known twins',
)


def get_config() -> c.Config:
  config = c.shipped('claims/mbcda_planted')
  config.seed, config.planted.seed = 43, 2
  config.adversary.withheld = 0.5
  config.adversary.vectors = ()
  config.measures.primary = PRIMARY
  return config
