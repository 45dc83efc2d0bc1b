"""A picture of the same data is drawn once in a process.

Drawing is half of what a page costs, and tests make one page again and again:
to see that it is made of its folder alone, or with one row changed. Its panels
are real, as a screen reader reads them out; where lines and letters come to
stand is of tests/report/test_plots.py, which draws anew each time: here an svg
is its words alone, and one png stands for the others, which no page shows.
"""

import collections
import functools
import io
import pickle
import weakref
from unittest import mock

import matplotlib.figure

from fairjax.core import artefacts, escape
from fairjax.report.pictures import figures, group_plots, plots, word_plots

KEPT = 60  # figures, of the last pages
SVG = 'matplotlib.backends.backend_svg.FigureCanvasSVG'
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
    with mock.patch('matplotlib.layout_engine.ConstrainedLayoutEngine.execute'):
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
      with mock.patch(f'{SVG}.print_svg', _words):
        own[title] = real(figure, title)
    return own[title]

  return svg


def _words(canvas, file, **_):
  """An svg of the figure's size and of what is written in it."""
  from matplotlib.text import Text

  width, height = 72 * canvas.figure.get_size_inches()
  file.write(f'<svg viewBox="0 0 {width:.1f} {height:.1f}">')
  for one in canvas.figure.findobj(Text):
    file.write(f'<text>{escape.html(one.get_text())}</text>')
  file.write('</svg>')


def _save(real):
  """An empty figure's file is every other's: saving one labels its ticks."""
  files = []

  def save(figure, path):
    if not files:
      real(matplotlib.figure.Figure(), path)
      files.append(path.read_bytes())
    with artefacts.atomic(path) as part:
      part.write_bytes(files[0])

  return save
