"""A dictionary from she and he, on your own text and with your own masked LM.

  python -m fairjax.main --config=configs/fairflow_gender.py \\
      --config.model=FOLDER --config.corpus.path=FOLDER_OF_TEXT \\
      --config.fairflow.known=PAIRS.csv --workdir=runs/fairflow_gender

dictionary.csv is a word list for --config.method.words; `known` (optional,
female,male a line) marks its pairs. Stages 4 to 6 follow where texts are named:

      --config.data.name=file --config.data.path=BIOS.csv \\
      --config.data.label=profession --config.data.group=gender \\
      --config.repair.detector=ELECTRA --config.repair.filler=BART \\
      --config.rewriters.generator=BART --config.rewriters.fluency=LM \\
      --config.rewriters.gold=GECO

ELECTRA and BART can start from FOLDER: configs/pretrain_electra_mini.py and
configs/pretrain_bart_mini.py with --config.model=FOLDER. The flow has the
paper's settings; --config.fairflow.way=difference writes a rival's dictionary,
--config.fairflow.votes=paper joins pairs as the paper's program does.

Measured: configs/RESULTS.md, "FairFlow".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='fairflow',
    model='bert-base-uncased',
    seeds=1,
    tokens=c.Tokens(max_length=128),
    fairflow=c.FairFlow(
      first='she',
      second='he',
      share=0.1,
      cap=20,
      min_count=8,
      head_lr=1e-3,
      head_epochs=3,
      threshold=2.0,
      word_share=0.3,
      candidates='others',
    ),
    train=c.Train(
      lr=1e-3,
      batch=32,
      epochs=5,
      eps=1e-6,
      weight_decay=0.01,
      schedule='constant',
      max_grad_norm=0.0,
      patience=0,
    ),
  )
