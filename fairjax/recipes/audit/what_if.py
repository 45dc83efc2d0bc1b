"""What a model says of one sentence, and what it would say of its edits.

The sentence, each of the audit's swaps of it, the matched control, and the
sentence without each of its words (erasure; Li et al. 2016) are asked at once.
A word carries a decision where the score is another without it.

`fairjax audit … --serve` adds a line to type sentences in to the audit's page.
The standard library's server, on 127.0.0.1 alone. Its address holds a key of
this run, as other people of the machine may reach the port too, and what is
asked for under another name of this machine (DNS rebinding) or from another
page is refused. Sentences come by POST: no address keeps them. The pages run no
script.
"""

import contextlib
import dataclasses
import hmac
import http.server
import pathlib
import re
import secrets
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from fairjax import results
from fairjax.config import Config, changed
from fairjax.core.errors import UserError
from fairjax.metrics.texts import flips
from fairjax.recipes.audit import edits as audit_edits
from fairjax.report import render

LONGEST = 2000  # characters of a sentence
WORDS = 60  # of a sentence that are left out, one by one
SHOWN = 6  # rows of the table of words
WORD = re.compile(r"\w+(?:['’]\w+)*")
BLANKS = re.compile(r'\s{2,}')


@dataclasses.dataclass(frozen=True)
class Version:
  """A sentence, and what is decided of it."""

  what: str  # it is: 'as written', a swap, its control, or the word left out
  text: str
  score: float  # of the positive label; of several, of the first's decision
  decision: str
  flips: bool = False


@dataclasses.dataclass(frozen=True, repr=False)
class WhatIf:
  """One sentence asked: `edits` and `words` are versions of `said`."""

  said: Version
  of: str  # what the score is the probability of
  edits: list[Version]
  words: list[Version]  # those without which the score changes most, first

  def to_frame(self) -> pd.DataFrame:
    """A row a version: what, text, score, decision, flips."""
    rows = [self.said, *self.edits, *self.words]
    return pd.DataFrame([dataclasses.asdict(one) for one in rows])

  def __repr__(self) -> str:
    return self.to_frame().round(3).to_string(index=False)

  def _repr_html_(self) -> str:
    return html(self)


def asker(
  config: Config,
  ask: Callable[[Sequence[str]], np.ndarray],
  limit: Any,
  names: Sequence[str],
) -> Callable[[str], WhatIf]:
  """The what-if of a model whose answers are scores [s, n] or [s, n, c]."""
  swaps = [s for s in config.audit.swaps if not s.startswith('column:')]
  config = changed(config, audit={'swaps': tuple(swaps)})
  positive = config.measures.positive

  def what_if(text: str) -> WhatIf:
    versions = _versions(checked(text), config)
    texts = list(dict.fromkeys(one for _, one in versions))
    scores = np.asarray(ask(texts), float)
    decided = flips.decisions(scores, limit)
    at = [texts.index(one) for _, one in versions]
    several = scores.ndim == 3
    # Seeds decide by their majority.
    votes = np.stack([(decided == k).mean(0) for k in range(decided.max() + 1)])
    chosen = votes.argmax(0)
    first = int(chosen[at[0]])
    turned = chosen != first
    score = (scores[..., first] if several else scores).mean(0)
    # Of two classes 1 is the positive one, whatever its number.
    place = lambda k: k if several else (positive if k else 1 - positive)
    name = lambda k: names[place(k)] if place(k) < len(names) else str(k)
    found = [
      Version(*what, float(score[k]), name(int(chosen[k])), bool(turned[k]))
      for what, k in zip(versions, at)
    ]
    words = [one for one in found if one.what.startswith('without ')]
    words.sort(key=lambda one: -abs(one.score - found[0].score))
    edits = [one for one in found[1:] if one not in words]
    return WhatIf(found[0], name(first if several else 1), edits, words)

  return what_if


def checked(text: Any) -> str:
  """A sentence that can be asked."""
  if not isinstance(text, str) or not text.strip():
    raise UserError('there is no sentence; type one')
  if len(text) > LONGEST:
    raise UserError(
      f'the sentence has {len(text):,} characters; {LONGEST:,} are the most'
    )
  return text


def _versions(text: str, config: Config) -> list[tuple[str, str]]:
  """What each version is, and its text; the first is as written."""
  out = [('as written', text)]
  for one in audit_edits.make(config, pd.DataFrame({'text': [text]})):
    if one.edited[0]:
      out.append((f'exchanging {one.what}', one.twins[0]))
    if one.controls[0] is not None:
      out.append(('as many other words edited', one.controls[0]))
  for match in [*WORD.finditer(text)][:WORDS]:
    rest = text[: match.start()] + text[match.end() :]
    if rest := BLANKS.sub(' ', rest).strip():
      out.append((f'without ‘{match[0]}’', rest))
  return out


def html(
  found: WhatIf | None, form: bool = False, text: str = '', refused: str = ''
) -> str:
  """The answer as a piece of a page, and the line to type in."""
  own = {'carried': lambda one: one.what.removeprefix('without ')}
  return render.template('what_if.html', own).render(
    found=found,
    shown=SHOWN,
    marked=render.marked,
    form=form,
    text=text,
    longest=LONGEST,
    refused=refused,
  )


# The server of --serve

HOST = '127.0.0.1'
MOST = 40_000  # bytes of a request
PATIENCE = 20  # seconds for it
WAITING = 64  # sentences that wait for an answer
POLICY = (
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
  'Content-Security-Policy': POLICY,
  'Content-Type': 'text/html; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}


class Server(http.server.ThreadingHTTPServer):
  """Asks one sentence at a time."""

  daemon_threads = True
  request_queue_size = 512  # connections that wait; more are reset

  def __init__(
    self, port: int, ask: Callable[[str], WhatIf], page: pathlib.Path, name: str
  ):
    self.ask, self.page, self.name = ask, page, name
    self.key, self.lock = secrets.token_urlsafe(16), threading.Lock()
    self.places = threading.BoundedSemaphore(WAITING)
    super().__init__((HOST, port), Handler)

  @property
  def address(self) -> str:
    return f'http://{HOST}:{self.server_port}/{self.key}/'


class Handler(http.server.BaseHTTPRequestHandler):
  """GET: the line, or the report; POST: the answer to a sentence."""

  server: Server
  server_version, sys_version, timeout = 'fairjax', '', PATIENCE

  def do_GET(self) -> None:
    where = self._allowed()
    if where == '':
      self.send(200, line(self.server.name))
    elif where == 'report.html':
      self.send(200, self.server.page.read_text(encoding='utf-8'))

  def do_POST(self) -> None:
    if self._allowed() != '':
      return
    if not self.server.places.acquire(blocking=False):
      return self.send(503, refused('Too many ask at once; try again.'))
    try:
      text = self._sentence()
      with self.server.lock:
        found = self.server.ask(text)
    except UserError as error:
      return self.send(400, line(self.server.name, refused=str(error)))
    finally:
      self.server.places.release()
    return self.send(200, line(self.server.name, found, text))

  def _sentence(self) -> str:
    size = self.headers.get('Content-Length', '')
    if not size.isascii() or not size.isdigit() or int(size) > MOST:
      raise UserError(f'the sentence is longer than {LONGEST:,} letters')
    try:
      given = self.rfile.read(int(size)).decode('ascii')
      fields = urllib.parse.parse_qs(
        given, keep_blank_values=True, errors='strict', max_num_fields=4
      )
    except ValueError as error:
      raise UserError('the form is damaged; type the sentence again') from error
    return checked(fields.get('text', [''])[0].replace('\r\n', '\n'))

  def _allowed(self) -> str | None:
    """The path behind the key; None, and an answer, where it is not for us."""
    port = self.server.server_port
    hosts = {f'{name}:{port}' for name in (HOST, 'localhost')}
    origin, site = map(self.headers.get, ('Origin', 'Sec-Fetch-Site'))
    known = {None, *(f'http://{host}' for host in hosts)}
    path = urllib.parse.urlsplit(self.path).path
    key, _, rest = path.removeprefix('/').partition('/')
    if self.headers.get('Host') not in hosts or origin not in known:
      self.send(403, refused('This page is asked for under another name.'))
    elif self.command == 'POST' and site not in (None, 'same-origin', 'none'):
      self.send(403, refused('Another page has sent this.'))
    elif not hmac.compare_digest(key.encode(), self.server.key.encode()):
      self.send(404, refused('Take the whole address that the run has shown.'))
    elif rest not in ('', 'report.html'):
      self.send(404, refused('There is no such page.'))
    else:
      return rest
    return None

  def send(self, code: int, page: str) -> None:
    body = page.encode('utf-8', 'replace')
    self.send_response(code)
    for name, value in HEADERS.items():
      self.send_header(name, value)
    self.send_header('Content-Length', str(len(body)))
    with contextlib.suppress(ConnectionError):  # the asker has left
      self.end_headers()
      self.wfile.write(body)

  def log_message(self, *_) -> None:
    """Nothing: what is asked is nobody's business."""


def line(name: str, found: WhatIf | None = None, text='', refused='') -> str:
  """The page of the line, with what was answered last."""
  part = {'part': 'html', 'html': Markup(html(found, True, text, refused))}
  section = results.section('Type a sentence', part)
  return render.page(f'What if? {name}', [section], policy=POLICY)


def refused(words: str) -> str:
  return render.page('Refused', [results.section(words)])


def open_at(
  port: int, ask: Callable[[str], WhatIf], page: pathlib.Path, name: str
) -> Server:
  """The server, listening; one sentence where the port is taken."""
  try:
    return Server(port, ask, page, name)
  except OSError as error:
    raise UserError(
      f'port {port} of {HOST} cannot be opened ({error.strerror or error}); '
      'name another one with --serve=PORT'
    ) from error


def until_stopped(server: Server, say: Callable[[str], None]) -> None:
  """Answers until Ctrl-C."""
  with server:
    say(f'type sentences at {server.address} (Ctrl-C ends it)')
    try:
      server.serve_forever()
    except KeyboardInterrupt:
      say('no longer served')
