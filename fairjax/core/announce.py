"""Progress and notes, from inner code to the log of a run.

Models score and write texts without knowing of runs and logs; on the way they
say here how far they are, and the innermost open log (train/progress.py) shows
it. Outside a run progress is not said, and a note is a warning.
"""

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

# listener(total, what) is a context whose value takes how many are done.
Listener = Callable[[int, str], contextlib.AbstractContextManager]
LISTENERS: list[Listener] = []  # the innermost last
NOTED: list[Callable[[str], None]] = []  # of the same logs, for sentences
_LOCK = threading.Lock()

T = TypeVar('T')


@contextlib.contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
  """A function to call with the number of items that were done just now."""
  if not LISTENERS:
    yield lambda more: None
    return
  done = 0
  with LISTENERS[-1](total, what) as report:

    def add(more: int) -> None:
      nonlocal done
      with _LOCK:
        done += int(more)
        report(done)

    yield add


def rounds(each: Iterable[T], total: int, what: str) -> Iterator[T]:
  """The rounds themselves; each is said when the next one is asked for."""
  with counting(total, what) as add:
    for one in each:
      yield one
      add(1)


@contextlib.contextmanager
def noted(listener: Callable[[str], None]) -> Iterator[None]:
  """A listener of notes, inside the block."""
  NOTED.append(listener)
  try:
    yield
  finally:
    NOTED.remove(listener)


def note(sentence: str) -> None:
  """Something that a user should know; a log says it once."""
  if NOTED:
    NOTED[-1](sentence)
  else:
    warnings.warn(sentence, stacklevel=3)
