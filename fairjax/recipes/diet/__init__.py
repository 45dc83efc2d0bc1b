"""The healthy data diet (Zayed et al. 2023)."""
