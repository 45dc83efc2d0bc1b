"""The html of a page: one self-contained file, no network.

Every helper escapes the text that it is given; `body_html` of a Section is
what helpers returned, joined.
"""

import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fairjax.core import alignment, escape
from fairjax.report import tables
from fairjax.report.pictures import figures

if TYPE_CHECKING:
  from matplotlib.figure import Figure


class Section(NamedTuple):
  heading: str
  body_html: str


CSS = pathlib.Path(__file__).with_name('page.css').read_text('utf-8')


# Nothing is fetched and nothing runs, whatever a name or a text holds.
POLICY = (
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
  "base-uri 'none'; form-action 'none'"
)


def page(title: str, sections: Sequence[Section]) -> str:
  """A whole html file with a list of its sections at the top."""
  title = escape.html(title)
  headings = [escape.html(s.heading) for s in sections]
  links = ''.join(
    f'<li><a href="#s{k}">{heading}</a></li>'
    for k, heading in enumerate(headings)
  )
  body = '\n'.join(
    f'<section aria-labelledby="s{k}">\n<h2 id="s{k}">{heading}</h2>\n'
    f'{section.body_html}\n</section>'
    for k, (heading, section) in enumerate(zip(headings, sections))
  )
  return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title}</title>
<style>
{CSS}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<nav aria-label="Sections"><details><summary>Contents</summary>
<ul>{links}</ul></details></nav>
{body}
</main>
</body>
</html>
"""


def beside(words: str, picture: str) -> str:
  """Sentences and their picture: side by side where there is room."""
  return f'<div class="first"><div>{words}</div><div>{picture}</div></div>'


def text(*paragraphs: str, kind: str = '') -> str:
  """Paragraphs of escaped text; kind is 'lead', 'quiet' or 'warning'."""
  style = f' class="{kind}"' if kind else ''
  return '\n'.join(f'<p{style}>{escape.html(p)}</p>' for p in paragraphs)


def heading(words: str) -> str:
  return f'<h3>{escape.html(words)}</h3>'


def bullets(lines: Iterable[str]) -> str:
  items = ''.join(f'<li>{escape.html(line)}</li>' for line in lines)
  return f'<ul>{items}</ul>'


def table(
  rows: Sequence[Mapping],
  columns: tables.Columns = None,
  caption: str = '',
  about: Mapping[str, str] | None = None,
) -> str:
  """A table in a box of its own to scroll in, reached by the keyboard."""
  label = escape.html(caption or 'Table')
  body = tables.html(rows, columns, caption, about)
  return (
    f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">'
    f'{body}</div>'
  )


def figure(plot: 'Figure', caption: str) -> str:
  """A plot with its caption, which is also its text for those who hear it."""
  words = escape.html(caption)
  return (
    f'<figure>{figures.svg(plot, caption)}<figcaption>{words}</figcaption>'
    '</figure>'
  )


def side(*parts: str) -> str:
  """Parts beside each other where there is room."""
  return '<div class="side">' + '\n'.join(map(_block, parts)) + '</div>'


def _block(part: str) -> str:
  return f'<div>{part}</div>'


def details(words: str, body_html: str) -> str:
  """What is shown when asked for."""
  words = escape.html(words)
  return f'<details><summary>{words}</summary>{body_html}</details>'


def blurred(body_html: str, number: int, on: bool) -> str:
  """What a switch makes unreadable, for texts that offend; without a script."""
  checked = ' checked' if on else ''
  return (
    f'<div class="strip"><input type="checkbox" id="blur{number}"{checked}>'
    f'<label for="blur{number}">blur the texts</label>'
    f'<div>{body_html}</div></div>'
  )


def versions(texts: Sequence[str]) -> list[str]:
  """Texts, escaped, with the words marked that differ from the first.

  In the first those are marked that differ from the second.
  """
  words = [re.findall(r'\w+|\W', tables.printable(text)) for text in texts]
  lines = []
  for k, own in enumerate(words):
    other = words[0] if k else words[min(1, len(words) - 1)]
    pieces = []
    for kind, _, _, start, end in alignment.changes(other, own):
      piece = escape.entities(''.join(own[start:end]))
      pieces.append(
        f'<mark>{piece}</mark>' if kind != 'equal' and piece else piece
      )
    lines.append(''.join(pieces))
  return lines
