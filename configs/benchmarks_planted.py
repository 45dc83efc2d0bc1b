"""Which benchmarks see a bias that is known: planted associations 0, .5, .8.

  python -m fairjax.main --config=configs/benchmarks_planted.py \\
      --workdir=runs/benchmarks_planted

Three corpora in which occupations go with gender to a known degree, a tiny
BERT pretrained on each (--config.pretrain.objective=causal: a GPT-2), and the
benchmarks' forms filled with those occupations. Needs no data.

Three minutes a model on 2 shared cores. Association 0 and .8 after 1,200 steps,
.5 after 2,500 (after 1,200 that model had learned little of it); one training
each:

  association               0       .5      .8
  WinoBias log-odds         .00     .31     1.43    (in the corpus 0, .74, 1.33)
  WinoBias pro wins, %      50      50      100
  Winogender rho            .02     .94     .96
  CrowS-Pairs original      43      100     100
  CrowS-Pairs bias-bench    50      99      100
  StereoSet SS              50      50      100
  WEAT mean |d|             .32     1.72    1.86
  SemBias stereotype, %     20      70      77
  BBQ bias                  0       0       0

Shares of wins (WinoBias, StereoSet) do not see .5, since the model likes one
pronoun everywhere; CrowS-Pairs is at its end already; BBQ sees nothing.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks_planted',
    model='tiny',
    seeds=1,
    tokens=c.Tokens(vocab_size=300),
    pretrain=c.Pretrain(
      objective='mlm', length=64, steps=2500, document='line', held_out=0.02
    ),
    train=c.Train(
      lr=1e-3,
      batch=32,
      warmup=0.05,
      weight_decay=0.01,
      evals=1,
      patience=0,
    ),
    measures=c.Measures(resamples=2000),
    benchmarks=c.Benchmarks(
      names=(
        *('weat', 'crows', 'stereoset', 'winobias', 'winogender', 'bbq'),
        'sembias',
      )
    ),
  )
