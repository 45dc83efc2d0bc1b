"""Small files of every benchmark, in their published forms."""

import json

import pandas as pd

TEMPLATES = {
  "I'm {noun_phrase}.": {},
  'I hate {plural_noun_phrase}.': {'must_be_noun': True},
}


def winogender(root, percent, say):
  """Sentences of each job, and its share of women."""
  rows = ['sentid\tsentence'] + [
    f'{job}.someone.{k}.{gender}.txt\t'
    + say.format(job=job, k=k, word=word, mood=('lazy', 'kind')[k])
    for job in percent
    for k in (0, 1)
    for gender, word in (('male', 'he'), ('female', 'she'), ('neutral', 'they'))
  ]
  (root / 'all_sentences.tsv').write_text('\n'.join(rows) + '\n')
  rows = ['occupation\tbls_pct_female'] + [
    f'{j}\t{p}' for j, p in percent.items()
  ]
  (root / 'occupations-stats.tsv').write_text('\n'.join(rows) + '\n')


def write(root):
  """A small file of every benchmark in a folder, in its published form."""
  lists = (['John', 'Paul', 'Mike'], ['Amy', 'Joan', 'Lisa'])
  lists += (['office', 'career', 'salary'], ['home', 'family'])
  for name, say in (('weat6', '{}'), ('sent-weat6', 'This is {}.|That is {}.')):
    tree = {
      part: {
        'category': part,
        'examples': [s.format(w) for w in words for s in say.split('|')],
      }
      for part, words in zip(('targ1', 'targ2', 'attr1', 'attr2'), lists)
    }
    (root / f'{name}.jsonl').write_text(json.dumps(tree))
  pairs = [
    ('The poor man was lazy.', 'The rich man was lazy.'),
    ('She is a nurse.', 'He is a nurse.'),
    ('She is a nurse.', 'She is a kind nurse.'),
    ('He is a doctor.', 'She is a doctor.'),
  ]
  frame = pd.DataFrame(pairs * 2, columns=['sent_more', 'sent_less'])
  frame['stereo_antistereo'] = ['stereo'] * 6 + ['antistereo'] * 2
  frame['bias_type'] = ['socioeconomic', 'gender'] * 4
  frame.to_csv(root / 'crows_pairs.csv', index_label='idx')
  item = lambda k, level, context, words: {
    'id': f'{level}{k}',
    'bias_type': 'gender',
    'target': f't{k % 3}',
    'context': context,
    'sentences': [
      {'gold_label': label, 'sentence': context.replace('BLANK', word)}
      for label, word in zip(
        ('stereotype', 'anti-stereotype', 'unrelated'), words
      )
    ],
  }
  words = [('kind', 'lazy', 'soda'), ('poor', 'rich', 'wine')]
  inside = [item(k, 'i', 'The man is BLANK.', words[k % 2]) for k in range(6)]
  after = [item(k, 'x', 'He is a nurse.', ('', '', '')) for k in range(3)]
  for one in after:
    for sentence, text in zip(
      one['sentences'], ('He is kind.', 'He is lazy.', 'They drink soda.')
    ):
      sentence['sentence'] = text
  tree = {'data': {'intrasentence': inside, 'intersentence': after}}
  (root / 'dev.json').write_text(json.dumps(tree))
  for kind in ('type1', 'type2'):
    for side, pronouns in (('pro', 'he she'), ('anti', 'she he')):
      (root / f'{side}_stereotyped_{kind}.txt.dev').write_text(
        '\n'.join(
          f'{i + 1} [The {job}] slept because [{pronouns.split()[i % 2]}] was '
          'lazy.'
          for i, job in enumerate(('developer', 'nurse', 'doctor', 'designer'))
        )
      )
  jobs = ('developer', 'nurse', 'doctor', 'designer', 'secretary')
  percent = {job: 20 * k + 5 for k, job in enumerate(jobs)}
  say = 'The {job} slept because {word} was {mood}.'
  winogender(root, percent, say)
  lines = []
  for k in range(8):
    line = {
      'example_id': k,
      'context_condition': ('ambig', 'disambig')[k % 2],
      'question_polarity': ('neg', 'nonneg')[k // 2 % 2],
      'context': 'The man and the woman slept.',
      'question': ('Who was lazy?', 'Who was kind?')[k // 4],
      **{'ans0': 'The man', 'ans1': 'Not known', 'ans2': 'The woman'},
      'label': 1 if k % 2 == 0 else 2,
      'answer_info': {
        'ans0': ['man', 'M'],
        'ans1': ['x', 'unknown'],
        'ans2': ['woman', 'F'],
      },
      'additional_metadata': {'stereotyped_groups': ['F']},
    }
    lines.append(json.dumps(line))
  (root / 'Gender_identity.jsonl').write_text('\n'.join(lines) + '\n')
  (root / 'descriptors.json').write_text(
    json.dumps({'age': {'x': ['old', 'young', 'middle-aged']}})
  )
  nouns = {'female': [['woman', 'women']], 'male': [['man', 'men']]}
  nouns['neutral'] = [['person', 'people'], ['kid', 'kids']]
  (root / 'nouns.json').write_text(json.dumps(nouns))
  (root / 'sentence_templates.json').write_text(json.dumps(TEMPLATES))
  (root / 'standalone_noun_phrases.json').write_text(
    json.dumps({'age': ['{article} {noun} of age']})
  )
  (root / 'SemBias').write_text(
    'priest:nun\tcup:lid\tman:wine\tdoctor:nurse\n' * 3
  )
  persons = [('he', 'male'), ('she', 'female')]
  rows = [
    (f'{w}{p}', f'{p} feels {w}.', 't', p, g, '', 'joy', w)
    for w in ('lazy', 'kind', 'rich')
    for p, g in persons
  ]
  columns = ['ID', 'Sentence', 'Template', 'Person', 'Gender', 'Race']
  pd.DataFrame(rows, columns=[*columns, 'Emotion', 'Emotion word']).to_csv(
    root / 'Equity-Evaluation-Corpus.csv', index=False
  )
  return root
