"""A picture of the same data is drawn once in a process.

Drawing is half of what a page costs, and tests make one page again and again:
to see that it is made of its folder alone, or with one row changed. What is
drawn is real, and tests/report/test_plots.py draws anew each time. A png of
it, which no page shows, is drawn once and stands for the others.
"""

import collections
import functools
import io
import pickle
import weakref

from fairjax.core import artefacts
from fairjax.report.pictures import figures, group_plots, plots, word_plots

KEPT = 60  # figures, of the last pages
HELD = collections.OrderedDict()  # figures by what they were drawn of


def once(patch) -> None:
  """Plots of equal arguments are one figure; so are its svg and its file."""
  for module in (plots, group_plots, word_plots):
    for name, plot in list(vars(module).items()):
      own = getattr(plot, '__module__', '') == module.__name__
      if own and hasattr(plot, '__wrapped__'):  # `styled`
        patch.setattr(module, name, _plot(plot))
        if name in plots.PLOTS:
          patch.setitem(plots.PLOTS, name, _plot(plot))
  patch.setattr(figures, 'svg', _svg(figures.svg))
  patch.setattr(figures, 'save', _save(figures.save))


def _plot(plot):
  @functools.wraps(plot)
  def draw(*args, **kwargs):
    key = _key((plot.__name__, args, kwargs))
    figure = HELD.pop(key, None) or plot(*args, **kwargs)
    HELD[key] = figure  # the last
    while len(HELD) > KEPT:
      HELD.popitem(last=False)
    return figure

  return draw


def _key(arguments) -> bytes:
  """By value: `fast` asks not which objects are the same one."""
  out = io.BytesIO()
  pickler = pickle.Pickler(out)
  pickler.fast = True
  pickler.dump(arguments)
  return out.getvalue()


def _svg(real):
  texts = weakref.WeakKeyDictionary()

  def svg(figure, title=''):
    own = texts.setdefault(figure, {})
    if title not in own:
      own[title] = real(figure, title)
    return own[title]

  return svg


def _save(real):
  """The file of the first is every other's: a page shows the svg."""
  files = []

  def save(figure, path):
    if not files:
      real(figure, path)
      files.append(path.read_bytes())
    with artefacts.atomic(path) as part:
      part.write_bytes(files[0])

  return save
