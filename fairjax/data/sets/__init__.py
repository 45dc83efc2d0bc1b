"""Published and made data sets, and templates of test sets.

In this room:

  datasets        Published data sets, the user's copies and tensorflow-
                  datasets', as tables
  invented        A synthetic corpus with an invented attribute: two clans, and
                  their words
  own_sets        Published data sets from the user's copies: frames of literal
                  columns
  planted         The embedded data set: sentences about people, with a known
                  planted bias
  template_lists  The files that template test sets are made from
  templates       Identity-term test sets: short sentences from templates and
                  word lists
  tfless          tensorflow-datasets without TensorFlow: a substitute for the
                  parts it uses
"""
