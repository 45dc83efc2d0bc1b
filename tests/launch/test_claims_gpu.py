"""The papers' claims at base size, with python stood in for."""

import shlex

from fairjax import config
from fairjax.core import knobs

from .programs import LAUNCH, run, stand_in


def test_each_part_names_a_config_and_knobs_that_there_are(tmp_path):
  """One that fails does not keep the others from their turn."""
  said = tmp_path / 'said'
  does = f'echo "$@" >> {said}; [[ $* != *recipe=rank* ]]'
  script = ['bash', str(LAUNCH / 'claims_gpu.sh'), 'data', 'm', str(tmp_path)]
  done = run(script, PYTHON=str(stand_in(tmp_path, 'python', does)))
  assert done.returncode == 1 and done.stdout.count('ended with 1') == 1
  lines = [shlex.split(line)[2:] for line in said.read_text().splitlines()]
  assert len(lines) == done.stdout.count('== ') > 9
  for (_, name), *flags in ([f.split('=', 1) for f in one] for one in lines):
    chosen = config.shipped(name.removeprefix('configs/').removesuffix('.py'))
    for flag, *_ in flags:
      if flag != '--workdir':
        knobs.value(chosen, flag.removeprefix('--config.'))
