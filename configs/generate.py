"""Texts rewritten, continued or filled by a model, folders of any size.

  python -m fairjax.main --config=configs/generate.py \\
      --config.corpus.path=my_corpus --config.model=FOLDER \\
      --workdir=runs/my_generation

A BART rewrites each text, a GPT-2 continues it; with
--config.generate.task=fill only <mask> or [MASK] is written. corpus/text is
laid out as the source, corpus/pairs has a table a shard. Decoding is as the
folder's generation_config.json says. After a crash run the same command.
--config.data.on_bad=drop leaves empty and too long lines as they are.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='generate',
    model='facebook/bart-base',
    corpus=c.Corpus(backend='local'),
  )
