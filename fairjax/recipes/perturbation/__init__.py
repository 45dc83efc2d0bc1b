"""Perturbation augmentation (Qian et al. 2022)."""
