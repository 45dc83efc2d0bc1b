"""A dictionary from one pair of words, on a corpus with an invented attribute.

python -m fairjax.main --config=configs/fairflow_planted.py

A head that is fitted on one pair learns these two words: the sides of 31 of the
54 words of known pairs were told, and mostly wrong where partners are alike. So
more pairs are grown first (`grow`, pairs/grown.py: words whose difference
repeats the seeds'), the head is Fisher's discriminant of all of them, the
flow learns from partners alone, and the sides' means are theirs. 3 seeds,
27 known pairs (before: recall .074 by every way, two pairs):

                          pairs   precision        recall          top votes
  flow                     20   .89 [.24, 1.0]   .43 [.17, .75]   37 of 54
  difference of means      26   .77 [.59, .91]   .74 [.57, .88]   43
  orthogonal map           35   .60 [.44, .75]   .78 [.62, .91]   44
  masked LM in context     26   .38 [.21, .57]   .37 [.20, .56]   27
  flow without a factor     3   1.0              .14 [.01, .80]   32
  the grown pairs alone    16   .88 [.68, .99]   .52 [.33, .70]

The difference of means, read as the nearest word of the other side, wins in
recall; the flow's pairs are fewer and oftener right, and the factor is what
makes it work. With min_along=.45 the flow has .93 and .40. The settings
were chosen on these known pairs, with one flow seed. 2 min 59 s of one core.

On another corpus of the same kind, which no setting was chosen on
(--config.planted.seed=1), precision falls, since half of the grown pairs are
wrong, and recall less:

                          precision        recall
  flow                    .49 [.21, .79]   .31 [.15, .51]
  difference of means     .46 [.31, .61]   .70 [.53, .86]
  orthogonal map          .45 [.31, .60]   .70 [.52, .86]
  masked LM in context    .32 [.16, .52]   .30 [.14, .48]
  flow without a factor   .75 [.11, .99]   .09 [.02, .29]
  the grown pairs alone   .50 [.27, .72]   .33 [.17, .52]

So a simple rival wins here, with nearly three times the coverage.

The paper's own setting stays as options: --config.fairflow.grow=0
--config.fairflow.head=mlp --config.fairflow.threshold=3
--config.fairflow.factor=-1 --config.fairflow.rho=0.98
--config.fairflow.margin=0 --config.fairflow.leak=0
--config.fairflow.move=mean --config.fairflow.decoder=head
--config.fairflow.candidates=all --config.fairflow.min_along=-1
--config.fairflow.votes=paper --config.train.epochs=5.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='fairflow',
    model='tiny',
    seeds=3,
    planted=c.Planted(rows=12000),
    tokens=c.Tokens(vocab_size=1500, max_length=64),
    pretrain=c.Pretrain(
      length=64, steps=1500, mask=0.15, document='line', whole_word=True
    ),
    fairflow=c.FairFlow(
      layer=-1,
      cap=60,
      seed_cap=1000,
      grow=8,
      head='lda',
      threshold=0.0,
      whiten='white',
      steps=4,
      hidden=64,
      factor=8,
      rho=0.9,
      margin=2.0,
      leak=0.3,
      move='shift',
      decoder='nearest',
      candidates='side',
      min_along=0.4,
    ),
    train=c.Train(
      lr=1e-3,
      batch=64,
      epochs=20,
      eps=1e-6,
      weight_decay=0.01,
      schedule='constant',
      max_grad_norm=0.0,
      patience=0,
    ),
    measures=c.Measures(resamples=2000),
  )
