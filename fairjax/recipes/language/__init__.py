"""Language models: pretrained, asked for likelihoods, generating.

In this room:

  augment_corpus       Counterfactuals of a whole corpus: folders of any size,
                       shard by shard
  corpora              What recipes over corpora share: folders, results, pages
  generate_corpus      Text generation over whole folders: shard by shard,
                       chunk by chunk
  likelihood           Perplexity of texts under a folder's model, left to
                       right or masked
  pretrain             Pretrains a language model on plain text: MLM, BART,
                       ELECTRA or causal
  pretrain_objectives  The pretraining objectives: corruption, model and loss
                       of each
"""
