"""Model folders, read and written: safetensors, .bin, GGUF, the hub.

In this room:

  folder        A model folder as one bundle: a classifier, a language model,
                an encoder
  gguf          A GGUF file as a model folder: its config.json, and tensors by
                torch's names
  hf            Hugging Face folders in and out, by the tables of
                models/families
  hub           Where a model's folder is: a path, or a name on the Hugging
                Face hub
  options       The decoding options of a model folder, as transformers reads
                them
  torch_bin     Reads pytorch_model.bin into numpy: no torch, and no code is
                executed
  weight_files  A model folder's weights as numpy: safetensors, torch's .bin,
                Flax's msgpack
"""
