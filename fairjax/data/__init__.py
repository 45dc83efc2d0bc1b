"""Data sets by name; adding one is one file and one line here.

A data set's function returns raw tables, which may hold rows without a text
or label; `load_tables` is the one way in that gives tables to work with.

In this room:

  audit_table     The table of an audit: rows with groups, and optional texts
                  and labels
  batches         Packed batches, planned from lengths and filled by array
                  operations
  corruption      Corruption for pretraining: masked tokens, spans, permuted
                  sentences
  datasets        Published data sets through tensorflow-datasets, as tables
  files           Tables from the user's own files: which column is what, and
                  the splits
  gguf            GGUF files (llama.cpp): metadata, tensors as float32, and the
                  tokenizer
  group_names     Group names as people type them: blanks, case, and names for
                  "none"
  hygiene         Data checks: duplicates, leaks, empty texts, counted and
                  reported
  instances       Word occurrences: their contextual embeddings as a table, and
                  batches
  invented        A synthetic corpus with an invented attribute: two clans, and
                  their words
  labels          Labels as numbers: a mapping, a threshold, or what the column
                  says
  paired          The paired file of fairscore: texts and their perturbations,
                  one row each
  panda           PANDA from a user's copy, as parallel text; its quirks are
                  counted
  placement       Placement of arrays: on one device, or spread by
                  train/mesh.py
  planted         The embedded data set: sentences about people, with a known
                  planted bias
  predictions     Predictions of any model from a file: scores or labels, by
                  column
  published       Published files that a config's numbers come from, known by
                  their sha256
  readers         Files as frames: csv, tsv, json, jsonl, parquet, as people
                  have them
  rows            Rows full of tokens for pretraining, and batches of them
  schema          The table: one schema for all data, checked
  seq2seq         Packed batches of source and target, for models that rewrite
  shard_map       A function over every shard of a folder: locally, by dask,
                  beam or spmd
  shards          Shards of a corpus, read and written block by block
  splits          Seeded splits, and seeded samples of a split's rows
  template_lists  The files that template test sets are made from
  templates       Identity-term test sets: short sentences from templates and
                  word lists
  terms           Terms in texts: which, how often, and how long the texts are
  texts           Plain text as documents, and documents as a token store on
                  disk
  tfds_builders   Our own tensorflow-datasets builders, over published files
  tfless          tensorflow-datasets without TensorFlow: a substitute for the
                  parts it uses
  tokens          Text to ids: fast tokenizers, ragged token stores, a cache by
                  content
  word_ids        Ids of many texts from the ids of their words, each tokenized
                  once
"""

from fairjax.registry import Entry, find

# Each is load(config: fairjax.config.Config) -> fairjax.data.schema.Tables
DATASETS = {
  'planted': Entry(
    'fairjax.data.planted:load', 'made by code, with a known planted bias'
  ),
  'file': Entry(
    'fairjax.data.files:load', 'your csv, tsv, json, jsonl or parquet'
  ),
  'twitter_sexism': Entry(
    'fairjax.data.datasets:load',
    'sexist tweets with gender-swapped twins (healthy data diet)',
  ),
  'wiki_toxicity': Entry(
    'fairjax.data.datasets:load',
    'Wikipedia talk-page toxicity, from your files',
  ),
  'bias_in_bios': Entry(
    'fairjax.data.datasets:load',
    'biographies: profession and gender, from your files',
  ),
  'echr': Entry(
    'fairjax.data.datasets:load',
    'human-rights cases of FairLex, from your files',
  ),
  'panda': Entry(
    'fairjax.data.datasets:load',
    'sentences and their demographic rewrites, from your files',
  ),
  'civil_comments/CivilCommentsIdentities': Entry(
    'fairjax.data.datasets:load', 'news comments with 24 identities'
  ),
  'wikipedia_toxicity_subtypes/EnglishSubtypes': Entry(
    'fairjax.data.datasets:load', 'Wikipedia toxicity (Jigsaw)'
  ),
  'glue/cola': Entry(
    'fairjax.data.datasets:load', 'GLUE: is the sentence acceptable English'
  ),
  'glue/sst2': Entry(
    'fairjax.data.datasets:load', 'GLUE: sentiment of film reviews'
  ),
  'glue/mrpc': Entry(
    'fairjax.data.datasets:load', 'GLUE: do two sentences mean the same'
  ),
  'glue/qqp': Entry(
    'fairjax.data.datasets:load', 'GLUE: do two questions mean the same'
  ),
  'glue/stsb': Entry(
    'fairjax.data.datasets:load',
    'GLUE: similarity 0 to 5 (give data.labels a threshold)',
  ),
  'glue/mnli': Entry(
    'fairjax.data.datasets:load', 'GLUE: entailment, neutral, contradiction'
  ),
  'glue/qnli': Entry(
    'fairjax.data.datasets:load', 'GLUE: does the sentence answer the question'
  ),
  'glue/rte': Entry('fairjax.data.datasets:load', 'GLUE: entailment or not'),
  'glue/wnli': Entry(
    'fairjax.data.datasets:load', 'GLUE: entailment by pronoun'
  ),
}

# Each is load(config) -> DataFrame with `group`; `measures.sets` names them
TEST_SETS = {
  'identity': Entry(
    'fairjax.data.templates:identity', 'pairs of sentences, one a gender'
  ),
  'madlibs': Entry(
    'fairjax.data.templates:madlibs', "Dixon's identity terms, from your copy"
  ),
  'gender_file': Entry(
    'fairjax.data.templates:gender_file', 'your csv with text, gender, Class'
  ),
}


def load_tables(config, trains: bool = True):
  """Loads, cleans and checks the data set of `config.data`.

  Where nothing `trains` on it, a file whose splits are not named is a test set.

  Returns (tables, report, bad rows): tables that obey data/schema.py, the
  hygiene report, and a DataFrame of the rows that were left out.
  """
  # pandas is slow to import
  from fairjax.data import group_names, hygiene, labels, schema, splits, terms

  data, groups = config.data, config.measures.groups
  if groups.startswith('terms:'):  # errors are raised here, not at assessment
    terms.read_terms(groups.removeprefix('terms:'), 'measures.groups')
  load = find(DATASETS, 'data set', data.name)
  whole = not trains and data.name == 'file'
  tables = load(config, cut=False) if whole else load(config)
  usable, bad = hygiene.usable(tables, data.on_bad)
  remarks = [r for t in usable.values() for r in t.attrs.get('remarks', ())]
  if trains:
    remarks += labels.check(usable)
  for column in dict.fromkeys(('group', groups)):
    remarks += group_names.tidy(usable, column)
  used = splits.draw(usable, data.limit, data.split_seed)
  report = hygiene.report(tables, usable, used, bad)
  report['classes'] = list(labels.class_names(usable))
  report['warnings'] = [*dict.fromkeys(remarks), *report['warnings']]
  return schema.check(used), report, bad
