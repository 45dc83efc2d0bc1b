"""The one exception that a user's mistake raises."""


class UserError(Exception):
  """A user's mistake, told in one sentence.

  The sentence names the file, the row or the field, and the remedy. The
  command line prints it without a traceback and exits with code 2.
  """
