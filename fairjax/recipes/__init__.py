"""Recipes by name; adding one is one file and one line here.

In this room:

  adversarial           MBCDA's training: a discriminator on logits, generators
                        against it
  attribute_words       FairFlow's stage 1: words that reveal an attribute,
                        from a seed pair
  audit                 The audit: any classifier, or only its predictions,
                        into one page
  audit_causes          Causes: the training rows behind a gap, and what would
                        mitigate it
  audit_edits           The edits of an audit: each text's swap and its matched
                        control, scored
  audit_flips           Flips on the page of an audit: shares, rows and words
  audit_function        Anybody's function of texts under audit: asked in
                        batches, and checked
  audit_groups          Groups of an audit, and which of its rows hang together
  audit_library         The audit as a function of tables, for notebooks:
                        `fairjax.audit`
  audit_measure         Measures of one audited model: rows and edits in,
                        numbers out
  audit_models          Audited models: anything that gives texts, or rows,
                        probabilities
  audit_page            Sections of an audit's page
  audit_scores          The scores of an audit: kept by content as they are
                        made, and asked twice
  augment_corpus        Counterfactuals of a whole corpus: folders of any size,
                        shard by shard
  benchmarks            Bias benchmarks of a model folder, and of a second one
                        beside it
  benchmarks_planted    Which benchmarks detect a known bias: models with
                        planted associations
  compare               Every method against no mitigation: one table, with
                        paired tests
  contenders            Contenders: rewritten texts compared, as tables 2 to 4
                        of FairFlow
  corpora               What recipes over corpora share: folders, results,
                        pages
  counterfactual_texts  FairFlow's stages 4 to 6: dictionary, repair,
                        generator, evaluation
  counterfactual_words  FairFlow's stages 2 and 3: embeddings moved, read as
                        words, voted on
  diet                  The healthy data diet: a probe scores the rows, and the
                        best are trained on
  downstream            What a mitigation costs a task: a linear classifier on
                        frozen vectors
  fairberta             FairBERTa: two masked LMs, one on text and one on the
                        perturbed text
  fairflow              FairFlow: from one pair of words to counterfactual
                        words and texts
  fairflow_page         FairFlow's page: the dictionary, its map, and what it
                        is worth
  fairflow_size         FairFlow at full size: hours and memory, estimated
  fairscore             The fairscore of a classifier that exists, or of two
                        side by side
  fairscores            Fairscores of models on one paired file: written, read,
                        predicted, tested
  fairtune              Fairtuning: a classifier tuned on perturbed text, and
                        its fairscore
  flow_training         FairFlow's two fits: the attribute head, and the flow
  generate              Texts rewritten, continued or filled by a model, over
                        folders of any size
  generate_corpus       Text generation over whole folders: shard by shard,
                        chunk by chunk
  likelihood            Perplexity of texts under a folder's model, left to
                        right or masked
  mbcda                 MBCDA: a generator of counterfactual texts with two
                        objectives
  mbcda_size            MBCDA at full size: memory, FLOPs and hours, estimated
  mitigation_front      Harm against cost: one picture and one table of all
                        mitigations
  mitigations           What mitigates a language model's bias: a model in, a
                        mitigated model out
  overlap               Overlap of diets: would another seed, epoch, model or
                        score differ?
  person_tagger         A tagger of the words that are of one person, learned
                        from pairs
  perturb_corpus        Whole folders perturbed: one person of each window of
                        text rewritten
  perturber             A perturber: trained on parallel text, measured beside
                        rules on held-out
  perturbing            Texts perturbed: the person drawn, the rewriter, what
                        comes back
  pretrain              Pretrains a language model on plain text: MLM, BART,
                        ELECTRA or causal
  pretrain_objectives   The pretraining objectives: corruption, model, loss and
                        samples of each
  pretrain_samples      Samples of a pretrained model on held-out text
  pretrain_size         Size and duration of a pretraining run, estimated
                        without running it
  rank                  The diet paper's two experiments, as one grid of runs
  repairing             Error correction of swapped texts: detector, masks,
                        filler
  rewriter              A seq2seq or causal model that rewrites texts, fine-
                        tuned on pairs
  swap                  One text and its counterfactual, and what was changed
  train                 One classifier after one data-side method: trained,
                        measured, reported
  weighting             Instance weights (Zhang et al. 2020), end to end
  word_detector         A token classifier that finds gendered words beyond the
                        lists
"""

from fairjax.registry import Entry

# Each is run(config: Config, folder: pathlib.Path) -> results.Results
RECIPES = {
  'train': Entry(
    'fairjax.recipes.train:run', 'one classifier, measured and reported'
  ),
  'diet': Entry(
    'fairjax.recipes.diet:run', 'probe, scores, healthy diet, model, tests'
  ),
  'rank': Entry(
    'fairjax.recipes.rank:run', 'many diets as one job, and the best of them'
  ),
  'overlap': Entry(
    'fairjax.recipes.overlap:run', 'do seeds, epochs, models choose one diet?'
  ),
  'compare': Entry(
    'fairjax.recipes.compare:run', 'each data-side method against none'
  ),
  'weighting': Entry(
    'fairjax.recipes.weighting:run', 'instance weights against the baseline'
  ),
  'audit': Entry(
    'fairjax.recipes.audit:run',
    'any classifier, or its predictions alone, into one page',
  ),
  'swap': Entry('fairjax.recipes.swap:run', 'the counterfactual of a text'),
  'likelihood': Entry(
    'fairjax.recipes.likelihood:run', 'perplexity of texts, with intervals'
  ),
  'benchmarks': Entry(
    'fairjax.recipes.benchmarks:run',
    'bias benchmarks of a language model, with intervals and tests',
  ),
  'benchmarks_planted': Entry(
    'fairjax.recipes.benchmarks_planted:run',
    'which benchmarks see an association that is known',
  ),
  'generate': Entry(
    'fairjax.recipes.generate:run', 'texts written or filled, whole folders'
  ),
  'augment_corpus': Entry(
    'fairjax.recipes.augment_corpus:run', 'counterfactuals of whole folders'
  ),
  'fairflow': Entry(
    'fairjax.recipes.fairflow:run',
    'counterfactual words from one pair of words',
  ),
  'counterfactual_texts': Entry(
    'fairjax.recipes.counterfactual_texts:run',
    'swaps, repairs and generators against one another',
  ),
  'mbcda': Entry(
    'fairjax.recipes.mbcda:run',
    'generators with and without a discriminator on their logits',
  ),
  'perturber': Entry(
    'fairjax.recipes.perturber:run',
    'a model that rewrites one person of a text, beside rules',
  ),
  'word_detector': Entry(
    'fairjax.recipes.word_detector:run',
    'a token classifier for words of people that no list holds',
  ),
  'perturb_corpus': Entry(
    'fairjax.recipes.perturb_corpus:run',
    'whole folders with one person of each text rewritten',
  ),
  'fairberta': Entry(
    'fairjax.recipes.fairberta:run',
    'two masked LMs alike, one on perturbed text',
  ),
  'fairscore': Entry(
    'fairjax.recipes.fairscore:run',
    'how often a classifier changes its mind under perturbation',
  ),
  'fairtune': Entry(
    'fairjax.recipes.fairtune:run',
    'a classifier tuned on perturbed text, and fairscore beside its floor',
  ),
  'pretrain': Entry(
    'fairjax.recipes.pretrain:run', 'a language model, from plain text'
  ),
}

# Each is f(judge, texts, config, folder, log) -> models.judge.Judge; the texts
# are what it may be fitted on, the folder is where it may write.
MITIGATIONS = {
  name: Entry(f'fairjax.recipes.mitigations:{name}', about)
  for name, about in {
    'leace': 'the least change after which gender cannot be read linearly',
    'inlp': 'the nullspace of linear classifiers of gender',
    'sentence': 'SentenceDebias: the direction between texts and twins',
    'continued': 'a control: pretraining goes on on texts about people',
    'counterfactual': 'the same with their twins, her as his or him by sense',
    'cda': 'the same with twins word by word, as bias-bench makes them',
    'dropout': 'pretraining goes on with more dropout',
    'self_debias': 'what a sentence about bias makes likelier is taken back',
  }.items()
}
