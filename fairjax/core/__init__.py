"""What every stage stands on: artefacts, keys, knobs, errors, paths.

In this room:

  alignment    One door for the alignment of two sequences: words, tokens or
               letters
  announce     What inner code says to a run that it does not know: progress,
               and notes
  artefacts    Artefacts: files of a run, written atomically and sealed by
               identity
  backend      The platform that programs are compiled for, and what its chips
               can do
  cache        What can be made again, kept between runs where there is a place
               for it
  errors       The exceptions that end a run without a traceback
  escape       One door a format for text that is not ours: names of groups,
               labels, texts
  keys         Random keys, derived from seed, stream and step: no state is
               carried
  knobs        Config fields: valid values, help, and the stages that they
               change
  lock         A lock on a run folder: one process at a time
  memory       Keeps freed memory for the next step instead of returning it
               (Linux, CPU)
  paths        Paths of input files, checked, with one sentence for what is
               missing
  registry     Registry entries (DATASETS, METHODS, …): an address and one line
               each
  strict_json  The one reader of JSON: strict where Python's is not
"""
