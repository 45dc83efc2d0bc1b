"""Bias benchmarks of a model folder, with intervals, tests and noise floors.

  python -m fairjax.main --config=configs/benchmarks.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.benchmarks.names=crows,weat --workdir=runs/benchmarks

DIR holds your copies of the files; names are those of --list. FOLDER may be a
GGUF file of a Llama, or (WEAT, SemBias) a text file of word vectors.
--config.audit.against=FOLDER compares two models item by item, and
--config.benchmarks.mitigations=leace the model with itself after that.

Measured: configs/RESULTS.md, "Benchmarks and mitigations of language models".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks',
    model='bert-base-uncased',
    data=c.Data(name='text'),
    measures=c.Measures(resamples=2000),
  )
