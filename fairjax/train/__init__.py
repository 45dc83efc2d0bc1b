"""The one training loop of the house, and prediction."""
