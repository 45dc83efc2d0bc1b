"""An audit: any classifier, or only its predictions, into one page.

  fairjax audit MODEL_OR_PREDICTIONS DATA --config.audit.groups=gender,age
  python -m fairjax.main --config=configs/audit.py \\
      --config.audit.model=FOLDER --config.data.path=my.csv

MODEL_OR_PREDICTIONS is a Hugging Face classifier's folder, a run of ours, a csv
or parquet of scores or labels (a column a model), or `module:function`, which
takes texts and returns probabilities. Where several labels may hold at once
(kinds of toxicity) --config.audit.classes names those to audit; without it all
stand side by side. Of data without labels, what needs none is measured. Rows of
equal text count as one cluster, or those of one value of a column,
--config.audit.cluster=thread. Nothing is trained. A million predictions of 50
groups take 10 to 22 CPU seconds and 1.1 GB; a model's own time comes on top,
once: its scores are kept in the run's folder. In CI:
--config.audit.fail_if='eqodd<0.8 or excess_flips>0.02' ends with 1 where it
fails, 3 where it could not be measured.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='audit', seeds=1, data=c.Data(name='file'))
