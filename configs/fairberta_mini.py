"""FairBERTa in mini: two masked LMs alike, one on perturbed text.

  python -m fairjax.main --config=configs/fairberta_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

--config.model=FOLDER goes on from any masked LM (MiniLM, RoBERTa). What comes
out, plain/export/seed_0 and perturbed/export/seed_0, is what
configs/fairtune_sst2.py and configs/benchmarks.py (--config.benchmarks.against)
take.

A small run from the MiniLM masked LM (6 layers of 384): 300 steps of 16 rows of
64 on 11 MB of Wikipedia biographies (--config.pretrain.length=64
--config.pretrain.steps=300 --config.train.batch=16 --config.train.lr=2e-4
--config.pretrain.held_out=0.01; 8 minutes of half a core each). Rules offer a
rewrite of 32,277 of 43,356 lines and change 28,777: 28,612 in gender, 143 in
age, 22 in race (the authors' perturber reaches more of both: Table 8).

  held-out perplexity   plain text          perturbed text
  on plain text         47.3 [40.8, 55.1]   51.5 [44.2, 60.7]
  on perturbed text     47.3 [40.9, 54.7]   49.1 [42.0, 58.1]

The model on perturbed text is as good on plain text, by -.00 [-.03, .02] nats,
and better on perturbed text, by .05 [.03, .07] (p .0002), which holds the
paper's claim that perturbing costs nothing at this size. Both started from the
same MiniLM, which 300 steps move little.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.recipe = 'fairberta'
  return config
