"""A perturber: one person of a text rewritten, learned from parallel text.

  python -m fairjax.main --config=configs/perturber_mini.py \\
      --config.model=FOLDER --config.perturb.data=DIR

DIR holds geco/ and bias_eval/, or (--config.perturb.sources=panda) PANDA.
FOLDER is a BART, BERT or GPT-2; with --config.perturb.learner=tagger any
encoder, GPT-2 or Llama learns who is who, and rules write the forms. The
paper's schedule: configs/perturber_panda.py.

Measured: configs/RESULTS.md, "Perturbation augmentation".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='perturber',
    model='mini',
    seeds=1,
    data=c.Data(name='text'),
    tokens=c.Tokens(vocab_size=8192),
    train=c.Train(
      lr=1e-3,
      batch=32,
      epochs=10,
      warmup=0.1,
      weight_decay=0.01,
      max_grad_norm=0.1,
      evals=1,
      patience=5,
    ),
  )
