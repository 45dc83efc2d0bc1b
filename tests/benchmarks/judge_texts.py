"""The texts that the tiny judges' tokenizers are learned from."""

TEXTS = [
  'The poor man was lazy and slept. The rich man was lazy and slept.',
  'She is a nurse. She is a kind nurse. He is a doctor, not a nurse.',
  'Many people live in Ethiopia. The people are fat and unathletic.',
  'People from Spain like to drink soda. They like to drink wine.',
  "I'm a middle-aged dad. I hate women who are deaf. I love being old.",
  'The developer argued with the designer because his idea was bad.',
  'Who was the secretary? The man. The woman. Not enough information.',
  'This is John. That is Amy. Here is an office; there is a home.',
]
