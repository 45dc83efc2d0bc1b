"""Programs for chips that are not here, compiled by the chips' own compilers.

libtpu and the CUDA plugin are optional (pip install 'jax[tpu]'); what needs
one is skipped without it. They are loaded in a process of their own.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from fairjax.bench import __main__ as command
from fairjax.bench.compiles import aot, targets
from fairjax.core.errors import UserError

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILERS = {'tpu': 'libtpu', 'gpu': 'jax_plugins.xla_cuda13'}


def needs(platform):
  try:
    found = importlib.util.find_spec(COMPILERS[platform])
  except ModuleNotFoundError:
    found = None
  if found is None:
    pytest.skip(f'{COMPILERS[platform]} is not installed')


def started(*words, code=0):
  """The output of a process with nothing set; its errors where it refuses."""
  done = subprocess.run(
    [sys.executable, *words],
    cwd=ROOT,
    env={**os.environ, 'XLA_FLAGS': '', 'JAX_COMPILATION_CACHE_DIR': ''},
    capture_output=True,
    text=True,
    timeout=3000,
  )
  assert done.returncode == code, done.stderr[-3000:]
  return done.stderr if code else done.stdout


def run(*args, code=0):
  """The last line of the tool."""
  out = started('-m', 'fairjax.bench', 'aot', *args, code=code)
  return out if code else json.loads(out.splitlines()[-1])


TEXT = """HloModule m

ENTRY %main (a: f32[1000,100]) -> f32[5,7] {
  %start = f32[1000,100]{1,0} all-reduce-start(%a), to_apply=%test
  %between = f32[5,7]{1,0} fusion(%odd), kind=kLoop, calls=%fused
  %done = f32[1000,100]{1,0} all-reduce-done(%start)
  %alone = bf16[1000,100]{1,0} all-reduce(%b), to_apply=%test
  %go = (f32[8,100]{1,0}, f32[32,100]{1,0}) all-gather-start(%c), dimensions={0}
  %got = f32[32,100]{1,0} all-gather-done(%go)
  %tiny = f32[2]{0} all-reduce(%d), to_apply=%test
}
"""


def test_collectives_are_read_from_a_schedule():
  assert {tuple(one.values()) for one in aot.collectives(TEXT)} == {
    ('all-reduce', 1, 4e5, True),
    ('all-reduce', 1, 2e5, False),
    ('all-gather', 1, 8000.0, False),
  }


# Users' mistakes


@pytest.mark.parametrize(
  'args, sentence',
  [
    (['--target=v9:2x2'], "no target 'v9:2x2'; the chips are v4, v5e"),
    (['--target=v5e'], 'with a shape after a colon'),
    (['--target=h100:2x2'], 'GPUs are counted, as in h100:8'),
    (['--target=h100:12'], 'no number of whole hosts of 8'),
    (
      ['--target=v5e:2x2', '--program=trian'],
      "there is no program 'trian'; did you mean 'train'?",
    ),
    (['--target=v5e:2x2', '--seeds=0'], '--seeds is 0; at least 1'),
  ],
)
def test_unknown_words_are_a_sentence(args, sentence, capsys, monkeypatch):
  monkeypatch.setattr(targets, 'need', lambda *_: None)
  assert command.main(['aot', *args]) == 2
  told = capsys.readouterr().err
  assert sentence in told and told.count('\n') == 1


def test_no_platform_of_the_users_is_in_the_way(monkeypatch):
  """A process that compiles for other devices loads none of its own."""
  monkeypatch.setattr(targets, 'need', lambda *_: None)
  for name in targets.ENVIRONMENT:
    monkeypatch.setenv(name, 'cuda')
  assert command.main(['aot', '--target=v9:2x2']) == 2
  assert {k: os.environ[k] for k in targets.ENVIRONMENT} == targets.ENVIRONMENT


def test_a_compiler_that_is_absent_is_named_with_its_remedy(monkeypatch):
  monkeypatch.setattr(targets.importlib.util, 'find_spec', lambda _: None)
  with pytest.raises(UserError, match=r"pip install 'jax\[tpu\]'"):
    targets.target('v5e:2x2')
  with pytest.raises(UserError, match=r"pip install 'jax\[cuda13\]'"):
    targets.target('h100:1')


@pytest.mark.parametrize(
  'size, sentence',
  [
    ('--mesh_seed=3', 'mesh.seed is 3; it must divide'),
    ('--rows=6', '6 rows cannot be shared by 4 devices'),
  ],
)
def test_wrong_sizes_are_a_sentence(size, sentence):
  needs('tpu')
  asked = ('--target=v5e:2x2', '--model=tiny', '--seeds=1', '--program=train')
  told = run(*asked, size, code=2)
  assert sentence in told and told.count('\n') == 1


SMALL = ('--model=tiny', '--seeds=1', '--rows=16', '--length=64')
# BERT tiny: the tables padded to tiles, two layers, the head.
PARAMETERS = (30592 + 512 + 2) * 128 + 2 * 198_272 + 512 + 128 * 128 + 512


@pytest.mark.parametrize(
  'target, programs, data',
  [
    (['--target=v5e:2x2'], 'train,generate', 4),
    (['--target=h100:1'], 'train,generate', 1),
    # Rows across two slices, and nothing goes through the host.
    (['--target=v5e:2x2', '--slices=2'], 'train', 8),
  ],
)
def test_programs_compile_for_chips_that_are_not_here(target, programs, data):
  needs('tpu' if 'v5e' in target[0] else 'gpu')
  told = run(*target, f'--program={programs}', *SMALL)
  for row in told['programs'].values():
    assert not row['host'], 'it talks to the host'
    assert 0 < row['memory_gb'] < row['limit_gb']
    assert row['temporary_gb'] < 0.2
    reduced = sum(
      one['bytes']
      for one in row['collectives']
      if one['op'] in ('all-reduce', 'reduce-scatter')
    )
    assert reduced <= 4 * PARAMETERS * 1.01
  assert told['programs']['train']['mesh'] == {'seed': 1, 'data': data}
  if 'v5e' in target[0]:
    assert told['programs']['train']['compiler_ms'] > 0


@pytest.mark.parametrize(
  'seeds, shape, across',
  [(2, {'seed': 2, 'data': 16}, 'seed'), (5, {'seed': 1, 'data': 32}, 'data')],
)
def test_several_slices_share_seeds_or_rows(seeds, shape, across):
  needs('tpu')
  script = f"""
    import os
    from fairjax.bench.compiles import aot
    from fairjax.bench.compiles import targets
    os.environ.update(targets.ENVIRONMENT)
    from fairjax import config
    from fairjax.train import mesh
    devices = targets.target('v5e:4x4', slices=2).devices
    place = mesh.make(config.Mesh(), {seeds}, devices)
    assert dict(place.shape) == {shape}
    slices = [[d.slice_index for d in row] for row in place.devices]
    if {across!r} == 'seed':
      assert slices == [[0] * 16, [1] * 16]
    else:
      assert slices == [[0] * 16 + [1] * 16]
  """
  started('-c', textwrap.dedent(script))


DETERMINISTIC = """
import os, re
from fairjax.bench.compiles import targets
os.environ.update(targets.ENVIRONMENT)
import jax
from fairjax import config
from fairjax.core import backend
from fairjax.bench.compiles import aot
from fairjax.bench.compiles import programs
from fairjax.train import mesh
goal = targets.target('h100:1')
size = programs.Size(model='tiny', layers=1, rows=8, length=32, seeds=2)
place = mesh.make(config.Mesh(), size.seeds, goal.devices)
there = jax.sharding.use_abstract_mesh(place.abstract_mesh)
for wanted in (True, False):
  with backend.repeatable(wanted), backend.made_for('gpu'), there:
    traced = programs.train(place, size)
    program = aot.compiled(traced, goal.chip, backend.compiler_options())
  found = re.findall(r' scatter\\(.*', program.as_text())
  print(len(found), sum('unique_indices=true' in one for one in found))
"""


def test_a_deterministic_step_of_a_gpu_adds_in_no_order_nowhere():
  """As compiled for an H100: each scatter writes to a row of its own."""
  needs('gpu')
  assert started('-c', DETERMINISTIC).split() == ['2', '2', '2', '0']
