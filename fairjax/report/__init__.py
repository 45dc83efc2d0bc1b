"""Results in; pages, tables, pictures and exports out.

In this room:

  __main__   fairjax report FOLDER…: the page of a run, made again
  claims     The papers' primary claims and the verdicts of runs, as one
             markdown table
  documents  Exports of a page: csv, LaTeX, json and a model card
  faces      What the library's functions return: indexed, looped over,
             plotted, shown
  findings   What a run found: numbers and verdicts, without a word of English
  kept       Kept runs: the results that a table of claims is made of, and
             their origin
  measured   Measurements on a page: contenders, test sets, paired tests
  names      What people call models and contenders
  page       The report of a run: one page made of what its folder holds
  render     Parts of pages and documents through templates, which escape what
             they say
  tables     Tables for a terminal (markdown) and for a page (html)
  terminal   What leads, in a terminal of 80 columns
  verdict    Verdicts on claims
  words      The one module that says a finding in words
"""
