"""One sentence and its counterfactual, with what was changed.

  python -m fairjax.main --config=configs/swap.py \\
      --config.text="Mrs. Lopez gave her brother her book; it is his now."

A few seconds, all of them start-up. Expected:

  Mr. Lopez gave his sister his book; it is hers now.
        0–3     Mrs → Mr
       16–19    her → his
       20–27    brother → sister
       28–31    her → his
       44–47    his → hers

--config.method.direction=neutral (or male, female) for one direction;
--config.method.words=groups.csv for other axes, a group of words a line, where
every alternative is printed; --config.method.names=false leaves names alone,
--config.method.scope=pronouns nouns and titles too; with direction=neutral,
--config.method.reflexive=themself writes one person's themselves.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='swap',
    text='Mrs. Lopez gave her brother her book; it is his now.',
    method=c.Method(direction='opposite', names=True),
  )
