"""A map of words: partners, and where each was moved to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairjax.report.pictures.figures import COLOURS, PALE, blank, name, styled

if TYPE_CHECKING:
  from matplotlib.figure import Figure


@styled
def word_map(pairs: Sequence[Mapping[str, Any]]) -> 'Figure':
  """Pairs {first, second: [x, y], moved_first, moved_second: [x, y], words}.

  Filled marks are words where they were found, hollow ones where the swap
  moved them; a line joins partners.
  """
  figure, (axes,) = blank(1, 1, 5.2)
  for pair in pairs:
    axes.plot(*zip(pair['first'], pair['second']), color=PALE, lw=0.7, zorder=1)
  for k, side in enumerate(('first', 'second')):
    for moved in (False, True):
      key = f'moved_{side}' if moved else side
      x, y = zip(*(pair[key] for pair in pairs))
      axes.scatter(
        *(x, y, 16),
        facecolors='none' if moved else COLOURS[k],
        edgecolors=COLOURS[k],
        linewidths=0.9,
        zorder=2,
        label=f'{side} side' + (', moved' if moved else ''),
      )
  for pair in pairs:
    for k, side in enumerate(('first', 'second')):
      axes.annotate(
        name(pair['words'][k]),
        pair[side],
        xytext=(3, 2),
        textcoords='offset points',
        size=7,
      )
  axes.set(xlabel='first principal axis', ylabel='second')
  axes.legend(fontsize=8, loc='best')
  return figure
