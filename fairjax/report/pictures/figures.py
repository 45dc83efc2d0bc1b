"""Figure style, and how figures are saved: png and svg.

Colours are Okabe and Ito's (2008), which colour-blind readers tell apart;
series differ by line or marker too. A figure is at most WIDTH inches wide, so
that it stays readable on a telephone. `svg` gives the text of a picture to
stand inside a page, in the page's font and ink, the same bytes for the same
figure; `save` writes a png file.

Matplotlib is loaded by the first plot, without pyplot and its global state.
"""

import functools
import hashlib
import io
import math
import os
import pathlib
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fairjax.core import escape
from fairjax.core.artefacts import atomic
from fairjax.report import tables
from fairjax.report.pictures import spoken

if TYPE_CHECKING:
  from matplotlib.axes import Axes
  from matplotlib.figure import Figure

COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')
LINES = ('-', '--', '-.', ':', (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = 'osD^vP'
INK = '#23272e'  # becomes the page's own ink in an svg
PALE = '#8c929b'  # grid, references; readable on light and dark
WIDTH = 5.2  # inches
CHARACTERS = 14  # of an axis' label, an inch
BELOW = 0.55  # inches from axes to their legend, past ticks and label
ROW = 0.27  # inches of a row with a name


@functools.cache
def _sheet() -> Any:
  import matplotlib

  sheet = pathlib.Path(__file__).with_suffix('.mplstyle')
  return matplotlib.rc_params_from_file(sheet, use_default_template=False)


@contextmanager
def _style() -> Iterator[None]:
  import matplotlib.style

  ours = matplotlib.style.context(_sheet(), after_reset=True)
  with ours, warnings.catch_warnings():
    warnings.filterwarnings('ignore', message='Glyph .* missing')
    yield


def styled(plot):
  """Draws under our style, whatever the user's own settings are."""

  @functools.wraps(plot)
  def draw(*args, **kwargs) -> 'Figure':
    with _style():
      figure = plot(*args, **kwargs)
      for axis in (a for one in figure.axes for a in (one.xaxis, one.yaxis)):
        if not axis.get_label_text():  # else a place for it is sought
          axis.set_label_coords(0, 0)
      # Once is enough: a figure is written twice, as svg and as png.
      figure.get_layout_engine().execute(figure)
      wide = [axes.get_xlabel() for axes in figure.axes]
      for axes in figure.axes:  # of what is wider than its axes an end is cut
        room = CHARACTERS * WIDTH * axes.get_position().width
        axes.set_xlabel(name(axes.get_xlabel(), max(int(room), 12)))
      if wide != [axes.get_xlabel() for axes in figure.axes]:
        figure.get_layout_engine().execute(figure)
      figure.set_layout_engine('none')
      return figure

  return draw


def blank(
  panels: int, columns: int, height: float, **kwargs
) -> tuple['Figure', list['Axes']]:
  """A figure of `panels` panels, `height` inches a row of them."""
  from matplotlib.figure import Figure
  from matplotlib.layout_engine import ConstrainedLayoutEngine

  columns = max(1, min(columns, panels))
  rows = math.ceil(panels / columns)
  layout = ConstrainedLayoutEngine(h_pad=0.06, hspace=0.04)
  figure = Figure(figsize=(WIDTH, height * rows), layout=layout)
  grid = figure.subplots(rows, columns, squeeze=False, **kwargs).ravel()
  for axes in grid[panels:]:
    axes.remove()
  return figure, list(grid[:panels])


def square(x: str, y: str) -> tuple['Figure', 'Axes']:
  """A share against a share, with the dotted line where both are equal."""
  figure, (axes,) = blank(1, 1, 3.6)
  axes.plot([0, 1], [0, 1], ':', color=PALE, lw=1)
  axes.set(xlabel=name(x, 48), ylabel=name(y, 36), aspect='equal')
  axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
  return figure, axes


def name(text: Any, longest: int = 28) -> str:
  """A name that fits beside a plot, in at most three lines.

  A leading _ would hide it there.
  """
  text = tables.printable(text)
  if len(text) > longest:
    lines = textwrap.wrap(text, longest) or ['']
    more = [lines[2][: longest - 1] + '…'] if len(lines) > 3 else lines[2:3]
    text = '\n'.join([*lines[:2], *more])
  return ' ' + text if text.startswith('_') else text


def tall(names: Iterable[str]) -> float:
  """Inches of rows with these names."""
  return sum(ROW + 0.16 * label.count('\n') for label in names)


def bounds(values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
  """Values [n] and distances [2, n] down to low and up to high.

  Each value is a number or an Estimate; what is undefined is NaN.
  """
  rows = [v if tables.is_estimate(v) else {'value': v} for v in values]
  limits = lambda row, key: (
    float(row[key]) if tables.defined(row.get(key)) else math.nan
  )
  middle = np.array([limits(row, 'value') for row in rows])
  low = np.array([limits(row, 'low') for row in rows])
  high = np.array([limits(row, 'high') for row in rows])
  # An interval may leave out its own point (a ratio of means can): the bar
  # then starts at the point.
  reach = np.stack([middle - low, high - middle])
  return middle, np.maximum(np.nan_to_num(reach), 0)


def named_rows(axes: 'Axes', labels: Sequence[str]) -> np.ndarray:
  """Rows with names, the first on top; gives their places."""
  places = np.arange(len(labels))[::-1].astype(float)
  axes.set_yticks(places, labels)
  axes.set_ylim(-0.6, len(labels) - 0.4)
  axes.grid(axis='y', visible=False)
  return places


def of_series(k: int) -> dict[str, Any]:
  """Colour, line and marker of a series; pairs come again after 36."""
  each = (k + k // 6) % 6
  return {'color': COLOURS[k % 6], 'ls': LINES[each], 'marker': MARKERS[each]}


def marked(axes: 'Axes', x: float, label: str) -> None:
  """Words at the top of a place, beside a line."""
  axes.annotate(
    *(label, (x, 1)),
    xycoords=('data', 'axes fraction'),
    xytext=(3, 1),
    textcoords='offset points',
    **dict[str, Any](size=8, color=INK, va='bottom'),
  )


def undefined(axes: 'Axes', place: float) -> None:
  """Says so in the row of a value that is not known."""
  at = axes.get_yaxis_transform()  # a share of the axes, a row
  style = dict[str, Any](va='center', size=8, color=PALE)
  axes.text(0.02, place, 'undefined', transform=at, **style)


def dots(
  axes: 'Axes',
  labels: Sequence[str],
  values: np.ndarray,
  reach: np.ndarray,
  hollow: Sequence[bool],
  colours: Sequence[str] | None = None,
) -> None:
  """A row a value with its interval (`bounds`), some of them hollow."""
  places = named_rows(axes, labels)
  styles = [*zip(colours or [COLOURS[0]] * len(values), map(bool, hollow))]
  for colour, empty in dict.fromkeys(styles):  # artists cost more than points
    some = [one == (colour, empty) for one in styles]
    fill = 'none' if empty else colour
    look = dict[str, Any](capsize=2.5, color=colour, mfc=fill)
    axes.errorbar(values[some], places[some], None, reach[:, some], 'o', **look)
  for place in places[np.isnan(values)]:
    undefined(axes, place)


def legend(axes: 'Axes', many: int, below: bool = False) -> None:
  if many > 1 and below:
    from matplotlib.transforms import offset_copy

    # In inches: a share of the axes would move with each layout of them.
    place = offset_copy(axes.transAxes, axes.get_figure(True), y=-BELOW)
    at = dict[str, Any](bbox_to_anchor=(0, 0), bbox_transform=place)
    axes.legend(loc='upper left', ncols=2, borderaxespad=0, **at)
  elif many > 1:
    axes.legend(loc='best')


def save(figure: 'Figure', path: str | os.PathLike) -> None:
  """Writes a png file."""
  from matplotlib.backends.backend_agg import FigureCanvasAgg
  from PIL import Image

  figure.set_facecolor('white')
  figure.set_dpi(160)
  canvas = FigureCanvasAgg(figure)
  with _style(), atomic(path) as part:
    canvas.draw()
    # White is opaque. A level above 3 takes twice the time, for a tenth less.
    opaque = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')
    opaque.save(part, 'png', compress_level=3, dpi=(160, 160))


def svg(figure: 'Figure', title: str = '') -> str:
  """The figure as an svg element to stand inside a page.

  A screen reader hears the title and what the picture shows (`spoken`).

  Ink becomes the page's own (light or dark), text its font; ids, of which a
  page has one space, start with a hash of the picture.
  """
  from matplotlib.backends.backend_svg import FigureCanvasSVG

  buffer = io.StringIO()
  figure.set_facecolor('none')
  with _style():
    FigureCanvasSVG(figure).print_svg(buffer, metadata={'Date': None})
  text = buffer.getvalue()
  text = text[text.index('<svg') :]
  text = re.sub(
    r'<metadata>.*?</metadata>|<style.*?</style>', '', text, flags=re.S
  )
  own = 'p' + hashlib.sha256((title + text).encode()).hexdigest()[:8]
  (width, height), *_ = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
  new = {old: f'{old}{own}-' for old in (' id="', 'href="#', 'url(#')}
  new |= {'xlink:': '', "font-family: 'DejaVu Sans'; ": '', INK: 'currentColor'}

  def tag(match: re.Match) -> str:
    element = re.sub(r'<g id="[^"]*"', '<g', match.group())
    for old, one in new.items():
      element = element.replace(old, one)
    return ' '.join(re.sub(r'(\d\.\d\d)\d+', r'\1', element).split())

  text = re.sub(r'<[^>]*>', tag, text)
  text = re.sub(r'>\s+<', '><', text)
  described = escape.html(spoken.describe(figure))
  words = escape.html(title)
  head = (
    f'<svg viewBox="0 0 {width} {height}" role="img" '
    f'aria-labelledby="{own}-title {own}-desc" '
    f'style="width: {float(width) * 4 / 3:.0f}px">'
    f'<title id="{own}-title">{words}</title>'
    f'<desc id="{own}-desc">{described}</desc>'
  )
  return head + text[text.index('>') + 1 :].strip()
