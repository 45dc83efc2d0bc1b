"""`fairjax audit … --serve`: the audit's page, and a line to type sentences in.

The standard library's server, on 127.0.0.1 alone. Its address holds a key of
this run, as other people of the machine may reach the port too, and what is
asked for under another name of this machine (DNS rebinding) or from another
page is refused. Sentences come by POST: no address keeps them. The pages run no
script.
"""

import hmac
import http.server
import pathlib
import secrets
import threading
import urllib.parse
from collections.abc import Callable

from fairjax.core import escape
from fairjax.core.errors import UserError
from fairjax.recipes.audit import what_if
from fairjax.recipes.audit.what_if import WhatIf
from fairjax.report import blocks

HOST = '127.0.0.1'
MOST = 40_000  # bytes of a request
PATIENCE = 20  # seconds for it
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

  def __init__(
    self, port: int, ask: Callable[[str], WhatIf], page: pathlib.Path, name: str
  ):
    self.ask, self.page, self.name = ask, page, name
    self.key, self.lock = secrets.token_urlsafe(16), threading.Lock()
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
      self._send(200, line(self.server.name))
    elif where == 'report.html':
      self._send(200, self.server.page.read_text(encoding='utf-8'))

  def do_POST(self) -> None:
    if self._allowed() != '':
      return
    try:
      text = self._sentence()
      with self.server.lock:
        found = self.server.ask(text)
    except UserError as error:
      words = blocks.text(str(error), kind='warning')
      return self._send(400, line(self.server.name, words))
    return self._send(200, line(self.server.name, what_if.html(found), text))

  def _sentence(self) -> str:
    size = self.headers.get('Content-Length', '')
    if not size.isascii() or not size.isdigit() or int(size) > MOST:
      raise UserError(
        f'the sentence is longer than {what_if.LONGEST:,} letters'
      )
    try:
      given = self.rfile.read(int(size)).decode('ascii')
      fields = urllib.parse.parse_qs(
        given, keep_blank_values=True, errors='strict', max_num_fields=4
      )
    except ValueError as error:
      raise UserError('the form is damaged; type the sentence again') from error
    return what_if.checked(fields.get('text', [''])[0].replace('\r\n', '\n'))

  def _allowed(self) -> str | None:
    """The path behind the key; None, and an answer, where it is not for us."""
    port = self.server.server_port
    hosts = {f'{name}:{port}' for name in (HOST, 'localhost')}
    origin, site = (
      self.headers.get('Origin'),
      self.headers.get('Sec-Fetch-Site'),
    )
    foreign = origin is not None and origin not in {
      f'http://{host}' for host in hosts
    }
    path = urllib.parse.urlsplit(self.path).path
    key, _, rest = path.removeprefix('/').partition('/')
    if self.headers.get('Host') not in hosts or foreign:
      self._send(403, refused('This page is asked for under another name.'))
    elif self.command == 'POST' and site not in (None, 'same-origin', 'none'):
      self._send(403, refused('Another page has sent this.'))
    elif not hmac.compare_digest(key.encode(), self.server.key.encode()):
      self._send(404, refused('Take the whole address that the run has shown.'))
    elif rest not in ('', 'report.html'):
      self._send(404, refused('There is no such page.'))
    else:
      return rest
    return None

  def _send(self, code: int, page: str) -> None:
    body = page.encode('utf-8', 'replace')
    self.send_response(code)
    for name, value in HEADERS.items():
      self.send_header(name, value)
    self.send_header('Content-Length', str(len(body)))
    self.end_headers()
    self.wfile.write(body)

  def log_message(self, *_) -> None:
    """Nothing: what is asked is nobody's business."""


STYLE = """<style>
textarea { width: 100%; max-width: 44rem; box-sizing: border-box;
  padding: 0.5rem; font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: 4px; }
button { font: inherit; padding: 0.3rem 1.2rem; }
</style>"""
ABOUT = (
  'A sentence, to see its score, what exchanged words do to it, and the words '
  'that carry it'
)


def line(name: str, answer: str = '', text: str = '') -> str:
  """The page of the line, with what was answered last."""
  form = (
    f'{STYLE}<form method="post" action="./">'
    f'<p><label for="text">{ABOUT}</label></p>'
    '<p><textarea id="text" name="text" rows="3" required autofocus '
    f'maxlength="{what_if.LONGEST}">\n{escape.entities(text)}</textarea></p>'
    '<p><button>Ask</button></p></form>'
  )
  more = '<p class="quiet"><a href="report.html">The whole audit</a></p>'
  sections = [blocks.Section('Type a sentence', form + answer + more)]
  page = blocks.page(f'What if? {name}', sections)
  return page.replace(blocks.POLICY, POLICY)


def refused(words: str) -> str:
  return blocks.page('Refused', [blocks.Section(words, '')])


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
