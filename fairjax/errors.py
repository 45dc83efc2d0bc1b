"""The two exceptions that end a run without a traceback."""


class UserError(Exception):
  """A user's mistake, told in one sentence.

  The sentence names the file, the row or the field, and the remedy. The
  command line prints it without a traceback and exits with code 2.
  """


class Interrupted(Exception):
  """The run was asked to stop, has saved, and can be resumed."""
