"""Whether a word is said of people: what English says of each neighbour."""

import pytest

from fairjax.data.axes.table import Word
from fairjax.pairs.axes import senses
from fairjax.pairs.swapping.neighbours import last_word, next_word


class At:
  """A word in brackets where it stands, and its neighbours."""

  def __init__(self, marked):
    self.start, self.end = marked.index('['), marked.index(']') - 1
    self.text = marked.replace('[', '').replace(']', '')
    self.low = self.text[self.start : self.end].lower()
    self.before = last_word(self.text, self.start)
    self.after = next_word(self.text, self.end)[0]


def check(sees, yes, no):
  """`sees` of each line, which is true of the first ones alone."""
  for lines, wanted in ((yes, True), (no, False)):
    for line in filter(None, map(str.strip, lines.splitlines())):
      assert bool(sees(At(line))) == wanted, line


def test_said_of_somebody():
  check(
    lambda at: senses.is_said(at.text, at.start, at.before, at.after.lower()),
    """
    He is [black].
    They were [poor] and tired.
    He's [black].
    He isn't [black].
    He is not really [black].
    He probably is [black].
    I became [poor].
    The workers were [poor].
    "They are [poor] now.
    I am [poor] but happy.
    theyre [poor].
    Now all the workers were [poor].
    """,
    """
    He is [poor] pallid wretch.
    He is a [poor], pallid wretch.
    The sky is [black].
    The sky isn't [black].
    Also [black].
    He likes [black].
    The sky probably is [black].
    Are [poor].
    """,
  )


def test_a_predicate():
  check(
    lambda at: senses.is_predicate(at.text, at.start),
    """
    She is [Canadian].
    She is also originally [Canadian].
    SHE IS [Canadian].
    Who's [Canadian]?
    Anna’s [Canadian].
    """,
    """
    She met [Canadian].
    Also [Canadian].
    [Canadian].
    """,
  )


@pytest.mark.parametrize(
  ('word', 'before', 'wanted'),
  [
    *((word, '', True) for word in ('', 'the', 'won', 'three', 'then')),
    *((word, '', True) for word in ("didn't", 'didn’t', 'quickly')),
    *((word, '', False) for word in ('family', 'people', 'houses')),
    # A noun of many does not follow "a"; who is British is one who sleeps.
    ('houses', 'a', True),
    ('houses', 'the', False),
    ('glass', 'a', False),
    ('teacher', 'a', False),
  ],
)
def test_what_is_no_noun(word, before, wanted):
  assert senses.is_no_noun(word, before) == wanted


@pytest.mark.parametrize(
  ('marked', 'noun'),
  [
    ('The [black] men met.', 'men'),
    ('The [black] men zany and loud.', 'men'),
    ('The [black] and white kids met.', 'kids'),
    ('The [black] or very white kids met.', ''),
    ('The [black] and zany men met.', ''),
    ('The [black] poor old men met.', 'men'),
    ('The [black] zany men met.', ''),
    ('A [disabled] American tank burned.', ''),
    ('A [disabled] American WON.', 'american'),
    ('A [disabled] American man won.', 'man'),
    ('The [black] and POOR men met.', 'men'),
    ('The [black] cat sat.', ''),
    ('It is [black].', ''),
  ],
)
def test_the_word_for_people_that_follows(marked, noun):
  at = At(marked)
  assert senses.before_people(at.text, at.end) == noun
  if 'zany men' in marked:
    assert senses.before_people(at.text, at.end, {'zany'}) == 'men'


def test_a_noun_that_is_counted():
  check(
    lambda at: senses.is_counted(at.text, at.start, at.before),
    """
    She met an [Asian].
    THE [Asian] met her.
    She met my [Asian].
    She met a young [Asian].
    She met the poor young [Asian].
    """,
    """
    She met some [Asian].
    She met every zany [Asian].
    She met [Asian].
    She met a poor young old [Asian].
    """,
  )


def test_a_plural_of_people():
  check(
    lambda at: senses.are_people(at.text, at.start, at.end, at.before),
    """
    The [kids] sang.
    [Kids] sang.
    The working [whites] voted.
    Marching [whites] voted.
    Several angry [whites] voted.
    """,
    """
    Beat the egg [whites].
    His [kids] sang.
    The young [whites] voted.
    The OLD angry [whites] voted.
    In their town the [kids] of theirs sang.
    The [kids] and dogs of theirs sang.
    The [kids] under 18 sang.
    The table [whites] are clean.
    """,
  )


def test_a_child_that_is_nobody_s():
  check(
    lambda at: senses.is_child(at.text, at.start, at.before),
    """
    She met a [boy].
    A [boy] slept.
    She met a poor [boy].
    He cried like [boy].
    """,
    """
    She met my [boy].
    She met a young [boy].
    She met an old poor [boy].
    She met [boy].
    Oh [boy], it rained.
    They have a [boy].
    Her husband is like a [boy].
    """,
  )


def test_offspring():
  check(
    lambda at: senses.is_offspring(at.text, at.start),
    """
    My [kids] sang.
    Anna's [boys] sang.
    The celebrities ' [kids] sang.
    She is a mother of two [boys].
    She is the youngest of six [children].
    They have two young [children].
    They have adopted [children].
    They HAVE [children].
    She has talent and [children].
    He left a wife and [children].
    They divorced, and then the [kids] sang.
    Those were the following [kids], wrote her husband.
    """,
    """
    The [kids] sang.
    She saw a pack of [boys].
    Her husband saw a pack of [boys].
    Of [boys] she knew none.
    She has talent, they say, [children] too.
    They divorced. The [kids] sang.
    """,
  )


ENGLISH, POOR, BLIND, YOUNG = (
  Word(word, True) for word in ('English', 'poor', 'blind', 'young')
)
DEAF = Word('Deaf')


@pytest.mark.parametrize(
  ('one', 'marked', 'noun', 'wanted'),
  [
    (ENGLISH, 'An [English] teacher', 'teacher', False),
    (ENGLISH, 'An [English] man', 'man', True),
    (BLIND, 'A [blind] teacher', 'teacher', True),
    (BLIND, 'His [blind] supporters', 'supporters', False),
    (BLIND, 'A [blind] girl', 'girl', False),  # one of the axis's own
    (YOUNG, 'A [young] son', 'son', False),
    (YOUNG, 'A [young] family', 'family', False),
    (YOUNG, 'A [young] nurse', 'nurse', True),
    (YOUNG, 'A [young] voter', 'voter', True),
    (DEAF, 'A [Deaf] teacher', 'teacher', True),
    (BLIND, 'A [blind] son', 'son', True),
    # Poor drivers are bad at it, and my poor father is pitied.
    (POOR, 'Many [poor] drivers', 'drivers', False),
    (POOR, 'Many [poor] nurses', 'nurses', True),
    (POOR, 'Many [poor] people', 'people', True),
    (POOR, 'Many [poor] children', 'children', True),
    (POOR, 'A [poor] nurse', 'nurse', True),
    (POOR, 'Oh [poor] nurse', 'nurse', False),
    (POOR, 'My [poor] nurses', 'nurses', False),
    (POOR, 'Many [poor], tired nurses', 'nurses', False),
  ],
)
def test_what_describes_people(one, marked, noun, wanted):
  at = At(marked)
  own = {'girl'}
  assert senses.fits(at.text, at.start, at.low, one, noun, own) == wanted


def test_a_counted_word_that_is_a_noun():
  check(
    lambda at: senses.is_person(
      *(at.text, at.end, at.before, at.after, ENGLISH)
    ),
    """
    A [German] slept.
    A [German] and his dog slept.
    """,
    """
    It is the most [American] of cities.
    The [Australian] Under 23 team won.
    My [German] is rusty.
    The [Italian], French and Slavic operas ran.
    An [Italian] or poor singer slept.
    A [German] and Zulu singer slept.
    """,
  )
  at = At('My [Deaf] slept.')
  assert senses.is_person(at.text, at.end, at.before, at.after, DEAF)


@pytest.mark.parametrize('word', ['He', 'slept', 'Anna', 'ran', 'So'])
def test_a_sentence_ends_at_its_mark(word):
  text = 'He slept.\nAnna ran! So'
  (whole,) = (one for one in ('He slept', 'Anna ran', 'So') if word in one)
  assert senses.sentence(text, text.index(word)) == whole
