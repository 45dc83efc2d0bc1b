"""What every stage stands on: artefacts, keys, knobs, errors, paths.

In this room:

  alignment    Alignment of two sequences: words, tokens or letters
  announce     Progress and notes, from inner code to the log of a run
  artefacts    Artefacts: files of a run, written atomically and sealed by
               identity
  backend      The platform that programs are compiled for, and what its chips
               can do
  cache        A cache between runs, of what can be made again
  errors       The exceptions that end a run without a traceback
  escape       Escaping of names and texts that are not ours, one function a
               format
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
  strict_json  JSON parsing, strict where Python's is not
"""
