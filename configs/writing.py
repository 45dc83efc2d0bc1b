"""What a language model writes, of whom: texts, scores, gaps with floors.

  fairjax write MODEL CLASSIFIER [PROMPTS]

MODEL is a folder or GGUF file of a GPT-2 or Llama, or `module:function` of
prompts to texts; CLASSIFIER whatever `fairjax audit` takes, its class named by
--config.measures.pos_label. PROMPTS is a file with prompt and group (and
template), of BOLD or RealToxicityPrompts; without it, templates of
--config.writing.axes=gender,religion. --config.writing.lexicon measures a word
list. A gate for CI: --config.audit.fail_if='dp<0.9 or mean_score_gap>0.05'.

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
