"""Tokenizers of a model's files.

A folder may hold tokenizer.json, the vocab.txt of a BERT or an ELECTRA, or the
vocab.json and merges.txt of a RoBERTa, a BART or a GPT-2; what else there is
(sentencepiece) transformers reads.
"""

import pathlib

from tokenizers import (
  AddedToken,
  Tokenizer,
  decoders,
  models,
  normalizers,
  pre_tokenizers,
  processors,
)

from fairjax.core import artefacts
from fairjax.core.errors import UserError, brief

NAMES = 'tokenizer.json, vocab.txt, or vocab.json with merges.txt'
SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']


def read(path: pathlib.Path, folder: pathlib.Path) -> Tokenizer:
  """The tokenizer of a file, or of the first file of a folder that has one."""
  names = (
    ('tokenizer.json', 'vocab.txt', 'vocab.json')
    if path.is_dir()
    else (path.name,)
  )
  result = [folder / name for name in names if (folder / name).is_file()]
  if not result and path.is_dir():
    return _by_transformers(folder)
  if not result:
    raise UserError(
      f'{folder} holds no {NAMES}; name a folder that does with '
      '--config.tokens.tokenizer'
    )
  file = result[0]
  try:
    if file.suffix == '.txt':
      return _wordpiece(file)
    if file.name.endswith('vocab.json'):
      return _byte_level(file)
    return Tokenizer.from_file(str(file))
  except UserError:
    raise
  except Exception as error:  # tokenizers raises bare Exception
    raise UserError(f'{file} is not a tokenizer: {brief(error)}') from error


def _by_transformers(folder: pathlib.Path) -> Tokenizer:
  """The tokenizer of other files (sentencepiece, …), as transformers has it."""
  from transformers import AutoTokenizer

  try:
    slow = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    return Tokenizer.from_str(slow.backend_tokenizer.to_str())
  except Exception as error:  # of many kinds
    if not any(folder.glob('config.json')) and not any(folder.glob('*.model')):
      raise UserError(
        f'{folder} holds no model and no tokenizer: no config.json, {NAMES}; '
        'check the path'
      ) from error
    raise UserError(
      f'{folder} holds no {NAMES}, and transformers reads none either '
      f"({brief(error)}); run pip install 'fairjax[sentencepiece]', or name a "
      'folder that has one with --config.tokens.tokenizer'
    ) from error


def settings(folder: pathlib.Path) -> dict:
  """tokenizer_config.json, or {} where there is none."""
  file = folder / 'tokenizer_config.json'
  known = artefacts.read_json(file) if file.is_file() else {}
  if not isinstance(known, dict):
    raise UserError(
      f'{file} holds a {type(known).__name__}, not an object of keys; fetch it '
      'again'
    )
  return known


def _wordpiece(file: pathlib.Path) -> Tokenizer:
  """BERT's tokenizer from vocab.txt: one token a line, its number its id."""
  lines = file.read_text(encoding='utf-8').split('\n')
  vocab = {
    token.rstrip('\r'): i
    for i, token in enumerate(lines[:-1] if lines[-1] == '' else lines)
  }
  missing = [token for token in SPECIAL if token not in vocab]
  if missing:
    raise UserError(
      f'{file} is not a BERT vocabulary: it has no line {missing[0]!r}'
    )
  config = settings(file.parent)
  lower = config.get('do_lower_case')
  if lower is None:
    # Without a word of the author's the default of transformers (lower-case)
    # is wrong for cased models: the name decides, else the words.
    lowercase = 'uncased' in f'{file.parent.name}/{file.name}'
    lower = lowercase or not any(
      token != token.lower() and not token.startswith('[') for token in vocab
    )
  return bert(
    vocab,
    lower,
    config.get('strip_accents'),
    config.get('tokenize_chinese_chars', True),
  )


def bert(
  vocab: dict[str, int],
  lower: bool,
  strip_accents: bool | None = None,
  chinese: bool = True,
) -> Tokenizer:
  tokenizer = Tokenizer(models.WordPiece(vocab, unk_token='[UNK]'))
  tokenizer.normalizer = normalizers.BertNormalizer(
    handle_chinese_chars=chinese, strip_accents=strip_accents, lowercase=lower
  )
  tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
  tokenizer.decoder = decoders.WordPiece()
  tokenizer.post_processor = processors.TemplateProcessing(
    single='[CLS]:0 $A:0 [SEP]:0',
    pair='[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1',
    special_tokens=[(t, vocab[t]) for t in ('[CLS]', '[SEP]')],
  )
  tokenizer.add_special_tokens(SPECIAL)
  return tokenizer


def _byte_level(file: pathlib.Path) -> Tokenizer:
  """A byte-level BPE: RoBERTa's and BART's where it knows <s>, else GPT-2's."""
  merges = file.with_name(file.name.replace('vocab.json', 'merges.txt'))
  if not merges.is_file():
    raise UserError(f'{file} needs {merges.name} beside it')
  model = models.BPE.from_file(str(file), str(merges))
  tokenizer = Tokenizer(model)
  prefix = bool(settings(file.parent).get('add_prefix_space', False))
  tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
  tokenizer.decoder = decoders.ByteLevel()
  if tokenizer.token_to_id('<s>') is None:
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    if tokenizer.token_to_id('<|endoftext|>') is not None:
      tokenizer.add_special_tokens(['<|endoftext|>'])
    return tokenizer
  special = ['<s>', '<pad>', '</s>', '<unk>', '<mask>']
  ids = {t: i for t in special if (i := tokenizer.token_to_id(t)) is not None}
  missing = [t for t in special if t not in ids]
  if missing:
    raise UserError(
      f'{file} is not a RoBERTa vocabulary: it has no {missing[0]!r}'
    )
  # The mask eats the space before it, as the model was trained.
  tokenizer.add_special_tokens(
    special[:-1] + [AddedToken('<mask>', lstrip=True, special=True)]
  )
  tokenizer.post_processor = processors.RobertaProcessing(
    *(('</s>', ids['</s>']), ('<s>', ids['<s>'])), add_prefix_space=prefix
  )
  return tokenizer
