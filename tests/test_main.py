"""The command line: every mistake is one sentence and code 2."""

import dataclasses
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tomllib

import pytest
from programs import CONFIG as QUICK
from programs import ROOT, printed, python
from small import changed
from test_stated import refused

import fairjax
from fairjax import main
from fairjax.benchmarks import BENCHMARKS
from fairjax.cli import commands
from fairjax.config import Config, validate
from fairjax.config.ignored_knobs import OF_SET
from fairjax.core import artefacts, knobs, paths
from fairjax.core.errors import UserError
from fairjax.data import word_tables
from fairjax.docs import __main__ as docs
from fairjax.recipes import RECIPES
from fairjax.report.__main__ import main as report
from fairjax.train import mesh


def told(words) -> str:
  """The sentence for a command line."""
  with pytest.raises(UserError) as error:
    main.tidy(['main', *words])
  return str(error.value)


# A flag, and what its sentence must name: where, what came, the remedy.
KEPT = ['report', '--claims', 'configs/claims/results']
MISTAKEN = word_tables.table_rows(__file__, 'mistaken_flags.csv')
FILES = {
  ('--config.train.lr=1',): 'none is named | --config=',
  ('--config',): 'needs a value, as in',
  ('--config=configs/quickstrat.py',): 'quickstrat | quickstart.py',
  ('--config=/nowhere/zzz.py',): 'zzz.py | --list',
  **{
    (f'--config={name}',): 'there is no config file'
    for name in ('x' * 300, 'a\0b', '/etc', '~nobody/x.py', '/etc/passwd/x')
  },
}


@pytest.mark.parametrize(
  ('words', 'parts'),
  [*(((QUICK, one), parts) for one, parts in MISTAKEN), *FILES.items()],
)
def test_a_mistake_names_where_what_and_the_remedy(words, parts):
  sentence = refused([*words])
  assert sentence and '\n' not in sentence
  for part in parts.split(' | '):
    assert part in sentence


@pytest.mark.parametrize(
  ('recipe', 'changes', 'says'),
  [
    *((r, {'train__export': True}, '') for r in ('rank', 'overlap', 'mbcda')),
    *((r, {'method__name': 'blind'}, '') for r in ('fairtune', 'overlap')),
    ('train', {'method__compare': ('augment',)}, ''),
    # `--config.text=comment` of a training read the column text.
    ('train', {'text': 'comment'}, r"^text is 'comment'.*config\.data\.text"),
    ('writing', {'seeds': 3}, r'take --config\.writing\.samples'),
  ],
)
def test_what_a_recipe_would_not_do_is_said_first(recipe, changes, says):
  """Such a knob did nothing, without a word."""
  plain = Config(recipe=recipe, seeds=1 if recipe == 'writing' else 5)
  validate(plain)
  (field,) = (name.replace('__', '.') for name in changes)
  with pytest.raises(
    UserError, match=says or f'{field} is .*recipe .?{recipe}'
  ):
    changed(plain, **changes)


OTHER = {
  'generate.task': 'fill',
  'measures.sets': ('train',),
  'measures.threshold': 'eer',
  'method.name': 'blind',
  'method.ratio': 0.5,
  **{f'measures.{k}': '.' for k in ('templates', 'madlibs', 'gender_file')},
  **{f'method.{k}': '.' for k in ('table', 'terms')},
}


@pytest.mark.parametrize(
  'recipe', [name for name, row in RECIPES.items() if row.ignores]
)
def test_a_knob_that_a_recipe_does_not_read_is_refused(recipe):
  """`--config.data.limit=100` of benchmarks took all, without a word."""
  leaves = {leaf.name: leaf for leaf in knobs.leaves(Config)}
  ignores = RECIPES[recipe].ignores
  for name, own in ignores.items():
    default = leaves[name].default
    any_other = {bool: True, int: 7, float: 0.5, str: 'x', tuple: ('none',)}
    other = OTHER.get(name, any_other[type(default)])
    with pytest.raises(UserError) as error:
      changed(Config(recipe=recipe), **{name.replace('.', '__'): other})
    says = f'{name} is {other!r}; recipe {recipe!r} does not read it; '
    assert str(error.value).startswith(says)
    if own:
      assert own.partition('=')[0] in leaves and own not in ignores
      assert f'take --config.{own}, or leave' in str(error.value)


def test_where_nothing_is_trained_one_run_may_be_said_and_a_text():
  validate(Config(recipe='audit', seeds=1))
  validate(Config(recipe='swap', text='She left.'))


@pytest.mark.parametrize('name', sorted(OF_SET))
def test_the_file_of_a_set_that_is_not_measured_is_refused(name):
  """`--config.measures.madlibs=FILE` alone measured nothing of it."""
  config, last = Config(), name.partition('.')[2]
  setattr(config.measures, last, OTHER[name])
  says = rf'{name} is .*test set {OF_SET[name]} reads.*sets=test,{OF_SET[name]}'
  with pytest.raises(UserError, match=says):
    validate(config)
  config.measures.sets = ('test', OF_SET[name])
  validate(config)


def test_the_defaults_and_every_config_file_validate():
  validate(Config())
  for path in (ROOT / 'configs').glob('[a-z]*.py'):
    space: dict = {}
    exec(compile(path.read_text(), path, 'exec'), space)
    if 'get_config' in space:
      config = space['get_config']()
      config.data.path = config.data.path or 'given by a flag'
      validate(config)


def test_overrides_may_come_in_any_order_and_form():
  given = '--config.scoring.names=ge,el2n', '--config.train.lr=1'
  given += '--noconfig.mesh.fsdp', '--workdir=x', QUICK
  tidy = main.tidy(['main', *given])
  assert tidy[1].endswith('quickstart.py')
  assert "--config.scoring.names=('ge', 'el2n')" in tidy
  assert '--config.train.lr=1.0' in tidy
  assert '--config.mesh.fsdp=False' in tidy
  assert tidy[-1] == '--workdir=x'


def test_a_name_like_no_other_gets_no_wrong_hint():
  for word in ('--config.zzzyx=1', '--zzzyx=1'):
    sentence = told([QUICK, word])
    assert 'zzzyx' in sentence and 'mean' not in sentence


def test_every_name_of_others_leads_to_a_flag_that_is_there():
  leaves = main.LEAVES
  for theirs, ours in (main.ALIASES | main.RENAMED).items():
    name = ours.removeprefix('--').removeprefix('config.')
    assert name in leaves or name == 'workdir', (theirs, ours)
    assert theirs not in leaves
  for name, why in main.REMOVED.items():
    assert name not in leaves
    assert f'{name} any more: {why}' in told([QUICK, f'--config.{name}=1'])


@pytest.mark.parametrize(
  'folder, part',
  [
    ('file/run', 'file'),
    ('file', 'is a file'),
    ('x' * 300, 'too long'),
    ('a\0b', 'NUL'),
  ],
)
def test_a_folder_that_cannot_be_written_is_told_at_once(
  folder, part, tmp_path
):
  (tmp_path / 'file').write_text('')
  with pytest.raises(UserError, match=part) as error:
    main.check_folder(pathlib.Path(f'{tmp_path}/{folder}'))
  assert '--workdir' in str(error.value)
  assert [path.name for path in tmp_path.iterdir()] == ['file']
  main.check_folder(tmp_path / 'new' / 'run')
  assert not (tmp_path / 'new').exists()


def test_a_long_value_is_not_repeated_whole():
  assert len(told([QUICK, '--config.seeds=' + '9' * 5000])) < 400


def test_the_list_is_whole():
  listed = printed('-m', 'fairjax', '--list')
  for word in ('quickstart.py', 'planted', 'augment', 'auc', 'train'):
    assert word in listed


def test_streams_that_are_closed_are_not_written_into_files(tmp_path):
  """A run's first file would have the number of a closed stream."""
  data = tmp_path / 'two.csv'
  rows = [f'{i % 2},{i // 2 % 2},{"ab"[i // 20]}' for i in range(40)]
  data.write_text('\n'.join(['label,score,who', *rows]))
  words = [
    'audit',
    str(data),
    '--config.audit.groups=who',
    f'--workdir={tmp_path}/run',
  ]
  run = [sys.executable, '-m', 'fairjax.main', *words]
  closed = ['bash', '-c', 'exec "$@" <&- >&- 2>&-', 'bash', *run]
  assert subprocess.run(closed, cwd=ROOT).returncode == 0
  page = (tmp_path / 'run' / 'report.html').read_text()
  assert page.startswith('<!DOCTYPE html>')


SWAP = ['swap', 'She left.']


@pytest.mark.parametrize('words', [['--list'], ['help', 'audit'], KEPT, SWAP])
def test_what_is_printed_may_be_cut_off(words):
  """As `--list | head -1` does: the reader leaves before all is written."""
  with subprocess.Popen(
    [sys.executable, '-m', 'fairjax.main', *words],
    cwd=ROOT,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
  ) as lister:
    lister.stdout.close()
    assert lister.stderr.read() == ''
  assert lister.returncode == 0


@pytest.mark.parametrize('words', [['help'], SWAP])
def test_a_full_disk_under_what_is_printed_is_one_sentence(words):
  with open('/dev/full', 'w') as full:
    ended = subprocess.run(
      [sys.executable, '-m', 'fairjax.main', *words],
      cwd=ROOT,
      stdout=full,
      stderr=subprocess.PIPE,
      text=True,
    )
  assert ended.returncode == 2 and ended.stderr.count('\n') == 1
  assert 'cannot print the answer: No space left on device' in ended.stderr


def test_a_folder_that_is_gone_is_told(tmp_path):
  swap = f'rmdir {tmp_path}; {sys.executable} -m fairjax.main swap he'
  own = {'env': os.environ | {'PYTHONPATH': str(ROOT)}, 'cwd': tmp_path}
  ended = subprocess.run(swap, shell=True, capture_output=True, **own)
  assert b'folder of this call is gone; cd to another' in ended.stderr


MISTAKES = [
  ([], 'no --config'),
  (['stray'], 'stray'),
  (['--config=configs/train_csv.py', '--config.data.path=no.csv'], 'no.csv'),
  ([QUICK, '--config.data.name=plantd'], "'planted'"),
  ([QUICK, '--config.model=/no/such/model'], '/no/such/model'),
  ([QUICK, '--config.tokens.tokenizer=/no/folder'], '/no/folder'),
  ([QUICK, '--config.mesh.seed=7'], 'mesh.seed'),
]

# A process a command, forked once what they all import is imported.
COMMANDS = """
import json, os, sys, traceback
import fairjax.main, fairjax.recipes.train
ends = []
for words in json.loads(sys.argv[1]):
  reader, writer = os.pipe()
  child = os.fork()
  if not child:
    os.dup2(writer, 2)
    sys.argv, code = ['fairjax', *words], 0
    try:
      fairjax.main.command()
    except SystemExit as end:
      code = end.code
    except BaseException:
      traceback.print_exc()
      code = 1
    sys.stderr.flush()
    os._exit(code or 0)
  os.close(writer)
  with os.fdopen(reader) as said:
    text = said.read()
  ends.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text])
print(json.dumps(ends))
"""


def ends(commands):
  """Exit codes and what is said of each command, in a process each."""
  said = printed('-c', COMMANDS, json.dumps(commands))
  return json.loads(said.splitlines()[-1])


OWN_CONFIGS = [  # of one's own that break, the code, and what is said of it
  ('def get_config():\n  return 1 / 0\n', 2, 'fairjax: '),
  ('from fairjax import config as c\nx = c.Train(lrr=1)\n', 2, 'lrr'),
  ('import sys\nsys.exit(0)\n', 2, 'SystemExit(0)'),
  ('def get_config():\n  raise KeyboardInterrupt\n', 130, 'interrupted'),
]


def test_a_mistake_ends_with_one_line_and_its_code(tmp_path):
  flags, wanted = [f'--workdir={tmp_path}/run'], [(2, p) for _, p in MISTAKES]
  words = [one + flags if one else one for one, _ in MISTAKES]
  for k, (text, *how) in enumerate(OWN_CONFIGS):
    (tmp_path / f'own{k}.py').write_text(text)
    words.append([f'--config={tmp_path}/own{k}.py'])
    wanted.append(how)
  for (code, text), (expected, part) in zip(ends(words), wanted, strict=True):
    assert code == expected, text
    last = text.strip().splitlines()[-1]
    assert last.startswith('fairjax: ') and part in last
    assert 'Traceback' not in text
  ended = python('-m', 'fairjax.main', *words[2])  # one from its start
  assert ended.returncode == 2 and 'no.csv' in ended.stderr


def test_files_are_missed_before_a_folder_is_made(tmp_path):
  """The list was cut in the middle, and an empty run stayed behind."""
  words = ['benchmarks', '.', 'configs', f'--workdir={tmp_path}/run']
  (_, every), (code, one) = ends([words, [*words, '--names=seat']])
  files = [n for n, row in BENCHMARKS.items() if row.origin]
  assert len(files) > 8 and all(f' {name} (' in every for name in files)
  assert code == 2 and 'holds no *weat*.jsonl' in one
  assert not [*tmp_path.iterdir()]


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch):
  def full(*_):
    raise OSError(28, 'No space left on device')

  artefacts.write_json(tmp_path / 'a.json', {'kept': 1})
  monkeypatch.setattr(os, 'replace', full)
  with pytest.raises(UserError, match='No space left on device'):
    artefacts.write_json(tmp_path / 'a.json', {'new': 2})
  monkeypatch.undo()
  assert artefacts.read_json(tmp_path / 'a.json') == {'kept': 1}
  assert [p.name for p in tmp_path.iterdir()] == ['a.json']


def test_the_command_of_the_project_file_is_there():
  project = tomllib.loads((ROOT / 'pyproject.toml').read_text())
  module, _, function = project['project']['scripts']['fairjax'].partition(':')
  assert callable(getattr(importlib.import_module(module), function))
  # setuptools finds a folder by its __init__.py.
  for path in (ROOT / 'fairjax').rglob('*.py'):
    assert (path.parent / '__init__.py').is_file(), path


@pytest.mark.parametrize(
  'error, space',
  [(OSError(28, 'full'), True), (PermissionError(13, 'no'), False)],
)
def test_only_a_full_disk_is_told_to_free_space(error, space, tmp_path):
  with pytest.raises(UserError) as caught:
    with artefacts.atomic(tmp_path / 'a.json'):
      raise error
  assert ('free some space' in str(caught.value)) == space


LIMITED = """
import resource, sys
import numpy as np
from fairjax.core.errors import UserError
from fairjax.train import checkpoint
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
  checkpoint.write_weights(sys.argv[1], {'a': {'b': np.zeros(10_000)}})
except UserError as error:
  print(error)
"""


def test_weights_that_do_not_fit_the_disk_are_one_sentence(tmp_path):
  """safetensors has errors of its own, which are no OSError."""
  target = tmp_path / 'weights.safetensors'
  told = python('-c', LIMITED, str(target))
  line = f'cannot write {target}: File too large; raise the limit on a file'
  assert told.stdout.startswith(line), told.stderr
  assert not list(tmp_path.iterdir())


IMPORT = r'^ *(?:import (?=\S+(?: as|$))|from (?=\S+ import))(\w+)'


def test_every_package_that_is_imported_is_declared():
  project = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']
  extras = project['optional-dependencies'].values()
  lines = [*project['dependencies'], *(one for own in extras for one in own)]
  plain = lambda name: re.sub(r'[-_.]+', '-', name).lower()
  declared = {plain(re.match(r'[\w.-]+', line)[0]) for line in lines}
  # Of packages that are not installed the name is asked, or what has it here.
  owners = {'mlflow': ['mlflow-skinny']}
  owners |= importlib.metadata.packages_distributions()
  missing, used = {}, set()
  for path in (ROOT / 'fairjax').rglob('*.py'):
    names = {*re.findall(IMPORT, path.read_text(encoding='utf-8'), re.M)}
    for name in names - {'fairjax', *sys.stdlib_module_names}:
      dists = {plain(d) for d in owners.get(name, [name])}
      used |= dists
      if not dists & declared:
        missing.setdefault(name, path.name)
  # Both come with tensorflow-datasets.
  assert missing.keys() <= {'requests', 'array_record'}, missing
  own = {plain(re.match(r'[\w.-]+', one)[0]) for one in project['dependencies']}
  # tensorflow-datasets imports the one that is left and does not declare it.
  assert own - used == {'importlib-resources'}


def test_a_release_is_described_and_whole():
  """What an index shows, and the files that are no Python."""
  whole = tomllib.loads((ROOT / 'pyproject.toml').read_text())
  project = whole['project']
  for field in ('urls', 'authors', 'classifiers', 'keywords', 'readme'):
    assert project[field], field
  assert 'Typing :: Typed' in project['classifiers']
  citation = (ROOT / 'CITATION.cff').read_text(encoding='utf-8')
  assert project['version'] == fairjax.__version__
  assert f'version: {fairjax.__version__}\n' in citation
  log = (ROOT / 'CHANGELOG.md').read_text(encoding='utf-8')
  version, date = re.search(r'^## (\S+) \((.+)\)$', log, re.M).groups()
  assert version == fairjax.__version__, 'the topmost section is no release'
  assert f'date-released: {date}\n' in citation
  readme = (ROOT / 'README.md').read_text(encoding='utf-8')
  assert f'fairjax {version} ({date})' in readme
  for url in project['urls'].values():
    assert url in citation
  data = whole['tool']['setuptools']['package-data']
  places = whole['tool']['setuptools']['package-dir']
  carried = set()
  for package, patterns in data.items():
    if package == '*':  # of every package
      folders = [ROOT / 'fairjax', *(ROOT / 'fairjax').rglob('*/')]
    else:
      folders = [ROOT / places.get(package, package.replace('.', '/'))]
    for pattern in patterns:
      found = {path for folder in folders for path in folder.glob(pattern)}
      assert found, (package, pattern)
      carried |= found
  for path in [*(ROOT / 'fairjax').rglob('*'), *(ROOT / 'launch').iterdir()]:
    if path.is_file() and path.suffix not in ('.py', '.png', '.pyc'):
      shown = path.name == 'README.md'  # read where the code is
      assert path in carried or shown, path


def test_a_swap_of_a_sentence_leaves_no_folder(tmp_path):
  own = {'TMPDIR': str(tmp_path), 'PYTHONPATH': str(ROOT)}
  swap = ('-m', 'fairjax.main', 'swap', 'She left.')
  assert printed(*swap, cwd=tmp_path, **own).startswith('He left.')
  assert not [*tmp_path.iterdir()]


def test_a_writer_that_fills_masks_is_told_before_anything_is_loaded(tmp_path):
  (tmp_path / 'config.json').write_text('{"architectures": ["XForMaskedLM"]}')
  with pytest.raises(UserError, match='writes no texts; name a causal one'):
    validate(Config(recipe='writing', model=str(tmp_path)))


def test_a_home_is_filled_in_and_what_no_file_can_be_called_is_told(
  tmp_path, monkeypatch
):
  """`--workdir=~/x`, which no shell fills in, made a folder called `~`."""
  monkeypatch.setenv('HOME', str(tmp_path))
  assert paths.at_home('~/x') == tmp_path / 'x'
  (link := tmp_path / 'link').symlink_to('/no/such')
  assert 'a link to /no/such, which does not exist' in knobs.existing(str(link))
  with pytest.raises(UserError, match=f'^{link} is a link to /no/such, which'):
    artefacts.content(tmp_path)  # said of the folder, which is there
  (loop := tmp_path / 'loop').symlink_to('loop')
  for odd, part in ((loop, 'a link that leads'), ('x' * 256, 'is too long')):
    with pytest.raises(UserError, match=part):
      validate(Config(recipe='writing', model=str(odd)))


def test_the_map_names_every_room():
  text = (ROOT / 'fairjax/README.md').read_text()
  assert docs.rooms(files=False) in text, 'paste what it prints'
  assert all(': ' in line[:-2] for line in docs.rooms().splitlines())
  assert len((ROOT / 'README.md').read_text().splitlines()) <= 180


@pytest.mark.parametrize(
  'line, words',
  [
    ('k.train.learning_rate = 5', '--config.train.lr'),
    ('k.trian = 5', 'has no trian'),
    ('k.data.txet = "x"', '--config.data.text'),
    ('k.audit.nonsense = 1', 'config.Audit has no nonsense'),
  ],
)
def test_a_misspelt_field_of_ones_own_config_is_refused(
  line, words, tmp_path, capsys
):
  """It was accepted, and the run went on with defaults."""
  path = tmp_path / 'own.py'
  path.write_text(
    'from fairjax.config import Config\n\n\n'
    f'def get_config():\n  k = Config()\n  {line}\n  return k\n'
  )
  with pytest.raises(SystemExit) as ended:
    main.parse(['main', f'--config={path}'])
  told = capsys.readouterr().err
  assert ended.value.code == 2 and words in told and told.count('\n') == 1


def test_a_second_call_in_a_process_sees_no_flag_of_the_first(monkeypatch):
  def parsed(*words):
    monkeypatch.setattr(sys, 'argv', ['fairjax', *words])  # overrides are its
    main.parse(sys.argv)
    return main.CONFIG.value

  swap = '--config=configs/swap.py'
  assert parsed(swap, '--config.text=a', '--workdir=x', '--list').text == 'a'
  assert main.WORKDIR.value == 'x' and main.LIST.value
  assert parsed(swap, '--config.text=b').text == 'b'
  assert main.WORKDIR.value == '' and not main.LIST.value
  assert parsed(swap).text == parsed(swap, '--config.seed=1').text != 'b'
  main.forget()


def test_every_section_knows_its_fields():
  """A section without slots would take any name."""
  config = Config()
  for field in dataclasses.fields(Config):
    one = getattr(config, field.name)
    if dataclasses.is_dataclass(one):
      with pytest.raises(AttributeError):
        one.no_such_field = 1
  with pytest.raises(AttributeError):
    config.no_such_field = 1


def test_a_flag_with_two_values_is_one_sentence():
  """Of a flag given twice the last would count, without a word."""
  for one, other, sentence in (
    ('config.audit.groups=a,b', 'c', '; write --config.audit.groups=a,b,c'),
    ('config.train.lr=.1', '.2', "as '0.1' and as '0.2'; keep one of the two"),
    ('workdir=a', 'b', "--workdir is given twice, as 'a' and as 'b'"),
  ):
    flag, words = one.partition('=')[0], [QUICK, f'--{one}']
    assert sentence in told([*words, f'--{flag}', other])
    assert main.tidy(['', *words, *words]) == main.tidy(['', *words])


def test_processes_without_an_address_do_not_train_alone(monkeypatch):
  monkeypatch.delenv('JAX_COORDINATOR_ADDRESS', raising=False)
  with pytest.raises(UserError, match='--coordinator_address'):
    mesh.start('', 2, 0)


WINDOWS = """
import os, signal, sys
for module, names in (
  (signal, ('SIGALRM', 'SIGHUP', 'setitimer', 'getitimer', 'alarm')),
  (os, ('geteuid', 'getuid', 'fork')),
):
  for name in names:
    delattr(module, name)
sys.modules['fcntl'] = sys.modules['resource'] = None
from fairjax.core import cache
assert cache.usable(__import__('pathlib').Path(sys.argv.pop()))
from fairjax import main
from fairjax.cli import commands
main.command()
"""


def test_a_system_without_posix_audits_and_ends(tmp_path):
  rows = ''.join(f'{k % 2},{k % 3 % 2},{"mf"[k % 5 % 2]}\n' for k in range(60))
  (tmp_path / 'rows.csv').write_text('score,label,sex\n' + rows)
  for rule, code in (('accuracy<0.01', 0), ('accuracy<2', 1)):
    done = python(
      *('-c', WINDOWS, 'audit', str(tmp_path / 'rows.csv')),
      *('--config.audit.groups=sex', '--config.measures.resamples=20'),
      *(f'--config.audit.fail_if={rule}', f'--workdir={tmp_path / "run"}'),
      str(tmp_path),
    )
    assert done.returncode == code, done.stderr
    assert 'Traceback' not in done.stderr


def test_no_long_flag_is_answered_where_a_short_one_was_given(
  tmp_path, monkeypatch
):
  """Each knob of a command that matters, wrong, at the command's own door."""
  monkeypatch.setattr(main, 'TYPED', [])
  for name, one in commands.COMMANDS.items():
    for knob, flag in commands.short(name).items():
      main.TYPED[:] = [name, f'{flag}=x']
      called = commands.surface(main.TYPED)
      assert called(knob, None) == called(knob, '') == flag, one
    assert len({*commands.short(name).values()}) == len(commands.short(name))
  assert 'scoring.epochs' not in commands.short('diet')
  assert commands.short('diet')['train.epochs'] == '--epochs'


def test_a_misspelt_short_flag_is_the_commands_own(monkeypatch):
  monkeypatch.setattr(main, 'TYPED', ['audit', 'm', 'd.csv'])
  assert '--weight?' in told([QUICK, '--wieght=age'])
  monkeypatch.setattr(main, 'TYPED', ['train', 'd.csv'])
  assert 'config.method.name?' in told([QUICK, '--method=augment'])


@pytest.mark.parametrize(
  ('words', 'part'),
  [
    ([], 'write fairjax report FOLDER'),
    (['--clams', 'x'], 'no flag --clams of a report; write'),
    (['--keep', 'x'], 'report --keep RUN FOLDER'),
    (['x', '--claims'], 'no flag --claims'),
    (['--claims', 'x' * 300], 'too long for the name of a file'),
    (['~no_such_user/x'], 'begins with the home folder of nobody'),
  ],
)
def test_a_wrong_report_is_one_sentence(words, part, capsys):
  assert report(words) == 2
  said = capsys.readouterr().err
  assert part in said and said.count('\n') == 1


def test_on_a_terminal_a_run_speaks_before_it_loads_what_is_slow(tmp_path):
  pty = pytest.importorskip('pty')
  pid, screen = pty.fork()
  if not pid:
    command = [sys.executable, '-X', 'importtime', '-m', 'fairjax.main']
    flags = ['--config=configs/quickstart_audit.py', f'--workdir={tmp_path}']
    os.chdir(ROOT)
    os.execv(sys.executable, command + flags)
  said = b''
  while b'starts; results go to' not in said and b'scipy.stats' not in said:
    said += os.read(screen, 1000)
  os.kill(pid, signal.SIGKILL)
  os.waitpid(pid, 0)
  assert b'fairjax audit: starts; results go to' in said
  assert b'| jax\r' not in said and b'scipy.stats' not in said
