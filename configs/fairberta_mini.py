"""FairBERTa in mini: two masked LMs alike, one on perturbed text.

  python -m fairjax.main --config=configs/fairberta_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

--config.model=FOLDER goes on from any masked LM (MiniLM, RoBERTa). What comes
out, plain/export/seed_0 and perturbed/export/seed_0, is what
configs/fairtune_sst2.py and configs/benchmarks.py (--config.benchmarks.against)
take.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='fairberta',
    model='mini',
    seeds=1,
    data=c.Data(name='text'),
    tokens=c.Tokens(vocab_size=8192),
    pretrain=c.Pretrain(objective='mlm'),
    train=c.Train(
      lr=1e-3,
      batch=64,
      epochs=4,
      warmup=0.05,
      weight_decay=0.01,
      beta2=0.98,
      eps=1e-6,
      evals=5,
      patience=0,
    ),
  )
