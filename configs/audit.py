"""An audit: any classifier, or only its predictions, into one page.

  fairjax audit MODEL_OR_PREDICTIONS DATA --config.audit.groups=gender,age

MODEL_OR_PREDICTIONS is a classifier's or a run's folder, a file of scores or
labels (a column a model), or `module:function` of texts to probabilities. Of
labels that may hold together --config.audit.classes names some; data without
labels get what needs none. Equal texts are one cluster, or the rows of a value
of --config.data.cluster=thread. A gate for CI, exit code 1 or 3 (undecided):
--config.audit.fail_if='eqodd<0.8 or excess_flips>0.02'.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='audit', seeds=1, data=c.Data(name='file'))
