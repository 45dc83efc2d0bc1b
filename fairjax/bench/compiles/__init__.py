"""Programs compiled for chips that are not there, and what they need.

In this room:

  aot       Our programs, compiled for chips that are not here: memory, time,
            links
  programs  The programs of a run, traced for devices that are not there
  targets   Chips by name, and devices of them to compile for that are not here
"""
