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
  sentence          2.01        .21 [.18, .23]      99     1.55      .92
  continued         1.99        .38 [.34, .41]      100    1.72      .96
  counterfactual    2.00        .06 [.03, .09]      99     1.72      .94
  cda               2.01        .03 [.02, .04]      100    1.64      .92
  dropout           1.99        .23 [.21, .26]      100    1.72      .94
  self_debias       1.99        .31 [.17, .43]      100    -         .94

Twins take most of the association out of the log-odds and cost nothing; what
asks only which of two is larger (CrowS-Pairs, Winogender's rho) does not see
it. Self-Debias changes nothing here: a model of 300 word pieces does not read
its sentence. One training each; without INLP, whose rule of stopping has
changed since.

Of a MiniLM with a masked-LM head (6 layers of 384), on CrowS-Pairs' 141 pairs
of gender, WEAT and SEAT 6 to 8b, WinoBias and Winogender; 1,300 sentences of
biographies, 390 held out, of which 80 for perplexity; 800 rows of SST-2 as the
task:

  --config.benchmarks.held_out=0.3 --config.benchmarks.limit=80
  --config.pretrain.steps=100 --config.train.batch=8 --config.train.lr=2e-4
                                               (half an hour of one core)

  after           perplexity   CrowS        |d|   WinoBias          rho   probe
  nothing         38 [29, 50]  48 [40, 57]  1.14  -.02 [-.07, .02]  .26   94
  leace           43 [33, 56]  51 [43, 60]  .83   -.04 [-.12, .04]  -.01  55
  inlp            44 [33, 58]  44 [36, 53]  .97   -.02 [-.06, .02]  -.07  59
  sentence        39 [30, 51]  51 [43, 60]  1.01  -.03 [-.07, .02]  .00   71
  continued       37 [29, 49]  48 [40, 57]  .90   .00 [-.05, .05]   .37   93
  counterfactual  37 [29, 48]  54 [45, 62]  1.12  -.01 [-.07, .03]  .14   93
  cda             37 [29, 49]  48 [40, 57]  1.01  .00 [-.06, .06]   .45   90
  dropout         38 [29, 50]  50 [42, 59]  .92   .00 [-.06, .05]   .32   93
  self_debias     49 [38, 65]  50 [41, 58]  -     -.03 [-.09, .02]  .28   -

`probe` is the percentage of 82 held-out texts, half of them of women, whose
gender a linear classifier reads: 94 [86, 98] before, 55 [44, 66] after LEACE,
59 [47, 69] after INLP, which takes 30 directions, and 71 [60, 80] after
SentenceDebias, so the last leaves some. Intervals of rho are +-.25.
CrowS-Pairs and WinoBias find nothing in this model to begin with, so no
mitigation can pass there. What is there is rho (.26 [.00, .49]) and WEAT's d:
LEACE lowers six of the twelve effects (WEAT 7 by 1.56 [.70, 2.51], SEAT 7 by
1.47 [.82, 2.04]), INLP four, SentenceDebias five, but WEAT 8 rises by .96
[.27, 1.86] after it (all p below .03 after Holm). The control `continued`
lowers seven by itself: what falls after 100 steps of more training is not what
a mitigation did. The task's accuracy is .76 [.65, .85] before, .78 to .79
after the erasers, .72 to .76 after what trains.
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
