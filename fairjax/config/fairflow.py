"""Config: FairFlow, its attribute words, flow and votes; repair, rewrites."""

import dataclasses

from fairjax.core.knobs import (
  above,
  at_least,
  below,
  between,
  each,
  existing,
  knob,
  one_of,
  within,
)


@dataclasses.dataclass(slots=True)
class FairFlow:
  """From one pair of words to a dictionary (fairflow/algorithm.py)."""

  first: str = knob(
    '',
    "seed words of one side, 'she,her', or an axis's value, 'religion:muslim'",
  )
  second: str = knob('', "seed words of the other side, 'he' or 'he,his,him'")
  share: float = knob(1.0, 'share of the texts that is read', above(0, 1))
  layers: int = knob(
    1, 'layers whose mean is read, from `layer` down', at_least(1)
  )
  seed_cap: int = knob(
    3000, 'occurrences looked at of a seed word', at_least(2)
  )
  cap: int = knob(30, 'occurrences looked at of any other word', at_least(1))
  min_count: int = knob(5, 'occurrences that a word must have', at_least(1))
  held_out: float = knob(
    0.1, 'share of the texts that the head is measured on', within(0, 1)
  )
  grow: int = knob(
    0,
    'rounds that grow more seed pairs from the first; 0 is the paper',
    at_least(0),
  )
  grow_cosine: float = knob(
    0.5, 'least cosine of a grown pair and the mean pair', between(-1, 1)
  )
  head: str = knob(
    'mlp',
    "'mlp' (the paper) or 'lda', Fisher's linear discriminant",
    one_of('mlp', 'lda'),
  )
  head_lr: float = knob(2e-5, 'peak learning rate of the head', above(0, 10))
  head_epochs: float = knob(12.0, 'passes over the seed words', above(0, 1e6))
  threshold: float = knob(
    3.0, 'φ: how sure the head must be of an occurrence', at_least(0)
  )
  word_share: float = knob(
    0.5,
    "share of a word's occurrences that the head must be sure of",
    between(0, 1),
  )
  whiten: str = knob(
    'none',
    "the flow's embeddings as they are ('none'), or whitened ('white')",
    one_of('none', 'white'),
    changes='flow',
  )
  steps: int = knob(6, 'steps of the flow', between(1, 1024), changes='flow')
  hidden: int = knob(
    100, "width of the flow's perceptrons", between(1, 2**16), changes='flow'
  )
  factor: int = knob(
    0,
    "K: the factor's width; 0 takes Esser et al.'s estimate, -1 a tenth of all",
    at_least(-1),
    changes='flow',
  )
  rho: float = knob(
    0.98,
    "correlation of a pair's factors; 0 is a flow without a factor",
    below(0, 1),
    changes='flow',
  )
  margin: float = knob(
    0.0,
    "the groups' factors are centred at -margin and margin",
    at_least(0),
    changes='flow',
  )
  leak: float = knob(
    0.0,
    "weight of the groups' gap outside the factor",
    at_least(0),
    changes='flow',
  )
  move: str = knob(
    'mean',
    "the factor becomes the other side's 'mean', a 'sample', or its 'shift'",
    one_of('mean', 'sample', 'shift'),
    changes='words',
  )
  decoder: str = knob(
    'head',
    "a moved embedding is read by the masked-LM 'head' or the 'nearest' word",
    one_of('head', 'nearest'),
    changes='words',
  )
  candidates: str = knob(
    'all',
    "what a moved word may become: 'all' words, all 'others', or those of the "
    "other 'side'",
    one_of('all', 'others', 'side'),
    changes='words',
  )
  votes: str = knob(
    'mutual',
    "pairs are 'mutual' modes, or joined as in the 'paper', or the paper's "
    "'directed' entries: also what a word becomes that is nobody's mode",
    one_of('mutual', 'paper', 'directed'),
    changes='words',
  )
  min_along: float = knob(
    -1.0,
    "least cosine of the move with the partners' difference; -1 takes all",
    between(-1, 1),
    changes='words',
  )
  known: str = knob(
    '',
    'file of known pairs that the dictionary is marked by',
    existing,
    changes='measures',
    path=True,
  )
  way: str = knob(
    'flow',
    "whose pairs are written: the 'flow' (the paper), the 'difference' of the "
    "sides' means, 'discriminant' (diagonal LDA) or 'procrustes'",
    one_of('flow', 'difference', 'discriminant', 'procrustes'),
    changes='words',
  )
  rivals: tuple[str, ...] = knob(
    ('difference', 'discriminant', 'procrustes', 'masked', 'no_factor'),
    'simpler ways, marked beside the flow',
    each(
      one_of('difference', 'discriminant', 'procrustes', 'masked', 'no_factor')
    ),
    changes='measures',
  )


@dataclasses.dataclass(slots=True)
class Repair:
  """Error correction of swapped texts (rewriting/repairing.py)."""

  detector: str = knob(
    '',
    "folder of an ELECTRA or a masked LM; '' leaves swaps as they are",
    existing,
    path=True,
  )
  filler: str = knob(
    '',
    "folder of a BART or masked LM that fills; '' is `model`",
    existing,
    path=True,
  )
  threshold: float = knob(
    0.0,
    "θ: a token that the detector scores above it is odd; 0 in MBCDA's paper, "
    "-1 in both papers' code",
  )


@dataclasses.dataclass(slots=True)
class Rewriters:
  """Rewritten texts, trained on and judged (rewriting/contenders.py)."""

  generator: str = knob(
    '',
    'a folder or size fine-tuned on source and repaired text; '
    "'' leaves the generator out",
    path=True,
  )
  lr: float = knob(5e-5, 'peak learning rate of the generator', above(0, 10))
  batch: int = knob(32, 'pairs a step', between(1, 2**16))
  patience: int = knob(
    2, 'evaluations without a gain before the generator stops', at_least(0)
  )
  epochs: float = knob(10.0, 'passes over the pairs', above(0, 1e6))
  positive: str = knob(
    '', "the value of data.group that is attribute 1; '' is the first by name"
  )
  fluency: str = knob(
    '',
    "folder of a language model for perplexity; '' leaves it out",
    existing,
    path=True,
  )
  folds: int = knob(
    5,
    'folds of the attribute classifier, which judges texts that it never saw',
    between(2, 1000),
  )
  seeds: int = knob(
    3, 'classifiers trained on texts and rewrites', between(1, 1000)
  )
  generators: int = knob(
    1, 'seeds of each generator, which share the classifiers', between(1, 100)
  )
  contenders: tuple[str, ...] = knob(
    ('dictionary', 'fairflow'),
    "whose word lists swaps start from: a 'dictionary' by hand, 'fairflow'",
    each(one_of('dictionary', 'fairflow'), least=1),
  )
  imbalance: float = knob(
    0.0,
    'share of attribute 1 in the training texts of label 1, mirrored in label '
    '0, and as many of each in test; 0 keeps all texts (.12 of biographies)',
    below(0, 1),
  )
  gold: str = knob(
    '', 'folder of GECO, whose twins are known', existing, path=True
  )
  gold_rows: int = knob(
    0,
    'pairs of each set of known twins that are rewritten; 0 takes all',
    at_least(0),
  )
