"""FairBERTa's pretraining at the paper's size.

  python -m fairjax.main --config=configs/pretrain_fairberta.py \\
      --config.data.path=CORPUS \\
      --config.tokens.tokenizer=FOLDER_OF_A_ROBERTA --config.mesh.fsdp=true

Table 6 of Qian et al. 2022: RoBERTa-base, rows of 512, batches of 8,192,
500,000 steps (100,000 for the 16 GB corpus). RoBERTa's own Adam (Liu et al.
2019): --config.train.beta2=0.98 --config.train.eps=1e-6. The perturbed corpus
is made by configs/perturb_corpus.py.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='pretrain',
    model='roberta-base',
    seeds=1,
    data=c.Data(name='text'),
    tokens=c.Tokens(vocab_size=50265),
    net=c.Net(init='random'),
    pretrain=c.Pretrain(
      objective='mlm',
      length=512,
      mask=0.15,
      steps=500_000,
      held_out=0.001,
    ),
    train=c.Train(
      lr=6e-4,
      batch=8192,
      microbatches=256,
      warmup=24 / 500,
      weight_decay=0.01,
      beta2=0.999,
      eps=1e-8,
      max_grad_norm=0.0,
      evals=1.0,
      patience=0,
      load_best=False,
      save_every=1000,
    ),
  )
