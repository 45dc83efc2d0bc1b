"""MBCDA on biographies: gender × occupations that men or women dominate.

  python -m fairjax.main --config=configs/mbcda_bios.py \\
      --config.data.path=BIOS.csv --config.data.text=text \\
      --config.data.label=dominated_by_women --config.data.group=gender \\
      --config.rewriters.generator=BART --config.repair.detector=ELECTRA \\
      --config.repair.filler=BART --config.rewriters.fluency=LANGUAGE_MODEL

The six ablations of the paper: with and without discriminator × targets that
are repaired and filtered, repaired, or plain swaps. Its code trains 4 epochs,
its text says 2 (--config.rewriters.epochs); batches of 48, 2e-5.

At full size, counted and not run
(--config.rewriters.generator=facebook/bart-large
--config.adversary.dry_run=21499; 48 pairs of 200 tokens a step): 406 M
parameters and 171 M of the discriminator; 38.0 GB of gradients and activations
folded and in chunks, 43.5 GB with the logits made; 26.3 and 35.1 TFLOP a step;
1,792 steps, .12 hours at 275 TFLOP/s and 40 %.

A small run (1,000 biographies of 29 words, a BART of MiniLM's size, 124 steps
of 16) was begun: after 124 steps at 1e-4, or 43 at 1e-3, the discriminator was
still at chance (loss .69), so a few thousand steps are needed before the
ablations can differ; the filter's classifier is right on .997 of the sources
and drops 22 of 1,339 pairs.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='mbcda',
    model='mini',
    seeds=1,
    data=c.Data(name='file', label='label', group='gender'),
    tokens=c.Tokens(max_length=200),
    rewriters=c.Rewriters(
      contenders=('dictionary',), lr=2e-5, batch=48, epochs=4.0, patience=0
    ),
    train=c.Train(batch=48),
  )
