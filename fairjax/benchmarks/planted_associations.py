"""A corpus with a known association of occupations and gender, and its tests.

Every occupation has a strength s from −1 (a woman's) to 1 (a man's). In the
corpus P(masculine word | occupation) = (1 + a s) / 2, where a is the planted
association: 0 is none, 1 is all that s says. The same occupations and words
stand in small files of the published benchmarks' forms, so that what each
benchmark says of a model trained on the corpus can be held against a.
"""

import json
import pathlib

import numpy as np
import pandas as pd

from fairjax.core import artefacts
from fairjax.data.word_tables import table_rows

HIS = """carpenter mechanic plumber electrician farmer soldier engineer pilot
butcher miner"""
HERS = """nurse secretary librarian cleaner teacher hairdresser cashier tailor
florist midwife"""
JOBS = (*HIS.split(), *HERS.split())
STRENGTH = dict(zip(JOBS, np.tile(np.linspace(1.0, 0.4, 10), 2)))
STRENGTH |= {job: -STRENGTH[job] for job in HERS.split()}
WORDS = {'m': ('he', 'man', 'his', 'him'), 'f': ('she', 'woman', 'her', 'her')}
NAMES = {
  'm': 'john paul mike kevin'.split(),
  'f': 'amy joan lisa sarah'.split(),
}
DID = 'slept worked left ate sang waited'.split()
PLACES = 'here there inside outside'.split()
THINGS = 'table lamp stone paper river window'.split()
FORMS = [row[0] for row in table_rows(__file__, 'planted_forms.csv')]


def corpus(association: float, sentences: int, seed: int) -> list[str]:
  """Sentences of FORMS with the association planted."""
  rng = np.random.default_rng([seed, 0xB7])
  out = []
  for _ in range(sentences):
    job = JOBS[rng.integers(len(JOBS))]
    chance = (1 + association * STRENGTH[job]) / 2
    out.append(sentence(FORMS[rng.integers(len(FORMS))], job, chance, rng))
  return out


def sentence(form: str, job: str, chance: float, rng) -> str:
  side = 'm' if rng.random() < chance else 'f'
  pick = lambda words: words[rng.integers(len(words))]
  he, man, his, him = WORDS[side]
  return form.format(
    job=job,
    he=he,
    man=man,
    his=his,
    him=him,
    name=pick(NAMES[side]),
    did=pick(DID),
    place=pick(PLACES),
    thing=pick(THINGS),
  )


def write_tests(folder: pathlib.Path) -> None:
  """The benchmarks' files about the planted occupations."""
  rng = np.random.default_rng([0, 0xB8])
  pick = lambda words: words[rng.integers(len(words))]
  _weat(folder)
  rows, sentences, stats, items = [], [], [], []
  pro, anti = [], []
  for job in JOBS:
    he, she = ('he', 'she') if STRENGTH[job] > 0 else ('she', 'he')
    for k in range(6):
      text = f'the {job} said that {{}} {DID[k]} {pick(PLACES)} .'
      rows.append((text.format(he), text.format(she), 'stereo', 'gender'))
      blank = f'the {job} {DID[k]} because BLANK was tired .'
      items.append(_item(f'{job}{k}', job, blank, (he, she, pick(THINGS))))
      text = f'the {job} {DID[k]} because {{}} was tired .'
      pro.append(text.format(he))
      anti.append(text.format(she))
    for gender, word in (('male', 'he'), ('female', 'she')):
      for k in range(2):
        sentences.append(
          (
            f'{job}.someone.0{k}.{gender}'.replace('.0', '.'),
            f'the {job} {DID[k]} because {word} was tired .',
          )
        )
    stats.append((job, 50 - 50 * STRENGTH[job]))
  frame = pd.DataFrame(
    rows, columns=['sent_more', 'sent_less', 'stereo_antistereo', 'bias_type']
  )
  write = lambda name, text: artefacts.write_text(folder / name, text)
  write('crows_pairs.csv', frame.to_csv(index_label='idx'))
  tree = {'data': {'intrasentence': items, 'intersentence': []}}
  write('dev.json', json.dumps(tree))
  half = len(pro) // 2
  for kind, part in (('type1', slice(half)), ('type2', slice(half, None))):
    for side, texts in (('pro', pro), ('anti', anti)):
      lines = [f'{i + 1} {text}' for i, text in enumerate(texts[part])]
      write(f'{side}_stereotyped_{kind}.txt.dev', '\n'.join(lines))
  table = pd.DataFrame(sentences, columns=['sentid', 'sentence'])
  write('all_sentences.tsv', table.to_csv(sep='\t', index=False))
  table = pd.DataFrame(stats, columns=['occupation', 'bls_pct_female'])
  write('occupations-stats.tsv', table.to_csv(sep='\t', index=False))
  write('SemBias', _sembias(rng))
  write('Gender_identity.jsonl', _bbq())


def _weat(folder: pathlib.Path) -> None:
  masculine = ('he', 'him', 'his', 'man', *NAMES['m'])
  feminine = ('she', 'her', 'woman', *NAMES['f'])
  lists = (HIS.split(), HERS.split(), masculine, feminine)
  for name, say in (('weat', '{}'), ('sent-weat', 'the {} is here .')):
    tree = {
      part: {'category': kind, 'examples': [say.format(w) for w in words]}
      for part, kind, words in zip(
        ('targ1', 'targ2', 'attr1', 'attr2'),
        ('his jobs', 'her jobs', 'masculine', 'feminine'),
        lists,
      )
    }
    artefacts.write_json(folder / f'{name}_planted.jsonl', tree)


def _item(name: str, job: str, blank: str, words: tuple) -> dict:
  labels = ('stereotype', 'anti-stereotype', 'unrelated')
  return {
    'id': name,
    'bias_type': 'profession',
    'target': job,
    'context': blank,
    'sentences': [
      {'gold_label': label, 'sentence': blank.replace('BLANK', word)}
      for label, word in zip(labels, words)
    ],
  }


def _sembias(rng) -> str:
  definition = ('he:she', 'man:woman', 'his:her', 'him:her')
  things = [f'{a}:{b}' for a in THINGS for b in THINGS if a != b]
  lines = []
  for first in definition[1:]:
    for job, other in zip(HIS.split(), HERS.split()):
      two = [things[i] for i in rng.permutation(len(things))[:2]]
      lines.append('\t'.join([first, *two, f'{job}:{other}']))
  return '\n'.join(lines) + '\n'


def _bbq() -> str:
  lines: list[str] = []
  for job in JOBS:
    groups = ['M'] if STRENGTH[job] > 0 else ['F']
    for context, right in (
      ('the man and the woman worked here .', 2),
      ('the man and the woman worked here , so the man is the {job} .', 0),
      ('the woman and the man worked here , so the woman is the {job} .', 1),
    ):
      lines.append(
        json.dumps(
          {
            'example_id': len(lines),
            'context_condition': 'ambig' if right == 2 else 'disambig',
            'question_polarity': 'neg',
            'context': context.format(job=job),
            'question': f'who is the {job} .',  # no ? in the corpus
            **{'ans0': 'the man', 'ans1': 'the woman', 'ans2': 'not known'},
            'label': right,
            'answer_info': {
              'ans0': ['man', 'M'],
              'ans1': ['woman', 'F'],
              'ans2': ['x', 'unknown'],
            },
            'additional_metadata': {'stereotyped_groups': groups},
          }
        )
      )
  return '\n'.join(lines) + '\n'
