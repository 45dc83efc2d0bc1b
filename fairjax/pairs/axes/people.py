"""Words that stand for people, and those that describe them."""

import functools

from fairjax.pairs.swapping import word_lists
from fairjax.pairs.swapping.neighbours import words_of

NOUNS = words_of("""
person people persons individual individuals child children kid kids baby babies
teenager teenagers teen teens adult adults youth youths student students pupil
pupils teacher teachers doctor doctors nurse nurses lawyer lawyers worker
workers actor actors artist artists author authors writer writers singer singers
player players driver drivers farmer farmers soldier soldiers officer officers
cop cops friend friends neighbor neighbors neighbour neighbours colleague
colleagues couple couples parent parents families family citizen citizens voter
voters patient patients customer customers employee employees musician musicians
director directors politician politicians professor professors scientist
scientists immigrant immigrants migrant migrants refugee refugees resident
residents folk folks dude dudes bloke blokes fellow fellows chap chaps chick
chicks bastard bastards idiot idiots moron morons thug thugs criminal criminals
terrorist terrorists male males female females minority minorities population
populations community communities candidate candidates president leader leaders
boss bosses owner owners tenant tenants passenger passengers defendant
defendants victim victims suspect suspects prisoner prisoners inmate inmates
slave slaves hero heroes heroine heroines character characters lover lovers
partner partners spouse spouses sibling siblings orphan orphans veteran veterans
athlete athletes coach coaches manager managers secretary secretaries waiter
waiters waitress chef chefs cook cooks carpenter plumber engineer engineers
programmer pilot pilots dancer dancers comedian comedians rapper rappers
journalist journalists reporter reporters editor editors senator senators
governor governors mayor congressman congresswoman judge judges activist
activists protester protesters protestors supporter supporters supremacist
supremacists nationalist nationalists extremist extremists conservative
conservatives liberal liberals democrat democrats republican republicans
taxpayer taxpayers consumer consumers american americans canadian canadians guy
guys lady ladies gentleman gentlemen human humans being beings soul souls
peasant peasants servant servants businessman businessmen businesswoman
housewife mother mothers father fathers believer believers radicals fanatics
fundamentalist fundamentalists convert converts scholar scholars viewers viewer
audience audiences readers reader crowd generation generations tribe tribes race
races gang gangs household households twin twins widow widows settler settlers
barista baker janitor accountant cashier librarian tailor detective detectives
policeman policemen fan fans tourist tourists visitor visitors foreigner
foreigners elite elites aristocrat philanthropist donor donors clerk clerks
monarch monarchs chairman chairwoman celebrity celebrities footballer
footballers novelist novelists poet poets painter painters composer composers
filmmaker filmmakers designer designers photographer photographers entrepreneur
entrepreneurs hacker hackers gunman gunmen rapist rapists murderer murderers lad
lads lass
""")
DESCRIBING = words_of("""
big small little tall short fat thin good bad nice mean kind cruel smart stupid
dumb lazy angry happy sad ugly pretty beautiful handsome attractive hot sexy
strong weak brave new other same different ordinary normal average typical
regular decent honest innocent guilty single married divorced pregnant unarmed
armed educated uneducated ignorant racist sexist bigoted crazy insane violent
peaceful illegal legal undocumented poor rich wealthy working middle class
famous local rural urban suburban native born male female devout religious
secular radical moderate conservative liberal progressive fellow real true
so-called whole entire many few most some all more first second last younger
older young old elderly middle-aged teenage successful talented gifted
struggling hard-working hardworking privileged underprivileged disadvantaged
low-income unemployed retired disabled blind deaf homeless black white brown
asian hispanic latino arab gay straight lesbian bisexual queer transgender trans
muslim christian jewish catholic hindu buddhist american african mexican chinese
indian russian british french german italian irish canadian
""")
POSSESSIVE = words_of("""
my your his her its our their whose mine one's
""")
DETERMINERS = words_of("""
a an the this that these those every each any some no another one either neither
such
""")


@functools.cache
def nouns() -> frozenset[str]:
  """Words for people: ours, and every word of the gender list."""
  listed = word_lists.gender()
  return NOUNS | {word for row in listed.rows for word in row[:2]}


@functools.cache
def sided() -> frozenset[str]:
  """Words for men alone or women alone."""
  return frozenset(w for row in word_lists.gender().rows for w in row[:2])


@functools.cache
def masculine() -> frozenset[str]:
  return frozenset(row[0] for row in word_lists.gender().rows) | {'his', 'him'}


@functools.cache
def feminine() -> frozenset[str]:
  return frozenset(row[1] for row in word_lists.gender().rows) | {'her', 'hers'}
