"""Experiment → Results: contenders × seeds → answers → tests → verdicts.

    @stages.recipe
    def run(e):
      tables = e.load()
      model = stages.prepare(e.config, tables, e.log)
      for name, rows in …:
        fit = e.fit(model, stages.pools(model, tables), name, rows=rows)
        e.answer(name, stages.of_sets(e.config, model, fit.params, e.sets))
      e.compare([('diet', 'none')], focus='diet')
      return e.results(verdicts=…)

A recipe declares what is compared and what the paper claims of it; what every
comparison does with that is here.
"""

import copy
import functools
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.data.batching import batches
from fairjax.data.tables.schema import Tables
from fairjax.metrics.inference import intervals
from fairjax.models import Bundle
from fairjax.results import Results
from fairjax.stages import assessment, bag_of_words, fits, loading, reuse, runs
from fairjax.stages.identity import identity
from fairjax.train import loop, mesh
from fairjax.train.progress import Log

READ = ('id', 'text', 'text_pair')  # what a model is given of a test set
UNGROUPED = (
  'no groups of the test set were named, so nothing is known of gaps: name a '
  'column with --config.data.group, or terms with --config.measures.groups'
)


class recipe:
  """run(config, folder) -> the Results of `body`, published.

  `check` says what is wrong with a config, before a folder is made.
  """

  def __init__(
    self,
    body: Callable[['Experiment'], Results],
    check: Callable[[Config], None] = lambda config: None,
  ):
    functools.update_wrapper(self, body)
    self.body, self.check = body, check

  def __call__(self, config: Config, folder: pathlib.Path) -> Results:
    with Log(folder, config, main=mesh.is_main()) as log:
      self.check(config)
      results = self.body(Experiment(config, folder, log))
      return runs.publish(folder, results, log)


class Experiment:
  """Contenders and what was measured of them, set by set."""

  def __init__(self, config: Config, folder: pathlib.Path, log: Log):
    self.config, self.folder, self.log = config, folder, log
    self.sets: Tables = {}  # what classifiers are asked about
    self.tables: Tables = {}  # as they were loaded
    self.chances: dict[str, dict[str, np.ndarray]] = {}  # their answers
    self.contenders: dict[str, dict] = {}  # as in results.json
    self.tests: list[dict] = []
    self.notes: list[str] = []
    self.focus = ''

  @property
  def how(self) -> intervals.RowSample:
    """How sure numbers are to be."""
    return intervals.options_of(self.config)

  def of(self, config: Config, place: str = '') -> 'Experiment':
    """The same one, by another config, in a folder of the folder's."""
    other = copy.copy(self)
    other.config = config
    other.folder = self.folder / place if place else self.folder
    return other

  def stage(self, name: str, made_from: str, make: Callable) -> Any:
    """`make()` as a table or json in the folder, made once: (reuse.py)."""
    frame = name.endswith('.parquet')
    write = reuse.write_table if frame else reuse.write_json
    read = artefacts.read_table if frame else artefacts.read_json
    return self._made(name, made_from, lambda path: write(path, make()), read)

  def _made(
    self, place: str, made_from: str, make: Callable, read: Callable
  ) -> Any:
    """What `make(path)` writes at a place of the folder, or did earlier."""
    path, config = self.folder / place, self.config
    return reuse.stage(path, made_from, make, read, self.log, config.reuse)

  def frames(
    self, place: str, made_from: str, names: Iterable[str], make: Callable
  ) -> dict[str, pd.DataFrame]:
    """{name: `make(name)`} as a folder of tables, made once."""
    names = list(names)
    file = lambda path, name: path / f'{runs.file_name(name)}.parquet'

    def do(path: pathlib.Path) -> None:
      for name in names:
        reuse.write_table(file(path, name), make(name))

    read = lambda path: {n: artefacts.read_table(file(path, n)) for n in names}
    return self._made(place, made_from, do, read)

  def load(self, trains: bool = True) -> Tables:
    """The tables; `sets` become those of the config's test sets."""
    tables = loading.load(self.config, self.folder, self.log, trains)
    self.sets = loading.test_sets(self.config, tables)
    self.tables = tables if trains else {}
    return tables

  def fit(
    self,
    model: Bundle,
    pools: tuple[batches.Pool, batches.Pool],
    part: str = '',
    rows: np.ndarray | None = None,
    export: bool = False,
    snapshots: tuple[int, ...] = (),
    track: bool = False,
  ) -> loop.Fitted:
    """One contender's classifier, exported where the config asks for it."""
    config = self.config
    some = 'all' if rows is None else np.asarray(rows)
    own = *fits.parts_of(*pools), some, [*snapshots, track]
    made_from = identity(config, 'training', *own)
    how = {'rows': rows, 'snapshots': snapshots, 'part': part, 'track': track}
    beside = functools.partial(fits.keep_words, config, model)
    fit = self.fitted(model, pools, made_from, beside, **how)
    if export:
      fits.export(config, model, fit.params, self.folder, self.log)
    return fit

  def fitted(
    self,
    model: Bundle,
    sets: tuple[Any, Any],
    made_from: str,
    beside: Callable[[pathlib.Path], None] = lambda path: None,
    **options: Any,
  ) -> loop.Fitted:
    """Trains by `loop.fit`, or reads what the same fit left.

    That is looked for in training/ of the folder and of the run that is reused.
    The model knows its mesh; `sets` are the data to train on and to evaluate
    by, `options` those of `loop.fit`; `beside` writes what is kept beside the
    weights.
    """
    device_mesh, made = model.device_mesh, []

    def make(path: pathlib.Path) -> None:
      config, log = self.config, self.log
      made.append(
        loop.fit(model, *sets, config, path, device_mesh, log, **options)
      )
      fits.write(path, made[0])
      if mesh.is_main():
        beside(path)

    # What was fitted just now is not read back.
    read = lambda path: made[0] if made else fits.read(path, device_mesh)
    return self._made(f'training/{made_from}', made_from, make, read)

  def answers(
    self,
    model: Bundle,
    pools: tuple[batches.Pool, batches.Pool],
    part: str,
    rows: np.ndarray | None = None,
    export: bool = False,
  ) -> dict[str, np.ndarray]:
    """Probabilities [s, n, c] of each set by the classifier of these rows.

    They lie in answers/, so that a run that goes on, on another machine too,
    needs neither the weights nor their training; with `export` the classifier
    is trained or read in any case.
    """
    config, export = self.config, export and self.config.train.export
    texts = loading.as_read(config, self.sets)
    given = [t[[c for c in READ if c in t]] for t in texts.values()]
    some = 'all' if rows is None else np.asarray(rows)
    own = *fits.parts_of(*pools), some, list(texts), *given
    made_from = identity(config, 'training', *own)

    def make(path: pathlib.Path) -> None:
      fit = self.fit(model, pools, part, rows, export)
      chances = fits.of_sets(config, model, fit.params, self.sets)
      if mesh.is_main():
        with artefacts.atomic(path) as temporary:
          np.savez(temporary, allow_pickle=False, **chances)

    place, read = f'answers/{made_from}.npz', artefacts.read_arrays
    if export:
      artefacts.seal_path(self.folder / place).unlink(missing_ok=True)
    return self._made(place, made_from, make, read)

  def answer(
    self,
    name: str,
    chances: dict[str, np.ndarray],
    facts: Mapping[str, Any] | None = None,
    more: Sequence[str] = (),
  ) -> None:
    """Measures a contender's probabilities [s, n, c] of each set."""
    self.chances[name] = chances
    sets = assessment.assess(self.config, self.sets, chances, more)
    own = self.contenders.setdefault(name, {'sets': {}})
    own['sets'] |= sets
    if facts is not None:
      own['facts'] = dict(facts)

  def compare(
    self,
    pairs: Sequence[tuple[str, str]],
    focus: str,
    more: Sequence[str] = (),
    also: Sequence[str] = (),
  ) -> None:
    """Tests of pairs of contenders; predictions are kept in files."""
    self.focus = focus
    self.tests += assessment.compare(
      self.config, self.sets, self.chances, pairs, more, also
    )
    runs.keep_predictions(self.folder, self.sets, self.chances, focus)

  def test(
    self, where: str, ours: str, theirs: str, measure: str, one: Mapping
  ) -> None:
    """A test of two contenders on a set, which a recipe makes itself."""
    known = {k: v for k, v in one.items() if not k.startswith('only_')}
    sides = {'set': where, 'ours': ours, 'theirs': theirs}
    self.tests.append({**sides, 'measure': measure, **known})

  def add(self, name: str, where: str, one: Mapping[str, Any]) -> None:
    """What was measured of a contender on a set, beside what is known."""
    sets = self.contenders.setdefault(name, {'sets': {}})['sets']
    sets.setdefault(where, {}).update(one)

  def take(self, other: 'Experiment') -> None:
    """All that another experiment measured, beside what is known."""
    for name, own in other.contenders.items():
      for where, one in own['sets'].items():
        self.add(name, where, one)
    self.tests += other.tests

  def results(self, **parts: Any) -> Results:
    """The Results of all that was added."""
    own = {'contenders': self.contenders, 'tests': self.tests}
    own |= {'notes': self.notes, 'focus': self.focus}
    found = runs.results(self.config, **own | parts)
    of_file = self.tables and self.config.data.name == 'file'
    if of_file and not any(one.get('groups') for one in found.sets.values()):
      found.notes.append(UNGROUPED)
    known = self.config, self.tables, self.sets
    return bag_of_words.with_baseline(*known, found) if self.tables else found
