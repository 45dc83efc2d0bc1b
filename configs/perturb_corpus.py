"""A folder of text with one person of each window perturbed.

  python -m fairjax.main --config=configs/perturb_corpus.py \\
      --config.corpus.path=DIR

Replaces each text by its perturbation (--config.corpus.both=true appends it),
by rules or by a trained perturber (--config.perturb.by=model
--config.perturb.model=FOLDER), on this machine or on a dask cluster
(--config.corpus.backend). Prints how many texts had something to perturb, how
many changed, and by which axis.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='perturb_corpus')
