"""Data-side methods by name; adding one is one file and one line here."""

from fairjax.registry import Entry

# Each is method(tables: Tables, config: Config) -> Tables
METHODS: dict[str, Entry] = {}
