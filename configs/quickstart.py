"""An unmitigated classifier on the embedded data, and how unfair it is.

  python -m fairjax.main --config=configs/quickstart.py

1 min 49 s on two shared CPU cores, compilation included. Three seeds of a
small encoder read 4,000 made sentences in which women are blamed more often.
Measured on the balanced test split, with 95 % intervals: AUC .901 [.882, .918],
accuracy .789 [.764, .812], demographic parity .752 [.674, .830] (1 is equal).
configs/quickstart_diet.py mends it.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='train',
    model='tiny',
    seeds=3,
    data=c.Data(name='planted'),
    train=c.Train(lr=1e-3, epochs=8, batch=64, patience=0, warmup=0.1),
  )
