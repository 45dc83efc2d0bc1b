"""Mitigations of a language model's bias: harm against cost, on one page.

  python -m fairjax.main --config=configs/mitigations.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.data.path=TEXTS.csv --config.benchmarks.task=TASK.csv \\
      --workdir=runs/mitigations

The model beside itself after linear erasers (LEACE, INLP, SentenceDebias),
after pretraining that goes on on the texts that speak of men or women (as they
are: the control; with their twins; with more dropout), and under Self-Debias.
Each is measured by all the benchmarks named, by the perplexity of texts that
none was fitted on, and by a linear classifier of TASK (columns text and label)
on frozen vectors. TEXTS has a column text; models are exported to models/.

Of a tiny BERT that was trained on a corpus with a planted association of .5
(configs/benchmarks_planted.py, 2,500 steps), 400 more steps at a rate of 3e-4
for those that train, perplexity of 360 sentences of that corpus:

  after             perplexity  WinoBias log-odds   CrowS  mean |d|  rho
  nothing           1.99        .31 [.17, .43]      100    1.72      .94
  leace             2.09        .19 [-.03, .43]     93     1.28      .91
  inlp              8.30        .21 [.07, .34]      51     1.12      .89
  sentence          2.01        .21 [.18, .23]      99     1.55      .92
  continued         1.99        .38 [.34, .41]      100    1.72      .96
  counterfactual    2.00        .06 [.03, .09]      99     1.72      .94
  cda               2.01        .03 [.02, .04]      100    1.64      .92
  dropout           1.99        .23 [.21, .26]      100    1.72      .94
  self_debias       1.99        .31 [.17, .43]      100    -         .94

Twins take most of the association out of the log-odds and cost nothing; what
asks only which of two is larger (CrowS-Pairs, Winogender's rho) does not see
it. INLP ruins the model. Self-Debias changes nothing here: a model of 300 word
pieces does not read its sentence. One training each.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks',
    model='bert-base-uncased',
    data=c.Data(name='text'),
    pretrain=c.Pretrain(length=64, steps=2000, held_out=0.02),
    train=c.Train(
      lr=5e-5,
      batch=32,
      warmup=0.1,
      weight_decay=0.01,
      evals=1,
      patience=0,
    ),
    measures=c.Measures(resamples=2000),
    benchmarks=c.Benchmarks(
      names=('weat', 'crows', 'winobias', 'winogender'),
      mitigations=(
        *('leace', 'inlp', 'sentence', 'continued', 'counterfactual'),
        *('cda', 'dropout', 'self_debias'),
      ),
    ),
  )
