"""Example scores by name; adding one is one file and one row of a table."""

from fairjax.core.registry import Entry, installed, listed, table

# Each is score(predictions: Predictions, config: Config) -> [seeds, examples]
SCORES: dict[str, Entry] = table(__file__, 'scores')
installed('scores', SCORES, listed)

# Those that need the predictions of every epoch of a run.
TRACKED = ('forgetting', 'confidence', 'variability', 'correctness')
