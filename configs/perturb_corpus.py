"""A folder of text with one person of each window perturbed.

  python -m fairjax.main --config=configs/perturb_corpus.py \\
      --config.corpus.path=DIR

By rules, or a perturber (--config.perturb.by=model
--config.perturb.model=FOLDER); --config.corpus.both=true keeps the text too.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='perturb_corpus')
