"""The counterfactuals of a corpus: folders of .txt, .jsonl and .parquet.

  python -m fairjax.main --config=configs/augment_corpus.py \\
      --config.corpus.path=my_corpus --workdir=runs/my_corpus

Results lie in runs/my_corpus/corpus, laid out as the source; after a crash run
the same command. --config.corpus.both=true keeps each row before its twin, and
--config.corpus.backend=tcp://scheduler:8786 runs on a dask cluster.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='augment_corpus',
    method=c.Method(direction='opposite', names=True),
    corpus=c.Corpus(backend='local'),
  )
