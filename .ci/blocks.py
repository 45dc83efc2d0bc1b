"""Runs every shell block of README and of the documentation: blocks.py [PAGE …]

Line by line and in order, a folder a page, on small files and models that stand
under the names that pages use. blocks.csv says by what a line has in it why it
is not run here (all others are), or what makes its minutes seconds and names
folders of the kind that it needs. Data are those of ../shared/data.
"""

import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = (ROOT.parent / 'shared' / 'data').resolve()
BLOCK = re.compile(r'^```(?:sh|bash|console)\n(.*?)^```', re.M | re.S)
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'fairjax/docs').rglob('*.md'))]
SMALL = """--config.model=nano --config.data.path=TEXTS
--config.pretrain.steps=100 --config.pretrain.length=64
--config.pretrain.document=line --config.train.batch=16
--config.tokens.vocab_size=300"""


def run(line: str, folder: pathlib.Path) -> str:
  """What goes wrong with a line; `fairjax` is that of this checkout."""
  there = os.environ | {'PYTHONPATH': str(ROOT)}
  start = f'fairjax() {{ {sys.executable} -m fairjax.main "$@"; }}\n'
  done = subprocess.run(
    ['bash', '-c', start + line],
    cwd=folder,
    env=there,
    capture_output=True,
    text=True,
  )
  return (done.stdout + done.stderr)[-2000:] if done.returncode else ''


def stand_ins(out: pathlib.Path) -> None:
  """Small files and models under the names that blocks use."""
  from fairjax.benchmarks import planted_associations as planted

  draw, n = np.random.default_rng(0), 400
  rows = pd.read_csv(SHARED / 'civil_comments/civil_comments_train.csv')
  everyone, male = rows['comment_text'].str[:300], rows['male_terms'] > 0
  rows = rows[male != (rows['female_terms'] > 0)][:n]
  short = rows['comment_text'].str[:300]  # of few positions, with few tokens
  own = pd.DataFrame({'comment': short, 'toxic': rows['label']})
  own['gender'] = np.where(rows['male_terms'] > 0, 'm', 'f')
  own['age'] = np.arange(n) % 60 + 12
  own['text'], own['label'] = own['comment'], own['toxic']
  score = np.clip(draw.normal(0.3 + 0.4 * own['toxic'], 0.2), 0, 1)
  hired = {'sex': own['gender'], 'race': [*'ABCD'] * (n // 4)}
  hired['selected'] = draw.integers(0, 2, n)
  who = [(f'The {w} {d}', w) for d in planted.DID for w in ('man', 'woman')]
  files = {'my': own, 'comments': own, 'train': own[:300]}
  files |= {'valid': own[300:350], 'test': own[350:]}
  files['predictions'] = pd.DataFrame({'score': score})
  files['candidates'] = pd.DataFrame(hired)
  files['prompts'] = pd.DataFrame(who, columns=['prompt', 'group'])
  for name in ('SST-2', 'DIR', 'TEXTS', 'COMMENTS', 'path/to'):
    (out / name).mkdir(parents=True)
  files['SST-2/train'] = pd.read_csv(SHARED / 'glue/SST-2/train.csv')[:600]
  for name, frame in files.items():
    frame.to_csv(out / f'{name}.csv', index=False)
  links = {
    'DIR/geco': 'geco',
    'DIR/bias_eval': 'bias_eval',
    'FOLDER_OR_ZIP': 'twitter_sexism',
    'ENCODER': '../models/minilm_mlm',
    'glove.840B.300d.txt': 'glove/glove.6B.50d.5k.txt',
    'madlib.csv': 'iptts/madlib_format_sample.csv',
  }
  for name, there in links.items():
    (out / name).symlink_to(SHARED / there)
  planted.write_tests(out / 'DIR')
  (out / 'COMMENTS/text.txt').write_text('\n'.join(everyone[:5000]) + '\n')
  for name in ('TEXTS', 'DIR'):
    text = '\n'.join(planted.corpus(0.9, 3000, 0)) + '\n'
    (out / name / 'text.txt').write_text(text)
  made = {
    'FOLDER': f'--config=configs/pretrain_mlm_mini.py {SMALL}',
    'MODEL': f'--config=configs/pretrain_causal_mini.py {SMALL}',
    'CLASSIFIER': 'train my.csv --model=nano --config.train.export',
  }
  for name, words in made.items():
    line = f'fairjax {words} --workdir=runs/{name}'
    if told := run(' '.join(line.split()), out):
      sys.exit(f'{line}\n{told}')
    (out / name).symlink_to(out / f'runs/{name}/export/seed_0')
  (out / 'path/to/model').symlink_to(out / 'runs/CLASSIFIER/export/seed_0')


def lines(page: pathlib.Path):
  """The commands of a page in order, and what is known of each."""
  with open(pathlib.Path(__file__).with_suffix('.csv')) as file:
    known = [*csv.DictReader(file)]
  for block in BLOCK.findall(page.read_text('utf-8')):
    for line in block.replace('\\\n', ' ').splitlines():
      own = [row for row in known if row['has'] in line]
      reason = next((row['not_here'] for row in own if row['not_here']), '')
      more = ' '.join(row['more'] for row in own).split()
      again = {flag.partition('=')[0] for flag in more}  # none is given twice
      typed = [w for w in line.split() if w.partition('=')[0] not in again]
      yield line, ' '.join([*typed, *more]), reason


def main(asked: list[str]) -> None:
  failed = 0
  with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name)
    stand_ins(top / 'all')
    for page in PAGES:
      place = str(page.relative_to(ROOT))
      folder = top / place
      folder.mkdir(parents=True)
      for one in (top / 'all').iterdir():
        if one.name != 'runs':
          (folder / one.name).symlink_to(one)
      for line, typed, reason in lines(page):
        if asked and place not in asked:
          continue
        start = time.monotonic()
        told = '' if reason else run(typed, folder)
        said = f'not run: {reason}' if reason else 'FAILED' if told else 'ran'
        seconds = time.monotonic() - start
        print(f'{place} {seconds:.0f} s, {said}: {line}\n{told}', flush=True)
        failed += bool(told)
  sys.exit(failed and f'{failed} lines failed')


if __name__ == '__main__':
  main(sys.argv[1:])
