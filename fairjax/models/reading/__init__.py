"""What a language model says of texts: likelihoods, fills, judgements."""
