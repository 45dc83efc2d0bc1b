"""Which texts MBCDA learns from and is judged by, counted by hand."""

import pandas as pd

from fairjax import config as c
from fairjax.pairs.swapping import dictionary
from fairjax.recipes.mbcda import parallel


def tables_of(rows):
  frame = pd.DataFrame(rows, columns=['text', 'label', 'group'])
  frame.insert(0, 'id', [str(k) for k in range(len(frame))])
  return frame


def test_withheld_words_stay_in_the_targets_and_pronouns_turn(tmp_path):
  config = c.Config()
  config.adversary.withheld = 0.5
  chosen, words = parallel.withheld(config, tmp_path)
  kept, _ = parallel.halves(0.5, 0)
  assert len(words) > 100 and not words & {'he', 'she', 'her', 'himself'}
  assert not words & {w for row in kept for w in row}
  write = lambda text: dictionary.swap(
    [text], **dictionary.options(chosen.method, 0)
  ).texts[0]
  for word in sorted(words)[:40]:
    assert write(f'He saw the {word}.') == f'She saw the {word}.'
  for male, _ in kept[:40]:
    if male.isalpha() and len(male) > 4:
      assert write(f'and {male} too') != f'and {male} too', male
  assert parallel.halves(0.5, 1)[1] != words
  assert parallel.withheld(c.Config(), tmp_path) == (c.Config(), set())


def test_another_corpus_gives_sentences_of_one_gender(tmp_path):
  lines = []
  for k in range(60):
    lines += [
      f'She was a painter number {k}. He met her in town {k}. Rain fell, {k}.',
      f'He was a king of nowhere {k}. Boys ran home at {k} o clock.',
    ]
  (tmp_path / 'corpus').mkdir()
  (tmp_path / 'corpus' / 'a.txt').write_text('\n'.join(lines))
  config = c.Config()
  config.adversary.corpus = str(tmp_path / 'corpus')
  config.adversary.corpus_rows = 80
  own = {'train': tables_of([('She ran', 0, 'w'), ('He ran', 1, 'a')] * 9)}
  out = parallel.corpus(config, own)
  every = pd.concat(out.values())
  assert len(every) == 80 and (every['group'] == 'w').sum() == 40
  for text, group in zip(every['text'], every['group']):
    women = {'She', 'her', 'painter'} & set(text.replace('.', '').split())
    men = {'He', 'king', 'Boys'} & set(text.split())
    assert (bool(women), bool(men)) == (group == 'w', group == 'a'), text
  assert set(out) == {'train', 'valid'} and len(out['valid']) == 8
  assert list(parallel.corpus(config, own)['train']['text']) == list(
    out['train']['text']
  )
  config.adversary.corpus_rows = 400  # it takes what there is, as many of each
  assert len(pd.concat(parallel.corpus(config, own).values())) == 120
