"""Mitigations of a language model's bias: harm against cost, on one page.

  python -m fairjax.main --config=configs/mitigations.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.data.path=TEXTS.csv --config.benchmarks.task=TASK.csv \\
      --workdir=runs/mitigations

The model beside itself after linear erasers (LEACE, INLP, SentenceDebias),
after continued pretraining on the texts that speak of men or women (as they
are: the control; with their twins; with more dropout), and under Self-Debias.
Each is measured by all the benchmarks named, by the perplexity of texts that
none was fitted on, and by a linear classifier of TASK (columns text and label)
on frozen vectors. TEXTS has a column text; models are exported to models/.

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
