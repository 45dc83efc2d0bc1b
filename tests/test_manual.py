"""Help is made from what is declared, whole, narrow, and light to start."""

import re

import pytest
import small
from programs import printed, python

import fairjax
from fairjax import main
from fairjax.cli import manual
from fairjax.cli.commands import COMMANDS, flags_of
from fairjax.config import HELP, Config, shipped, validate
from fairjax.core import knobs, registry
from fairjax.core.errors import UserError
from fairjax.data import word_tables
from fairjax.recipes import RECIPES

LEAVES = {leaf.name: leaf for leaf in knobs.leaves(Config)}


def plain(text: str) -> str:
  return ' '.join(text.split())


@pytest.mark.parametrize('words', [['--help'], ['audit', '-h'], ['--version']])
def test_help_ends_with_0(words):
  done = python('-m', 'fairjax.main', *words)
  assert done.returncode == 0 and done.stderr == ''
  want = {
    '--help': 'configs/quickstart.py',
    'audit': 'audit.fail_if',
    '--version': f'fairjax {fairjax.__version__}\n',
  }
  assert want[words[0]] in done.stdout


def test_help_and_what_is_missing_import_nothing_heavy():
  """What a start costs, by what it imports."""
  code = (
    'import sys; from fairjax import main; from fairjax.cli import manual\n'
    'for name in sys.argv[1:]: manual.explain(name)\n'
    'for words in (["/no/rows.csv"], ["/no/model/", sys.executable]):\n'
    '  sys.argv[1:] = ["audit", *words]\n'
    '  try: main.command()\n'
    '  except SystemExit: print(*sys.modules)'
  )
  names = ['', 'audit', 'train.lr', 'weighting', 'quickstart_diet']
  heavy = {'jax', 'numpy', 'pandas', 'scipy', 'sklearn', 'transformers'}
  assert heavy.isdisjoint(printed('-c', code, *names).split())


def test_every_knob_is_explained():
  for name in {**HELP, **LEAVES}:
    page = manual.explain(name)
    assert page.startswith(f'--config.{name}=')
    assert plain(HELP[name]) in plain(page)
    for field in ('default', 'values', 'changes'):
      assert field in page
  rate = plain(manual.explain('train.lr'))
  assert 'default 1e-06' in rate and 'above 0 and at most 10' in rate
  assert 'learning_rate' in rate
  assert "one of 'adamw', 'rmsprop'" in plain(manual.explain('train.optimizer'))
  assert 'healthy_random' in plain(manual.explain('diet.compare'))  # its names


def test_a_help_is_understood_alone():
  hanging = {'and', 'of', 'its', 'it', 'their', 'these', 'before', 'instead'}
  for name, about in HELP.items():
    assert re.split('[:, ]', about)[0] not in hanging, name
  for entries in manual.registries().values():
    for name, one in entries.items():
      assert not one.about.startswith('the same '), (name, one.about)


def test_a_rule_says_what_it_allows():
  """A knob with a rule has words for it, and its remedy has them too."""
  for name, leaf in LEAVES.items():
    if leaf.rule(leaf.default) or leaf.rule.__name__ != '<lambda>':
      assert knobs.wanted(leaf.rule), name
  broken = knobs.above(0, 10)(11)
  assert broken == f'{knobs.wanted(knobs.above(0, 10))} is needed'
  assert knobs.wanted(knobs.or_else(-1, knobs.below(0, 1))).startswith('-1, or')


def test_a_command_shows_no_knob_that_its_recipe_does_not_read():
  assert '  measures.groups ' in manual.explain('train')
  for name in COMMANDS:
    if COMMANDS[name].config:
      page = manual.explain(name)
      for knob in RECIPES[shipped(COMMANDS[name].config).recipe].ignores:
        assert f'  {knob} ' not in page and f'  {knob}\n' not in page, knob


def test_nothing_is_wider_than_a_terminal():
  pages = [manual.everything(), *map(manual.explain, ('', *COMMANDS, *LEAVES))]
  for page in pages:
    assert max(map(len, page.splitlines())) <= 80, page


@pytest.mark.parametrize('name', [n for n in COMMANDS if COMMANDS[n].config])
def test_a_command_stands_for_a_config(name):
  one = COMMANDS[name]
  page = manual.explain(name)
  assert page.index('What matters most') < page.index(f'\n{one.sections[0]}: ')
  assert 5 < len(one.matter) <= 15
  for leaf in one.matter:
    assert plain(HELP[leaf]) in plain(page)
  assert {*one.sections} <= {*manual.sections()}
  settings = shipped(one.config)
  for section in one.sections:  # with the values of the command's config
    assert plain(manual.section(section, settings, one.matter)) in plain(page)
  words = ['my.csv', 'second'][: len(one.places[-1])]
  tidy = main.tidy(['fairjax', *flags_of([name, *words, '--config.seed=3'])])
  assert tidy[1].endswith(f'{one.config}.py')
  for knob, word in zip(one.places[len(words) - 1], words):
    assert f'--config.{knob}={word}' in tidy
  assert tidy[-1] == '--config.seed=3'
  if one.bare:
    validate(shipped(one.bare))
    assert flags_of([name]) == [f'--config=configs/{one.bare}.py']
  with pytest.raises(UserError, match=f'write fairjax {name} '):
    flags_of([name, *'abcdef'[: len(one.places) + 1]])


@pytest.mark.parametrize('name, has', small.cases(__file__, 'asked.json'))
def test_what_can_be_asked(name, has):
  assert has in manual.explain(name)


@pytest.mark.parametrize(
  'table, name, rows', word_tables.table_rows(__file__, 'meant.csv')
)
def test_a_name_of_files_and_papers_means_its_rows(table, name, rows):
  """`benchmarks --names=seat` knew less than `help seat`."""
  assert registry.meant(name, manual.registries()[table]) == rows.split()


def test_a_config_takes_names_and_says_what_it_took():
  config = Config(recipe='benchmarks')
  config.benchmarks.names, config.method.name = ['SEAT', 'bbq'], 'CDA + blind'
  with pytest.warns(UserWarning, match=r'SEAT is the benchmark weat \(WEAT'):
    knobs.check(config, Config)
  assert config.benchmarks.names == ['weat', 'bbq']
  assert config.method.name == 'augment+blind'


def test_a_name_without_help_is_one_sentence():
  with pytest.raises(UserError, match="did you mean 'benchmarks'"):
    manual.explain('benchmrks')
  with pytest.raises(UserError, match="did you mean 'audit'"):
    flags_of(['adit', 'my.csv'])
  done = python('-m', 'fairjax.main', 'help', 'nosuch')
  assert done.returncode == 2 and done.stderr.count('\n') == 1
