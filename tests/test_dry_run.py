"""What a run would take, against the run's own arrays and XLA's counts."""

import math
import types

import jax
import numpy as np
import pytest

from fairjax import config as c
from fairjax import main
from fairjax.core import chips
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, seq2seq
from fairjax.data.batching.tokens import Ragged
from fairjax.models import adversary
from fairjax.recipes.dry import costs, estimate, stages
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.recipes.mbcda import adversarial
from fairjax.recipes.rewriting import counterfactual_texts
from fairjax.train import loop, mesh, step, traced

CHIP = chips.Chip('cpu', 1e11, 1e10, 1e9)


def plan(config, rows=100, length=16, corpus=0, count=1, chip=CHIP):
  amount = costs.Amount(rows, rows // 8, length, corpus)
  return costs.Goal(config, amount, chip, count)


def small(**more):
  config = c.Config(model='nano', seeds=2, **more)
  config.tokens.vocab_size = 300
  config.train.batch, config.train.epochs = 8, 2.0
  return config


def classifier(config):
  return costs.model_of(
    plan(config), config.model, 'bert', 'classify', classes=2
  )


# Against the arrays of the run itself


@pytest.mark.parametrize(
  'count, seeds, fsdp', [(1, 2, False), (4, 1, False), (4, 1, True)]
)
def test_state_is_as_large_as_that_of_a_fit(count, seeds, fsdp):
  """Weights, moments and kept weights, as they lie on the first device."""
  config = small()
  config.seeds, config.mesh.fsdp = seeds, fsdp
  one = stages.train(plan(config, count=count))[0]
  model = classifier(config)
  device_mesh = mesh.make(config.mesh, seeds, jax.devices()[:count])
  params = mesh.put_held(
    device_mesh, loop.initial(model, [*range(seeds)]), fsdp
  )
  _, start = step.compiled(model, config.train, device_mesh, fsdp)
  first = jax.devices()[0]
  here = lambda tree: sum(
    shard.data.nbytes
    for leaf in jax.tree.leaves(tree)
    for shard in leaf.addressable_shards
    if shard.device == first
  )
  assert device_mesh.shape['data'] == count // math.gcd(count, seeds)
  held = here(params)
  assert dict(one.memory)['kept weights'] == held
  gathered = 0
  if count > 1 and not fsdp:
    gathered = here(mesh.whole(device_mesh, params, fsdp))
  assert dict(one.memory)['weights'] == held + gathered
  # A count of the steps beside the two moments, four bytes a seed.
  moments = dict(one.memory)['moments']
  assert moments == pytest.approx(here(start(params)), abs=16)


def test_a_fit_takes_the_steps_that_the_loop_takes():
  config = small()
  one = stages.train(plan(config, rows=101))[0]
  assert one.dispatches == 26 == round(2.0 * math.ceil(101 / 8))
  assert one.what == '26 steps of 8 × 2 seeds'
  assert one.tokens == 26 * 8 * 16 * 2
  config.method.name = 'augment'
  assert stages.train(plan(config, rows=101))[0].dispatches == 52


def test_a_fit_looks_as_often_as_the_loop_does():
  """Four evaluations an epoch were a quarter of one; `held` rows are read."""
  config, flops = small(), {}
  for evals in (0.5, 1.0, 2.0, 4.0):
    config.train.evals = evals
    flops[evals] = stages.train(plan(config, rows=101))[0].flops
  epoch = math.ceil(101 / 8)
  looks = {e: len(loop.evaluation_steps(2 * epoch, epoch, e)) for e in flops}
  assert looks == {0.5: 1, 1.0: 2, 2.0: 4, 4.0: 8}
  one = flops[1.0] - flops[0.5]
  for evals in (2.0, 4.0):
    more = (looks[evals] - 1) * one
    assert flops[evals] - flops[0.5] == pytest.approx(more) and one > 0


def test_evaluations_are_at_the_ends_of_epochs():
  """Rounding put some a step later: 25 of 5 an epoch of 11 steps, at 56."""
  for epoch in range(1, 200):
    for evals in (1, 2, 3, 5, 7, 10):
      due = loop.evaluation_steps(10 * epoch, epoch, evals)
      ends = {epoch * k for k in range(1, 11)}
      assert ends <= due and max(due) == 10 * epoch


def test_a_batch_of_pairs_is_one_of_whole_rows():
  flat = np.ones(12 * 16, np.int32)
  texts = Ragged(flat, np.arange(13, dtype=np.int64) * 16)
  real = next(iter(seq2seq.sweep(seq2seq.pool(texts, texts), 12)))
  shapes = costs.pairs_of(12, 16)
  assert shapes.pop('push').shape == ()
  places = lambda a: int(np.prod(a.shape))
  assert {k: places(v) for k, v in shapes.items()} == {
    k: places(np.asarray(v)) for k, v in real.items()
  }


# Against XLA


def gradient_of(model):
  loss = step.CLASSES
  return jax.jit(lambda p, b, k: step.gradients(model, p, b, k, 1, loss))


def test_flops_are_xla_s_within_a_twentieth():
  """By the cost analysis of the program before it is optimised."""
  config = small()
  config.model = 'small'
  model, batch = classifier(config), costs.texts_of(16, 64)
  params, _, found = costs.gradient(model, step.CLASSES, batch)
  args = params, batch, jax.ShapeDtypeStruct((), np.uint32)
  xla = gradient_of(model).lower(*args).cost_analysis()['flops']
  assert found.flops == pytest.approx(xla, rel=0.05)


def test_memory_is_the_compiled_program_s_within_a_third():
  config = small()
  config.model = 'tiny'
  model, batch = classifier(config), costs.texts_of(32, 64)
  params, _, found = costs.gradient(model, step.CLASSES, batch)
  args = params, batch, jax.ShapeDtypeStruct((), np.uint32)
  memory = gradient_of(model).lower(*args).compile().memory_analysis()
  used = memory.temp_size_in_bytes + memory.output_size_in_bytes
  assert found.peak == pytest.approx(used, rel=0.33)


def test_a_loop_counts_as_often_as_it_goes_round():
  """XLA counts the body once; unrolled it agrees."""
  w = np.ones((32, 32), np.float32)
  looped = lambda x: jax.lax.scan(lambda x, _: (x @ w, None), x, length=7)[0]
  unrolled = lambda x: [x := x @ w for _ in range(7)][-1]
  count = lambda f: traced.cost(jax.make_jaxpr(f)(w).jaxpr)
  xla = jax.jit(unrolled).lower(w).cost_analysis()['flops']
  assert count(looped).flops == count(unrolled).flops == 7 * 2 * 32**3 == xla
  # What is read, what is made of it, and the result, whose room is kept.
  assert count(unrolled).peak == 3 * w.nbytes


def test_pretraining_by_its_products_written_out():
  config = small()
  config.recipe, config.model, config.tokens.vocab_size = (
    'pretrain',
    'nano',
    120,
  )
  config.pretrain.length, config.pretrain.steps = 32, 1000
  config.train.batch, config.train.microbatches, config.seeds = 16, 4, 1
  config.net.dropout = config.net.attention_dropout = 0.0
  (one,) = stages.pretrain(plan(config))
  d, depth, h, v, t, b = 128, 1, 512, 120, 32, 16
  layers = depth * (4 * d * d + 2 * d * h + 9 * d + h)
  count = v * d + 512 * d + 2 * d + 2 * d + layers + d * d + 3 * d + v
  assert (
    dict(one.memory)['weights'] == dict(one.memory)['kept weights'] == 4 * count
  )
  assert dict(one.memory)['moments'] == 2 * 4 * count + 4
  # Products, forward and twice as many backward; the head reads a few places.
  asked = corruption.most(t, 0.15)
  body = 2 * b * t * depth * (4 * d * d + 2 * d * h + 2 * t * d)
  head = 2 * b * asked * (d * d + d * v)
  assert 1 < one.flops / (1000 * 3 * (body + head)) < 1.25
  assert one.tokens == 1000 * b * t
  low, high = estimate.seconds(plan(config), one)
  roof = max(one.flops / CHIP.flops, one.moved / CHIP.bandwidth)
  assert low == pytest.approx(roof + 0.1) and high > 10 * roof
  config.pretrain.steps = 0
  with pytest.raises(UserError, match=r'pretrain\.steps is 0'):
    stages.pretrain(plan(config))


# MBCDA


def test_the_published_discriminator_has_its_published_size():
  """MBCDA's code at BART-base: 169,222,268 of tokens, 592,130 of the head."""
  config = c.shipped('mbcda_planted')
  model = costs.model_of(plan(config), 'facebook/bart-base', 'bart', 'write')
  two = adversarial.two(config, model)
  shapes = jax.eval_shape(lambda: two.init(0))['discriminator']
  count = sum(leaf.size for leaf in jax.tree.leaves(shapes))
  assert count == 169_222_268 + 592_130


def test_folding_spares_the_logits():
  """A published discriminator's first layer has 3265 units."""
  config = c.shipped('mbcda_planted')
  config.tokens.vocab_size = words = 50265
  model = costs.model_of(plan(config), 'tiny', 'bart', 'write')
  batch = costs.pairs_of(32, 48)
  places = 32 * 48

  def found(folded, chunk):
    two = adversary.model(model, folded=folded, chunk=chunk)
    loss = step.Loss(
      lambda *args: adversary.generator_loss(*args, chunk), adversary.one
    )
    return costs.gradient(two, loss, batch, '^generator/')[2]

  folded, whole = found(True, 256), found(False, places)
  # Two products of the logits with the first layer, forward and back; of
  # folding, one of the table with it, and one of the states.
  spared = 2 * 2 * places * words * 3265
  assert whole.flops - folded.flops > 0.9 * spared
  assert whole.peak - folded.peak > places * words * 4


# Recipes


def flow_config():
  config = small(recipe='fairflow')
  config.data.path, config.data.name = 'nowhere.csv', 'file'
  config.tokens.max_length, config.fairflow.cap = 18, 10
  config.train.batch, config.seeds, config.fairflow.share = 8, 3, 0.5
  config.rewriters.generator = config.rewriters.fluency = 'nano'
  config.repair.detector = config.repair.filler = 'nano'
  config.rewriters.classifier = 'nano'
  return config


def test_fairflow_has_six_stages_that_count_what_they_say():
  config = flow_config()
  every = stages.fairflow(plan(config, corpus=30_000_000))
  assert sorted({one.name[0] for one in every}) == list('123456')
  by = {one.name: one for one in every}
  # Two walks over the half that is read.
  walk = by['1 tokens, two walks']
  assert (walk.what, walk.tokens) == ('15,000,000 read', 30_000_000)
  words = 44 * 15_000_000**0.49 * 2 / config.fairflow.min_count
  instances = words * 10 + 2 * config.fairflow.seed_cap
  sided = instances / 10
  steps = round(2.0 * -(-sided * 0.9 / 2 // 8))
  assert by['2 flow'].what == f'{steps:,} steps of 8 × 3 seeds × 2 fits'
  read = by['3 moved words read, and votes']
  # Two flows of three seeds, two shifts and a map; a masked LM reads texts.
  assert read.tokens == pytest.approx(sided * (3 * 2 + 3))
  asked = by['3 masked LM asked']
  assert asked.tokens == pytest.approx(words / 10 * moves.MASKED_CAP * 18)
  assert by['4 swaps'].tokens == 2 * (100 + 2 * 12) * 16
  # Hall-M + BART, and both ways repaired.
  assert '× 3 fits' in by['5 generators'].what
  assert by['6 texts written'].tokens == 3 * 112 * 16
  assert by['6 classifiers'].what.endswith('× 8 fits')
  assert all(estimate.peak(one) < 1e9 for one in every)


def test_a_flow_takes_the_steps_that_it_took():
  """34 MB, words of 8 or more: 347,794 looked at, 4,024 steps; 137,280 by
  Heaps' law alone, of rare words and as if every occurrence showed a side.
  """
  config = c.shipped('fairflow_gender')
  config.model, config.seeds, config.train.epochs = 'nano', 3, 8.0
  config.fairflow.share, config.fairflow.cap = 1.0, 12
  config.fairflow.rivals = 'difference', 'discriminant', 'procrustes'
  every = stages.fairflow(plan(config, corpus=7_253_437))
  (steps,) = (one.dispatches for one in every if one.name == '2 flow')
  assert steps == pytest.approx(4024, rel=0.3)


@pytest.mark.parametrize(
  'way, rivals, fits, ways',
  [
    ('difference', (), 0, 1),
    ('procrustes', (), 0, 2),
    ('flow', (), 1, 3),
    ('difference', ('difference',), 1, 4),
    ('flow', ('no_factor',), 2, 6),
  ],
)
def test_what_is_not_asked_for_is_not_counted(way, rivals, fits, ways):
  """A flow was, of a run without one, and what has no factor twice."""
  config = flow_config()
  config.data.path = ''
  config.fairflow.way, config.fairflow.rivals = way, rivals
  by = {one.name: one for one in stages.fairflow(plan(config, corpus=10**6))}
  assert by['3 moved words read, and votes'].what.split(' × ')[1][0] == str(
    ways
  )
  made = by['2 flow'].what if fits else ''
  assert ('2 flow' in by) == bool(fits)
  assert made.endswith('× 2 fits') == (fits == 2)


def test_mbcda_learns_from_as_many_sentences_as_its_corpus_gives():
  """The texts that are rewritten were counted, as if they were learned from."""
  config = small(recipe='mbcda')
  config.rewriters.generator = config.rewriters.classifier = 'nano'
  config.adversary.corpus, config.adversary.corpus_rows = 'books', 1000
  every = {one.name: one for one in stages.mbcda(plan(config))}
  steps = round(config.rewriters.epochs * -(-900 // config.rewriters.batch))
  fits = '5 generators by tokens', '5 generators against them'
  assert all(f'{steps:,} steps' in every[name].what for name in fits)
  assert every['4 swaps'].what.startswith('1,100 texts')
  assert every['6 texts written'].tokens == 6 * 112 * 16


def test_mbcda_has_a_fit_each_player_and_seed():
  config = small(recipe='mbcda')
  config.rewriters.generator, config.rewriters.generators = 'nano', 2
  config.rewriters.classifier = 'nano'
  every = {one.name: one for one in stages.mbcda(plan(config))}
  fits = {name: one.what.rpartition('× ')[2] for name, one in every.items()}
  assert fits['5 generators by tokens'] == '6 fits'
  assert fits['5 generators against them'] == '6 fits'
  assert fits['5 discriminators'] == '7 fits'  # one of shuffled groups
  assert every['6 texts written'].tokens == 12 * 112 * 16
  steps = counterfactual_texts.generator_config(config).train
  assert every['5 generators by tokens'].tokens == pytest.approx(
    6 * steps.epochs * 4 * 32 * 16
  )
  assert [*counterfactual_texts.generator_configs(config)][1].seed == 1


def test_decoding_reads_the_weights_once_a_token():
  config = small(recipe='generate')
  (one,) = stages.generate(plan(config, rows=320, length=16))
  model = costs.model_of(plan(config), 'nano', 'bart', 'infill')
  params = jax.eval_shape(lambda: model.init(0))
  weights = sum(4 * leaf.size for leaf in jax.tree.leaves(params))
  assert dict(one.memory)['weights'] == weights
  rounds = (320 + 2 * 40) / config.generate.slots
  assert one.tokens == 400 * 16
  assert 0.3 < one.moved / (rounds * 16 * weights) < 3
  config.generate.num_beams = 4
  (wide,) = stages.generate(plan(config, rows=320, length=16))
  assert wide.flops > 2 * one.flops


def test_benchmarks_read_each_text_once_a_token_by_a_mask():
  config = small(recipe='benchmarks')
  (alone,) = stages.benchmarks(plan(config, rows=256))  # a size is a GPT-2's
  assert alone.what == '256 texts'
  config.model = 'bert-base-uncased'
  (one,) = stages.benchmarks(plan(config, rows=256))
  assert one.what == '256 texts × 16' and one.tokens == 256 * 16 * 16
  assert one.flops > 2 * one.tokens * 12 * 12 * 768**2


def test_odd_words_are_filled_by_a_masked_lm():
  config = flow_config()
  config.repair.filler = 'bert-base-uncased'
  every = {one.name: one for one in stages.repair(plan(config), 2)}
  assert every['4 odd words filled, at most'].flops > 0


# The command


def test_what_cannot_be_counted_is_a_sentence(tmp_path):
  config = small()
  for target in ('v9', 'v5e', 'h100:', 'h100:0', 'v5e-4y4', ''):
    with pytest.raises(UserError, match='name v4, v5e, v5p, v6e, h100, h200'):
      estimate.estimate(config, tmp_path, target, {})
  config.recipe = 'swap'
  with pytest.raises(UserError, match="'swap' has no dry run; there is one of"):
    estimate.estimate(config, tmp_path, 'v5e-4', {})
  config = flow_config()
  with pytest.raises(UserError, match=r'--tokens=30000000'):
    estimate.estimate(config, tmp_path, 'v5e-4', {})
  with pytest.raises(UserError, match=r'nowhere\.csv.*--rows=ROWS'):
    estimate.estimate(config, tmp_path, 'v5e-4', {'tokens': 9})


@pytest.mark.parametrize(
  'text, count', [('v5e-16', 16), ('v5e:4x4', 16), ('h100:8', 8), ('h200-1', 1)]
)
def test_a_target_is_so_many_chips(text, count):
  chip, found = chips.named(text)
  assert found == count and chip is chips.CHIPS[text[:4].strip(':-')]


def test_a_target_needs_no_files(monkeypatch, tmp_path, capsys):
  """The command line, with a detector and data that are not there."""
  config = flow_config()
  config.recipe, config.rewriters.contenders = (
    'counterfactual_texts',
    ('dictionary',),
  )
  flags = {'target': 'h100:8', 'rows': 50, 'length': 12}
  monkeypatch.setattr(main, 'CONFIG', types.SimpleNamespace(value=config))
  monkeypatch.setattr(
    main, 'WORKDIR', types.SimpleNamespace(value=str(tmp_path))
  )
  monkeypatch.setattr(
    main, 'TARGET', types.SimpleNamespace(value=flags['target'])
  )
  given = {k: types.SimpleNamespace(value=flags.get(k, 0)) for k in main.AMOUNT}
  monkeypatch.setattr(main, 'AMOUNT', given)
  monkeypatch.setattr(main, 'stop_when_asked', lambda: None)
  monkeypatch.setattr(
    main.flags,
    'FLAGS',
    {'config': types.SimpleNamespace(config_filename='x.py')},
  )
  monkeypatch.setattr(main, 'LIST', types.SimpleNamespace(value=False))
  main.main(['fairjax'])
  assert '50 texts of 12 tokens' in capsys.readouterr().err
  assert (tmp_path / 'dry_run' / 'report.html').is_file()
