"""Bias benchmarks of a model folder, with intervals, tests and noise floors.

  python -m fairjax.main --config=configs/benchmarks.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.benchmarks.names=crows,weat --workdir=runs/benchmarks

DIR holds your copies of the benchmarks' files (a sentence says where each is
from); names are those of --list. --config.benchmarks.against=FOLDER compares
another model item by item; --config.benchmarks.eraser=leace a version whose
last layer does not know gender, fitted on --config.data.path, whose perplexity
is measured too. The run's folder holds results.json, the page, and every score
in benchmarks/.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks',
    model='bert-base-uncased',
    data=c.Data(name='text'),
    measures=c.Measures(resamples=2000),
  )
