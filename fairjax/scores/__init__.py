"""Example scores by name; adding one is one file and one line here."""

from fairjax.registry import Entry

SCORES: dict[str, Entry] = {}
