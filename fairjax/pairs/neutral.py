"""Verbs that follow singular they: she walks -> they walk, by rule."""


def agree(text: str, spans: list) -> tuple[list, int]:
  return [], 0
