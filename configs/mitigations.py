"""Mitigations of a language model's bias: harm against cost, on one page.

  python -m fairjax.main --config=configs/mitigations.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.data.path=TEXTS.csv --config.benchmarks.task=TASK.csv \\
      --workdir=runs/mitigations

Linear erasers (LEACE, INLP, SentenceDebias), continued pretraining (control,
with twins, with dropout) and Self-Debias, each by the benchmarks, by perplexity
of texts that none was fitted on, and by a linear classifier of TASK.

Measured: configs/RESULTS.md, "Benchmarks and mitigations of language models".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks',
    model='bert-base-uncased',
    data=c.Data(name='text'),
    pretrain=c.Pretrain(length=64, steps=2000, held_out=0.02),
    train=c.Train(
      lr=5e-5,
      batch=32,
      warmup=0.1,
      weight_decay=0.01,
      evals=1,
      patience=0,
    ),
    measures=c.Measures(resamples=2000),
    benchmarks=c.Benchmarks(
      names=('weat', 'crows', 'winobias', 'winogender'),
      mitigations=(
        *('leace', 'inlp', 'sentence', 'continued', 'counterfactual'),
        *('cda', 'dropout', 'self_debias'),
      ),
    ),
  )
