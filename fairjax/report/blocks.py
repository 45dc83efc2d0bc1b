"""The html of a page: one self-contained file, no network.

Every helper escapes the text that it is given; `body_html` of a Section is
what helpers returned, joined.
"""

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


CSS = """
:root {
  color-scheme: light dark;
  --ink: #1d2127; --quiet: #59616c; --paper: #fff; --panel: #f6f7f9;
  --line: #d9dde3; --link: #0b62a4; --warn: #8a4b00; --warn-panel: #fff5e5;
  --mark: #ffe3a8; --shade: #0003;
  --good: #00785a; --unsure: #8a6d00; --bad: #b2400b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e7ec; --quiet: #a1a9b5; --paper: #15181d; --panel: #1d2127;
    --line: #343a44; --link: #7ab8ee; --warn: #f3bd6b; --warn-panel: #2c2416;
    --mark: #6b4c0c; --shade: #000c;
    --good: #3ecfa4; --unsure: #e6c84f; --bad: #ff8a50;
  }
}
@media (prefers-color-scheme: dark) {
  figure svg { filter: brightness(1.25); }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans',
    'Liberation Sans', sans-serif;
}
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 {
  font-size: 1.25rem; margin: 2.8rem 0 0.8rem; padding-top: 1rem;
  border-top: 1px solid var(--line);
}
h3 { font-size: 1.02rem; margin: 1.8rem 0 0.5rem; }
h1, h2, h3, p, li, figcaption, dd { overflow-wrap: anywhere; }
p, ul { max-width: 44rem; margin: 0 0 0.8rem; }
ul { padding-left: 1.2rem; }
li { margin-bottom: 0.35rem; }
a { color: var(--link); }
nav { font-size: 0.9rem; }
nav ul { list-style: none; padding: 0; margin: 0; }
nav li { margin: 0 0 0.25rem; }
section:first-of-type h2 { margin-top: 0.6rem; }
.quiet, small, figcaption, caption { color: var(--quiet); }
.lead { font-size: 1.13rem; line-height: 1.5; }
.warning {
  max-width: 44rem; margin: 0 0 0.8rem; padding: 0.6rem 0.9rem;
  border-left: 4px solid var(--warn); background: var(--warn-panel);
}
.scroll {
  overflow-x: auto; margin: 0 0 1.2rem; max-width: 100%;
  /* A shade at an edge that has more behind it. */
  background:
    linear-gradient(to right, var(--paper) 40%, transparent) left,
    linear-gradient(to left, var(--paper) 40%, transparent) right,
    linear-gradient(to right, var(--shade), transparent) left,
    linear-gradient(to left, var(--shade), transparent) right;
  background-attachment: local, local, scroll, scroll;
  background-repeat: no-repeat;
  background-size: 3rem 100%, 3rem 100%, 0.8rem 100%, 0.8rem 100%;
}
.scroll:focus-visible, a:focus-visible, summary:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px;
}
table { border-collapse: collapse; font-size: 0.9rem; }
caption { text-align: left; padding-bottom: 0.4rem; font-size: 0.9rem; }
th, td {
  text-align: left; vertical-align: top; padding: 0.32rem 1.1rem 0.32rem 0;
  border-bottom: 1px solid var(--line);
}
thead th { font-weight: 600; color: var(--quiet); white-space: nowrap; }
thead th { vertical-align: bottom; }
thead th.number { white-space: normal; }
tbody th { font-weight: 500; max-width: min(20rem, 52vw);
  overflow-wrap: break-word; }
@media (min-width: 68rem) { tbody th { max-width: 30rem; } }
@media (max-width: 40rem) { tbody th { min-width: min(9rem, 40vw); } }
tbody th, thead th:first-child {
  position: sticky; left: 0; background: var(--paper);
}
tbody th small { font-weight: 400; }
@media (max-width: 40rem) {
  .stacked, .stacked tbody, .stacked tr { display: block; }
  .stacked thead { display: none; }
  .stacked tr { padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
  .stacked th, .stacked td { padding: 0; border: 0; max-width: none; }
  .stacked tbody th { display: block; position: static; }
  .stacked td { display: inline-block; margin-right: 0.9rem;
    white-space: normal; }
  .stacked td:empty { display: none; }
  .stacked td::before { content: attr(data-label) ' '; color: var(--quiet); }
}
.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.number small { white-space: normal; }
td { max-width: 32rem; overflow-wrap: break-word; }
.side { display: flex; flex-wrap: wrap; gap: 0.4rem 2.5rem; }
.side > * { flex: 0 1 auto; min-width: 0; max-width: 100%; }
figure { margin: 0 0 1.2rem; }
figure svg { display: block; max-width: 100%; height: auto; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { font-size: 0.88rem; max-width: 31rem; margin-top: 0.3rem; }
details { margin: 0 0 1rem; }
summary { cursor: pointer; color: var(--link); margin-bottom: 0.5rem; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
.first { display: grid; gap: 0 2rem; }
.first > * { min-width: 0; }
@media (min-width: 68rem) {
  .first:has(figure) { grid-template-columns: minmax(0, 1fr) 33rem; }
}
.lights { display: flex; flex-wrap: wrap; gap: 0.6rem; max-width: none;
  list-style: none; padding: 0; margin: 0 0 1.2rem; }
.lights li { flex: 1 1 15rem; margin: 0; padding: 0.6rem 0.8rem;
  background: var(--panel); border: 1px solid var(--line);
  border-left: 5px solid; border-radius: 4px; }
.lights svg { width: 0.95rem; height: 0.95rem; margin-right: 0.35rem;
  vertical-align: -0.1em; fill: currentColor; }
.lights b { margin-right: 0.3rem; }
.lights small { display: block; margin-top: 0.25rem; line-height: 1.4; }
.lights .good { border-left-color: var(--good); }
.lights .unsure { border-left-color: var(--unsure); }
.lights .bad { border-left-color: var(--bad); }
.lights .good svg { color: var(--good); }
.lights .unsure svg { color: var(--unsure); }
.lights .bad svg { color: var(--bad); }
.strip > input { margin: 0 0.4rem 0.8rem 0; }
.strip > div { transition: filter 0.1s; }
@media (min-width: 68rem) {
  .strip > div { columns: 2; column-gap: 2.5rem; }
  .strip > div > div { break-inside: avoid; }
}
.strip > input:checked ~ div { filter: blur(0.35em); user-select: none; }
.downloads { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem;
  list-style: none; padding: 0; max-width: none; }
@media print {
  nav, .downloads, .strip > input, .strip > label { display: none; }
  body { font-size: 11pt; }
  main { padding: 0; }
  .lights li { background: none; }
  .scroll { overflow: visible; }
  figure, tr, .lights { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""


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
<style>{CSS}</style>
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
