"""Config: the axes of identity, by name or as a file of the user's."""

from fairjax.core.knobs import existing

# The axes that a swap knows: the tables of data/axes, and gender.
AXES = (
  *('gender', 'gender_identity', 'orientation', 'race', 'nationality'),
  *('religion', 'age', 'disability', 'class'),
)


def an_axis(value: str) -> str:
  """One of AXES, or a file of the user's."""
  if value in AXES:
    return ''
  if value and not existing(value):
    return ''
  return f'it must be {an_axis.wanted}'


an_axis.wanted = f'one of {", ".join(AXES)}, or a file of your own axis'
