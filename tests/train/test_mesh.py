"""Who the other processes are, and what platform programs are made for."""

import http.server
import os
import signal
import socket
import subprocess
import sys
import threading

import jax
import numpy as np
import pytest
import small

from fairjax.config import Mesh
from fairjax.core import backend
from fairjax.train import mesh


@pytest.fixture(autouse=True)
def plain(monkeypatch):
  for name in (
    *('SLURM_NTASKS', 'SLURM_STEP_NODELIST', 'TPU_WORKER_HOSTNAMES'),
    *('TPU_PROCESS_ADDRESSES', 'MEGASCALE_NUM_SLICES', 'TPU_SKIP_MDS_QUERY'),
  ):
    monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
  'variables, joined',
  [
    ({}, False),
    ({'SLURM_NTASKS': '4'}, False),  # in an allocation, not in a step
    ({'SLURM_NTASKS': '4', 'SLURM_STEP_NODELIST': 'n[1-4]'}, True),
    ({'TPU_WORKER_HOSTNAMES': 'a'}, False),
    ({'TPU_WORKER_HOSTNAMES': 'a,b'}, True),
    ({'TPU_PROCESS_ADDRESSES': 'a:1,b:1'}, True),
    ({'MEGASCALE_NUM_SLICES': '1'}, False),
    ({'MEGASCALE_NUM_SLICES': '2', 'TPU_WORKER_HOSTNAMES': 'a'}, True),
  ],
)
def test_clusters_are_known_by_their_variables(monkeypatch, variables, joined):
  for name, value in variables.items():
    monkeypatch.setenv(name, value)
  assert mesh.in_a_cluster() is joined


def test_processes_that_jax_finds_are_watched(monkeypatch):
  """They are joined by fairjax's ways, at the address that jax would take."""
  for name, value in {
    **{'SLURM_JOB_ID': '7', 'SLURM_STEP_NODELIST': 'node[03-05],other'},
    **{'SLURM_NTASKS': '4', 'SLURM_PROCID': '2', 'SLURM_LOCALID': '0'},
    'JAX_COORDINATOR_PORT': '5000',
  }.items():
    monkeypatch.setenv(name, value)
  joined = []
  monkeypatch.setattr(mesh.peers, 'join', lambda *to: joined.append(to[:3]))
  monkeypatch.setattr(jax.distributed, 'initialize', None)
  monkeypatch.setattr(mesh, 'keep_programs', lambda: None)
  monkeypatch.setattr(mesh.kernel_table, 'in_all', None)
  mesh.start()
  assert joined == [('node03:5000', 4, 2)]
  # Where jax has changed the name, it joins them by itself.
  monkeypatch.delattr('jax._src.clusters.ClusterEnv')
  monkeypatch.setattr(jax.distributed, 'initialize', lambda: joined.append(()))
  mesh.start()
  assert joined[1:] == [()]


class Metadata(http.server.BaseHTTPRequestHandler):
  workers = ''

  def do_GET(self):
    assert self.headers['Metadata-Flavor'] == 'Google'
    self.send_response(200 if self.workers else 404)
    self.end_headers()
    self.wfile.write(self.workers.encode())

  def log_message(self, *_):
    pass


@pytest.mark.parametrize(
  'workers, joined',
  [('', False), ('w0:1:10.0.0.1', False), ('a:1:10.0.0.1,b:2:10.0.0.2', True)],
)
def test_tpu_vms_are_known_by_their_metadata_server(
  monkeypatch, tmp_path, workers, joined
):
  (tmp_path / 'accel0').write_text('')
  monkeypatch.setattr(mesh, 'TPU_FILES', (str(tmp_path / 'accel0'),))
  monkeypatch.setattr(Metadata, 'workers', workers)
  server = http.server.HTTPServer(('127.0.0.1', 0), Metadata)
  threading.Thread(target=server.serve_forever, daemon=True).start()
  host = f'127.0.0.1:{server.server_port}'
  monkeypatch.setenv('GCE_METADATA_IP', host)
  assert mesh.in_a_cluster() is joined
  server.shutdown()
  server.server_close()


def test_a_metadata_server_that_is_silent_is_not_waited_for(
  monkeypatch, tmp_path
):
  (tmp_path / 'accel0').write_text('')
  monkeypatch.setattr(mesh, 'TPU_FILES', (str(tmp_path / 'accel0'),))
  monkeypatch.setattr(mesh, 'METADATA_SECONDS', 0.1)
  with socket.socket() as silent:
    silent.bind(('127.0.0.1', 0))
    silent.listen()
    port = silent.getsockname()[1]
    monkeypatch.setenv('GCE_METADATA_IP', f'127.0.0.1:{port}')
    assert mesh.in_a_cluster() is False


def test_a_batch_key_of_no_known_axes_is_refused():
  """Replicated rows would be computed by every device."""
  device_mesh = mesh.make(Mesh(), 1)
  batch = {'tokens': np.zeros((1, 4, 8), np.int32)}
  mesh.put_batch(device_mesh, batch, stacked=True)
  with pytest.raises(KeyError, match='toekns'):
    mesh.put_batch(device_mesh, {'toekns': batch['tokens']}, stacked=True)


def test_a_tool_says_what_programs_are_made_for():
  assert mesh.platform() == 'cpu'
  place = small.place()
  double = lambda a: mesh.over_seeds(place, lambda one: one * 2)(a)
  looped = lambda: 'scan' in str(jax.make_jaxpr(double)(np.ones((2, 3))))
  assert looped()
  with backend.made_for('tpu'):
    assert mesh.platform() == 'tpu'
    assert not looped()
  assert looped()


def test_parameters_are_gathered_by_one_program(caplog):
  """However often a fit is evaluated."""
  place = small.place(1, 4)
  state = {'a': np.ones((1, 512, 128), np.float32), 'b': np.zeros((1, 3))}
  held = mesh.put_held(place, state)
  assert not held['a'].sharding.is_fully_replicated
  compiled = []
  for _ in range(3):
    caplog.clear()
    with jax.log_compiles():
      whole = mesh.whole(place, held)
    compiled.append(sum('Compiling' in r.getMessage() for r in caplog.records))
    assert whole['a'].sharding.is_fully_replicated
    jax.tree.map(np.testing.assert_array_equal, whole, state)
  assert compiled == [1, 0, 0]


JOINED = """
import sys, time
from fairjax.train import mesh
mesh.start(sys.argv[1], 1, 0)
print('joined', flush=True)
time.sleep(60)
"""


def test_sigterm_before_the_first_fit_ends_a_joined_process(tmp_path):
  """jax's preemption service would swallow it."""
  with socket.socket() as free:
    free.bind(('localhost', 0))
    address = f'localhost:{free.getsockname()[1]}'
  run = subprocess.Popen(
    [sys.executable, '-c', JOINED, address],
    env=os.environ | {'JAX_PLATFORMS': 'cpu', 'PYTHONPATH': os.getcwd()},
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
  )
  assert run.stdout.readline() == b'joined\n'
  run.send_signal(signal.SIGTERM)
  try:
    assert run.wait(timeout=10) == -signal.SIGTERM
  finally:
    run.kill()
    run.stdout.close()


WATCHED = """
import time
from fairjax.train import mesh
mesh.start()
print('joined', flush=True)
time.sleep(60)
"""


def test_the_end_of_a_process_that_jax_found_is_told():
  """jax alone aborts with a stack trace where process 0 ends."""
  with socket.socket() as free:
    free.bind(('localhost', 0))
    port = str(free.getsockname()[1])
  slurm = {'SLURM_JOB_ID': '7', 'SLURM_STEP_NODELIST': 'localhost'}
  slurm |= {'SLURM_NTASKS': '2', 'JAX_COORDINATOR_PORT': port}
  slurm |= {'JAX_PLATFORMS': 'cpu', 'PYTHONPATH': os.getcwd()}
  first, second = (
    subprocess.Popen(
      [sys.executable, '-c', WATCHED],
      env=os.environ | slurm | {'SLURM_PROCID': k, 'SLURM_LOCALID': k},
      stdout=subprocess.PIPE,
      stderr=subprocess.PIPE,
    )
    for k in '01'
  )
  try:
    assert first.stdout.readline() == second.stdout.readline() == b'joined\n'
    first.kill()
    _, said = second.communicate(timeout=30)
  finally:
    for process in (first, second):
      process.kill()
      process.communicate()
  assert second.returncode == 75
  assert said == (
    b'fairjax: process 0 of 2 has ended; what was finished is kept, run again '
    b'to go on\n'
  )
