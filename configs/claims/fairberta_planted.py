"""Claims of perturbed pretraining, on associations that are planted.

  python -m fairjax.main --config=configs/claims/fairberta_planted.py

FairBERTa of Qian et al. (EMNLP 2022) as a dose-response: nothing, half and all
of the sentences perturbed, at planted associations of 0, .5 and .8, three
seeds each. Of 700 steps a model learns no association; 1,800 do. Needs no
data.

What its size decides, four times of five: ±.32 and ±.85 of the log-odds for
half (±2.5 and ±1.1 for all), ±.022 to ±.047 of the loss.
"""

from fairjax import config as c

PRIMARY = (  # the paper's own claims; all else is exploratory
  '100 % perturbed against 0 % perturbed: winobias_log_odds on '
  'association 0.5 below 0',
  '100 % perturbed against 0 % perturbed: winobias_log_odds on '
  'association 0.8 below 0',
  '100 % perturbed against 0 % perturbed: loss on association 0 above -0.02',
  '100 % perturbed against 0 % perturbed: loss on association 0.5 above -0.02',
  '100 % perturbed against 0 % perturbed: loss on association 0.8 above -0.02',
)


def get_config() -> c.Config:
  return c.Config(
    recipe='fairberta',
    model='tiny',
    seeds=3,
    tokens=c.Tokens(vocab_size=300),
    pretrain=c.Pretrain(
      objective='mlm',
      length=64,
      steps=1800,
      mask=0.3,
      document='line',
      held_out=0.02,
    ),
    train=c.Train(
      lr=2e-3,
      batch=32,
      warmup=0.05,
      weight_decay=0.01,
      evals=1,
      patience=0,
    ),
    perturb=c.Perturb(axes=('gender',)),
    measures=c.Measures(resamples=2000, primary=PRIMARY),
  )
