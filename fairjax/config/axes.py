"""Config: the axes of identity, by name or as a file of the user's."""

from fairjax.core.knobs import existing, rule

# The axes that a swap knows: the tables of data/axes, and gender.
AXES = (
  *('gender', 'gender_identity', 'orientation', 'race', 'nationality'),
  *('religion', 'age', 'disability', 'class'),
)


an_axis = rule(
  lambda value: value in AXES or bool(value and not existing(value)),
  f'one of {", ".join(AXES)}, or a file of your own axis',
  'it must be {}',
)
