"""Which benchmarks see a bias that is known: planted associations 0, .5, .8.

  python -m fairjax.main --config=configs/benchmarks_planted.py \\
      --workdir=runs/benchmarks_planted

Three corpora in which occupations go with gender to a known degree, a tiny
BERT pretrained on each (--config.pretrain.objective=causal: a GPT-2), and the
benchmarks' forms filled with those occupations. Needs no data.

Some fifteen minutes a model on half a core. One run of the command, 2,500 steps
and one training each (in the corpus the log-odds are 0, .74 and 1.33):

  association          0                 .5                .8
  WinoBias log-odds    .00 [-.10, .09]   .31 [.17, .43]    1.19 [1.04, 1.32]
  WinoBias wins, %     50 [37, 63]       50 [37, 63]       98 [96, 100]
  Winogender rho       -.10 [-.52, .36]  .94 [.81, .98]    .97 [.91, .99]
  CrowS original       50 [41, 59]       100 [97, 100]     100 [97, 100]
  CrowS bias-bench     50 [41, 59]       99 [95, 100]      100 [97, 100]
  StereoSet SS         50 [29, 71]       50 [29, 71]       98 [94, 100]
  WEAT mean |d|        .16               1.72              1.83
  SemBias stereotype   17 [2, 43]        70 [38, 93]       73 [45, 94]
  BBQ, disambiguated   .00 [-.42, .42]   .10 [.01, .26]    .50 [.29, .71]
  BBQ, ambiguous       .00 [-.42, .42]   .00 [-.42, .42]   .10 [-.33, .51]

Shares of wins (WinoBias, StereoSet) do not see .5, since the model likes one
pronoun everywhere; CrowS-Pairs and WEAT are near their end already; the
log-odds and BBQ's disambiguated contexts follow the association.
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
