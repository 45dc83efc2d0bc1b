"""Scores of tiny models against transformers, one text and mask at a time."""

import shutil

import numpy as np
import pytest
from judge_texts import TEXTS
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from fairjax.benchmarks import crows, lpbs, stereoset
from fairjax.benchmarks.shared import contrast
from fairjax.config import Config, validate
from fairjax.core.errors import UserError
from fairjax.metrics.texts import text_likelihood
from fairjax.models.folders import folder as folders
from fairjax.models.reading import eraser_head, self_debias, shared_prefix
from fairjax.models.reading import judge as judges

MASKED, CAUSAL = ('bert', 'roberta'), ('gpt2', 'llama')
SENTENCES = [s.strip() + '.' for text in TEXTS for s in text.split('.')[:-1]]


def logits(net, ids):
  import torch

  with torch.no_grad():
    out = net(input_ids=torch.tensor(np.array(ids)[None].astype(int)))
  return out.logits[0].log_softmax(-1).numpy()


def slow_masked(net, ids, places, mask):
  out = []
  for place in places:
    shown = np.array(ids)
    shown[place] = mask
    out.append(logits(net, shown)[place, ids[place]])
  return out


def slow_causal(net, ids, bos=0):
  scores = logits(net, [bos, *ids])
  return [scores[k, token] for k, token in enumerate(ids)]


@pytest.mark.parametrize('family', MASKED)
def test_crows_pairs_by_both_metrics(nets, family):
  net, judge, _ = nets[family]
  pairs = [(SENTENCES[0], SENTENCES[1]), (SENTENCES[2], SENTENCES[3])]
  texts = judge.encode([t for pair in pairs for t in pair])
  ids = [list(i) for i in np.split(texts.flat, texts.offsets[1:-1])]
  for metric in crows.METRICS['mask']:
    logs = judge.log_p(texts, crows.places(texts, metric))
    more, less = crows.pair_scores(logs, texts, metric == 'bias_bench')
    for k in range(2):
      one, other = ids[2 * k : 2 * k + 2]
      spans = crows.spans(one, other)
      both = spans.same if metric == 'original' else spans.differ
      if metric == 'original':
        both = [side[1:-1] for side in both]
      slow = [
        slow_masked(net, text, side, judge.mask_id)
        for text, side in zip((one, other), both)
      ]
      if metric == 'bias_bench' and not (both[0] and both[1]):
        assert np.isnan(more[k] - less[k])
        continue
      total = np.sum if metric == 'original' else np.mean
      assert more[k] == pytest.approx(total(slow[0]), abs=6e-4)
      assert less[k] == pytest.approx(total(slow[1]), abs=6e-4)


@pytest.mark.parametrize('family', [*MASKED, 'modernbert'])
def test_unmasked_likelihood_is_the_authors_by_transformers(nets, family):
  """AUL and AULA (Kaneko and Bollegala 2022) of one text at a time by torch."""
  import torch

  net, judge, _ = nets[family]
  net.set_attn_implementation('eager')  # which has attentions to give
  texts = judge.encode(SENTENCES)
  aul, aula = judge.unmasked(texts)
  for k, ids in enumerate(np.split(texts.flat, texts.offsets[1:-1])):
    with torch.no_grad():
      out = net(torch.tensor(ids[None].astype(int)), output_attentions=True)
    logs = out.logits[0].log_softmax(-1).numpy()
    alpha = torch.cat(out.attentions, 0).numpy().mean((0, 1, 2))
    own = [logs[i, token] for i, token in enumerate(ids)][1:-1]
    assert aul[k] == pytest.approx(np.mean(own), abs=2e-4)
    weighed = np.multiply(own, alpha[1:-1])
    assert aula[k] == pytest.approx(np.mean(weighed), rel=2e-4, abs=1e-6)
  # Neither batches nor the texts beside it change a text's score.
  alone = judge.unmasked(judge.encode(SENTENCES[2:3]))
  np.testing.assert_allclose(alone, [aul[2:3], aula[2:3]], rtol=2e-5)
  # A mitigation that reads twice has no such likelihood.
  assert judge._replace(contrast=('gender',)).unmasked(texts) is None


@pytest.mark.parametrize('family', MASKED)
def test_words_at_a_blank_piece_by_piece(nets, family):
  net, judge, _ = nets[family]
  contexts = ['The BLANK man slept.', 'BLANK is a nurse.', 'He is BLANK!']
  words = ['unathletic', 'Ethiopia', 'rich']
  found = stereoset.cloze(judge, contexts, words)
  tokenizer = judge.tokenizer
  for i, (context, word) in enumerate(zip(contexts, words)):
    space = '' if context.startswith('BLANK') else ' '
    pieces = tokenizer.encode(space + word, add_special_tokens=False).ids
    shown = tokenizer.encode(context.replace('BLANK', judge.mask)).ids
    at = shown.index(judge.mask_id)
    slow = []
    for k, piece in enumerate(pieces):
      row = shown[:at] + pieces[:k] + shown[at:]
      slow.append(logits(net, row)[at + k, piece])
    np.testing.assert_allclose(found[i, : len(slow)], slow, atol=1e-4)
    assert np.isnan(found[i, len(slow) :]).all()
  assert (~np.isnan(found)).sum() > 4  # some words are in pieces


@pytest.mark.parametrize('family', MASKED + CAUSAL)
def test_pronouns_are_contrasted_at_one_mask_or_in_whole_texts(nets, family):
  net, judge, _ = nets[family]
  pairs = [
    ('He is a doctor.', 'She is a doctor.'),
    (
      'The man said he and his dad slept.',
      'The man said she and her dad slept.',
    ),
    ('I love being old.', 'I love being old.'),
  ]
  gap, excluded = contrast.contrast(judge, *zip(*pairs))
  for value, (one, other) in zip(gap, pairs):
    ids = [judge.tokenizer.encode(text).ids for text in (one, other)]
    if family in CAUSAL:
      slow = sum(slow_causal(net, ids[0])) - sum(slow_causal(net, ids[1]))
      assert value == pytest.approx(slow, abs=2e-4)
      continue
    at = [k for k, (a, b) in enumerate(zip(*ids)) if a != b]
    differ = sum(a != b for a, b in zip(one.split(), other.split()))
    if not at or len(ids[0]) != len(ids[1]) or len(at) != differ:
      assert np.isnan(value) and excluded  # equal texts, words in pieces
      continue
    shown = [judge.mask_id if k in at else i for k, i in enumerate(ids[0])]
    logs = logits(net, shown)
    slow = sum(logs[k, ids[0][k]] - logs[k, ids[1][k]] for k in at)
    assert value == pytest.approx(slow, abs=1e-4)
  assert np.isfinite(gap).sum() >= 1


@pytest.mark.parametrize('family', CAUSAL)
def test_left_to_right_with_its_start_token(nets, family):
  net, judge, _ = nets[family]
  texts = judge.encode(SENTENCES)
  found = np.split(judge.log_p(texts), texts.offsets[1:-1])
  for ids, logs in zip(np.split(texts.flat, texts.offsets[1:-1]), found):
    np.testing.assert_allclose(logs, slow_causal(net, ids), atol=1e-4)


@pytest.mark.parametrize('family', CAUSAL)
def test_a_shared_context_is_read_once_and_changes_nothing(
  nets, monkeypatch, family
):
  net, judge, _ = nets[family]
  contexts = [c for c in SENTENCES[:5] for _ in range(3)]
  answers = ['The man.', 'The woman.', 'Not enough information.'] * 5
  reads = []
  original = shared_prefix.read_prefix
  monkeypatch.setattr(
    shared_prefix,
    'read_prefix',
    lambda m, p, ids, w: reads.append(len(ids)) or original(m, p, ids, w),
  )
  found = judge.continuations(contexts, answers)
  assert sum(reads) == 8  # five contexts in eight rows, not fifteen
  for context, answer, (total, count) in zip(contexts, answers, found):
    before = judge.tokenizer.encode(context).ids
    after = judge.tokenizer.encode(f' {answer}').ids
    slow = slow_causal(net, before + after)[len(before) :]
    assert total == pytest.approx(sum(slow), abs=1e-4)
    assert count == len(after)


@pytest.mark.parametrize('family', MASKED)
def test_a_continuation_of_a_masked_model(nets, family):
  net, judge, _ = nets[family]
  found = judge.continuations(SENTENCES[:2], ['The man.', 'A woman.'])
  for context, text, (total, count) in zip(
    SENTENCES[:2], ['The man.', 'A woman.'], found
  ):
    ids = judge.tokenizer.encode(f'{context} {text}').ids
    n = len(judge.tokenizer.encode(context).ids) - 1
    places = range(n, len(ids) - 1)
    slow = slow_masked(net, ids, places, judge.mask_id)
    assert total == pytest.approx(sum(slow), abs=1e-4)
    assert count == len(slow)


@pytest.mark.parametrize('family', MASKED + CAUSAL)
def test_vectors_by_every_name(nets, family):
  import torch

  net, judge, _ = nets[family]
  inner = {'gpt2': 'transformer', 'llama': 'model'}
  body = getattr(net, inner.get(family, family))
  for how in ('mean', 'first') + (('cls',) if family in MASKED else ()):
    found = judge.vectors(SENTENCES[:4], how)
    for text, vector in zip(SENTENCES, found):
      ids = judge.tokenizer.encode(text, add_special_tokens=how != 'first').ids
      with torch.no_grad():
        states = body(input_ids=torch.tensor([ids])).last_hidden_state[0]
      slow = states.mean(0) if how == 'mean' else states[0]
      np.testing.assert_allclose(vector, slow.numpy(), atol=1e-4)


@pytest.mark.parametrize('family', ['bert', 'modernbert', 'gpt2', 'llama'])
def test_an_eraser_stands_before_the_head(nets, family, tmp_path):
  net, judge, _ = nets[family]
  rng = np.random.default_rng(0)
  d = judge.module.shape.width
  matrix = np.eye(d) + 0.3 * rng.normal(size=(d, d))
  shift = 0.2 * rng.normal(size=d)
  erased = judge._replace(eraser=(matrix, shift))
  texts = judge.encode(SENTENCES[:3])
  found = erased.log_p(texts)
  masked = family in ('bert', 'modernbert')
  if family == 'bert':
    target = net.cls.predictions.transform
  else:
    target = net.head if masked else net.lm_head
  hook = target.register_forward_pre_hook(
    lambda _, args: ((args[0].double() @ matrix_t + shift_t).float(),)
  )
  import torch

  matrix_t, shift_t = torch.tensor(matrix), torch.tensor(shift)
  try:
    for i, ids in enumerate(np.split(texts.flat, texts.offsets[1:-1])):
      logs = found[texts.offsets[i] : texts.offsets[i + 1]]
      if masked:
        slow = slow_masked(net, ids, range(1, len(ids) - 1), judge.mask_id)
        logs = logs[1:-1]
      else:
        slow = slow_causal(net, ids)
      np.testing.assert_allclose(logs, slow, atol=2e-4)
  finally:
    hook.remove()
  assert np.nanmax(np.abs(found - judge.log_p(texts))) > 0.01
  if masked:  # the head has taken it up, and that of a ModernBERT has a bias
    eraser_head.export(erased, judge.name, tmp_path / 'erased')
    again = judges.from_bundle(
      folders.load(tmp_path / 'erased', 'mask'), judge.name
    )
    np.testing.assert_allclose(again.log_p(texts), found, atol=1e-4)
    import transformers

    net = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / 'erased')
    slow = slow_masked(net, ids, range(1, len(ids) - 1), judge.mask_id)
    np.testing.assert_allclose(logs, slow, atol=2e-4)


def test_a_classifier_is_asked_for_the_positive_label(nets, tmp_path):
  """Named, it was not looked up: the score was that of label 1."""
  import transformers

  shape = transformers.AutoConfig.from_pretrained(nets['bert'].folder)
  shape.id2label = {0: 'toxic', 1: 'fine'}
  net = transformers.BertForSequenceClassification(shape)
  shutil.copytree(nets['bert'].folder, tmp_path / 'net')
  net.save_pretrained(tmp_path / 'net')

  def score(label=1):
    config = Config(recipe='benchmarks', model=str(tmp_path / 'net'))
    config.measures.pos_label = label
    validate(config)  # the recipe's door lets the name through
    return judges.load(config.model, config).score(SENTENCES[:2])

  np.testing.assert_allclose(score('Toxic') + score(), 1, atol=1e-6)
  assert (score('toxic') == score(0)).all() and (score('0') == score(0)).all()
  for wrong in ('rude', 2, '2'):
    with pytest.raises(UserError, match="are 'toxic', 'fine'; name one"):
      score(wrong)


def test_an_export_has_the_files_of_every_tokenizer(nets, tmp_path):
  """XLM-RoBERTas come with a sentencepiece alone, and no tokenizer was left."""
  judge, folder = nets['bert'].judge, tmp_path / 'in'
  shutil.copytree(nets['bert'].folder, folder)
  names = ['sentencepiece.bpe.model', 'spm.model', 'added_tokens.json']
  for name in names:
    (folder / name).write_text(name)
  eraser_head.export(judge._replace(name=str(folder)), folder, tmp_path / 'out')
  assert all((tmp_path / 'out' / name).read_text() == name for name in names)


def test_bad_input_is_one_sentence(nets):
  with pytest.raises(UserError, match='has positions for'):
    nets['bert'].judge.encode(['a ' * 200])
  with pytest.raises(UserError, match=r'no \[CLS\]'):
    nets['gpt2'].judge.vectors(['a'], 'cls')


def contrasted(net, plain, prefixed, at, shift):
  """log p' over the vocabulary at a place, by the paper's formula."""
  p, after = (np.exp(logits(net, ids)) for ids in (plain, prefixed))
  rise = np.maximum(after[at + shift] - p[at], 0)
  scores = p[at] * np.maximum(np.exp(-50 * rise), 0.01)
  return np.log(scores / scores.sum())


@pytest.mark.parametrize('family', ['bert', 'gpt2', 'llama'])
def test_self_debias_against_its_formula(nets, family):
  net, plain, _ = nets[family]
  judge = plain._replace(contrast=('gender',))
  assert (
    'embed' not in judge.able and judge.fingerprint() != plain.fingerprint()
  )
  (more,) = self_debias.prefixes(judge.tokenizer, judge.contrast)
  texts = judge.encode(SENTENCES[:3])
  values = np.split(judge.log_p(texts), texts.offsets[1:-1])
  changed = 0
  for k, (ids, logs) in enumerate(
    zip(np.split(texts.flat, texts.offsets[1:-1]), values)
  ):
    ids = list(map(int, ids))
    for at in range(len(ids)):
      if family in CAUSAL:
        scores = contrasted(net, [0, *ids], [0, *more, *ids], at, len(more))
      elif at in (0, len(ids) - 1):
        assert np.isnan(logs[at])
        continue
      else:
        shown = [*ids[:at], judge.mask_id, *ids[at + 1 :]]
        longer = [shown[0], *more, *shown[1:]]
        scores = contrasted(net, shown, longer, at, len(more))
      assert logs[at] == pytest.approx(scores[ids[at]], abs=1e-4)
    changed += np.nansum(
      np.abs(logs - plain.log_p(judge.encode([SENTENCES[k]])))
    )
  assert changed > 1e-3
  if family in CAUSAL:
    found = judge.continuations(SENTENCES[:1], ['The man.'])
    assert found[0, 1] == len(judge.encode([' The man.']).flat)
  else:
    masked = judge.encode([f'He is {judge.mask}.'])
    at = int(np.flatnonzero(masked.flat == judge.mask_id)[0])
    token = np.array([[7, 9]])
    found = judge.log_p_at(masked, np.array([at]), token)
    ids = list(map(int, masked.flat))
    scores = contrasted(net, ids, [ids[0], *more, *ids[1:]], at, len(more))
    np.testing.assert_allclose(found[0], scores[token[0]], atol=1e-4)


def test_a_start_token_of_the_tokenizer_s_is_not_put_there_twice(nets):
  """Llama's puts <s> before a text; it is read once, and is no token of it."""
  plain = nets['llama'].judge
  own = Tokenizer.from_str(plain.tokenizer.to_str())
  start = own.id_to_token(0)
  own.post_processor = TemplateProcessing(
    single=f'{start} $A', special_tokens=[(start, 0)]
  )
  other = plain._replace(tokenizer=own)
  for change in ({}, {'contrast': ('gender',)}):
    one, two = plain._replace(**change), other._replace(**change)
    sums = [
      text_likelihood.totals(judge.log_p(texts), texts)
      for judge in (one, two)
      for texts in [judge.encode(SENTENCES[:3])]
    ]
    np.testing.assert_array_equal(sums[1][1], sums[0][1])
    np.testing.assert_allclose(sums[1][0], sums[0][0], atol=1e-4)
    parts = SENTENCES[:2] + [''], ['The man.', 'A nurse.', 'He slept.']
    found = [judge.continuations(*parts) for judge in (one, two)]
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


@pytest.mark.parametrize('family', MASKED)
def test_lpbs_is_the_authors_by_transformers(nets, family):
  """bias_calculator.py: words of a group are summed, the prior masks both."""
  import torch

  net, judge, _ = nets[family]
  word = lambda text: lpbs.tokens_of(judge, (text,))
  some = [w for w in dict.fromkeys(' '.join(TEXTS).split()) if word(w)][:3]
  assert len(some) == 3
  tokens = [word(w) for w in some]
  of = {'one': [*tokens[0], *tokens[1]], 'other': tokens[2]}
  traits = ['kind', 'lazy and poor']
  found = lpbs.associations(judge, 'religion', of, traits)

  def logs(text):
    ids = judge.tokenizer.encode(text).ids
    at = ids.index(judge.mask_id)
    with torch.no_grad():
      out = net(torch.tensor([ids])).logits[0, at].softmax(-1).double().numpy()
    return np.log([out[list(one)].sum() for one in of.values()])

  for k, trait in enumerate(traits):
    each = [
      logs(t.format(judge.mask, trait)) - logs(t.format(judge.mask, judge.mask))
      for t in lpbs.TEMPLATES
    ]
    np.testing.assert_allclose(found[:, k], np.mean(each, 0), atol=3e-4)
