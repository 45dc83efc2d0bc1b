"""One sentence and its counterfactual, with what was changed.

  python -m fairjax.main --config=configs/swap.py \\
      --config.text="Mrs. Lopez gave her brother her book; it is his now."

  Mr. Lopez gave his sister his book; it is hers now.

--config.method.direction=neutral (or male, female) for one direction,
--config.method.words=groups.csv for groups of words of your own,
--config.method.names=false leaves names, --config.method.scope=pronouns nouns.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='swap',
    text='Mrs. Lopez gave her brother her book; it is his now.',
    method=c.Method(direction='opposite', names=True),
  )
