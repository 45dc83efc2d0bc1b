"""The audit of any classifier, or of its predictions.

In this room:

  causes    Causes: the training rows behind a gap, and what would mitigate it
  edits     The edits of an audit: each text's swap and its matched control,
            scored
  equalize  What thresholds of groups would mitigate, and at what price
  flips     Flips on the page of an audit: shares, rows and words
  function  Anybody's function of texts under audit: asked in batches, and
            checked
  groups    Groups of an audit, and which of its rows hang together
  library   The audit as a function of tables, for notebooks: `fairjax.audit`
  measure   Measures of one audited model: rows and edits in, numbers out
  models    Audited models: anything that gives texts, or rows, probabilities
  page      Sections of an audit's page
  recipe    The audit: any classifier, or only its predictions, into one page
  scores    The scores of an audit: kept by content as they are made, and asked
            twice
"""
