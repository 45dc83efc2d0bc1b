"""Devices and processes: the only file that counts them.

The mesh has two axes. Stacked parameters are sharded over `seed`, the rows of
a packed batch over `data`; with `fsdp` large parameters are sharded over
`data` too. Every process makes the same global batch (it is cheap) and hands
each of its devices the part that belongs there, so the number of processes
never changes a result.
"""

import functools
import os
import pathlib
import urllib.request
import warnings
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from fairjax import config as configs
from fairjax.core import cache
from fairjax.core.backend import platform, processor
from fairjax.core.errors import UserError
from fairjax.data.placement import Placement
from fairjax.models.kernels import kernel_table
from fairjax.train import peers

ROWS = (  # have a row axis
  *('tokens', 'segment_ids', 'positions', 'types', 'head_columns'),
  *('places', 'asked', 'labels'),  # of a masked LM
  *('target', 'target_segment_ids', 'target_positions'),  # of a BART
  'changed',  # of pairs that are rewritten
)
EXAMPLES = (  # one value an example, a batch or a vector: each device has all
  *('head_index', 'example', 'label', 'weight', 'document', 'group', 'states'),
  *('share', 'pair_share', 'judged_share', 'push'),
  *('vector', 'first', 'second', 'side'),  # of words
)
TPU_FILES = ('/dev/accel0', '/dev/vfio/0')  # of a TPU VM
METADATA_SECONDS = 2.0
FSDP_SMALLEST = 2**16  # elements; smaller parameters are replicated


def start(
  address: str = '', count: int = 0, index: int = -1, join: bool = False
) -> None:
  """Joins the other processes, if any, and turns the compile cache on.

  With `join` there must be some that jax finds by itself.
  """
  address = address or os.environ.get('JAX_COORDINATOR_ADDRESS', '')
  # jax reads the address alone from the environment.
  count = count or int(os.environ.get('JAX_NUM_PROCESSES', 0))
  if index < 0:
    index = int(os.environ.get('JAX_PROCESS_ID', -1))
  if address and (count < 1 or not 0 <= index < count):
    raise UserError(
      f'with --coordinator_address, --num_processes (now {count}) and '
      f'--process_id (now {index}, counted from 0) are needed too'
    )
  # It would take SIGTERM for itself, so that none ended a run before a fit.
  jax.config.update('jax_enable_preemption_service', False)
  if count > 1 and not address and not (join or in_a_cluster()):
    raise UserError(
      f'--num_processes is {count}, but no --coordinator_address is named; '
      'alone each process would train for itself'
    )
  if address and count > 1:
    try:
      peers.join(address, count, index, jax.distributed.initialize)
    except (OSError, ValueError, RuntimeError) as error:
      raise UserError(
        f'the {count} processes cannot be joined at {address} '
        f'({str(error).splitlines()[0][:200]}); name a host and a free port '
        'with --coordinator_address'
      ) from error
  elif address:
    jax.distributed.initialize(address, count, index)
  elif join or in_a_cluster():
    try:
      found, number, own = _found_by_jax()
      if found and number and number > 1:
        peers.join(found, number, own or 0, jax.distributed.initialize)
      else:
        jax.distributed.initialize()
    except (OSError, ValueError, RuntimeError) as error:
      raise UserError(
        f'the other processes cannot be joined ({str(error).splitlines()[0]}); '
        'name them with --coordinator_address, --num_processes, --process_id'
      ) from error
  kernel_table.in_all = lambda found: not any_process(not found)
  keep_programs()


def _found_by_jax() -> tuple[str | None, int | None, int | None]:
  """Where process 0 is, how many there are, and which this one is.

  As jax.distributed finds them (Slurm, TPU pods, …), by a name that jax may
  change: then it joins them by itself, and a peer's end is not watched.
  """
  try:
    from jax._src.clusters import ClusterEnv

    detect = ClusterEnv.auto_detect_unset_distributed_params
    return detect(None, None, None, None, None, int(peers.PATIENCE))[:3]
  except (ImportError, AttributeError, TypeError):
    return None, None, None


def keep_programs() -> None:
  """Compiled programs are kept where jax was told to, or in the cache."""
  known: Any = jax.config
  own = known.jax_compilation_cache_dir
  place = cache.usable(pathlib.Path(own)) if own else cache.subfolder('xla')
  jax.config.update('jax_compilation_cache_dir', place and str(place))
  # A disk that fills up costs the next run its seconds, and no more.
  warnings.filterwarnings(
    'ignore', message='Error (reading|writing) persistent compilation cache'
  )
  # A first run has fifty programs that compile in less than jax's second.
  jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)


def in_a_cluster() -> bool:
  """True where jax can find the other processes by itself."""
  slurm = int(os.environ.get('SLURM_NTASKS', 1)) > 1
  if slurm and 'SLURM_STEP_NODELIST' in os.environ:
    return True
  slices = int(os.environ.get('MEGASCALE_NUM_SLICES') or 1)
  return slices > 1 or _gke_workers() > 1 or _gce_workers() > 1


def _gke_workers() -> int:
  """Hosts of a TPU slice on GKE, by its newer or its older variable."""
  hosts = os.environ.get('TPU_PROCESS_ADDRESSES') or os.environ.get(
    'TPU_WORKER_HOSTNAMES', ''
  )
  return len(hosts.split(','))


def _gce_workers() -> int:
  """Hosts of a TPU VM's slice, as its metadata server reports; 1 elsewhere.

  Asked only where there is a TPU's device file, and for two seconds at most.
  """
  if 'TPU_SKIP_MDS_QUERY' in os.environ or not any(
    os.path.exists(path) for path in TPU_FILES
  ):
    return 1
  server = os.environ.get('GCE_METADATA_IP', 'metadata.google.internal')
  request = urllib.request.Request(
    f'http://{server}/computeMetadata/v1/instance/attributes/'
    'worker-network-endpoints',
    headers={'Metadata-Flavor': 'Google'},
  )
  try:
    with urllib.request.urlopen(request, timeout=METADATA_SECONDS) as answer:
      return len(answer.read().decode().split(','))
  except (OSError, ValueError):
    return 1


def make(
  options: configs.Mesh, seeds: int, devices: Sequence | None = None
) -> Mesh:
  """All devices as (seed, data); by default seeds spread as far as they go."""
  devices = jax.devices() if devices is None else devices
  count = len(devices)
  if options.seed:
    if count % options.seed or seeds % options.seed:
      raise UserError(
        f'mesh.seed is {options.seed}; it must divide the {count} devices '
        f'and the {seeds} seeds'
      )
    along = options.seed
  else:
    along = int(np.gcd(count, seeds))  # both divide: no seed is padded
  shape, names = (along, count // along), ('seed', 'data')
  kinds = (AxisType.Auto,) * 2
  tpus = [d for d in devices if d.platform == 'tpu']
  slices = len({getattr(d, 'slice_index', 0) for d in tpus})
  if slices < 2:
    return jax.make_mesh(shape, names, axis_types=kinds, devices=devices)
  return Mesh(_over_slices(devices, shape, slices), names, axis_types=kinds)


def _over_slices(
  devices: Sequence, shape: tuple[int, int], slices: int
) -> np.ndarray:
  """Seeds across slices where they can be, which talk to none; else rows."""
  from jax.experimental import mesh_utils

  for axis in (0, 1):  # seeds first: they need no links between slices
    if shape[axis] % slices == 0:
      inside, across = list(shape), [1, 1]
      inside[axis], across[axis] = shape[axis] // slices, slices
      return mesh_utils.create_hybrid_device_mesh(inside, across, devices)
  raise UserError(
    f'{slices} slices cannot share a mesh of {shape[0]} × {shape[1]} devices; '
    f'choose seeds, or mesh.seed, that are a multiple of {slices} or odd'
  )


def is_main() -> bool:
  """True in the one process that writes files and speaks."""
  return jax.process_index() == 0


def is_alone() -> bool:
  """True where there is no other process."""
  return jax.process_count() == 1


def layout() -> dict:
  """On what a run runs, as versions.json keeps it."""
  return {
    'backend': platform(),
    'device': jax.devices()[0].device_kind,
    'processor': processor().described(),
    'devices': jax.device_count(),
    'processes': jax.process_count(),
  }


def over_seeds(mesh: Mesh, function):
  """`function` mapped over the leading (seed) axis of every argument."""
  # One seed fills a CPU's cores; on an accelerator stacked ones fill the chip.
  if mesh.shape['seed'] > 1 or platform() != 'cpu':
    return jax.vmap(function)

  def one_after_another(*stacked):
    if jax.tree.leaves(stacked)[0].shape[0] == 1:
      first = function(*jax.tree.map(lambda a: a[0], stacked))
      return jax.tree.map(lambda a: a[None], first)
    return jax.lax.map(lambda one: function(*one), stacked)

  return one_after_another


def put_batch(mesh: Mesh, batch: dict, stacked: bool) -> dict:
  """A host batch as global arrays: rows over `data`, seeds over `seed`."""
  where = {
    name: batch_sharding(mesh, name, array.ndim, stacked)
    for name, array in batch.items()
  }
  if is_alone():
    return jax.device_put(batch, where)  # at once: a call for each costs more
  return jax.tree.map(_put, batch, where)


def batch_sharding(
  mesh: Mesh, name: str, ndim: int, stacked: bool
) -> NamedSharding:
  """Where an array of a batch lies."""
  # Replicated rows give the same numbers, at many times the work.
  if name not in ROWS + EXAMPLES:
    raise KeyError(f'put {name!r} of a batch into ROWS or EXAMPLES of mesh.py')
  spec: tuple = ('seed',) if stacked else ()
  if name in ROWS:
    # A micro-batch axis may stand between seeds and rows.
    spec = spec + (None,) * (ndim - len(spec) - 2) + ('data',)
  return NamedSharding(mesh, P(*spec))


def put_state(mesh: Mesh, state, fsdp: bool = False):
  """Stacked parameters where they are read."""
  return jax.tree.map(_put, state, state_shardings(mesh, state, fsdp))


def put_held(mesh: Mesh, state, fsdp: bool = False):
  """Stacked parameters where they are trained."""
  return jax.tree.map(_put, state, update_shardings(mesh, state, fsdp))


def whole(mesh: Mesh, state, fsdp: bool = False):
  """What `put_held` put, where it is read."""
  if mesh.shape['data'] == 1 or fsdp:
    return state
  where = state_shardings(mesh, state, fsdp)
  leaves, tree = jax.tree.flatten(state)
  moved = _mover(tuple(jax.tree.leaves(where)))(*leaves)
  return jax.tree.unflatten(tree, moved)


@functools.lru_cache(maxsize=16)
def _mover(where: tuple[NamedSharding, ...]):
  """What moves arrays there; kept, since a new one would be compiled anew."""
  return jax.jit(lambda *leaves: leaves, out_shardings=where)


def state_shardings(mesh: Mesh, state, fsdp: bool = False):
  """The sharding of each leaf of stacked parameters."""
  return jax.tree.map(
    lambda leaf: NamedSharding(mesh, spec(mesh, leaf, fsdp)), state
  )


def update_shardings(mesh: Mesh, state, fsdp: bool = False):
  """The sharding of each leaf of parameters that train and of their moments.

  Each device of `data` holds and updates a share of every large parameter and
  hands it to the others as a step begins (Xu et al. 2020, arXiv:2004.13336;
  ZeRO, Rajbhandari et al. 2020, arXiv:1910.02054), cut along its first axis,
  so that a share lies in one piece. Seeds that divide the devices leave
  nothing to share.
  """
  cut = functools.partial(spec, mesh, fsdp=True, along=None if fsdp else min)
  return jax.tree.map(lambda leaf: NamedSharding(mesh, cut(leaf)), state)


def spec(mesh: Mesh, leaf, fsdp: bool, along=None) -> P:
  """One rule on shapes: seeds first; FSDP cuts the largest axis it can.

  `along` may choose another of the axes that the devices divide.
  """
  rest: list[str | None] = [None] * (leaf.ndim - 1)
  ways = mesh.shape['data']
  if fsdp and ways > 1 and np.prod(leaf.shape[1:]) >= FSDP_SMALLEST:
    able = [i for i, n in enumerate(leaf.shape[1:]) if n % ways == 0]
    largest = functools.partial(max, key=lambda i: leaf.shape[1:][i])
    if able:
      rest[(along or largest)(able)] = 'data'
  return P('seed', *rest)


def replicated(mesh: Mesh) -> NamedSharding:
  """The sharding of results that every process reads."""
  return NamedSharding(mesh, P())


def replicate(mesh: Mesh, tree):
  return jax.tree.map(lambda leaf: _put(leaf, replicated(mesh)), tree)


def to_host(tree):
  """The whole of every array as numpy; all processes must call it."""
  if is_alone():
    return jax.device_get(tree)
  from jax.experimental import multihost_utils

  return multihost_utils.process_allgather(tree, tiled=True)


def _put(array, sharding):
  if is_alone():
    return jax.device_put(array, sharding)
  array = np.asarray(array)
  return jax.make_array_from_callback(
    array.shape, sharding, lambda index: array[index]
  )


def placement(mesh: Mesh) -> Placement:
  """All devices of the mesh for a sweep over texts (data/placement.py)."""
  return Placement(
    mesh.shape['data'],
    lambda params: replicate(mesh, params),
    lambda batch: put_batch(mesh, batch, stacked=False),
    to_host,
  )


def accelerators() -> list[jax.Device]:
  """This process's devices that do not share their cores: none on a CPU."""
  return [] if platform() == 'cpu' else jax.local_devices()


def wait_for_all(name: str) -> None:
  """A barrier between processes."""
  if not is_alone():
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices(name)


def any_process(flag: bool) -> bool:
  """True everywhere if `flag` is true in any process."""
  if is_alone():
    return flag
  from jax.experimental import multihost_utils

  return bool(multihost_utils.process_allgather(np.array([flag])).any())
