"""Texts as tokens, and tokens as packed batches.

In this room:

  batches          Packed batches, planned from lengths and filled by array
                   operations
  corruption       Corruption for pretraining: masked tokens, spans, permuted
                   sentences
  instances        Word occurrences: their contextual embeddings as a table,
                   and batches
  rows             Rows full of tokens for pretraining, and batches of them
  seq2seq          Packed batches of source and target, for models that rewrite
  tokenizer_files  Tokenizers of a model's files
  tokens           Text to ids: fast tokenizers, ragged token stores, a cache
                   by content
  word_ids         Ids of many texts from the ids of their words, each
                   tokenized once
"""
