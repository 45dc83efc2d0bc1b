"""MBCDA (Tokpo and Calders 2023): a generator against a discriminator."""
