"""The harness of races: turns, ratios, processes, and its command line."""

import json
import subprocess
import sys
import textwrap
import time
import types

import pytest

from fairjax.bench import __main__ as command
from fairjax.bench import race
from fairjax.bench.races import generate
from fairjax.core.errors import UserError


def test_turns_alternate_and_warmup_is_not_counted():
  seen = []
  sides = {'a': lambda: seen.append('a'), 'b': lambda: seen.append('b')}
  times = race.interleave(sides, rounds=3, warmup=2)
  assert ''.join(seen) == 'ab' * 5
  assert {name: len(one) for name, one in times.items()} == {'a': 3, 'b': 3}


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
  assert (found['ours'], found['peer'], found['ratio']) == (1000, None, None)


def test_every_race_says_what_it_takes(capsys):
  for name in command.races():
    with pytest.raises(SystemExit) as ended:
      command.main([name, '--help'])
    assert ended.value.code == 0
    assert f'usage: fairjax.bench {name}' in capsys.readouterr().out


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


@pytest.mark.parametrize('served', [False, True])
def test_a_side_that_dies_is_one_sentence(tmp_path, served):
  """At once, or in a round."""
  body = """
    import sys
    from fairjax.bench.race import serve
    calls = []
    serve(lambda: calls.append(1) if not calls else sys.exit(3))
    """
  script = side(tmp_path, body if served else 'raise SystemExit(3)')
  start = time.monotonic()
  with pytest.raises(UserError, match="'torch' of the race ended with code 3"):
    with race.Process('torch', script) as one:
      one()
  assert time.monotonic() - start < 15


def test_list_and_unknown_names(capsys):
  assert command.main(['--list']) == 0
  shown = capsys.readouterr().out
  assert '\n  groups ' in shown and '\n  race ' not in shown
  assert command.main(['group']) == 2
  assert "did you mean 'groups'?" in capsys.readouterr().err


def test_last_line_is_json():
  words = '-m fairjax.bench groups --rows 2000 --groups 5 --rounds 1'.split()
  done = subprocess.run(
    [sys.executable, *words], capture_output=True, text=True, check=True
  )
  found = json.loads(done.stdout.splitlines()[-1])
  assert {'race', 'ours', 'peer', 'ratio', 'unit', 'machine'} <= set(found)


def test_sides_in_bfloat16_may_write_other_texts(capsys):
  """On a GPU all are; on a CPU float32 must agree."""
  side = lambda *tokens: types.SimpleNamespace(facts={'tokens': tokens})
  running = {'float32': side(1, 2, 3, 4), 'torch': side(1, 2, 9, 9)}
  same = generate.agreement(running, exact=False)
  assert same == {'float32': 1.0, 'torch': 0.5}
  with pytest.raises(UserError, match='disagree in the tokens'):
    generate.agreement(running, exact=True)


def test_both_sides_have_the_memory_of_a_run(tmp_path, monkeypatch):
  """A peer that frees a step's blocks keeps them, as ours does."""
  for name in list(race.os.environ):
    if name.startswith(('GLIBC_TUNABLES', 'MALLOC_')):
      monkeypatch.delenv(name)
  script = """
    import os
    from fairjax.bench import race
    race.serve(lambda: None, kept={k: os.environ[k] for k in race.KEPT})
    """
  with race.Process('peer', side(tmp_path, script)) as peer:
    assert peer.facts['kept'] == race.KEPT
