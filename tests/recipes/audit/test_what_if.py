"""What a model says of one sentence: in Python, and on the page that asks."""

import collections
import concurrent.futures
import http.client
import threading
import time
import urllib.parse

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import UserError
from fairjax.config import Config
from fairjax.data.tables import audit_table
from fairjax.recipes.audit import recipe as recipe
from fairjax.recipes.audit import what_if as serve

ROWS = pd.DataFrame(
  {
    'text': ['She was awful.', 'He was fine.', 'She won.', 'He is bad.'] * 6,
    'label': ['toxic', 'ok', 'ok', 'toxic'] * 6,
    'sex': ['f', 'm'] * 12,
  }
)


def chance(texts):
  """.1, and .5 more of 'awful', .3 of a woman."""
  low = [text.lower() for text in texts]
  return [0.1 + 0.5 * ('awful' in t) + 0.3 * ('she' in t.split()) for t in low]


@pytest.fixture(scope='module')
def audited():
  return fairjax.audit(chance, ROWS, groups='sex', options={'n_resamples': 0})


def test_versions_of_a_sentence_have_their_scores(audited):
  found = audited.what_if('She was awful')
  assert found.said.score == pytest.approx(0.9)
  assert (found.said.decision, found.of) == ('toxic', 'toxic')
  swap, control = found.edits
  assert swap.text == 'He was awful' and swap.score == pytest.approx(0.6)
  assert control.text.startswith('She ') and control.text != 'She was awful'
  by = {one.what: one for one in found.words}
  assert by['without ‘awful’'].text == 'She was'
  assert by['without ‘awful’'].score == pytest.approx(0.4)
  assert [one.flips for one in found.words] == [True, False, False]
  assert [one.what for one in found.words][:2] == [
    'without ‘awful’',
    'without ‘She’',
  ]
  assert len(found.to_frame()) == 6 and 'He was awful' in repr(found)
  page = ' '.join(found._repr_html_().split())
  assert 'No edit changes it. Without ‘awful’ it would be another.' in page


def test_an_edit_that_turns_a_decision_is_said(audited):
  how = {'n_resamples': 0, 'threshold': 0.7}
  audit = lambda **more: fairjax.audit(
    chance, ROWS, groups='sex', options={**how, **more}
  )
  page = audit().what_if('She was awful')._repr_html_()
  assert 'It changes by exchanging words that show gender.' in page
  turned = audit(pos_label='ok').what_if('She was awful')
  assert turned.of == 'ok' and turned.said.decision == 'ok'


def test_of_several_classes_the_decided_one_is_scored():
  data = pd.DataFrame(
    {'text': ['a', 'b', 'c'] * 9, 'label': ['x', 'y', 'z'] * 9}
  )

  def three(texts):
    return np.eye(3)[[len(text) % 3 for text in texts]] * 0.7 + 0.1

  found = fairjax.audit(three, data, options={'n_resamples': 0}).what_if('ab')
  assert (found.said.decision, found.of) == ('z', 'z')
  assert found.said.score == pytest.approx(0.8)


def test_predictions_cannot_be_asked():
  found = fairjax.audit(chance(ROWS['text']), ROWS, options={'n_resamples': 0})
  with pytest.raises(UserError, match='audit the model itself'):
    found.what_if('She was awful')
  config = Config(recipe='audit')
  config.audit.serve = 8765
  rows = audit_table.of_frame(ROWS, config)
  with pytest.raises(UserError, match='name a model to serve'):
    recipe.audit(config, np.array(chance(ROWS['text'])), rows)


@pytest.mark.parametrize(
  ('text', 'words'),
  [('', 'type one'), (' \n', 'type one'), ('a' * 2001, 'most')],
)
def test_what_is_no_sentence_is_refused(audited, text, words):
  with pytest.raises(UserError, match=words):
    audited.what_if(text)


# The server


@pytest.fixture(scope='module')
def server(audited, tmp_path_factory):
  page = tmp_path_factory.mktemp('served') / 'report.html'
  page.write_text('<p>the report')
  with serve.open_at(0, audited.what_if, page, 'a <b> model') as one:
    thread = threading.Thread(target=one.serve_forever, args=(0.02,))
    thread.start()
    yield one
    one.shutdown()
    thread.join()


def asked(server, method='GET', path='', body=None, **headers):
  link = http.client.HTTPConnection(serve.HOST, server.server_port, timeout=30)
  form = {'Content-Type': 'application/x-www-form-urlencoded'} if body else {}
  headers = {k.replace('_', '-'): v for k, v in headers.items()}
  where = path if path.startswith('/') else f'/{server.key}/{path}'
  link.request(method, where, body, form | headers)
  answer = link.getresponse()
  return answer, answer.read().decode()


def test_a_typed_sentence_is_answered_and_escaped(server):
  body = urllib.parse.urlencode(
    {'text': 'She </textarea><script>x</script> awful'}
  )
  answer, page = asked(server, 'POST', body=body)
  assert answer.status == 200 and '<script' not in page
  assert 'Decided <b>‘toxic’</b>; the score of ‘toxic’ is 0.90' in page
  assert page.count('&lt;/textarea&gt;&lt;script&gt;') >= 2
  assert 'What if? a &lt;b&gt; model' in page


def test_pages_run_and_fetch_nothing(server):
  for path, words in (('', 'Type a sentence'), ('report.html', 'the report')):
    answer, page = asked(server, path=path)
    assert answer.status == 200 and words in page
    policy = answer.headers['Content-Security-Policy']
    assert "default-src 'none'" in policy and "form-action 'self'" in policy
    assert "frame-ancestors 'none'" in policy and 'script' not in policy
    assert answer.headers['X-Content-Type-Options'] == 'nosniff'
    assert answer.headers['Cache-Control'] == 'no-store'


def test_two_hundred_at_once_are_answered_and_none_is_reset(server):
  body = urllib.parse.urlencode({'text': 'She is awful.'})
  ask = lambda _: asked(server, 'POST', body=body)[0].status
  with concurrent.futures.ThreadPoolExecutor(200) as pool:
    with server.lock:  # while one is asked, the others wait
      answers = [pool.submit(ask, k) for k in range(200)]
      while sum(one.done() for one in answers) < 200 - serve.WAITING:
        time.sleep(0.01)
    found = collections.Counter(one.result() for one in answers)
  assert found == {200: serve.WAITING, 503: 200 - serve.WAITING}


def test_it_listens_to_this_machine_alone(server):
  assert server.server_address[0] == '127.0.0.1'


@pytest.mark.parametrize(
  ('code', 'how'),
  [
    (403, {'Host': 'evil.example'}),
    (403, {'Origin': 'http://evil.example'}),
    (403, {'Origin': 'null'}),
    (403, {'Sec_Fetch_Site': 'cross-site'}),
    (404, {'path': '/'}),
    (404, {'path': '/wrong/'}),
    (404, {'path': 'config.json'}),
    (404, {'path': '../report.html'}),
  ],
  ids=str,
)
def test_what_comes_from_elsewhere_is_refused(server, code, how):
  body = urllib.parse.urlencode({'text': 'She was awful'})
  answer, page = asked(server, 'POST', body=body, **how)
  assert answer.status == code and 'awful' not in page


def test_its_own_page_may_ask(server):
  own = f'http://127.0.0.1:{server.server_port}'
  body = urllib.parse.urlencode({'text': 'He was fine'})
  answer, _ = asked(
    server, 'POST', body=body, Origin=own, Sec_Fetch_Site='same-origin'
  )
  assert answer.status == 200


@pytest.mark.parametrize(
  'body', ['', 'text=', 'text=%ff', 'text=' + 'a' * 2001, 'a=' * 9 + '&' * 9]
)
def test_a_bad_form_is_a_sentence(server, body):
  answer, page = asked(server, 'POST', body=body)
  assert answer.status == 400 and 'class="warning"' in page
  long = asked(server, 'POST', Content_Length='99999999')[0]
  assert long.status == 400


def test_a_port_that_is_taken_is_a_sentence(server, audited, tmp_path):
  with pytest.raises(UserError, match='--serve=PORT'):
    serve.open_at(server.server_port, audited.what_if, tmp_path, 'x')


def test_an_asker_who_leaves_is_no_traceback():
  """Found by tests/chaos/soak.py: of a slow answer the browser was gone."""

  class Gone:
    send_response = send_header = lambda *_: None

    def end_headers(self):
      raise BrokenPipeError

  serve.Handler.send(Gone(), 200, 'x')
