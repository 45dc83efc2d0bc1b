"""FairBERTa in mini: two masked LMs alike, one on perturbed text.

  python -m fairjax.main --config=configs/fairberta_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

--config.model=FOLDER goes on from a masked LM. plain/export/seed_0 and
perturbed/export/seed_0 are models for configs/fairtune_sst2.py.

Measured: configs/RESULTS.md, "Perturbation augmentation".
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.recipe = 'fairberta'
  return config
