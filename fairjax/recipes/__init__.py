"""Recipes by name; adding one is one file and one line here."""

from fairjax.registry import Entry

# Each is run(config: Config, folder: pathlib.Path) -> results: dict
RECIPES: dict[str, Entry] = {}
