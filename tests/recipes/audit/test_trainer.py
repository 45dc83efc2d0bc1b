"""An audit at each evaluation of transformers' own Trainer."""

import numpy as np
import pandas as pd
import pytest

import fairjax

torch = pytest.importorskip('torch')
pytest.importorskip('accelerate')

WORDS = '[PAD] [UNK] [CLS] [SEP] she he is kind rude'.split()
ROWS = pd.DataFrame(
  [
    (f'{who} is {how}', int(how == 'rude'), who)
    for who in ('she', 'he')
    for how in ('kind', 'rude')
  ]
  * 30,
  columns=['text', 'label', 'who'],
)
FEW = {'n_resamples': 20, 'swaps': ()}


@pytest.fixture(scope='module')
def trainer(tmp_path_factory):
  import tokenizers
  import transformers

  model = tokenizers.models.WordLevel(
    {w: k for k, w in enumerate(WORDS)}, unk_token='[UNK]'
  )
  words = tokenizers.Tokenizer(model)
  words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
  tokenizer = transformers.PreTrainedTokenizerFast(
    tokenizer_object=words, pad_token='[PAD]', model_max_length=8
  )
  transformers.set_seed(0)
  sizes = dict.fromkeys(('hidden_size', 'intermediate_size'), 16)
  net = transformers.BertForSequenceClassification(
    transformers.BertConfig(
      vocab_size=len(WORDS), num_hidden_layers=1, num_attention_heads=2, **sizes
    )
  )
  items = [
    {**tokenizer(text), 'labels': label}
    for text, label in zip(ROWS['text'], ROWS['label'])
  ]
  folder = tmp_path_factory.mktemp('trainer')
  options = transformers.TrainingArguments(
    str(folder), num_train_epochs=2, eval_strategy='epoch', report_to='none',
    save_strategy='epoch', metric_for_best_model='eval_auc', use_cpu=True,
    load_best_model_at_end=True, disable_tqdm=True, learning_rate=1e-2,
  )  # fmt: skip
  made = transformers.Trainer(
    net, options, train_dataset=items, eval_dataset=items,
    processing_class=tokenizer,
  )  # fmt: skip
  made.add_callback(
    fairjax.AuditCallback(
      made, ROWS, groups='who', folder=folder / 'a', options=FEW
    )
  )
  made.train()
  return made


def test_each_evaluation_is_audited_logged_and_may_choose_the_best(trainer):
  logs = [one for one in trainer.state.log_history if 'eval_dp' in one]
  assert [one['epoch'] for one in logs] == [1.0, 2.0]
  assert logs[-1]['eval_auc'] > 0.9
  best = max(one['eval_auc'] for one in logs)
  assert trainer.state.best_metric == best


def test_it_audits_what_the_model_says(trainer):
  (audit,) = (
    one
    for one in trainer.callback_handler.callbacks
    if isinstance(one, fairjax.AuditCallback)
  )
  said = trainer.predict(trainer.eval_dataset).predictions
  wanted = torch.tensor(said).softmax(-1).numpy()
  found = audit.probabilities(list(ROWS['text']))
  np.testing.assert_allclose(found, wanted, atol=1e-5)
  trainer.evaluate()
  alone = fairjax.assess(ROWS['label'], found[:, 1], ROWS['who'], n_resamples=0)
  assert audit.result['eqodd']['value'] == alone['eqodd']['value']
  pages = sorted(audit.folder.glob('step_*/report.html'))
  assert len(pages) == 2


def test_a_trainer_without_a_tokenizer_is_told():
  with pytest.raises(fairjax.UserError, match='processing_class is needed'):
    fairjax.AuditCallback(object(), ROWS)
