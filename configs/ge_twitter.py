"""The healthy data diet on the sexism tweets: scores, diet, model, tests.

  python -m fairjax.main --config=configs/ge_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

The paper's choice for BERT: a probe of one epoch scores the tweets by GE; 40 %
of the tweets at random and the twins of the 40 % with the highest GE train the
model (RoBERTa: --config.diet.factual=0.3). Twins that equal their text may be
chosen (`keep_equal`), as in the authors' code, which draws with replacement
(--config.method.replacement=true). At 1e-6 the probe predicts one class, as the
paper's did; --config.scoring.at='epoch 3' scores one that was trained longer.
Other methods: --config.diet.compare=none,cda,cds,blind,balance. On a CPU:
--config.model=path/to/MiniLM --config.train.lr=2e-5 --config.train.epochs=3
--config.seeds=3.

Measured: configs/RESULTS.md, "Healthy data diet".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='diet',
    model='bert-base-cased',
    seeds=5,
    data=c.Data(name='twitter_sexism', on_bad='drop'),
    tokens=c.Tokens(max_length=100),
    train=c.Train(lr=1e-6, batch=64, epochs=15.0, patience=3),
    measures=c.Measures(sets=('test', 'identity')),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=1.0),
    method=c.Method(keep_equal=True),
    diet=c.Diet(
      ranking='healthy_random',
      factual=0.4,
      counterfactual=0.4,
      compare=('none',),
    ),
  )
