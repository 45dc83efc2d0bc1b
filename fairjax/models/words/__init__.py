"""Models of whole words: LSTM and CNN."""
