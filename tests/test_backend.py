"""What the chips can do, and what is said where a precision is slow on them."""

import json
import warnings

import jax
import pytest

from fairjax.config import Config, Net
from fairjax.core import announce, backend
from fairjax.models import build
from fairjax.stages import runs
from fairjax.stages.identity import identity

CPUS = {  # flags of real machines, shortened, and whether each is emulated
  'AVX2': ('flags : fpu sse4_2 avx avx2 fma', True, True),
  'AVX2+VNNI': ('flags : avx avx2 fma avx_vnni', True, False),
  'AVX-512': ('flags : avx2 avx512f avx512bw', True, True),
  'AVX-512+VNNI': ('flags : avx2 avx512f avx512_vnni', True, False),
  'AVX-512+VNNI+bf16': (
    'flags : avx2 avx512f avx512_vnni avx512_bf16',
    *(False, False),
  ),
  'AVX-512+VNNI+bf16+AMX': (
    'flags : avx2 avx512f avx512_vnni avx512_bf16 amx_bf16 amx_tile amx_int8',
    *(False, False),
  ),
}


@pytest.fixture
def cpu(monkeypatch, tmp_path):
  """Puts a machine in the place of this one."""

  def put(text: str) -> None:
    path = tmp_path / 'cpuinfo'
    path.write_text(f'processor : 0\nmodel name : A Chip\n{text}\n\n')
    monkeypatch.setattr(backend, 'CPUINFO', str(path))
    backend.processor.cache_clear()

  yield put
  backend.processor.cache_clear()


@pytest.mark.parametrize('kind', CPUS)
def test_a_precision_that_a_cpu_emulates_is_said(cpu, kind):
  text, bfloat16, int8 = CPUS[kind]
  cpu(text)
  assert backend.processor().kind == kind
  assert backend.processor().described()['cpu'] == 'A Chip'
  assert bool(backend.slowness('bfloat16')) is bfloat16
  assert bool(backend.slowness('int8')) is int8
  assert backend.slowness('float32') == ''
  assert backend.resolved('auto') == 'float32'
  answers = 'float32' if bfloat16 else 'bfloat16'
  assert backend.inference('auto') == answers


def test_of_an_unknown_processor_nothing_is_said(monkeypatch, tmp_path):
  monkeypatch.setattr(backend, 'CPUINFO', str(tmp_path / 'none'))
  backend.processor.cache_clear()
  assert backend.processor().features is None
  assert backend.slowness('int8') == backend.slowness('bfloat16') == ''
  assert backend.inference('auto') == 'float32'
  assert backend.processor().kind
  backend.processor.cache_clear()


@pytest.mark.parametrize(
  'able, auto', [('7.5', 'float32'), ('7.0', 'float32'), ('8.0', 'bfloat16')]
)
def test_auto_takes_no_precision_that_a_gpu_emulates(monkeypatch, able, auto):
  class Device:
    compute_capability = able

  monkeypatch.setattr(jax, 'default_backend', lambda: 'gpu')
  monkeypatch.setattr(jax, 'local_devices', lambda: [Device()])
  assert backend.resolved('auto') == auto
  assert bool(backend.slowness('bfloat16')) is (auto == 'float32')
  said = []
  monkeypatch.setattr(announce, 'NOTED', [said.append])
  options = Config(net=Net(precision='auto'))
  assert build.precision(options) == auto and not said
  other = identity(options, 'training')
  same = identity(Config(net=Net(precision=auto)), 'training')
  assert other == same


def test_the_sentence_comes_by_the_log_of_a_run_or_as_a_warning(
  cpu, monkeypatch
):
  cpu(CPUS['AVX2'][0])
  options = Config(net=Net(precision='int8'))
  with pytest.warns(UserWarning, match='no VNNI: int8 is emulated'):
    assert build.precision(options) == 'float32'
  said = []
  monkeypatch.setattr(announce, 'NOTED', [said.append])
  with warnings.catch_warnings():
    warnings.simplefilter('error')
    build.precision(options)
  assert said == [backend.slowness('int8')]


def test_versions_name_the_precision_and_the_processor(cpu):
  cpu(CPUS['AVX-512+VNNI'][0])
  found = json.loads(json.dumps(runs.versions(Config())))
  assert found['precision'] == 'float32'
  assert found['processor'] == {
    'cpu': 'A Chip',
    'class': 'AVX-512+VNNI',
    'instructions': ['avx2', 'avx512f', 'avx512_vnni'],
  }
  assert runs.versions(Config(net=Net(precision='int8')))['precision'] == 'int8'


def test_a_stage_knows_all_models_of_a_run(tmp_path):
  """A fairscore of a run of two seeds asked for one of them."""
  (tmp_path / 'results.json').write_text('{"recipe": "train"}')
  for seed in 'seed_0', 'seed_1':
    (tmp_path / 'export' / seed).mkdir(parents=True)
    (tmp_path / 'export' / seed / 'config.json').write_text('{}')
  asked = Config(model=str(tmp_path))
  one = identity(asked, 'texts')
  (tmp_path / 'export' / 'seed_1' / 'config.json').write_text('{"a": 1}')
  assert identity(asked, 'texts') != one
