#!/usr/bin/env bash
# The papers' claims at base size on one GPU, each part with its time limit.
# A part that is cut leaves what is done: the same command goes on, also on
# another machine that is given the folder WORK (scores and probabilities are
# what a run goes on from; weights are removed as soon as they were asked).
# The names, with seconds on an H100 after compiling: see configs/RESULTS.md.
#   diet     ten contenders, five seeds of MPNet-base, at a rate that teaches
#   grid     nine cells (a, b) of the healthy diet, CDA, CDS, none
#   authors  the authors' rate and epochs, of five contenders
#
#   launch/claims_gpu.sh TABLES MODEL WORK [NAME …]
#
# TABLES is what configs/claims/tables.py writes, MODEL what mpnet.sh makes.
set -uo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,14s/^# \{0,1\}//p' "$0"
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

part() { # part NAME SECONDS arguments
  local name=$1 limit=$2 began=$SECONDS
  shift 2
  if [ "$wanted" != "  " ] && [[ $wanted != *" $name "* ]]; then return; fi
  echo "== $name"
  timeout -k 5 "$limit" "$python" -m fairjax.main \
    --config=configs/claims/diet_base.py \
    "--config.data.path=$tables/train_original.csv" \
    "--config.data.twin_path=$tables/train_gender_swap.csv" \
    "--config.data.valid_path=$tables/valid_original.csv" \
    "--config.data.test_path=$tables/test_original_even.csv" \
    "--config.model=$model" "--workdir=$work/$name" "$@" \
    >"$work/$name.log" 2>&1
  echo "$name: ended with $? after $((SECONDS - began)) s"
  tail -n 3 "$work/$name.log"
}

# shellcheck disable=SC2086
{
  part diet "${LIMIT:-420}" ${ARGS:-}
  part grid "${LIMIT:-300}" --config.recipe=rank --config.grid.augment= \
    --config.grid.rankings=healthy_random --config.grid.factual=0.3,0.4,0.5 \
    --config.grid.counterfactual=0.1,0.3,0.5 "--config.reuse=$work/diet" \
    ${ARGS:-}
  part authors "${LIMIT:-480}" --config.train.lr=1e-6 --config.train.epochs=15 \
    --config.train.warmup=0 --config.scoring.epochs=1 \
    --config.diet.compare=cda,none,unhealthy_random,random ${ARGS:-}
}
