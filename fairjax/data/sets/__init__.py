"""Published and made data sets, and templates of test sets.

In this room:

  datasets        Published data sets through tensorflow-datasets, as tables
  invented        A synthetic corpus with an invented attribute: two clans, and
                  their words
  planted         The embedded data set: sentences about people, with a known
                  planted bias
  template_lists  The files that template test sets are made from
  templates       Identity-term test sets: short sentences from templates and
                  word lists
  tfds_builders   Our own tensorflow-datasets builders, over published files
  tfless          tensorflow-datasets without TensorFlow: a substitute for the
                  parts it uses
"""
