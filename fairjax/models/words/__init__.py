"""Models of whole words: LSTM and CNN.

In this room:

  lstm        The recurrent network of the weighting paper (Zhang et al., ACL
              2020)
  text_cnn    The convolutional network of Dixon et al. 2018 (doi
              10.1145/3278721.3278729)
  word_level  What word-level models share: everything but the core of the
              network
"""
