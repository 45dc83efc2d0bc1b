"""Perplexity of texts, with intervals, under the model of a folder.

  python -m fairjax.main --config=configs/likelihood.py \\
      --config.data.path=texts.csv --config.data.text=sentence \\
      --config.model=FOLDER --workdir=runs/likelihood

A GPT-2 reads from left to right; a BERT or RoBERTa gives pseudo-likelihoods,
each token masked alone (as many copies of a text as it has tokens). Two
perplexities, by name: per_text counts each text alike, as papers do,
token_weighted each token. The run's folder holds likelihood.parquet, keyed by
id, and results.json. A .txt file is a text a line.

--config.tokens.max_length=200 cuts texts as the papers' scripts do;
--config.data.on_bad=drop leaves empty rows out.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='likelihood',
    model='distilgpt2',
    data=c.Data(name='file'),
    measures=c.Measures(resamples=2000),
  )
