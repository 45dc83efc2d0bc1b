"""Language models: pretrained, asked for likelihoods, generating."""
