"""A perturber: one person of a text rewritten, learned from parallel text.

  python -m fairjax.main --config=configs/perturber_mini.py \\
      --config.model=FOLDER --config.perturb.data=DIR

DIR holds geco/ and bias_eval/ (persons/parallel.py); with
--config.perturb.sources=panda it is your copy of PANDA. FOLDER is a BART, a
BERT that becomes both sides of one, or a GPT-2, which reads both texts; with
--config.perturb.learner=tagger it is any encoder, or a GPT-2 or Llama, which
reads each text twice: it learns who is who and leaves the forms to rules. The
paper's schedule is --config.train.lr=1e-5 --config.train.batch=64
--config.train.patience=10, the step with the least validation loss kept; its
file keeps the best BLEU-4 (--config.train.metric_for_best=bleu).

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
