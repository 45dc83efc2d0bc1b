"""Programs for chips that are not here, compiled by the chips' own compilers.

libtpu and the CUDA plugin are optional (pip install 'jax[tpu]'); what needs
one is skipped without it. They are loaded in a process of their own, since
XLA's flags of the other tests are none of theirs.
"""

import dataclasses
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

from fairjax.bench import __main__ as command
from fairjax.bench.compiles import aot, hlo, programs, targets
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


def run(*args, code=0, flags=''):
  """The last line of the tool; its standard error where it refuses."""
  done = subprocess.run(
    [sys.executable, '-m', 'fairjax.bench', 'aot', *args],
    cwd=ROOT,
    env={**os.environ, 'XLA_FLAGS': flags, 'JAX_COMPILATION_CACHE_DIR': ''},
    capture_output=True,
    text=True,
    timeout=3000,
  )
  assert done.returncode == code, done.stderr[-3000:]
  if code:
    return done.stderr
  return json.loads(done.stdout.splitlines()[-1])


# Reading a program's text

TEXT = """\
HloModule jit_program, is_scheduled=true

%fused (param_0: f32[768,3072], param_1: bf16[64,768]) -> bf16[64,3072] {
  %param_1 = bf16[64,768]{1,0} parameter(1)
  %param_0 = f32[768,3072]{1,0} parameter(0)
  %convert.1 = bf16[768,3072]{1,0} convert(%param_0)
  %half = f32[] constant(0.5)
  %computed = f32[768,512]{1,0} broadcast(%half), dimensions={}
  %narrow = bf16[768,512]{1,0} convert(%computed)
  ROOT %dot.1 = bf16[64,3072]{1,0} dot(%param_1, %convert.1), \
lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/up/dot_general"}
}

%put (param_0.9: bf16[32,96,768], param_1.9: s32[32,2], \
param_2.9: bf16[32,1,768]) -> bf16[32,96,768] {
  %param_2.9 = bf16[32,1,768]{2,1,0} parameter(2)
  %param_1.9 = s32[32,2]{1,0} parameter(1)
  %param_0.9 = bf16[32,96,768]{2,1,0} parameter(0)
  %same = bf16[32,96,768]{2,1,0} bitcast(%param_0.9)
  ROOT %scatter = bf16[32,96,768]{2,1,0} scatter(%same, %param_1.9, \
%param_2.9), to_apply=%test
}

%body (state: (f32[768,3072], bf16[64,768])) -> (f32[768,3072], bf16[64,768]) {
  %state = (f32[768,3072]{1,0}, bf16[64,768]{1,0}) parameter(0)
  %kernel = f32[768,3072]{1,0} get-tuple-element(%state), index=0
  %x = bf16[64,768]{1,0} get-tuple-element(%state), index=1
  %product = bf16[64,3072]{1,0} fusion(%kernel, %x), kind=kOutput, \
calls=%fused, metadata={op_name="jit(f)/up/dot_general"}, \
backend_config={"estimated_cycles":"1000"}
  ROOT %out = (f32[768,3072]{1,0}, bf16[64,768]{1,0}) tuple(%kernel, %x)
}

%test (state.1: (f32[768,3072], bf16[64,768])) -> pred[] {
  %state.1 = (f32[768,3072]{1,0}, bf16[64,768]{1,0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (a: f32[768,3072], b: bf16[64,768]) -> f32[5,7] {
  %a = f32[768,3072]{1,0} parameter(0)
  %b = bf16[64,768]{1,0} parameter(1)
  %both = (f32[768,3072]{1,0}, bf16[64,768]{1,0}) tuple(%a, %b)
  %loop = (f32[768,3072]{1,0}, bf16[64,768]{1,0}) while(%both), \
condition=%test, body=%body, \
backend_config={"known_trip_count":{"n":"4"}}
  %odd = f32[5,7]{1,0:T(8,128)} copy(%a)
  %start = f32[1000,100]{1,0} all-reduce-start(%a), to_apply=%test
  %between = f32[5,7]{1,0:T(8,128)S(1)} fusion(%odd), kind=kLoop, calls=%fused
  %done = f32[1000,100]{1,0} all-reduce-done(%start)
  %alone = bf16[1000,100]{1,0} all-reduce(%b), to_apply=%test
  %call = f32[] custom-call(%a), custom_call_target="xla_python_cpu_callback"
  %cache = bf16[32,96,768]{2,1,0} parameter(2)
  %where = s32[32,2]{1,0} parameter(3)
  %new = bf16[32,1,768]{2,1,0} parameter(4)
  %written = bf16[32,96,768]{2,1,0} fusion(%cache, %where, %new), \
kind=kInput, calls=%put, metadata={op_name="jit(f)/scatter"}
  %there = (f32[40,10]{1,0:T(8,128)}, u32[], token[]) send(%a, %token), \
channel_id=9, is_host_transfer=true, \
frontend_attributes={_xla_megascale_transfer_type="ALL_GATHER"}
  %sent = token[] send-done(%there), channel_id=9
  ROOT %exact = f32[5,7]{1,0} dot(%a, %a), lhs_contracting_dims={0}, \
rhs_contracting_dims={0}, metadata={op_name="jit(f)/head"}
}
"""


def test_a_program_is_counted_from_its_text():
  summary = hlo.read(TEXT)
  product, exact = 2 * 64 * 768 * 3072, 2 * 5 * 7 * 768
  # The fusion outside the loop calls the same computation once.
  assert summary.flops == pytest.approx(5 * product + exact)
  assert summary.cycles == 4 * 1000
  assert summary.wide_flops == {'jit(f)/head': exact}
  assert summary.loop_converts == ['bf16[768, 3072]']
  assert summary.host == ['xla_python_cpu_callback']
  assert {tuple(one) for one in summary.collectives} == {
    ('all-reduce', 1, 4e5, 'f32', True),
    ('all-reduce', 1, 2e5, 'bf16', False),
    ('all-gather to slices', 1, 1600, 'f32', False),
  }
  kernel, x, y = 4 * 768 * 3072, 2 * 64 * 768, 2 * 64 * 3072
  tile = 4 * 8 * 128  # what 5 × 7 takes
  copy = kernel + tile
  assert summary.copies == copy
  between = tile  # it writes to on-chip memory
  costs = {one.op: one.bytes for one in summary.costs if one.op == 'copy'}
  assert costs == {'copy': copy}
  fusions = [one.bytes for one in summary.costs if one.op == 'fusion']
  new, where = 2 * 32 * 768, 4 * 32 * 2  # the cache itself does not cross
  assert sorted(fusions) == [between, 3 * new + where, 4 * (kernel + x + y)]


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
      "there is no program 'trian'; there are train",
    ),
    (['--target=v5e:2x2', '--seeds=0'], '--seeds is 0; at least 1'),
    (['--target=v5e:2x2', '--xla=fast'], "--xla is 'fast'; NAME=VALUE is"),
  ],
)
def test_unknown_words_are_a_sentence(args, sentence, capsys, monkeypatch):
  monkeypatch.setattr(targets, '_need', lambda *_: None)
  assert command.main(['aot', *args]) == 2
  told = capsys.readouterr().err
  assert sentence in told and told.count('\n') == 1


def test_no_platform_of_the_users_is_in_the_way(monkeypatch):
  """A process that compiles for other devices loads none of its own."""
  monkeypatch.setattr(targets, '_need', lambda *_: None)
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
  'args, sentence',
  [
    (['--program=train', '--mesh_seed=3'], 'mesh.seed is 3; it must divide'),
    (['--program=train', '--rows=6'], '6 rows cannot be shared by 4 devices'),
    (['--program=resamples', '--xla=xla_quick=true'], 'No such compile option'),
  ],
)
def test_wrong_sizes_are_a_sentence(args, sentence):
  needs('tpu')
  told = run('--target=v5e:2x2', '--model=tiny', '--seeds=1', *args, code=2)
  assert sentence in told and told.count('\n') == 1


@pytest.mark.parametrize('says', [True, False])
def test_the_largest_number_of_seeds_that_fits(says, monkeypatch):
  """Whether or not the compiler says how much is too much."""
  chip = targets.CHIPS['v5e']
  need = lambda seeds: (seeds + 0.5) * chip.memory / 4.2  # 3 fit
  tries = []

  def measure(name, goal, size):
    tries.append(size.seeds)
    if need(size.seeds) > chip.memory:
      raise aot.TooLarge(need(size.seeds) if says else 0.0)

  monkeypatch.setattr(aot, 'measure', measure)
  size = dataclasses.make_dataclass('Size', ['seeds'])(10)
  goal = targets.Target('v5e:1x1', chip, [], 1)
  needed = need(10) if says else 0.0
  assert aot.fitting('train', goal, size, needed) == 3
  assert tries == ([4, 3] if says else [9, 8, 7, 6, 5, 4, 3])


def test_a_sweep_takes_as_many_rows_as_fit(monkeypatch, capsys):
  """As a run does, which halves its batch."""

  def measure(name, goal, size, *rest, **more):
    if size.rows > 16:
      raise aot.TooLarge(0.0)
    return {'program': name, 'dearest': [], 'compiler_ms': 1.0}

  goal = targets.Target('v5e:2x2', targets.CHIPS['v5e'], [None] * 4, 1)
  monkeypatch.setattr(aot, 'measure', measure)
  monkeypatch.setattr(aot, 'line', lambda row: row['program'])
  monkeypatch.setattr(targets, 'target', lambda *_: goal)
  report = aot.run(['--target=v5e:2x2', '--program=grand', '--rows=64'])
  assert report['programs']['grand']['rows'] == 16
  assert '64 rows do not fit, 16 at a time do' in capsys.readouterr().out
  assert aot.halved('grand', goal, programs.Size(rows=4)) is None


@pytest.mark.slow
def test_more_seeds_than_fit_are_a_sentence():
  needs('tpu')
  told = run(
    *('--target=v5e:1x1', '--program=resamples', '--seeds=20000'), code=2
  )
  assert 'does not fit into the 15.8 GiB of a v5e; ' in told


# The programs


def check(row, size):
  """What holds of every program; `row` is the tool's line about one."""
  assert row['host'] == [], 'it talks to the host'
  assert row['loop_converts'] == [], 'weights are converted at every token'
  if row['program'] not in ('resamples', 'flow'):  # float32 on purpose
    assert row['float32_gflop'] < 1
  assert 0 < row['memory_gb'] < row['limit_gb']
  reduced = sum(
    one['bytes']
    for one in row['collectives']
    if one['op'] in ('all-reduce', 'reduce-scatter')
  )
  assert reduced <= 4 * size['parameters'] * size['seeds'] * 1.01


SMALL = ('--model=tiny', '--seeds=1', '--rows=16', '--length=64')
# BERT tiny: the tables padded to tiles, two layers, the head.
PARAMETERS = (30592 + 512 + 2) * 128 + 2 * 198_272 + 512 + 128 * 128 + 512


@pytest.mark.parametrize('target', ['v5e:2x2', 'h100:1'])
def test_programs_compile_for_chips_that_are_not_here(target):
  needs(targets.CHIPS[target.split(':')[0]].platform)
  told = run(f'--target={target}', '--program=train,generate', *SMALL)
  size = {'parameters': PARAMETERS, 'seeds': 1}
  for row in told['programs'].values():
    check(row, size)
    assert row['temporary_gb'] < 0.2
  if target == 'v5e:2x2':
    assert told['programs']['train']['mesh'] == {'seed': 1, 'data': 4}
    assert told['programs']['train']['compiler_ms'] > 0


def test_a_left_to_right_model_decodes_with_drafts():
  """Places of 16 tokens a slot cross memory, and no weight twice."""
  needs('gpu')
  model = ['--model=SmolLM2-135M', '--layers=1', '--seeds=1', '--slots=8']
  rows = [
    run('--target=h200:1', '--program=generate', *model, *more)['programs']
    for more in ([], ['--draft=15'])
  ]
  plain, drafted = (row['generate'] for row in rows)
  assert drafted['tflop'] == pytest.approx(16 * plain['tflop'], rel=0.1)
  assert not drafted['loop_converts']
  assert plain['traffic_gb'] > 2 * 49152 * 576 / 1e9  # its own words, once
  told = run('--target=h200:1', '--program=generate', '--model=ours', code=2)
  assert "no model shape is named 'ours'" in told


@pytest.mark.slow
@pytest.mark.parametrize('target', ['v5e:1x1', 'h100:1'])
def test_a_token_costs_what_must_be_read(target):
  """BART-base: the decoder's weights, its caches, the word table, once each.

  On a GPU without the sums of products that the untuned compiler cuts into
  parts, which are a few MB, written and read at once.
  """
  chip = targets.CHIPS[target.split(':')[0]]
  needs(chip.platform)
  xla = ['--xla=xla_gpu_experimental_force_split_k=1']
  told = run(
    *(f'--target={target}', '--program=generate', '--seeds=1'),
    *(xla if chip.platform == 'gpu' else []),
  )
  row = told['programs']['generate']
  weights = 30522 * 768 + 6 * 768 * (3 + 1 + 1 + 1 + 4 + 4) * 768
  places = 32 * 2 * 6 * (96 + 64) * 768
  floor = 2 * (weights + places) / chip.bandwidth * 1e3
  assert (row['compiler_ms'] or row['memory_ms']) < 1.2 * floor


@pytest.mark.slow
@pytest.mark.parametrize(
  'target, seeds', [('h100:1', 5), ('v5e:2x2', 5), ('v4:2x2x1', 1)]
)
def test_bert_base_compiles_and_beats_a_textbook_step(target, seeds):
  platform = targets.CHIPS[target.split(':')[0]].platform
  needs(platform)
  programs = ['--program=train,grand,predict,generate,resamples']
  parameters = 109_600_000
  if platform == 'tpu':  # two layers are minutes
    programs = ['--program=train', '--layers=2']
    parameters -= 10 * 7_087_872
  told = run(
    f'--target={target}', *programs, f'--seeds={seeds}', '--beside=plain'
  )
  for row in told['programs'].values():
    check(row, {'parameters': parameters, 'seeds': seeds})
  assert told['ratio'] > 1


def test_a_step_compiles_for_two_slices():
  """Rows across them; what crosses the slower links is not the host's."""
  needs('tpu')
  told = run('--target=v5e:2x2', '--slices=2', '--program=train', *SMALL)
  row = told['programs']['train']
  check(row, {'parameters': PARAMETERS, 'seeds': 1})
  assert row['mesh'] == {'seed': 1, 'data': 8}
  crossing = [c for c in row['collectives'] if c['op'].endswith('to slices')]
  assert 0 < sum(one['bytes'] for one in crossing) < 4 * PARAMETERS


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
  done = subprocess.run(
    [sys.executable, '-c', textwrap.dedent(script)],
    cwd=ROOT,
    capture_output=True,
    text=True,
    timeout=300,
  )
  assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize('devices, fsdp', [(1, False), (4, False), (4, True)])
def test_what_a_fit_holds_beside_its_step_is_what_arrays_hold(devices, fsdp):
  """The kept weights, those gathered to be read, and those in bfloat16."""
  import jax

  from fairjax import config
  from fairjax.models.layers import layer_params
  from fairjax.train import loop, mesh

  place = mesh.make(config.Mesh(), 1, jax.devices()[:devices])
  size = programs.Size(model='tiny', seeds=1, rows=8, length=16, fsdp=fsdp)
  model = programs.bundle(size, 'classify', classes=2)
  params = loop.initial(model, [0])
  own = lambda tree: sum(
    leaf.addressable_shards[0].data.nbytes for leaf in jax.tree.leaves(tree)
  )
  held = mesh.put_held(place, layer_params.padded(params), fsdp)
  whole = mesh.whole(place, held, fsdp)
  arrays = programs.batch(place, size, over_seeds=False)
  narrow = layer_params.as_read(model.module, whole, arrays)
  copies = [
    new
    for old, new in zip(jax.tree.leaves(whole), jax.tree.leaves(narrow))
    if old is not new
  ]
  gathered = 0 if whole is held else own(whole)
  kept, read = programs.beside_step(place, size, 'classify')
  assert kept == own(held)
  assert read == gathered + own(copies) > 0


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
  done = subprocess.run(
    [sys.executable, '-c', DETERMINISTIC],
    cwd=ROOT,
    env={**os.environ, 'XLA_FLAGS': '', 'JAX_COMPILATION_CACHE_DIR': ''},
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr[-3000:]
  assert done.stdout.split() == ['2', '2', '2', '0']


def ptxas():
  """NVIDIA's assembler, of `pip install 'jax-cuda13-plugin[with-cuda]'`."""
  found = importlib.util.find_spec('nvidia')
  for place in found.submodule_search_locations if found else ():
    for path in sorted(pathlib.Path(place).glob('*/bin/ptxas')):
      return path
  pytest.skip('ptxas is not installed')


def assembled(tool, ptx):
  """(registers of a thread, bytes that it spills) of a kernel for an H100."""
  done = subprocess.run(
    [tool, '-v', '-arch=sm_90a', ptx, '-o', os.devnull],
    capture_output=True,
    text=True,
    check=True,
  )
  registers = re.search(r'Used (\d+) registers', done.stderr)
  spilled = re.search(r'(\d+) bytes spill stores', done.stderr)
  return int(registers[1]), int(spilled[1])


def test_kernels_of_ours_fit_the_registers_of_a_program(tmp_path):
  """What is spilled goes through memory: what a kernel is there to avoid."""
  needs('gpu')
  tool, kernels = ptxas(), {}
  run(
    *('--target=h100:1', '--program=grand', '--kernels=on', '--seeds=1'),
    *('--model=bert-base-uncased', '--layers=2', '--rows=16', '--length=128'),
    flags=f'--xla_dump_to={tmp_path} --xla_dump_hlo_pass_re=NONE',
  )
  for path in tmp_path.glob('*.ptx'):
    entry = re.search(r'\.entry (\w*_kernel\w*)\(', path.read_text())
    if entry:
      kernels[entry[1]] = assembled(tool, path)
  assert {'_forward_kernel', '_backward_kernel', '_kernel'} <= set(kernels)
  assert {name: spilled for name, (_, spilled) in kernels.items()} == (
    dict.fromkeys(kernels, 0)
  )


@pytest.mark.parametrize('module', ['no_such', 'no_such.xla_cuda13'])
def test_a_compiler_that_is_not_installed_is_one_sentence(module):
  """Of a module in a package that is not there Python raises an error."""
  with pytest.raises(UserError, match=r"pip install 'jax\[cuda13\]'"):
    targets._need(module, 'the CUDA plugin of jax', 'cuda13')
