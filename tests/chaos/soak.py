"""What runs for long: the same answers, and no growth.

    python tests/chaos/soak.py [serve|flaky|resumed …] [SECONDS]

serve: the what-if page at 20 requests a second for SECONDS (600). flaky: audits
of a function that fails one time in a hundred. resumed: a fit that is stopped
and resumed 50 times, against one that is not. Each prints memory, threads and
open files from after a warm-up to the end, and fails where they grew.
"""

import concurrent.futures
import http.client
import os
import pathlib
import sys
import tempfile
import threading
import time
import urllib.parse

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'train'))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'recipes/audit'))
import test_loop
import test_what_if
from small import stopped
from test_loop import assert_same, fit

import fairjax
from fairjax.core.errors import UserError
from fairjax.recipes.audit import what_if

RATE, STOPS, AUDITS = 20, 50, 300


def held() -> dict[str, int]:
  """Of this process: MB, threads, open files."""
  pages = int(pathlib.Path('/proc/self/statm').read_text().split()[1])
  threads = len(os.listdir('/proc/self/task'))
  files = len(os.listdir('/proc/self/fd'))
  return {'MB': pages * 4096 >> 20, 'threads': threads, 'files': files}


def told(name: str, before: dict, after: dict, said: str) -> None:
  print(f'{name}: {said}; {before} → {after}', flush=True)
  assert after['MB'] <= 1.1 * before['MB'] + 10, 'memory grows'
  assert after['threads'] <= before['threads'] + 1, 'threads grow'
  assert after['files'] <= before['files'] + 1, 'open files grow'


def serve(seconds: float) -> None:
  found = fairjax.audit(
    test_what_if.chance, test_what_if.ROWS, options={'n_resamples': 0}
  )
  page = pathlib.Path(tempfile.mkdtemp()) / 'report.html'
  page.write_text('<p>the report')
  took, answers, lost = [], [], []

  def ask(one, k: int) -> None:
    began = time.monotonic()
    try:
      asked(one, k)
    except OSError as error:
      lost.append(f'{k}: {error!r} after {time.monotonic() - began:.0f} s')
    took.append(time.monotonic() - began)

  def asked(one, k: int) -> None:
    link = http.client.HTTPConnection(what_if.HOST, one.server_port, timeout=60)
    body = urllib.parse.urlencode({'text': f'She was awful on day {k % 997}'})
    form = {'Content-Type': 'application/x-www-form-urlencoded'}
    link.request('POST', f'/{one.key}/', body, form)
    answer = link.getresponse()
    answers.append(
      (answer.status, 'Decided <b>‘toxic’' in answer.read().decode())
    )
    link.close()

  with what_if.open_at(0, found.what_if, page, 'a model') as one:
    thread = threading.Thread(target=one.serve_forever, args=(0.02,))
    thread.start()
    began, before, k = time.monotonic(), held(), 0
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
      while time.monotonic() - began < seconds:
        pool.submit(ask, one, k)
        k += 1
        time.sleep(max(0, began + k / RATE - time.monotonic()))
        if k == RATE * 30:
          before = held()  # warm
    time.sleep(2)
    after = held() | {'threads': held()['threads'] + 32}  # the pool's are gone
    one.shutdown()
    thread.join()
  busy = sum(status == 503 for status, _ in answers)
  right = sum(good for _, good in answers)
  middle, last = np.quantile(took, [0.5, 0.99])
  said = f'{k} asked, {right} right, {busy} told 503, lost: {lost}, '
  told('serve', before, after, said + f'{middle:.3f} s, 99%: {last:.3f} s')
  assert right + busy == k


def flaky(_: float) -> None:
  rng, calls, rate = np.random.default_rng(62), [0, 0], 0.0

  def model(texts):
    calls[0] += 1
    if rng.random() < rate:
      calls[1] += 1
      raise ConnectionError('the service is busy')
    return test_what_if.chance(texts)

  audit = lambda of: fairjax.audit(
    of, test_what_if.ROWS, groups='sex', options={'n_resamples': 0}
  )
  calm, refused, before = audit(model).results.contenders, 0, held()
  calls, rate = [0, 0], 0.01
  for k in range(AUDITS):
    try:
      assert audit(model).results.contenders == calm
    except UserError as error:
      assert '\n' not in str(error) and 'busy' in str(error), error
      refused += 1
    if k == AUDITS // 4:
      before = held()
  said = f'{AUDITS} audits, {calls[0]} calls, {calls[1]} failed, {refused} told'
  told('flaky', before, held(), said)


def resumed(_: float) -> None:
  options = test_loop.config(epochs=60.0)
  with tempfile.TemporaryDirectory() as place:
    calm, cut = pathlib.Path(place, 'calm'), pathlib.Path(place, 'cut')
    whole, before = fit(calm, options), held()
    count = lambda: sum(len(files) for *_, files in os.walk(cut))
    for k in range(STOPS):
      with stopped(5 * k + 5):
        fit(cut, options)
      if k == STOPS // 4:
        before, files = held(), count()
    more = count() - files
    assert_same(fit(cut, options).params, whole.params)
    said = f'{STOPS} stops, the same bits, {more:+} files in its folder'
    told('resumed', before, held(), said)


if __name__ == '__main__':
  if '--help' in sys.argv:
    sys.exit(print(__doc__))
  asked = [w for w in sys.argv[1:] if not w.isdigit()]
  length = float(next((w for w in sys.argv[1:] if w.isdigit()), 600))
  for name in asked or ['serve', 'flaky', 'resumed']:
    {'serve': serve, 'flaky': flaky, 'resumed': resumed}[name](length)
