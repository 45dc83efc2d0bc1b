"""Perplexity of texts, with intervals, under the model of a folder.

  python -m fairjax.main --config=configs/likelihood.py \\
      --config.data.path=texts.csv --config.data.text=sentence \\
      --config.model=FOLDER --workdir=runs/likelihood

Of a GPT-2, or pseudo-likelihoods of a BERT or RoBERTa (each token masked
alone); per_text counts texts alike, token_weighted tokens. Rows that are empty:
--config.data.on_bad=drop. The papers' cut: --config.tokens.max_length=200.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='likelihood',
    model='distilgpt2',
    data=c.Data(name='file'),
    measures=c.Measures(resamples=2000),
  )
