"""README's audit says today what README says of it."""

import pathlib
import re

from fairjax.config import shipped
from fairjax.recipes.audit import recipe

README = pathlib.Path(__file__).resolve().parents[3] / 'README.md'


def test_the_numbers_of_readme_are_those_of_its_command(tmp_path):
  """A list of words was mended, and an end of an interval was another."""
  recipe.run(shipped('quickstart_audit'), tmp_path)
  told = ' '.join((tmp_path / 'log.txt').read_text('utf-8').split())
  gap = re.search(r'Of 100 texts about men .*?points \[.*?\]', told)[0]
  text = ' '.join(README.read_text('utf-8').replace('95 % CI', '').split())
  shown = re.search(r'of 100 texts about men .*? to \d+\)', text)[0]
  numbers = lambda words: re.findall(r'\d+', words)
  assert numbers(shown) == numbers(gap)
