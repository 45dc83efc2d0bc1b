"""Tables from people's files: columns, labels, groups, splits.

In this room:

  answers      Answers: what a model said of rows, read once, whatever it came
               in
  audit_table  The table of an audit: rows with groups, and optional texts and
               labels
  files        Tables from the user's own files: which column is what, and the
               splits
  group_names  Group names as people type them: blanks, case, and names for
               "none"
  hygiene      Data checks: duplicates, leaks, empty texts, counted and
               reported
  inputs       Library inputs as checked arrays and tables
  join         Rows of one table for those of another: by a key, else by their
               order
  labels       Labels as numbers: a mapping, a threshold, or what the column
               says
  paired       The paired file of fairscore: texts and their perturbations, one
               row each
  panda        PANDA from a user's copy, as parallel text; its quirks are
               counted
  published    Published files that a config's numbers come from, known by
               their sha256
  readers      Files as frames: csv, tsv, json, jsonl, parquet, as people have
               them
  schema       The table: one schema for all data, checked
  splits       Seeded splits, and seeded samples of a split's rows
  terms        Terms in texts: which, how often, and how long the texts are
"""
