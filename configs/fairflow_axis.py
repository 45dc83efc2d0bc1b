"""A dictionary for another axis, from one pair of words: young and old.

  python -m fairjax.main --config=configs/fairflow_axis.py \\
      --config.model=FOLDER --config.corpus.path=FOLDER_OF_COMMENTS

FOLDER is a masked LM. Another axis is two words:
--config.fairflow.first=muslim --config.fairflow.second=christian, or several
a side ('muslim,muslims,islam'). There is no list of known pairs to mark the
entries by: read dictionary.csv before you use it, and delete what is wrong.
With --config.data.path (a label and a group) stages 4 to 6 follow, by the
flow's dictionary alone, since no list by hand is for this axis.

On 8 % of 34 MB of books and Wikipedia (602,000 tokens; 5,323 words of at
least 8) with the masked LM of 6 layers × 384, entries judged by hand:

  seeds                                                  pairs  right
  young, old and ten of a side (child, boy, baby, …;        4      3
    eldest, adult, elderly, …), threshold 2                 9     (difference
                                                                   of means)
  young, old alone; head=lda, threshold=0,                550      8
    candidates=side, decoder=nearest

The three are young/old, younger/older and youngest/oldest, of which only the
last is new: eldest was the seed; the fourth is chu/ali. One word a side is too
little: what tells young from old in a text is the word itself, so with
threshold 0 every word has a side and its neighbour is its partner (team/squad,
center/centre); boys/men, girls/ladies, junior/senior and father/grandfather are
among them. The rival that asks the masked LM in context has 30 there. On
12,167 comments (muslim, christian) has no two words that vote for each other
and three pairs by that rival: fewer than gender's, since such words are rare.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('fairflow_gender')
  config.fairflow.first, config.fairflow.second = 'young', 'old'
  config.fairflow.share = 1.0
  config.fairflow.min_count = 5
  config.rewriters.contenders = ('flow',)
  return config
