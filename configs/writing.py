"""What a language model writes, of whom: texts, scores, gaps with floors.

  fairjax write MODEL CLASSIFIER [PROMPTS]
  python -m fairjax.main --config=configs/writing.py --config.model=MODEL \\
      --config.writing.classifier=CLASSIFIER --workdir=runs/writing

MODEL is a folder or GGUF file of a GPT-2 or Llama, or `module:function`, a list
of prompts to a list of texts (a hosted model: retries, a rate and keeping what
was answered are done here). CLASSIFIER is whatever `fairjax audit` takes; where
its labels do not say which of them is scored, --config.data.positive does.
PROMPTS is a csv or jsonl with the columns prompt and group (and template, by
which rows hang together), a file of BOLD, or RealToxicityPrompts; without it,
templates of --config.writing.axes=gender,religion. A word list is measured
with --config.writing.lexicon. A gate for CI:
--config.audit.fail_if='dp<0.9 or mean_score_gap>0.05'.

Texts are kept as they are written; a killed run goes on where it was.
Measured: configs/RESULTS.md, "What models write".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='writing',
    model='distilgpt2',
    seeds=1,
    generate=c.Generate(temperature=1.0, top_p=0.9, max_new_tokens=20),
    measures=c.Measures(resamples=4000),
  )
