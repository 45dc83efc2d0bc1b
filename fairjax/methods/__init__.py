"""Data-side methods by name; adding one is one file and one line here."""

from fairjax.registry import Entry

# Each is method(tables: Tables, config: Config) -> Tables
METHODS: dict[str, Entry] = {
  'reweight': Entry(
    'fairjax.methods.reweight:reweight',
    'weights Q(y)/P(y|z), under which the label ignores the demographic',
  ),
}
