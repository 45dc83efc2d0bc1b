"""An audit of a planted classifier, made in seconds: what the page looks like.

python -m fairjax.main --config=configs/quickstart_audit.py
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='audit',
    seeds=1,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=4000, test_rows=2000),
    audit=c.Audit(model='planted'),
  )
