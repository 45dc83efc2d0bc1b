"""Model folders, read and written: safetensors, .bin, GGUF, the hub."""
