"""Which texts MBCDA learns from and is judged by, counted by hand."""

import jax
import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.pairs.swapping import dictionary
from fairjax.recipes.mbcda import algorithm, parallel
from fairjax.recipes.rewriting import counterfactual_texts as texts
from fairjax.recipes.rewriting import rewriter
from fairjax.recipes.rewriting.counterfactual_texts import RewriteInputs
from fairjax.stages import Experiment
from fairjax.train.progress import Log


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


def test_another_corpus_gives_sentences_of_one_gender(tmp_path, monkeypatch):
  lines = []
  for k in range(60):
    lines += [
      f'She was a painter number {k}. He met her in town {k}. Rain fell, {k}.',
      f'He was a king of nowhere {k}. Boys ran home at {k} o clock.',
    ]
  (tmp_path / 'corpus').mkdir()
  (tmp_path / 'corpus' / 'a.txt').write_text('\n'.join(lines))
  config = c.Config()
  config.corpus.path = str(tmp_path / 'corpus')
  monkeypatch.setattr(parallel, 'CORPUS_ROWS', 80)
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
  # Of 400 it takes what there is, as many of each.
  monkeypatch.setattr(parallel, 'CORPUS_ROWS', 400)
  assert len(pd.concat(parallel.corpus(config, own).values())) == 120


def twelve_times(rows):
  return pd.concat([rows] * 12, ignore_index=True)


def width(estimate):
  return estimate['high'] - estimate['low']


def of_rows(estimate, count, config):
  """The same share of rows that were independent."""
  hits = round(estimate['value'] * count)
  return width(clusters.share(hits, count, options_of(config)))


def test_the_filter_is_sure_of_distinct_texts_alone(tmp_path):
  """Of 480 rows that were 40 texts the interval was that of 480 texts."""
  said = ('She', 'He')
  rows = tables_of(
    [(f'{said[k % 2]} met person{k}', 0, said[k % 2]) for k in range(32)]
    + [(f'A person{k} came', 0, said[k % 2]) for k in range(32, 40)]
  )
  config = c.Config()
  tables = {}
  for split in ('train', 'valid'):  # the ids of a split are its own
    tables[split] = twelve_times(rows)
    tables[split]['id'] = [str(k) for k in range(480)]
  with Log(tmp_path, config) as log:
    m = RewriteInputs(Experiment(config, tmp_path, log))
    found = parallel.parallel_text(m, tables)
  assert found.accuracy['value'] < 1
  assert width(found.accuracy) > 3 * of_rows(found.accuracy, 960, config)
  # Eight texts have no word of gender.
  facts = parallel.counted(found)
  assert facts['pairs'] == 960
  assert facts['pairs that the swap leaves as they are'] == 2 * 8 * 12
  groups = [f'pairs of {one} that the filter drops' for one in said]
  assert sum(facts[g] for g in groups) == facts['pairs that the filter drops']


def test_a_discriminator_is_sure_of_distinct_pairs_alone():
  config = c.shipped('mbcda_planted')
  config.tokens.vocab_size, config.measures.resamples = 300, 0
  config = next(iter(texts.generator_configs(config)))
  pairs = pd.DataFrame(
    {
      'source': [f'he met person{k}' for k in range(80)],
      'target': [f'she met person{k}' for k in range(80)],
      'split': ['train', 'test'] * 40,
      'label': [0, 0, 1, 1] * 20,
    }
  )
  generator = rewriter.start(config, pairs)
  generator = generator.replace(params=generator.init(0))
  model = algorithm.two(config, generator)
  params = jax.tree.map(lambda leaf: np.asarray(leaf)[None], model.init(0))
  once, _ = algorithm.accuracy(config, model, params, pairs)
  assert 0 < once['value'] < 1
  assert width(once) == pytest.approx(of_rows(once, 40, config))
  found, _ = algorithm.accuracy(config, model, params, twelve_times(pairs))
  assert found['value'] == pytest.approx(once['value'])
  assert width(found) == pytest.approx(width(once), rel=0.1)
