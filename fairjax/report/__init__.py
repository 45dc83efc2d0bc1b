"""Results in; pages, tables, pictures and exports out.

In this room:

  __main__      fairjax report FOLDER…: the page of a run, made again
  blocks        The html of a page: one self-contained file, no network
  claims        The papers' claims and the verdicts of runs, as one markdown
                table
  documents     Exports of a page: csv, LaTeX, json, a model card, and what
  faces         What the library's functions return: indexed, looped over,
                plotted, shown
  findings      The first sentences of a page where no groups' decisions were
                compared
  first_screen  The first screen of a page: an answer in people's numbers, one
                picture, and
  kept          Kept runs: the results that a table of claims is made of, and
                their origin
  lights        Traffic lights of a first screen: quality, gap, flips
  measured      Measurements on a page: contenders, test sets, paired tests
  names         What people call models and contenders
  page          The report of a run: one page made of what its folder holds
  parts         Sections that recipes add to a page, rendered
  sentences     A run's findings in plain words: the first paragraphs of its
                page
  tables        Tables for a terminal (markdown) and for a page (html)
  terminal      Results in a terminal of 80 columns
  verdict       Verdicts on claims: holds, does not hold, undecided
"""
