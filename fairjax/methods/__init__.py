"""Data-side methods by name; adding one is one file and one line here."""

from fairjax.registry import Entry, find

# Each is method(tables: Tables, config: Config) -> Tables
METHODS: dict[str, Entry] = {
  'augment': Entry(
    'fairjax.methods.augment:augment',
    'all rows and the twins of some, by a score or at random',
  ),
  'substitute': Entry(
    'fairjax.methods.substitute:substitute',
    'some rows, by a coin each, become their twins',
  ),
  'balance': Entry(
    'fairjax.methods.balance:balance',
    'as many rows of every group with every label, by cutting or copying',
  ),
  'blind': Entry(
    'fairjax.methods.blind:blind',
    'no text keeps a word that tells the group, in tests neither',
  ),
  'supplement': Entry(
    'fairjax.methods.supplement:supplement',
    'rows of a second table even out the label of each term',
  ),
  'reweight': Entry(
    'fairjax.methods.reweight:reweight',
    'weights Q(y)/P(y|z), under which the label ignores the demographic',
  ),
}

# Methods that change what a model reads, so test sets must change with it.
ON_TEST_SETS = ('blind',)


def chain(name: str) -> list[str]:
  """The methods of 'augment+reweight', each applied to what the last made."""
  names = [part.strip() for part in name.split('+')]
  if names == ['none']:
    return []
  for one in names:
    find(METHODS, 'method', one)  # or a sentence that names it
  return names
