"""The harness of races: turns, ratios, processes, and its command line."""

import json
import subprocess
import sys
import textwrap
import time
import types

import numpy as np
import pytest

from fairjax.bench import __main__ as command
from fairjax.bench import race
from fairjax.bench.races import generate, train
from fairjax.core.errors import UserError
from fairjax.data.batching import batches, tokens
from fairjax.train import traced


def test_turns_alternate_and_warmup_is_not_counted():
  seen = []
  sides = {'a': lambda: seen.append('a'), 'b': lambda: seen.append('b')}
  times = race.interleave(sides, rounds=3, warmup=2)
  assert ''.join(seen) == 'ab' * 5
  assert {name: len(one) for name, one in times.items()} == {'a': 3, 'b': 3}


def test_a_result_is_never_taken_for_a_time():
  times = race.interleave({'a': lambda: 1234.5}, rounds=1, warmup=0)
  assert times['a'][0] < 1


def test_ratio_is_the_median_of_pairs_and_the_fastest_peer_counts():
  times = {'ours': [1, 2, 4], 'slow': [9, 9, 9], 'fast': [2, 6, 8]}
  found = race.report('r', times, unit='seconds', quiet=True)
  assert (found['ours'], found['peer'], found['ratio']) == (2, 6, 2)
  assert found['peer_name'] == 'fast'
  assert found['ratios']['slow'] == 4.5
  rate = race.report('r', times, unit='rows/s', items=12, quiet=True)
  assert (rate['ours'], rate['peer'], rate['ratio']) == (6, 2, 2)


def test_options_are_defaults_choices_and_several_names():
  known = {'rows': 1, 'size': ('mini', 'tiny'), 'quick': False, 'text': []}
  known['peers'] = race.Several(('a', 'b'), 'a,b')
  ask = lambda *args: race.options('r', 'about', args, **known)
  plain, asked = ask(), ask('--rows=3', '--peers=b', '--text', 'x', 'y')
  assert (plain.rows, plain.size, plain.quick, plain.text) == (1, 'mini', 0, [])
  assert (plain.rounds, plain.clock, plain.peers) == (3, 'wall', ['a', 'b'])
  assert (asked.rows, asked.text, asked.peers) == (3, ['x', 'y'], ['b'])
  with pytest.raises(UserError, match=r"--peers has 'c'; there are .'a', 'b'."):
    ask('--peers=a,c')
  with pytest.raises(SystemExit):
    ask('--size=large')
  found = race.report('r', {'ours': [1.0]}, asked, unit='ms', quiet=True)
  assert found['rows'] == 3 and 'peers' not in found and 'side' not in found


def test_every_race_says_what_it_takes(capsys):
  for name in command.races():
    with pytest.raises(SystemExit) as ended:
      command.main([name, '--help'])
    assert ended.value.code == 0
    assert f'usage: fairjax.bench {name}' in capsys.readouterr().out


def test_a_race_without_peers_says_so():
  found = race.report('r', {'ours': [1.0]}, unit='ms', quiet=True)
  assert found['ours'] == 1000
  assert found['peer'] is None and found['ratio'] is None


def test_sides_that_disagree_stop_the_race():
  race.same([1, 2], [1, 2 + 1e-7], 'the sums')
  with pytest.raises(UserError, match='disagree in the sums'):
    race.same([1, 2], [1, 2.1], 'the sums')


def test_missing_peers_are_named(capsys):
  assert race.missing('json', 'no_such_peer') == ['no_such_peer']
  assert 'no_such_peer is not installed' in capsys.readouterr().out


def side(tmp_path, body):
  path = tmp_path / 'side.py'
  path.write_text(textwrap.dedent(body))
  return [str(path)]


def test_processes_serve_rounds_and_end(tmp_path):
  script = side(
    tmp_path,
    """
    import time
    from fairjax.bench.race import serve

    def unit():
      print('not an answer')
      time.sleep(0.05)

    serve(unit, loss=0.25)
    """,
  )
  with race.Process('one', script) as one, race.Process('two', script) as two:
    assert one.facts['loss'] == 0.25
    times = race.interleave({'one': one, 'two': two}, rounds=2)
  assert all(0.05 <= t < 2 for t in times['one'] + times['two'])
  assert one.process.poll() == 0 and two.process.poll() == 0
  assert one.peak_mb > 1


def test_a_side_that_dies_is_one_sentence(tmp_path):
  script = side(tmp_path, 'raise SystemExit(3)')
  with pytest.raises(UserError, match="'torch' of the race ended with code 3"):
    race.Process('torch', script)


def test_a_side_that_dies_in_a_round_is_one_sentence(tmp_path):
  script = side(
    tmp_path,
    """
    import sys
    from fairjax.bench.race import serve
    calls = []
    serve(lambda: calls.append(1) if not calls else sys.exit(4))
    """,
  )
  start = time.monotonic()
  with pytest.raises(UserError, match='ended with code 4'):
    with race.Process('peer', script) as one:
      one()
  assert time.monotonic() - start < 15


def test_list_and_unknown_names(capsys):
  assert command.main(['--list']) == 0
  shown = capsys.readouterr().out
  assert '\n  groups ' in shown and '\n  race ' not in shown
  assert command.main(['group']) == 2
  assert "did you mean 'groups'?" in capsys.readouterr().err


@pytest.mark.slow
def test_the_training_race_takes_full_batches_or_says_why_not():
  """Peers pad no batch, so none may hold an example −1."""
  draw = np.random.default_rng(0)
  lengths = draw.integers(3, 9, 40)
  offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
  flat = draw.integers(1, 50, offsets[-1]).astype(np.int32)
  pool = batches.Pool(
    tokens.Ragged(flat, offsets),
    np.zeros(40, np.int32),
    np.ones(40, np.float32),
  )
  rows = np.arange(40, dtype=np.int32)[None]
  layout = batches.layout(lengths, 16)
  source = batches.packed(pool, rows, [0], layout)
  turn = train.full_batches(source, 40, 16)
  assert turn[:4] == [0, 1, 3, 4] and len(turn) == train.UNITS
  assert all((source[i]['example'] >= 0).all() for i in turn)
  with pytest.raises(UserError, match='40 training rows, fewer than'):
    train.full_batches(source, 40, 64)


def test_last_line_is_json():
  words = '-m fairjax.bench groups --rows 2000 --groups 5 --rounds 1'.split()
  done = subprocess.run(
    [sys.executable, *words],
    capture_output=True,
    text=True,
    check=True,
  )
  found = json.loads(done.stdout.splitlines()[-1])
  assert {'race', 'ours', 'peer', 'ratio', 'unit', 'machine'} <= set(found)


def test_flops_are_those_of_every_product():
  """By hand: two layers under scan, a product of batches, its gradient."""
  import jax
  import jax.numpy as jnp

  def loss(kernels, x, y):
    x, _ = jax.lax.scan(lambda x, kernel: (x @ kernel, None), x, kernels)
    return jnp.einsum('bij,bkj->bik', x, y).sum()

  shapes = jnp.ones((2, 4, 4)), jnp.ones((3, 5, 4)), jnp.ones((3, 7, 4))
  forward = 2 * 2 * 15 * 4 * 4 + 2 * 3 * 5 * 7 * 4
  flops = lambda program: traced.cost(program(*shapes).jaxpr).flops
  counted = flops(jax.make_jaxpr(loss))
  assert counted == forward
  assert flops(jax.make_jaxpr(jax.grad(loss, (0, 1, 2)))) == 3 * forward


def test_sides_in_bfloat16_may_write_other_texts(capsys):
  """On a GPU all are; on a CPU float32 must agree."""
  side = lambda *tokens: types.SimpleNamespace(facts={'tokens': tokens})
  running = {'float32': side(1, 2, 3, 4), 'torch': side(1, 2, 9, 9)}
  same = generate._agreement(running, exact=False)
  assert same == {'float32': 1.0, 'torch': 0.5}
  with pytest.raises(UserError, match='disagree in the tokens'):
    generate._agreement(running, exact=True)


def test_both_sides_have_the_memory_of_a_run(tmp_path, monkeypatch):
  """A peer that frees a step's blocks keeps them, as ours does."""
  for name in list(race.os.environ):
    if name.startswith(('GLIBC_TUNABLES', 'MALLOC_')):
      monkeypatch.delenv(name)
  side = tmp_path / 'side.py'
  side.write_text(
    textwrap.dedent("""
      import ctypes, resource
      from fairjax.bench import race
      libc, size = ctypes.CDLL(None), 32 << 20
      libc.malloc.restype = ctypes.c_void_p
      libc.memset.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
      libc.free.argtypes = (ctypes.c_void_p,)
      def unit():
        block = libc.malloc(size)
        libc.memset(block, 1, size)
        libc.free(block)
      faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
      unit()
      before = faults()
      for _ in range(5):
        unit()
      race.serve(unit, faults=faults() - before)
    """)
  )
  with race.Process('peer', [str(side)]) as peer:
    kept = peer.facts['faults']
  monkeypatch.setattr(race, 'KEPT', {})
  with race.Process('peer', [str(side)]) as peer:
    assert peer.facts['faults'] > 10_000 > 100 * max(kept, 1)
