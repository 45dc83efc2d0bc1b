"""Data sets by name; adding one is one file and one line here."""

from fairjax.registry import Entry

# Each is load(config: fairjax.config.Config) -> fairjax.data.schema.Tables
DATASETS = {
  'planted': Entry(
    'fairjax.data.planted:load', 'made by code, with a known planted bias'
  ),
  'file': Entry('fairjax.data.files:load', 'your csv, tsv, jsonl or parquet'),
}
