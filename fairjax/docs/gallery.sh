#!/usr/bin/env bash
# Makes the gallery's pages: gallery.sh OUT [NAME …], in a checkout's root.
# Needs no download; two quiet cores take about a quarter of an hour.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
wanted=" $* "
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

page() { # page NAME WORDS arguments: the page of a run
  local name=$1
  shift 2
  [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
  "$python" -m fairjax.main "$@" --workdir="$work/$name" >"$work/log" 2>&1 ||
    { cat "$work/log" && exit 1; }
  cp "$work/$name/report.html" "$out/$name.html"
}

"$python" - "$work" <<'EOF'
import pathlib, sys
import numpy as np, pandas as pd
from fairjax.benchmarks import planted_associations as planted
work, draw, n = pathlib.Path(sys.argv[1]), np.random.default_rng(7), 1500
sex, race = draw.choice(['f', 'm'], n), draw.choice(list('ABC'), n)
chance = np.where(race == 'C', 0.18, 0.36)
hired = pd.DataFrame({'sex': sex, 'race': race, 'hired': draw.random(n) < chance})
hired.astype({'hired': int}).to_csv(work / 'candidates.csv', index=False)
label = draw.integers(0, 2, n)
score = np.clip(draw.normal(0.3 + 0.3 * label + 0.1 * (sex == 'm'), 0.2), 0, 1)
rows = pd.DataFrame({'text': [f'comment {k}' for k in range(n)], 'toxic': label})
rows = rows.assign(id=range(n), gender=sex, age=draw.integers(12, 80, n))
rows.to_csv(work / 'comments.csv', index=False)
pd.DataFrame({'id': range(n), 'score': score}).to_csv(work / 'predictions.csv', index=False)
(work / 'tests').mkdir(), (work / 'corpus').mkdir()
planted.write_tests(work / 'tests')
lines = planted.corpus(0.9, 3000, 0)
(work / 'corpus' / 'text.txt').write_text('\n'.join(lines) + '\n')
EOF

page quickstart_audit 'An audit of a deliberately biased classifier' \
  --config=configs/quickstart_audit.py
page predictions 'An audit of a file of predictions, by gender and bands of age' \
  audit "$work/predictions.csv" "$work/comments.csv" --label=toxic \
  --groups=gender,age:18/30/60
page hiring 'Impact ratios of decisions on applicants' \
  audit "$work/candidates.csv" --groups=sex,race --hiring --scores=hired
page quickstart_diet 'A healthy diet against an unhealthy one and all rows' \
  --config=configs/quickstart_diet.py
page diet_planted 'A grid of diets: rankings, shares of rows and of twins' \
  --config=configs/diet_planted.py --config.seeds=2 --config.planted.rows=1500
page planted_methods 'Every data-side method against none' \
  --config=configs/planted_methods.py
page weighting_planted 'Instance weights against a planted shortcut' \
  --config=configs/weighting_planted.py --config.seeds=3
page logit_pairing_planted 'Counterfactual logit pairing: equal logits for twins' \
  --config=configs/logit_pairing_planted.py --config.seeds=3 --config.train.epochs=8
page pruning_planted 'Half of the rows, chosen by score or with quotas' \
  --config=configs/pruning_planted.py
page mbcda_planted 'MBCDA: a generator against a discriminator' \
  --config=configs/mbcda_planted.py
page language_model 'A small masked language model, pretrained on a corpus' \
  --config=configs/pretrain_mlm_mini.py --config.model=tiny \
  --config.data.path="$work/corpus" --config.pretrain.length=64 \
  --config.pretrain.document=line --config.pretrain.held_out=0.02 \
  --config.tokens.vocab_size=300 --config.train.lr=2e-3 \
  --config.pretrain.steps=400 --config.train.batch=32
[ ! -d "$work/language_model" ] ||
  page benchmarks 'Seven bias benchmarks of this model, on planted occupations' \
    benchmarks "$work/language_model/export/seed_0" "$work/tests"
page perturbed_corpus 'A corpus with one person of each text changed' \
  --config=configs/perturb_corpus.py --config.corpus.path="$work/corpus"
