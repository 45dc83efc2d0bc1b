"""Which benchmarks see a bias that is known: planted associations 0, .5, .8.

  python -m fairjax.main --config=configs/benchmarks_planted.py \\
      --workdir=runs/benchmarks_planted

Three corpora in which occupations go with gender to a known degree, a tiny
BERT pretrained on each (--config.pretrain.objective=causal: a GPT-2), and the
benchmarks' forms filled with those occupations. Needs no data.

Some fifteen minutes a model on half a core.

Measured: configs/RESULTS.md, "Benchmarks and mitigations of language models".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks_planted',
    model='tiny',
    seeds=1,
    tokens=c.Tokens(vocab_size=300),
    pretrain=c.Pretrain(
      objective='mlm', length=64, steps=2500, document='line', held_out=0.02
    ),
    train=c.Train(
      lr=1e-3,
      batch=32,
      warmup=0.05,
      weight_decay=0.01,
      evals=1,
      patience=0,
    ),
    measures=c.Measures(resamples=2000),
    benchmarks=c.Benchmarks(
      names=(
        *('weat', 'crows', 'stereoset', 'winobias', 'winogender', 'bbq'),
        'sembias',
      )
    ),
  )
