#!/usr/bin/env bash
# The papers' claims at base size on one GPU, each part with its time limit.
# A part that is cut leaves what is done: the same command goes on, also on
# another machine that is given the folder WORK (scores and probabilities are
# what a run goes on from; weights are removed as soon as they were asked).
# Names, with the seconds of an H100 after compiling: measured (=), or counted
# from 5 ms a step of 64 tweets and a seed (~). More than 600 takes two calls.
#   diet        ten contenders, five seeds of MPNet-base, at a rate that teaches
#               (=427)
#   grid        nine cells (a, b) of the healthy diet, CDA, CDS, none (=238)
#   authors     the same contenders by the authors' schedule: 15 epochs at 1e-6
#               (~800)
#   weighting   tweets weighted by the paper's forest, ten seeds (~200)
#   forest      the same with the paper's LSTM, in all six rows (~300)
#   perturber   MPNet as tagger of persons (~150)
#   fairtune    CoLA, RTE, MRPC, STS-B and SST-2, five seeds (~700)
#   bart        a BART of 8 layers of 512 from TABLES/text (~500)
#   electra     an ELECTRA, the same (~500)
#   fairflow    FairFlow's six stages with these two, and MiniLM's masked LM in
#               TABLES/minilm_mlm (~400)
#   mbcda       MBCDA on biographies with these two (~600; or on a CPU, later)
#
#   launch/claims_gpu.sh TABLES MODEL WORK [NAME …]
#
# TABLES is what configs/claims/tables.py writes, with text/ and geco/ and
# bias_eval/ of configs/RESULTS.md beside; MODEL is what mpnet.sh makes. ARGS
# are more flags of every part, LIMIT its seconds.
set -uo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,27s/^# \{0,1\}//p' "$0"
  exit 2
fi
tables=$1 model=$2 work=$3
shift 3
wanted=" $* "
python=${PYTHON:-python3}
# Products by XLA's library: its own trials cost minutes a shape.
export XLA_FLAGS="${XLA_FLAGS:-} --xla_gpu_autotune_level=0"
export XLA_FLAGS="$XLA_FLAGS --xla_gpu_enable_triton_gemm=false"
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-$work/compiled}
mkdir -p "$work"

# Five seeds of a base encoder are 2.2 GB; nobody reads them again.
(while sleep 5; do
  find "$work" -path '*/training/*' -name weights.safetensors -mmin +0.4 -delete
done) &
cleaner=$!
trap 'kill $cleaner' EXIT

part() { # part NAME SECONDS CONFIG arguments
  local name=$1 limit=$2 config=$3 began=$SECONDS ended
  shift 3
  if [ "$wanted" != "  " ] && [[ $wanted != *" $name "* ]]; then return; fi
  echo "== $name"
  # shellcheck disable=SC2086
  timeout -k 5 "${LIMIT:-$limit}" "$python" -m fairjax.main \
    "--config=configs/$config.py" "--workdir=$work/$name" "$@" ${ARGS:-} \
    >"$work/$name.log" 2>&1
  ended=$?
  echo "$name: ended with $ended after $((SECONDS - began)) s"
  tail -n 3 "$work/$name.log"
  [ $ended -eq 0 ] || failed=1
}

failed=0
tweets=(
  "--config.data.path=$tables/train_original.csv"
  "--config.data.valid_path=$tables/valid_original.csv"
  "--config.data.test_path=$tables/test_original_even.csv"
)
twins=("--config.data.twin_path=$tables/train_gender_swap.csv")
encoder=("--config.model=$model")
text=("--config.data.path=$tables/text" --config.net.precision=bfloat16)
text+=(--config.model=medium --config.pretrain.length=128)
text+=(--config.train.epochs=25 --config.train.batch=256)
text+=(--config.tokens.vocab_size=16384)

part diet 420 claims/diet_base "${tweets[@]}" "${twins[@]}" "${encoder[@]}"
part grid 300 claims/diet_base "${tweets[@]}" "${twins[@]}" "${encoder[@]}" \
  --config.recipe=rank --config.grid.augment= \
  --config.grid.rankings=healthy_random --config.grid.factual=0.3,0.4,0.5 \
  --config.grid.counterfactual=0.1,0.3,0.5 "--config.reuse=$work/diet"
part authors 570 claims/diet_base "${tweets[@]}" "${twins[@]}" "${encoder[@]}" \
  --config.train.lr=1e-6 --config.train.epochs=15 --config.train.warmup=0
part weighting 400 claims/weighting_base "${tweets[@]}" "${encoder[@]}"
part forest 570 claims/weighting_forest "${tweets[@]}" \
  "--config.net.glove=$tables/glove.6B.50d.5k.txt"
part perturber 400 claims/perturber_base "${encoder[@]}" \
  "--config.perturb.data=$tables"
part fairtune 570 claims/fairtune_base "${encoder[@]}" \
  "--config.data.path=$tables/GLUE_whole"
part bart 570 pretrain_bart_mini "${text[@]}"
part electra 570 pretrain_electra_mini "${text[@]}"
part fairflow 570 claims/fairflow "--config.model=$tables/minilm_mlm" \
  "--config.corpus.path=$tables/text" \
  "--config.fairflow.known=$tables/known_pairs.csv" \
  "--config.data.path=$tables/wiki_bios.csv" \
  "--config.rewriters.gold=$tables/geco" \
  "--config.rewriters.generator=$work/bart/export/seed_0" \
  "--config.repair.filler=$work/bart/export/seed_0" \
  "--config.repair.detector=$work/electra/export/seed_0"
part mbcda 570 claims/mbcda_bios "--config.data.path=$tables/wiki_bios.csv" \
  "--config.rewriters.gold=$tables/geco" \
  "--config.rewriters.generator=$work/bart/export/seed_0" \
  "--config.repair.filler=$work/bart/export/seed_0" \
  "--config.repair.detector=$work/electra/export/seed_0"
exit $failed
