"""A small ELECTRA from your own text: replaced tokens, 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_electra_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

The generator is a quarter as wide and shares the embeddings; the
discriminator's loss counts 50 times (Clark et al. 2020). The perplexity is the
generator's; `found` is the share of replaced tokens that the discriminator
flags, `false_alarms` that of original ones. export/seed_0 is the
discriminator, export/seed_0/generator the generator; training continues from
both with --config.model=FOLDER. The text is read as in
configs/pretrain_mlm_mini.py.

At smoke size (120 steps, as configs/RESULTS.md has for pretrain_mlm_mini.py; 2
min of CPU) the generator's last evaluation had loss 7.38 (chance is 9.01),
perplexity 1,598; the discriminator flagged nothing yet. That run, unlike this
config, kept the best weights by the total loss (step 72, perplexity 1,877
[1,738, 2,023]).
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.pretrain.objective = 'electra'
  config.train.lr = 5e-4
  config.train.load_best = False  # a better generator is harder to detect
  return config
