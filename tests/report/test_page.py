"""The page: whole, balanced, escaped, the same for the same run."""

import ast
import html.parser
import itertools
import json
import pathlib
import re
import shlex
import types

import drawn
import pandas as pd
import pytest

from fairjax import results
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows
from fairjax.recipes import RECIPES
from fairjax.report import measured, page, render, tables
from fairjax.report.__main__ import main as report_main

NEXT = pathlib.Path(__file__).with_name('next_commands.csv')
VOID = {'meta', 'br', 'hr', 'img', 'link', 'input'}


class Reader(html.parser.HTMLParser):
  """Checks that tags are balanced; collects tags, ids and shown text."""

  def __init__(self, text):
    super().__init__()
    self.open, self.tags, self.ids, self.shown = [], [], [], []
    self.feed(text)
    self.close()
    assert self.open == []

  def handle_starttag(self, tag, attrs):
    self.tags.append((tag, dict(attrs)))
    self.ids += [value for key, value in attrs if key == 'id']
    if tag not in VOID:
      self.open.append(tag)

  def handle_endtag(self, tag):
    assert self.open.pop() == tag

  def handle_data(self, data):
    if self.open and self.open[-1] != 'style':
      self.shown.append(data)

  @property
  def text(self):
    return ' '.join(' '.join(self.shown).split())


def test_a_run_becomes_one_whole_page(reported, unspoken):
  found = reported[1]
  reader = Reader(found)
  assert len(found) < 405_000
  assert len(reader.ids) == len(set(reader.ids))
  links = [a['href'] for tag, a in reader.tags if tag == 'a']
  held = [link for link in links if link.startswith('data:')]
  assert {link[1:] for link in links if link not in held} <= set(reader.ids)
  for attribute in ('src', 'href'):
    for _, attributes in reader.tags:
      assert attributes.get(attribute, '#').startswith(('#', 'data:'))
  # Nothing is fetched: namespaces are gone too.
  for link in held:
    found = found.replace(link, '')
  assert not re.search(r'https?:|//|@import', found)
  assert found.count('<svg') > 3 and unspoken(found) == []
  levels = [int(t[1]) for t, _ in reader.tags if re.fullmatch('h[1-6]', t)]
  assert levels[0] == 1 and levels.count(1) == 1
  assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_a_model_s_folder_is_called_by_its_name(run_folder, tmp_path):
  path, found = '/home/me/runs/gpt2/export/seed_0', results.read(run_folder)
  found.title, found.model, found.focus = '', f'gpt2 ({path})', ''
  results.write(tmp_path, found)
  text = Reader(page.report(tmp_path)).text
  assert 'gpt2 on ' in text and text.find(path) in (-1, text.rfind(path))


def test_numbers_of_the_results_are_on_the_page(reported):
  text = Reader(reported[1]).text
  for found in results.read(reported[0]).sets.values():
    for value in [*found['quality'].values(), *found['fairness'].values()]:
      low, high = f'{value["low"]:.3f}', f'{value["high"]:.3f}'
      assert f'{value["value"]:.3f} [{low}, {high}]' in text


def test_the_same_run_gives_the_same_bytes(reported):
  drawn.HELD.clear()  # and its pictures are drawn anew
  assert page.report(reported[0]) == reported[1]


def test_what_users_wrote_is_text_never_markup(hostile_folder, unspoken):
  found = page.report(hostile_folder)
  reader = Reader(found)
  assert not {'script', 'img', 'iframe', 'object'} & {t for t, _ in reader.tags}
  assert '<script' not in found
  assert reader.text.count('alert(1)') > 20 and unspoken(found) == []
  for _, attributes in reader.tags:
    assert not [key for key in attributes if key.startswith('on')]
  for path in (hostile_folder / 'plots').iterdir():
    assert re.fullmatch(r'[\w-]+\.png', path.name)


def test_every_page_has_one_order(reported):
  """Answer, picture, lights, next command; what it rests on; tables; method."""
  html = reported[1]
  marks = ('class="lead"', '<figure>', 'class="lights"', 'class="next"')
  marks += ('What it rests on', 'Measures on test</h2>', 'How it was made</h2>')
  places = [html.index(mark, html.index('<h1>')) for mark in marks[:4]]
  places += [html.rindex(mark) for mark in marks[4:]]
  assert places == sorted(places)
  first = html[: html.index('</section>')]
  assert first.rstrip().endswith('</code></p>')


@pytest.mark.parametrize(
  'case', pd.read_csv(NEXT, keep_default_na=False).to_dict('records')
)
def test_the_first_screen_ends_with_what_is_next(case, tmp_path):
  folder = tmp_path / 'runs' / 'run'
  words = ['fairjax', *shlex.split(case['typed'])][: 9 * bool(case['typed'])]
  kept = {'versions.json': {'command': words}}
  kept['config.json'] = ast.literal_eval(case['config'])
  for name in [*case['files'].split(), *kept]:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(kept.get(name, '')))
  found = [one.split() for one in case['findings'].split('|') if one]
  found = [types.SimpleNamespace(kind=k, verdict=v) for k, v in found]
  own = {'texts': 9, 'fairness': {'eqodd': {'low': 0.557}, 'dp': {'low': None}}}
  own['warnings'] = [case['warning']]
  diet = {'in configs': 'healthy_random', 'a': 0.4, 'b': 0.2}
  run = results.Results(
    recipe=case['recipe'],
    contenders={'m': {'sets': {'data': own}, 'facts': diet}},
    facts={'out': 'texts'},
  )
  (one,) = page.next_command(run, found, folder)
  assert case['text'] in one['text'] and one['command'] == case['command']


def test_no_mark_is_parted_from_a_flag():
  """'(' stood alone at the end of a line, where the flag went to the next."""
  page_of = render.environment('html', None).from_string
  found = page_of('{{ x|flags }}').render(x='more (--config.model=a), or <')
  held = '(<code>--config.model</code>=a),</span>'
  assert found == f'more <span class="flag">{held} or &lt;'


def test_every_recipe_has_a_next_command():
  rows = table_rows(page.__file__, 'next_commands.csv')
  assert {*RECIPES} == {name for row in rows for name in row[0].split()}


def test_a_figure_that_cannot_be_drawn_is_one_sentence(run_folder):
  found = results.read(run_folder)
  for plot, data, words in (
    ('pie', {}, "no plot 'pie'; there are rates"),
    ('forest', {'effects': {}}, "'oops' of results.json is not what"),
  ):
    figure = results.figure(plot, 'oops', '', **data)
    found.sections = [results.section('x', figure)]
    results.write(run_folder, found)
    with pytest.raises(UserError, match=words):
      page.report(run_folder)


def test_the_words_that_differ_are_marked():
  marked = lambda *texts: [
    ''.join(f'[{p}]' if changed else p for changed, p in one)
    for one in render.marked(texts)
  ]
  assert marked('She saw <him> & left', 'He saw <her> & left') == [
    *('[She] saw <[him]> & left', '[He] saw <[her]> & left')
  ]
  assert marked('she ran', 'he ran', 'he ran off')[-1] == '[he] ran[ off]'
  assert marked('<alone>') == ['<alone>']


def test_contenders_stand_side_by_side(run_folder):
  found = results.read(run_folder)
  cda = found.contenders['cda'] | {'page': 'cda/report.html'}
  none = cda | {'facts': {'rows': 12}, 'page': '../../etc/passwd'}
  found.contenders = {'cda': cda, 'none': none}
  found.tests[0] |= {'test': 'independent t-test over seeds', 'p': 0.01}
  results.write(run_folder, found)
  page_ = page.report(run_folder)
  text = Reader(page_).text
  assert 'Contenders side by side' in text and 'What each contender is' in text
  assert 'href="cda/report.html"' in page_ and 'passwd' not in page_
  dp = found.measured('cda', 'test')['dp']
  assert f'{tables.estimate(dp)}†' in text
  found.tests += [found.tests[0] | {'theirs': 'other'}]
  assert not measured.daggers(found)
  # Of several attributes as they were measured, and each named.
  found.tests = [found.tests[0] | {'measure': f'{k}/dp'} for k in 'zyxwvu']
  pictures = str(measured.tests(found)[0]['parts'][1:7])
  assert re.findall(r'\b(.): demographic', pictures) == [*'zyxwvu']


def test_the_page_is_made_again_by_one_command(reported, capsys):
  folder, first = reported
  assert report_main([str(folder)]) == 0
  assert (folder / 'report.html').read_text() == first
  assert '## planted · mini · 5 seeds' in capsys.readouterr().out
  assert report_main([str(folder / 'nowhere')]) == 2
  assert 'does not exist' in capsys.readouterr().err
  assert report_main([]) == 2


def test_what_is_missing_is_named(run_folder, tmp_path):
  gone = 'config.json', 'versions.json', 'results.json'
  for name in ('predictions.parquet', 'metrics.jsonl', 'hygiene.json', *gone):
    (run_folder / name).unlink()
    text = Reader(page.report(run_folder)).text
    assert (f'{name} is missing' in text) == (name in gone)
  empty = Reader(page.report(tmp_path)).text
  assert 'the run has not been measured' in empty


def without_groups(found):
  undefined = {'auc': {'value': None, 'note': 'one class only'}}
  own = {'rows': 1, 'quality': undefined, 'warnings': ['it is constant']}
  found.contenders['cda']['sets'] = {'other': own}


def of_other_groups(found):
  """Predictions hold data.group; numbers were of measures.groups."""
  for own in found.contenders['cda']['sets'].values():
    own['groups'] = {f'other {k}': v for k, v in own['groups'].items()}


def at_a_level(found):
  """Of .999 the page said 100% intervals."""
  found.level = 0.999


@pytest.mark.parametrize(
  'change, shown, left',
  [
    (lambda found: None, ['ROC curves by group', 'by group and label'], []),
    (of_other_groups, ['ROC curve of the'], ['curves by group', 'group and']),
    (at_a_level, ['99.9% interval'], ['100% interval']),
    (
      without_groups,
      ['undefined one class only', 'it is constant', '1 row of other'],
      ['Gap'],
    ),
  ],
)
def test_a_page_is_of_what_there_is(run_folder, change, shown, left):
  found = results.read(run_folder)
  change(found)
  results.write(run_folder, found)
  text = Reader(page.report(run_folder)).text
  assert [part for part in shown if part not in text] == []
  assert [part for part in left if part in text] == []


def test_what_an_earlier_page_left_goes(run_folder):
  """Nobody would see that it is not of this run; a user's own files stay."""
  page.report(run_folder)
  places = [run_folder / name for name in ('plots', 'documents')]
  before = [{path.name for path in place.iterdir()} for place in places]
  for name in ('plots/contenders_auc_other.png', 'documents/07_words.csv'):
    (run_folder / name).write_bytes(b'old')
  for place in places:
    (place / 'notes.txt').write_text('mine')
  found = results.read(run_folder)
  found.tests = []
  results.write(run_folder, found)
  page.report(run_folder)
  plots_, documents = [{p.name for p in place.iterdir()} for place in places]
  assert documents == before[1] - {'tests.csv'} | {'notes.txt'}
  assert plots_ - {'notes.txt'} < before[0] and 'notes.txt' in plots_
