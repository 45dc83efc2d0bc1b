"""Kernels of a GPU, each tried against the plain code before it is used.

In this room:

  fused_attention  A GPU kernel: attention of short rows, with our dropout
  fused_norm       A GPU kernel: LayerNorm's backward pass and gradient norms
  kernel_table     Which kernels a program takes instead of plain code, in one
                   table
  platform_traits  How plain code is written for each platform, in one table
  row_kernels      What the GPU kernels over rows of a batch share
"""
