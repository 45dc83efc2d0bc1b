"""Words of people that no list holds: marked texts, and a detector's draw."""

import pytest

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.pairs.persons import parallel, perturb
from fairjax.recipes.perturbation import perturbing, word_detector

TEXTS = [
  f'{who} saw the {thing} near {place} .'
  for who in ('My aunt', 'The king', 'His sister', 'A waiter', 'Her uncle')
  for thing in ('boat', 'dog', 'tree', 'house', 'car', 'field')
  for place in ('Rome', 'town', 'home', 'here')
]


def test_unseen_words_are_in_no_text_that_is_learned_from():
  rows = word_detector.marked(TEXTS, seed=11)
  unseen = lambda w: word_detector.share(w.lower(), 11) < word_detector.KEPT
  listed = {
    c.word.lower()
    for row in perturb.candidates(TEXTS, ('gender',))
    for c in row
  }
  kept = {w for w in listed if unseen(w)}
  assert kept and kept < listed
  for row in rows.itertuples():
    words = {m[0].lower() for m in parallel.finditer(row.text)}
    if row.split == 'test':
      assert words & listed <= kept and words & kept
    else:
      assert not words & kept


def test_hidden_words_are_marked_where_they_now_stand():
  text = 'The king saw a boat and his sister .'
  spans = [(4, 8), (24, 27), (28, 34)]
  changed = 0
  for seed in range(6):
    new, places = word_detector.hidden(text, spans, seed)
    assert len(new.split()) == len(text.split())
    marks = word_detector.put(new, places).split()
    assert [k for k, w in enumerate(marks) if w == 'zz'] == [1, 6, 7]
    pairs = list(zip(text.split(), new.split()))
    inside = sum(a != b for k, (a, b) in enumerate(pairs) if k in (1, 6, 7))
    outside = sum(a != b for k, (a, b) in enumerate(pairs)) - inside
    assert inside == outside
    changed += inside
    assert (new, places) == word_detector.hidden(text, spans, seed)
  assert 4 < changed < 14


def test_a_detector_s_words_are_drawn_beside_the_listed(tmp_path, monkeypatch):
  """Trained a little, saved, and read by a perturbation as a folder."""
  data = tmp_path / 'texts'
  data.mkdir()
  (data / 'one.txt').write_text('\n'.join(TEXTS) + '\n')
  config = c.Config(
    recipe='word_detector',
    model='tiny',
    seeds=1,
    seed=11,
    data=c.Data(name='text', path=str(data)),
    tokens=c.Tokens(vocab_size=300),
    train=c.Train(lr=3e-3, batch=32, epochs=3, patience=0),
    measures=c.Measures(resamples=50),
  )
  c.validate(config)
  results = word_detector.run(config, tmp_path / 'run')
  quality = results.contenders['detector']['sets']['unseen words']['quality']
  assert quality['kept_right']['value'] > 0.5
  folder = tmp_path / 'run' / 'export' / 'detector'
  asked = c.Config(perturb=c.Perturb(detector=str(folder), by='model'))
  text = 'The griblo saw the king .'
  listed = perturb.candidates([text], ('gender',))
  everything = lambda config, model, texts, *rest: [
    {m.start() for m in parallel.finditer(t)} for t in texts
  ]
  monkeypatch.setattr(word_detector.person_tagger, 'flags', everything)
  (row,) = perturbing.detected(asked, [text], listed)
  assert [one.word for one in row] == ['The', 'griblo', 'saw', 'the', 'king']
  assert row[-1] == listed[0][0]  # the list knows more of it
  assert row[1].attributes == perturb.AXES['gender']
  asked.perturb.by = 'rules'
  with pytest.raises(UserError, match=r'set --config.perturb.by=model'):
    perturbing.detected(asked, [text], listed)
