"""The exceptions that end a run without a traceback."""

import signal


class UserError(Exception):
  """A user's mistake, explained in one sentence.

  The sentence names the file, the row or the field, and the remedy. The
  command line prints it without a traceback and exits with code 2.
  """


class Failed(Exception):
  """The run is done, and a gate that the user set has failed: exit code 1."""


class Undecided(Exception):
  """The run is done, and its gate could not be measured: exit code 3."""


class Interrupted(BaseException):
  """The run was asked to stop, has saved, and can be resumed.

  Like KeyboardInterrupt no Exception: nobody's `except Exception` takes it.
  """


def asked_to_stop() -> list[signal.Signals]:
  """The signals that ask a run to stop; Windows has but one."""
  names = ('SIGTERM', 'SIGHUP')
  return [getattr(signal, name) for name in names if hasattr(signal, name)]


def said(error: BaseException, most: int = 200) -> str:
  """What a library says of a file, as a part of a sentence: it may quote the
  file, line by line."""
  line = ' '.join(str(error).strip().split('\n')[0].split())
  return (line if len(line) <= most else f'{line[:most]}…') or repr(error)


def count(number: int, one: str, many: str = '') -> str:
  """'1 row' or '2 rows', as a sentence says it."""
  return f'{number:,} {one if number == 1 else many or one + "s"}'
