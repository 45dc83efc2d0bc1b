"""Kernels of a GPU, each tried against the plain code before it is used."""
