"""Several training steps per dispatch against one: what the host costs.

  python -m fairjax.bench dispatch --data=tweets.csv --text=tweet \\
      --label=Class --vocab=FOLDER [--size=tiny] [--seeds=1] [--batch=64] \\
      [--per_dispatch=0] [--steps=48] [--rounds=5] [--device=cpu|gpu]

Both sides take the same steps from the same source of batches, `per_dispatch`
at a time (0: as many as a fit of that size would, train/stretch.py). `host` is
a dispatch of a program that gives its arguments back: what a step must take for
the devices not to wait.
"""

import functools

import numpy as np

from fairjax.bench import race
from fairjax.bench.races import train


def run(args: list[str]) -> dict:
  """Steps a second; see --help."""
  chosen = train.options(args, 'dispatch', __doc__, per_dispatch=0)
  import jax

  from fairjax.core import memory
  from fairjax.data.batching import batches
  from fairjax.train import loop, mesh, step, stretch

  memory.keep()
  settings, model, pool = train.ready(chosen)
  device_mesh, seeds = model.device_mesh, loop.seed_list(settings)
  params = loop.initial(model, seeds)
  length = chosen.per_dispatch or stretch.length(
    params, settings.train, device_mesh.size
  )
  on_devices = mesh.replicate(device_mesh, np.asarray(seeds, np.uint32))
  job = loop.Job(
    *(model, pool, None, settings, None, device_mesh, None, seeds, (), None)
  )

  @functools.partial(jax.jit, donate_argnums=0)
  def nothing(state, batch, *rest):
    return state, {'loss': jax.numpy.ones(len(seeds))}

  def side(most: int, compute: bool = True):
    now = job._replace(per_dispatch=most)
    source = loop.batches(now, None)
    program, start = step.compiled(
      model, settings.train, device_mesh, per_dispatch=most
    )
    held = mesh.put_held(device_mesh, params)
    state, done = {'params': held, 'opt': start(held)}, 0
    program = program if compute else nothing

    def unit():
      nonlocal state, done
      values = None
      last = done + chosen.steps
      todo = batches.stream(source, done, last)
      key = functools.partial(
        loop.program_key, now._replace(task=loop.CLASSIFY)
      )
      pauses = lambda count: count % source.steps_per_epoch % most == 0
      for hosts in stretch.cut(todo, done, most, key, pauses):
        state, values = program(
          state,
          *loop.put(now, hosts),
          on_devices,
          np.uint32(done),
          np.uint32(10**6),
        )
        done += len(hosts)
      jax.block_until_ready(values)

    for _ in range(-(-source.steps_per_epoch // chosen.steps)):
      unit()  # every shape is compiled before the clock starts
      if not compute:
        break
    return unit

  sides = {'several': side(length), 'one': side(1), 'host': side(1, False)}
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  chosen.per_dispatch = length
  facts = {'unit': 'steps/s', 'items': chosen.steps}
  return race.report('dispatch', times, chosen, **facts)
