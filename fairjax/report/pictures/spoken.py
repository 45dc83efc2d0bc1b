"""Alternative texts of pictures, for screen readers.

Read from what was drawn, panel by panel: of rows with names the values (of
many, the ends), of curves where each begins, ends, and is highest.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
  from matplotlib.axes import Axes
  from matplotlib.figure import Figure

MOST = 6  # rows or curves that are all read out


def describe(figure: 'Figure') -> str:
  """A sentence a panel."""
  return ' '.join(filter(None, map(_panel, figure.axes)))


def _panel(axes: 'Axes') -> str:
  what = axes.get_title(loc='left') or axes.get_title()
  what = what or axes.get_xlabel()
  rows = _rows(axes)
  lines = rows or _curves(axes) or _names(axes)
  if not lines:
    return what and f'{what.strip()}: nothing to show.'
  title = what.strip() if rows else axes.get_ylabel() or what
  return f'{title or "Values"}: {"; ".join(lines)}.'


def _rows(axes: 'Axes') -> list[str]:
  """'women 46.6' of every row that has a name, the largest first."""
  names = {
    round(float(place), 3): ' '.join(label.get_text().split())
    for place, label in zip(axes.get_yticks(), axes.get_yticklabels())
  }
  if not names or all(_is_number(name) for name in names.values()):
    return []
  points = []
  for container in axes.containers:
    if hasattr(container, 'patches'):  # bars, several series a name
      marks = [
        (p.get_width(), p.get_y() + p.get_height() / 2) for p in container
      ]
    elif line := getattr(container, 'lines', (None,))[0]:  # else ends alone
      marks = line.get_xydata()
    else:
      continue
    title = container.get_label() or '_'
    title = '' if title.startswith('_') else f' ({title.strip()})'
    for x, y in marks:
      near = min(names, key=lambda place: abs(place - y))
      if abs(near - y) < 0.5 and np.isfinite(x):
        points.append((float(x), names[near] + title))
  points.sort(key=lambda point: -point[0])
  if not points:
    return []
  return _few([f'{name} {_shown(x)}' for x, name in points])


def _curves(axes: 'Axes') -> list[str]:
  out = []
  for line in axes.lines:
    title = str(line.get_label()).strip()
    x, y = _points(line).T
    if title.startswith('_') or not len(x):
      continue
    top = int(np.argmax(y))
    out.append(
      f'{title} from {_shown(y[0])} at {_shown(x[0])} to {_shown(y[-1])} at '
      f'{_shown(x[-1])}, highest {_shown(y[top])} at {_shown(x[top])}'
    )
  for container in axes.containers:
    title = container.get_label() or '_'
    drawn = getattr(container, 'lines', (None,))[0]
    if drawn is None or title.startswith('_'):
      continue
    points = _points(drawn)
    if len(points):
      ends = points[np.argsort(points[:, 0])][[0, -1]]
      (x0, y0), (x1, y1) = ends
      out.append(
        f'{title.strip()} from {_shown(y0)} at {_shown(x0)} to {_shown(y1)} '
        f'at {_shown(x1)}'
      )
  return _few(out)


def _points(line) -> np.ndarray:
  """The places [k, 2] of a line that are known."""
  points = np.asarray(line.get_xydata(), float)
  return points[np.isfinite(points).all(1)]


def _names(axes: 'Axes') -> list[str]:
  """Of what has no values to read out, what it is called."""
  _, titles = axes.get_legend_handles_labels()
  words = [text.get_text().strip() for text in axes.texts]
  return _few([name.strip() for name in (*titles, *words) if name.strip()])


def _few(lines: list[str]) -> list[str]:
  if len(lines) <= MOST:
    return lines
  half = MOST // 2
  return [*lines[:half], f'{len(lines) - MOST} between', *lines[-half:]]


def _shown(value: float) -> str:
  return f'{value:,.0f}' if abs(value) >= 100 else f'{value:.3g}'


def _is_number(text: str) -> bool:
  try:
    float(text.replace('\N{MINUS SIGN}', '-').replace(',', '') or '0')
  except ValueError:
    return False
  return True
