"""All races one after the other, with python stood in for."""

import json
import re
import sys

from .programs import LAUNCH, run, stand_in


def test_races_go_on_and_end_with_a_summary(tmp_path):
  """One that fails, one that takes too long, one that has a peer, one not."""
  with_peer = {'ours': 12.5, 'peer': 5, 'peer_name': 'group', 'ratio': 2.5}
  alone = {'ours': 7, 'peer': None, 'ratio': None}
  for name, facts in (('train', with_peer), ('resamples', alone)):
    line = json.dumps(facts | {'unit': 'seconds'})
    (tmp_path / name).write_text(f'a table\n{line}\n')
  python = stand_in(
    tmp_path,
    'python',
    f"""
    if [[ $1 == - ]]; then exec {sys.executable} "$@"; fi
    case "$*" in
      *pytest*) echo '2 passed in 3.00s' ;;
      *'bench train '*--seeds=5*) echo 'no memory' >&2; exit 3 ;;
      *'bench train '*) cat {tmp_path}/train ;;
      *'bench generate '*) exec sleep 9 ;;
      *'bench groups '*) cat {tmp_path}/resamples ;;
    esac""",
  )
  names = ['device', 'train', 'train5', 'generate', 'resamples']
  done = run(
    [
      *('bash', str(LAUNCH / 'races_gpu.sh'), 'a/b.csv', 'vocab'),
      *(str(tmp_path / 'out'), *names),
    ],
    PYTHON=str(python),
    LIMIT='1',
  )
  assert done.returncode == 0, done.stderr
  summary = (tmp_path / 'out' / 'summary.txt').read_text()
  assert done.stdout.endswith(summary)
  plain = re.sub(r'; [01] s in all', '; N s in all', summary)
  assert [' '.join(line.split()) for line in plain.splitlines()] == [
    'device 2 passed in 3.00s',
    'train ours 12.5, best peer 5 (group), ratio 2.5, seconds; N s in all',
    'train5 ended with 3: no memory',
    'resamples ours 7, best peer - (no peer), ratio -, seconds; N s in all',
    'generate ran out of its 1 seconds',
  ]
  races = (tmp_path / 'out' / 'races.jsonl').read_text().splitlines()
  assert len(races) == 2
