"""Tiny random language models of five families, as folders and in torch."""

from pathlib import Path
from typing import NamedTuple

import published_files
import pytest
from golden import make_encoders, make_seq2seq
from judge_texts import TEXTS
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.processors import RobertaProcessing

from fairjax.data.batching import tokens
from fairjax.models.folders import folder as folders
from fairjax.models.reading import judge


class Net(NamedTuple):
  torch: object
  judge: judge.Judge
  folder: Path


def byte_level(roberta):
  """A byte-level BPE learned from TEXTS, as RoBERTa or as GPT-2 has it."""
  special = (
    ['<s>', '<pad>', '</s>', '<unk>', '<mask>']
    if roberta
    else ['<|endoftext|>']
  )
  tokenizer = Tokenizer(models.BPE())
  tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
  tokenizer.decoder = decoders.ByteLevel()
  trainer = trainers.BpeTrainer(
    vocab_size=330,
    special_tokens=special,
    show_progress=False,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
  )
  tokenizer.train_from_iterator(TEXTS, trainer)
  if roberta:
    tokenizer.post_processor = RobertaProcessing(
      ('</s>', 2), ('<s>', 0), add_prefix_space=False
    )
  return tokenizer


def make(family, folder):
  if family in ('bert', 'modernbert'):
    tokenizer = tokens.train_tokenizer(TEXTS, 200)
  else:
    tokenizer = byte_level(family == 'roberta')
  vocab = tokenizer.get_vocab_size()
  if family in make_seq2seq.CAUSAL:
    ends = {'bos_token_id': 0, 'eos_token_id': 0, 'pad_token_id': 0}
    places = 'n_positions' if family == 'gpt2' else 'max_position_embeddings'
    net = make_seq2seq.model(family, vocab_size=vocab, **{places: 160}, **ends)
  else:
    sizes = {'vocab_size': vocab, 'max_position_embeddings': 162}
    if family != 'modernbert':  # whose layers differ
      sizes['num_hidden_layers'] = 1
    net = make_encoders.model(family, 'MaskedLM', **sizes)
  net.eval()
  net.save_pretrained(folder)
  tokens.save_tokenizer(tokenizer, folder)
  return Net(
    net, judge.from_bundle(folders.load(folder), str(folder)), Path(folder)
  )


@pytest.fixture(scope='session')
def nets(tmp_path_factory):
  pytest.importorskip('torch')
  return {
    family: make(family, tmp_path_factory.mktemp(family))
    for family in ('bert', 'roberta', 'modernbert', 'gpt2', 'llama')
  }


@pytest.fixture(scope='module')
def data(tmp_path_factory):
  """A folder with a small file of every benchmark, in its published form."""
  return published_files.write(tmp_path_factory.mktemp('benchmarks'))
