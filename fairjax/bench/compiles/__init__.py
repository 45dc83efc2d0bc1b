"""Programs compiled for chips that are not there, and what they need.

In this room:

  aot         Our programs, compiled for chips that are not here: memory, time,
              links
  hlo         What a compiled program does, read from its optimised HLO text
  plain_bert  A textbook Flax step of a BERT classifier: the peer of deviceless
              compiles
  programs    The programs of a run, traced for devices that are not there
  targets     Devices to compile for that are not here, by the names of chips
"""
