"""Claims of MBCDA on biographies, with a BART and an ELECTRA of our own.

  launch/claims_gpu.sh TABLES MODEL WORK bart electra
  python -m fairjax.main --config=configs/claims/mbcda_bios.py \\
      --config.data.path=wiki_bios.csv --config.rewriters.gold=FOLDER_OF_GECO \\
      --config.rewriters.generator=WORK/bart/export/seed_0 \\
      --config.repair.filler=WORK/bart/export/seed_0 \\
      --config.repair.detector=WORK/electra/export/seed_0

The protocol of Tokpo and Calders (2023) on biographies of Wikipedia, as
imbalanced as FairFlow's Table 1: half of the word pairs are withheld from the
targets, three generators with and without their discriminator. BART and ELECTRA
are of 8 layers of 512, from 34 MB of text, where the paper has BART-large and
ELECTRA-large. The discriminator's settings are its paper's (configs/
mbcda_bios.py), written down before any run.
"""

from fairjax import config as c

WITH = 'BART on repaired, filtered + discriminator'
WITHOUT = 'BART on repaired, filtered'
PRIMARY = (  # named before the run; all else is exploratory
  f'{WITH} against dictionary: unlisted_recall on GECO to female',
  f'{WITH} against dictionary: unlisted_recall on GECO to male',
  f'{WITH} against {WITHOUT}: transfer_accuracy on texts',
  f'{WITH} against {WITHOUT}: group_tprd_size on classifier',
  f'{WITH} against original: group_tprd_size on classifier',
  f'{WITH} against original: group_fprd_size on classifier',
)


def get_config() -> c.Config:
  config = c.shipped('mbcda_bios')
  data = config.data
  data.label, data.split = 'profession', 'split'
  data.sources = c.shipped('claims/fairflow').data.sources
  config.rewriters.imbalance = 0.12
  config.adversary.labels = ('filtered',)
  config.adversary.withheld = 0.5
  config.measures.primary = PRIMARY
  return config
