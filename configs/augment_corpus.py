"""The counterfactuals of a corpus: folders of .txt, .jsonl and .parquet.

  python -m fairjax.main --config=configs/augment_corpus.py \\
      --config.corpus.path=my_corpus --workdir=runs/my_corpus

About 20 MB a second and core without names. Results lie in
runs/my_corpus/corpus, laid out as the source; the table at the end counts rows,
changed rows and words of every shard. A shard that is done is not done again:
after a crash, run the same command. --config.corpus.both=true writes each row
and then its twin, for pretraining on both.

  --config.corpus.backend=tcp://scheduler:8786
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='augment_corpus',
    method=c.Method(direction='opposite', names=True),
    corpus=c.Corpus(backend='local'),
  )
