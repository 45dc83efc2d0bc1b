"""Texts rewritten, continued or filled by a model, folders of any size.

  python -m fairjax.main --config=configs/generate.py \\
      --config.corpus.path=my_corpus --config.model=FOLDER \\
      --workdir=runs/my_generation

A BART rewrites each text, a GPT-2 continues it. Shards are .txt (a text a
line), .jsonl and .parquet files; runs/my_generation/corpus/text holds what was
written, laid out as the source, and corpus/pairs a table for each shard: id,
source, generated, tokens, steps and tokens_per_step (above 1 where drafts
copied from the source were right). Decoding is as the folder's
generation_config.json says, unless --config.generate.num_beams and its
neighbours say otherwise. After a crash run the same command: whole shards are
kept, and of one that is not whole every chunk of --config.generate.chunk texts.

  --config.generate.task=fill       write only in place of <mask> or [MASK]
  --config.data.on_bad=drop         empty and too long lines stay as they are
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='generate',
    model='facebook/bart-base',
    corpus=c.Corpus(backend='local', workers=1),
  )
