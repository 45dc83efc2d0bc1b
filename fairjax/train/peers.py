"""The other processes of a run: that one has ended is known at once.

jax notices a dead process after a minute and a half, or ends all others at
once with a stack trace. Here every process holds one connection to process 0
by the coordinator's own port; the kernel closes it when its process ends,
however it ends. Who sees that without a farewell says so and ends with 75:
all artefacts are atomic, and the same command goes on from them.

    process k ── watch ──────────────┐
    its jax ── passage (local) ── front (process 0) ── jax's service (local)

jax's own connections go through the same front. A passage never passes the
end of process 0 on, since jax would abort on it.
"""

import atexit
import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

import jax

ENDED = 75  # run again, as main.py has it
GRACE = 3.0  # seconds for a process's own last words
MARK = b'fairjax '  # a watch begins with it; jax with an HTTP/2 preface
FAREWELL = b'.'
RETRY = 0.2  # seconds between two looks whether process 0 is there
PATIENCE = 300.0  # seconds that jax too waits for the others


_watched: list[socket.socket] = []  # the connections of this process
_gone: list[socket.socket] = []  # those whose other side has ended well
_first: list[bool] = []  # in process 0


def join(
  address: str, count: int, index: int, initialize: Callable[..., None]
) -> None:
  """jax.distributed.initialize by ways that are watched."""
  host, _, port = address.rpartition(':')
  atexit.register(leave)
  if index == 0:
    _first.append(True)
    with socket.create_server(('localhost', 0)) as server:
      inner = server.getsockname()[1]  # free
    _front(int(port), inner, count)
    bind = f'localhost:{inner}'  # the others come through the front
    initialize(bind, count, index, coordinator_bind_address=bind)
    return
  watch = _reached(host, int(port))
  watch.sendall(MARK + b'%d\n' % index)
  _in_thread(_watch, watch, f'process 0 of {count}')
  initialize(f'localhost:{_passage(host, int(port))}', count, index)


def _watch(peer: socket.socket, name: str) -> None:
  """Waits for the farewell, or the end without one, of the other side."""
  _watched.append(peer)
  try:
    word = peer.recv(1)
  except OSError:
    word = b''
  if word != FAREWELL:
    _lost(name)
  _gone.append(peer)


def leave() -> None:
  """The end of a process that ends well: all leave jax, process 0 goes last."""
  jax.distributed.shutdown()
  end = time.monotonic() + PATIENCE
  # Through process 0 jax's last words reach the others.
  while _first and len(_gone) < len(_watched) and time.monotonic() < end:
    time.sleep(0.01)
  for peer in _watched:
    with contextlib.suppress(OSError):
      peer.sendall(FAREWELL)


def last_words() -> None:
  """Before an error is reported: time to learn that it is another one's end."""
  if _watched:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a launcher stops us too
    time.sleep(2 * GRACE)


def has_joined() -> bool:
  """Whether this process watches another."""
  return bool(_watched)


def _lost(name: str) -> None:
  """The last words of a process that has lost another one."""
  time.sleep(GRACE)  # an error of its own may be the better sentence
  print(
    f'fairjax: {name} has ended; what was finished is kept, run again to go on',
    file=sys.stderr,
    flush=True,
  )
  os._exit(ENDED)  # the main thread may wait for the other without end


def _front(port: int, inner: int, count: int) -> None:
  """Listens for the others at process 0; jax's words go on to its service."""
  both = socket.has_dualstack_ipv6()
  family = socket.AF_INET6 if both else socket.AF_INET
  server = socket.create_server(('', port), family=family, dualstack_ipv6=both)

  def meet(peer: socket.socket) -> None:
    first = _lasting(peer).recv(len(MARK), socket.MSG_WAITALL)
    if first == MARK:
      line = peer.makefile('rb', buffering=0).readline(20)
      _watch(peer, f'process {int(line)} of {count}')
      return
    service = _reached('localhost', inner)
    service.sendall(first)
    _in_thread(_pump, peer, service)
    _pump(service, peer)

  _in_thread(_accept, server, meet)


def _passage(host: str, port: int) -> int:
  """A local port whose connections go on to process 0."""
  server = socket.create_server(('localhost', 0))

  def meet(mine: socket.socket) -> None:
    far = _reached(host, port)
    _in_thread(_pump, mine, far)
    _pump(far, mine, closing=False)  # jax would abort on the end of process 0

  _in_thread(_accept, server, meet)
  return server.getsockname()[1]


def _accept(server: socket.socket, meet: Callable) -> None:
  while True:
    _in_thread(meet, server.accept()[0])


def _pump(
  source: socket.socket, sink: socket.socket, closing: bool = True
) -> None:
  """Bytes from one to the other, until there are no more."""
  try:
    while data := source.recv(1 << 16):
      sink.sendall(data)
  except OSError:
    pass
  if closing:
    try:
      sink.shutdown(socket.SHUT_WR)
    except OSError:
      pass


def _reached(host: str, port: int) -> socket.socket:
  """A connection, once the other side listens."""
  end = time.monotonic() + PATIENCE
  while True:
    try:
      return _lasting(socket.create_connection((host, port)))
    except OSError:
      if time.monotonic() > end:
        raise
      time.sleep(RETRY)


def _lasting(peer: socket.socket) -> socket.socket:
  """A machine that loses its power sends no end: ask for signs of life."""
  peer.settimeout(None)
  peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
  for name, value in (
    ('TCP_KEEPIDLE', 10),
    ('TCP_KEEPINTVL', 5),
    ('TCP_KEEPCNT', 4),
  ):
    if hasattr(socket, name):
      peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
  return peer


def _in_thread(work: Callable, *arguments) -> None:
  threading.Thread(target=work, args=arguments, daemon=True).start()
