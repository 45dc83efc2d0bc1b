"""Example scores by name; adding one is one file and one row of a table."""

from fairjax.core import registry  # `table` is a module of this room

# Each is score(predictions: Predictions, config: Config) -> [seeds, examples]
SCORES: dict[str, registry.Entry] = registry.table(__file__, 'scores')
registry.installed('scores', SCORES, registry.listed)

# Those that need the predictions of every epoch of a run.
TRACKED = ('forgetting', 'confidence', 'variability', 'correctness')
