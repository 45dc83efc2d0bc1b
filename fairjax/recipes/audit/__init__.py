"""The audit of any classifier, or of its predictions.

In this room:

  causes   Causes: the training rows behind a gap, and what would mitigate it
  edits    The edits of an audit: each text's swap and its matched control,
           scored
  groups   Groups of an audit, and which of its rows hang together
  library  The audit as a function of tables, for notebooks: `fairjax.audit`
  measure  Measures of one audited model: rows and edits in, numbers out
  page     Sections of an audit's page
  recipe   The audit: any classifier, or only its predictions, into one page
  what_if  What a model says of one sentence, and what it would say of its
           edits
"""
