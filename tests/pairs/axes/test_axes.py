"""Axes of identity: what is exchanged, what stays, and files of a user's."""

import pytest

import fairjax
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary

OWN = [axis for axis in AXES if axis != 'gender']


@pytest.mark.parametrize(
  ('axis', 'to', 'text', 'wanted'),
  [
    # Number and part of speech, articles, names of a faith.
    (
      *(
        'religion',
        'hindu',
        'A Muslim and his wife, both Muslims, left Islam.',
      ),
      'A Hindu and his wife, both Hindus, left Hinduism.',
    ),
    (
      *('race', 'asian', 'Black people, a black man and a black cat.'),
      'Asians, an Asian man and a black cat.',
    ),
    ('race', 'black', 'An Asian doctor ate.', 'A black doctor ate.'),
    (
      *('nationality', 'german', 'Mexican immigrants like French toast.'),
      'German immigrants like French toast.',
    ),
    (
      *('class', 'rich', 'The poor get poor acting from poor people.'),
      'The rich get poor acting from rich people.',
    ),
    (
      *('nationality', 'german', 'In 1990 she was also Canadian, we heard.'),
      'In 1990 she was also German, we heard.',
    ),
    ('disability', 'deaf', 'So a disabled man slept.', 'So a deaf man slept.'),
    ('disability', 'deaf', 'A disabled American ate.', 'A deaf American ate.'),
    # Phrases, first names, places and days of a religion stay.
    *(
      (axis, to, text, text)
      for axis, to, text in (
        ('race', 'white', 'Black Friday in the White House'),
        ('race', 'white', 'She wore a black dress.'),
        ('religion', 'muslim', 'Christian Bale acts.'),
        ('religion', 'muslim', 'She is a Catholic who goes to church.'),
        ('religion', 'hindu', 'Muslims pray in the mosque.'),
        ('orientation', 'gay', 'He went straight home.'),
        ('disability', 'deaf', 'They turn a blind eye.'),
        ('disability', 'deaf', 'So a blind man was stupid.'),
        ('disability', 'deaf', 'A disabled American tank burned.'),
        # Names in capitals, wars, what a thing is for, tongues, coming out.
        ('disability', 'deaf', 'He taught at the School for the Blind.'),
        ('race', 'hispanic', 'It was the 1948 Arab–Israeli War.'),
        ('nationality', 'cuban', 'It is the Society of British Artists.'),
        ('nationality', 'dutch', 'She arrived without either German or help.'),
        ('nationality', 'dutch', 'A Canadian artist lives in Canada.'),
        ('age', 'senior', 'She coached a girls basketball team.'),
        ('age', 'senior', 'I went there since I was very young.'),
        ('age', 'senior', 'He is married with a child.'),
        ('orientation', 'straight', 'He is openly gay.'),
        ('orientation', 'lesbian', 'Kim is openly gay.'),
        ('gender_identity', 'nonbinary', 'The trans Alaska pipeline leaks.'),
        # What a value is not written beside; a word that is told of, a verb.
        ('gender_identity', 'cisgender', 'Gay and trans people met.'),
        ('gender_identity', 'cisgender', 'A trans activist sang.'),
        ('gender_identity', 'nonbinary', 'I heard it from non-trans people.'),
        ('gender_identity', 'transgender', 'A genderqueer style is new.'),
        ('gender_identity', 'transgender', 'Of genders, genderqueer is one.'),
        ('disability', 'deaf', 'She drew the blind.'),
        ('disability', 'deaf', 'The blind was down.'),
        ('disability', 'deaf', 'War cripples the land.'),
        ('disability', 'blind', 'Some of the deaf lost their eyesight.'),
        ('disability', 'able-bodied', 'Blind people need glasses.'),
        (
          *('disability', 'disabled'),
          'It is an Institution for the Instruction of the Deaf and the Blind.',
        ),
        ('disability', 'able-bodied', 'The school for the Deaf grew.'),
        ('class', 'rich', 'Middle-class families need a raise.'),
        ('class', 'rich', 'It is a ticket to the middle class.'),
        ('class', 'poor', 'The working class is angry.'),
      )
    ),
    # Severely so, and joined to a word of the same value or by an adverb.
    *(
      ('disability', 'blind', text, text)
      for text in (
        'A severely disabled man slept.',
        'A developmentally and physically disabled man slept.',
        'Disabled and handicapped people met.',
        'Disabled people and handicapped people met.',
      )
    ),
    (
      'gender_identity',
      'cisgender',
      *['Genderqueer and nonbinary men met.'] * 2,
    ),
    (
      *('nationality', 'dutch', 'A Turkish nurse, other Turkish women met.'),
      'A Dutch nurse, other Dutch women met.',
    ),
    # An adjective with the noun of two, and one that is of no man or woman.
    (
      *('orientation', 'straight', 'Trans and gay people met.'),
      'Trans and straight people met.',
    ),
    (
      *('race', 'asian', 'Muslim, young and black people met.'),
      'Muslim, young and Asian people met.',
    ),
    ('gender_identity', 'nonbinary', *['Trans and lesbian women met.'] * 2),
    (
      *('gender_identity', 'nonbinary', 'Trans and lesbian people met.'),
      'Nonbinary and lesbian people met.',
    ),
    # Two that would be one: a blind, deaf man is no disabled, disabled one.
    ('orientation', 'straight', *['Bisexual and gay people met.'] * 2),
    ('disability', 'disabled', *['A blind, deaf man slept.'] * 2),
    # What a body can do, what helps, what the law says.
    ('disability', 'deaf', *['Her blind mother listens to music.'] * 2),
    ('disability', 'blind', *['A deaf man watched her.'] * 2),
    ('disability', 'blind', *['They had no interpreters for deaf men.'] * 2),
    ('disability', 'blind', *['A disabled man cannot walk.'] * 2),
    ('disability', 'deaf', *['Mental health courts try mentally ill men.'] * 2),
    ('disability', 'able-bodied', *['The school helps blind people.'] * 2),
    ('disability', 'mentally-ill', *['The first deaf player left.'] * 2),
    ('gender_identity', 'cisgender', *['A trans woman sued the prison.'] * 2),
    ('gender_identity', 'nonbinary', *['The transgender ban was lifted.'] * 2),
    (
      *('gender_identity', 'nonbinary'),
      *['He met a lesbian, gay and transgender (LGBT) group.'] * 2,
    ),
    # Of one value all or none; an abbreviation; a noun; what it is changed to.
    *(
      ('gender_identity', to, text, text)
      for to, text in (
        ('nonbinary', 'The Transgender Care Act helps transgender people.'),
        ('nonbinary', 'It is a sissy or transgender who sings.'),
        ('nonbinary', 'She was trained on transgender care.'),
        ('transgender', 'They change their gender to nonbinary.'),
        ('transgender', 'In CIS patients it was high.'),
        ('nonbinary', 'Transgender is an umbrella term.'),
        ('cisgender', "It is Wade's transgender alter ego."),
      )
    ),
    *(
      ('disability', to, text, text)
      for to, text in (
        ('deaf', 'The Disabled Union, of disabled people, met.'),
        ('deaf', 'A congenitally blind man slept.'),
        ('deaf', 'The educationally disabled students slept.'),
        ('deaf', 'Schizophrenics have many personalities.'),
        ('deaf', 'It is a mobility aid for disabled people.'),
        (
          'blind',
          'Adults with developmental disabilities are disabled people.',
        ),
        ('blind', 'Deaf people learn CSL.'),
        ('autistic', 'He became disabled.'),
        ('deaf', 'Ableism is contempt for disabled people.'),
        ('deaf', 'It is hard enough for able-bodied people.'),
        ('able-bodied', 'A schizophrenic man slept.'),
        # What is said, printed or taught for those of one value.
        ('deaf', 'They record books for the blind.'),
        ('deaf', 'It is a raised type for blind men.'),
        ('blind', 'Low functioning is said of disabled men.'),
        ('blind', 'The cops are shooting mentally ill men.'),
        ('deaf', 'He is a newly diagnosed autistic boy.'),
        ('mentally-ill', 'An autistic activist slept.'),
        ('mentally-ill', 'The school for the deaf grew.'),
        ('autistic', 'He bought lenses for blind men.'),
        ('deaf', 'A blind man stumbled.'),
        ('deaf', 'It is the standard of publishing for the blind.'),
        ('autistic', 'Blind men rely on their hearing.'),
        ('disabled', 'Deaf men use braille.'),
        # A value that the sentence names, and what a body can do.
        ('blind', 'Most disabled pupils were deaf or blind.'),
        ('disabled', 'An autistic man may feel disabled.'),
        ('disabled', 'A sighted man lives there.'),
        ('deaf', 'A learning disabled man slept.'),
        ('deaf', 'An adventitiously disabled man slept.'),
        ('deaf', 'A disabled man crawled off the plane.'),
        ('deaf', 'He is not disabled but superabled.'),
        ('deaf', 'Blind children measure by feel.'),
        ('deaf', 'Blind men walk alone.'),
        ('able-bodied', 'The badges are for disabled people.'),
        ('mentally-ill', 'Blind men use adapted computers.'),
        ('blind', 'I hear that you are autistic.'),
        ('mentally-ill', 'Cripples are not able to move.'),
        ('deaf', 'Blind men met obstacles.'),
        ('deaf', 'Some blind men have bat-like skills.'),
        ('autistic', 'It is equipment for blind men.'),
        ('autistic', 'In the Bible a blind man slept.'),
        ('blind', 'Deaf men met noise.'),
        ('blind', 'Autistic men met sensory overload.'),
        ('deaf', 'A violent schizophrenic man slept.'),
        ('deaf', 'The lift was meant for disabled men.'),
        ('blind', 'A disabled man is in chronic pain.'),
        ('mentally-ill', 'A deaf journalist slept.'),
        ('able-bodied', 'It is difficult for deaf men.'),
        # Whose community it is, whom nobody asks, and how many there are.
        ('mentally-ill', 'The deaf community met.'),
        ('mentally-ill', 'Planners met disabled people.'),
        ('able-bodied', 'They think deaf people incapable.'),
        ('blind', 'A town is built around able-bodied people.'),
        ('deaf', 'Autistic men pay attention to detail.'),
        ('deaf', 'Mentally ill men had no treatment.'),
        ('autistic', 'A fifth of the residents are disabled people.'),
        ('blind', 'There are two million disabled people.'),
        # What else they have, and a kind of theirs.
        ('blind', 'It harms people with disabilities or rare diseases.'),
        ('blind', 'This amputee is a disabled person.'),
        ('blind', 'Amputees met disabled people.'),
        # What is said of those whom nothing ails is said against others.
        ('deaf', 'It is a neurotypical workplace.'),
        ('mentally-ill', 'Blind men met sighted men.'),
        ('deaf', 'She was measured against nondisabled men.'),
      )
    ),
    (
      *('disability', 'mentally-ill', 'We met, then, Deaf men.'),
      'We met, then, mentally ill men.',
    ),
    (
      *('disability', 'blind', 'It harms people with disabilities or men.'),
      'It harms blind people or men.',
    ),
    (
      *('disability', 'blind', 'Disabled men like people with disabilities.'),
      'Blind men like blind people.',
    ),
    # Ages: figures, words for children, what agrees.
    (
      *('age', 'child', 'An 80-year-old man is 80 years old.'),
      'An 11-year-old boy is 11 years old.',
    ),
  ],
)
def test_what_changes_and_what_stays(axis, to, text, wanted):
  assert fairjax.swap(text, axis=axis, direction=to) == wanted


@pytest.mark.parametrize(
  ('to', 'text', 'wanted'),
  [
    # Whose age: a name's, one beside a name, a word's behind another.
    ('child', 'Anna Lee, 23, was shot.', 'Anna Lee, 6, was shot.'),
    ('young', 'The 70-year-old Tata left.', 'The 23-year-old Tata left.'),
    (
      'young',
      'A 60-year-old fashion model left.',
      'A 39-year-old fashion model left.',
    ),
    ('senior', 'He is in his twenties.', 'He is in his seventies.'),
    ('young', 'In her teens she boxed.', 'In her twenties she boxed.'),
    ('senior', 'A 22-year-old kid sang.', None),
    ('young', 'A 5-year-old girl sang.', 'A 22-year-old woman sang.'),
    # No age of a person; a bound; a title.
    *(
      (to, text, None)
      for to, text in (
        ('child', 'Romans 8, 28, was read.'),
        ('child', 'In March 2001, 23, was drawn.'),
        ('young', 'The law is 50 years old.'),
        ('young', 'A 70-year-old Boeing left.'),
        ('young', 'Something 70 years old fell.'),
        ('young', 'It took aged 60 days.'),
        ('young', 'No one under the age of 70 met.'),
        ('young', 'She must be at least 50 years old.'),
        ('senior', 'The 40-Year-Old Virgin met him.'),
        # Ages of a time of life, of a child, of what lasts.
        ('senior', 'As a young man he left.'),
        ('young', 'As an old man he left.'),
        ('senior', 'In his teens he boxed.'),
        ('senior', 'Still in her twenties she left.'),
        ('senior', 'He is in his 20s or 30s.'),
        ('child', 'In his thirties he married.'),
        ('senior', 'She left when he was eight years old.'),
        ('senior', 'He is only 22 years old.'),
        ('senior', 'A 12-year-old niece slept.'),
        ('child', 'He died in Rome aged 86.'),
        ('child', 'He left at the age of 30.'),
        ('young', 'At a tender age of 12 it fell.'),
        ('senior', 'He joined them aged 20.'),
        ('senior', 'The 11 and 14 year-olds slept.'),
        ('middle-aged', 'A major aged 34 and at only 36 more.'),
        # Words of an age that say another thing there.
        ('senior', 'The girls are late.'),
        ('senior', 'Girls, it is late.'),
        ('young', 'Go girls, it is late.'),
        ('young', 'Kids five and up will sing.'),
        ('young', 'Career - kids = misery.'),
        ('young', 'It is better than the old.'),
        ('young', 'It is as the old saying goes.'),
        ('senior', 'The then young singer slept.'),
        ('senior', 'He met young people and their parents.'),
        ('young', 'They keep a child.'),
      )
    ),
    ('young', 'The girls are late.', 'The young women are late.'),
    # Far as well as near; as somebody wrote it; both nouns of one age.
    ('senior', 'A 5-year-old girl sang.', 'A 69-year-old woman sang.'),
    ('senior', 'A 5-year-old son sang.', None),
    ('young', 'HE IS ELEVEN YEARS OLD.', 'HE IS THIRTY-THREE YEARS OLD.'),
    ('young', 'He is 1.5 years old.', None),
    ('child', 'He is in his 30s.', 'He is in his teens.'),
    ('senior', 'A now-11-year-old boy sang.', 'A now-79-year-old man sang.'),
    ('young', 'He is only 10 years old.', 'He is only 31 years old.'),
    ('senior', 'They read it to a 7-year-old.', None),
    ('senior', 'He began aged 50.', 'He began aged 72.'),
    ('senior', 'It shows, at 22, young actors.', None),
    ('child', 'An elderly husband slept.', None),
    ('child', 'An elderly actor slept.', 'A teenage actor slept.'),
    ('child', 'It is an elderly joke.', None),
    (
      'young',
      'The girls and boys sang.',
      'The young women and young men sang.',
    ),
    ('young', 'Kids will sing.', 'Young people will sing.'),
    ('young', 'We help the old and sick.', 'We help the young and sick.'),
  ],
)
def test_ages(to, text, wanted):
  said = fairjax.swap(text, axis='age', direction=to)
  assert said == (text if wanted is None else wanted)


@pytest.mark.parametrize(
  ('text', 'wanted'),
  [
    # A neighbour alone, whichever of the two exchanges is drawn.
    ('The poor voted.', 'The working class voted.'),
    ('She came from a wealthy family.', 'She came from a middle-class family.'),
    (
      'A rich man met a poor man.',
      'A middle-class man met a working-class man.',
    ),
    # Who owns, pays or gives; a name of the target; pity; a thing's sense.
    ('The wealthy owner, a rich man, left.', None),
    (
      'The wealthy and the middle class voted.',
      'The wealthy and the working class voted.',
    ),
    ('They were a poor, tired band of poor lads.', None),
    ('He met a working-class notion.', 'He met a middle-class notion.'),
    # The middle class does not turn to the rich, nor who needs a raise.
    ('The middle class is hurting.', 'The working class is hurting.'),
    (
      'Middle-class families need a raise.',
      'Working-class families need a raise.',
    ),
    # Both at once; pity; what a worker is; exclaimed, compared, named.
    ('It helps working and middle class families.', None),
    ('We build for low- and middle-income families.', None),
    ('It confused a poor poet.', None),
    ('It helped a poor peasant and a poor worker.', None),
    ('Middle-class workers met.', None),
    ('Oh, you are RICH!', None),
    ('He is the most wealthy guy here.', None),
    ('Rich guys just like Donald Trump met.', None),
    # Where one climbs to; who is poor to a degree; words cut in two; programs.
    ('He works his way into the middle class.', None),
    ('It helps very poor families.', None),
    ('Work was found for destitute workers.', None),
    ('It was for lower- middle-income families.', None),
    ('It will help moderate- and low-income families.', None),
    ('We are for the upright man, rich or poor, and no rich man.', None),
    # What one is to a degree, or does badly; who cannot pay, by law.
    *(
      (text, None)
      for text in (
        'She is poor, but she smiles.',
        'He was a rich man, and the others were not rich.',
        'More affluent families came.',
        'They were poor doctors.',
        'An indigent man was jailed.',
        'He wanted to be a wealthy man.',
        'They felt pity for the poor people.',
        'High-income people and low-income people came.',
        'A smug, middle-class man sipped a latte.',
      )
    ),
    # Fed, of a share, cut in two, of another time, beside a colour of collar.
    *(
      (text, None)
      for text in (
        'They fed the poor.',
        'It says the top 20 percent ( the rich ) earn more.',
        'It appeals to middle and upper-class shoppers.',
        'Nor will the well-to-do middle peasants leave.',
        'There was a poor farmer.',
        'Blue-collar workers and white-collar workers shop there.',
      )
    ),
    # The proletariat, one body, a workman.
    *(
      (text, None)
      for text in (
        'Socialists speak to the working class.',
        'It was written by a working-class anarchist.',
        "It's a poor workman who blames his tools.",
        'It was a fund-raising drive for the poor.',
      )
    ),
    ('My dad was a blue-collar worker.', 'My dad was a middle-class worker.'),
    (
      'Middle-class families need tax cuts.',
      'Working-class families need tax cuts.',
    ),
  ],
)
def test_class_turns_to_its_neighbours(text, wanted):
  for seed in range(4):
    said = fairjax.swap(text, axis='class', random_state=seed)
    assert said == (wanted or text)


@pytest.mark.parametrize(
  'text',
  [
    'The working class itself must vote.',
    'It has support in the working class.',
    "It hit the working class's homes.",
    'He met his blue-collar customer.',
    'He met a young working-class woman.',
  ],
)
def test_a_class_is_one_body_and_the_poor_are_many(text):
  assert fairjax.swap(text, axis='class', direction='poor') == text


def test_a_text_takes_the_next_exchange_where_its_own_is_unsure():
  """The girls become young women alone, whichever of three is drawn."""
  texts = [f'The girls met in room {k}.' for k in range(12)]
  swapped = dictionary.swap([*texts, 'Go girls!'], axis='age')
  assert {spans[0][3] for spans in swapped.spans[:-1]} == {'young women'}
  assert swapped.left[:-1] == [0] * 12
  assert swapped.left[-1] == 1 and not swapped.spans[-1]
  every = dictionary.swap_every(texts[:1], axis='age')
  assert sorted(len(one.spans[0]) for one in every) == [0, 0, 1]


@pytest.mark.parametrize('axis', OWN)
def test_no_word_becomes_one_of_its_own_value(axis):
  """Each word in a sentence of its form turns to another value, or stays."""
  frame = {
    'adjective': 'There were two {} women here.',
    'noun': 'She met one {} who sang.',
    'nouns': 'All {} here sang.',
    'group': 'We help the {}.',
    'name': 'She left {}.',
  }
  rows = [*table.load(axis).words()]
  texts = [frame[row.form].format(one.text) for _, _, one, row in rows]
  swapped = dictionary.swap(texts, axis=axis)
  changed = 0
  for (word, value, *_), text, new, spans in zip(
    rows, texts, swapped.texts, swapped.spans, strict=True
  ):
    for start, end, old, _ in spans:
      if old.lower() != word:
        continue
      changed += 1
      assert new != text
      tail = len(text) - end
      put = new[start : len(new) - tail].strip().lower()
      assert exchange.value_of(axis, put) != table.load(axis).values[value], put
  assert changed >= 2, axis


def test_texts_draw_and_repeat():
  texts = [f'Jews met in room {k}.' for k in range(40)]
  one = dictionary.swap(texts, axis='religion', seed=0).texts
  assert one == dictionary.swap(texts, axis='religion', seed=0).texts
  assert len({text.split()[0] for text in one}) > 3  # not one value for all
  assert one[:5] == dictionary.swap(texts[:5], axis='religion', seed=0).texts
  assert len(dictionary.swap_every(texts[:2], axis='religion')) == 9


@pytest.mark.parametrize(
  ('options', 'said'),
  [
    ({'axis': 'nosuch'}, "there is no axis 'nosuch'; name one of gender"),
    ({'axis': 'age', 'direction': 'male'}, "'opposite' or one of child, young"),
    ({'axis': 'race', 'words': [['a', 'b']]}, 'leave them, or leave axis'),
  ],
)
def test_what_does_not_fit_is_told(options, said):
  with pytest.raises(UserError, match=said):
    fairjax.swap('A text.', **options)
