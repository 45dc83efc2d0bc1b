"""The healthy data diet on Wikipedia talk pages: batches of 32.

  python -m fairjax.main --config=configs/ge_wikipedia.py \\
      --config.data.path=FOLDER

(a, b) is the paper's for BERT, 30 % and 10 %; for --config.model=roberta-base
--config.diet.counterfactual=0.3. Else as configs/ge_twitter.py. To see it run:
--config.data.limit=5000 --config.model=mini --config.train.lr=1e-3.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='diet',
    model='bert-base-cased',
    seeds=5,
    data=c.Data(name='wiki_toxicity', on_bad='drop'),
    tokens=c.Tokens(max_length=100),
    train=c.Train(lr=1e-6, batch=32, epochs=15.0, patience=3),
    measures=c.Measures(sets=('test', 'identity')),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=1.0),
    diet=c.Diet(factual=0.3, counterfactual=0.1, compare=('none',)),
  )
