#!/usr/bin/env bash
# All races on one GPU, one after the other, each with its time limit.
# What a race prints lies in OUT/NAME.txt, and its last line, one JSON object,
# in OUT/races.jsonl; a race that fails or runs out of time does not stop the
# next. See fairjax/bench/README.md.
#
#   launch/races_gpu.sh TWEETS.csv VOCAB_FOLDER OUT [NAME …]
set -uo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0"
  exit 2
fi
tweets=$1 vocab=$2 out=$3
shift 3
device=${DEVICE:-gpu} # DEVICE=cpu SIZE=tiny rehearses every command
size=${SIZE:-base}
python=${PYTHON:-python3}
if [ "$device" = cpu ]; then export JAX_PLATFORMS=cpu; fi
case $size in base) model=bert-base-cased ;; *) model=$size ;; esac
mkdir -p "$out"
wanted=" $* "

race() { # race NAME SECONDS arguments of fairjax.bench
  local name=$1 limit=$2
  shift 2
  if [ "$wanted" != "  " ] && [[ $wanted != *" $name "* ]]; then return; fi
  echo "== $name: python -m fairjax.bench $*"
  timeout "$limit" "$python" -m fairjax.bench "$@" 2>"$out/$name.err" |
    tee "$out/$name.txt" | grep -v '^{'
  if [ "${PIPESTATUS[0]}" = 0 ]; then
    tail -n 1 "$out/$name.txt" >>"$out/races.jsonl"
  else
    echo "$name did not end well:"
    tail -n 3 "$out/$name.err"
  fi
}

train=(train "--data=$tweets" --text=tweet --label=Class "--vocab=$vocab")
train+=("--size=$size" "--device=$device" "--steps=${STEPS:-48}")
race train "${LIMIT:-240}" "${train[@]}" --peers=group,compile --rounds=5
race train5 "${LIMIT:-180}" "${train[@]}" --peers= --seeds=5 --rounds=3
race train256 "${LIMIT:-180}" "${train[@]}" --peers=group --batch=256 --rounds=3
for batch in ${BATCHES:-16 64 256}; do
  # functorch keeps every example's gradient: 0.43 GB each of BERT-base.
  if [ "$batch" -gt 64 ]; then peers=loop; else peers=functorch,loop; fi
  race "grand$batch" "${LIMIT:-150}" grand "--size=$size" "--batch=$batch" \
    "--device=$device" --cores=16 --rounds=3 "--peers=$peers"
done
race scores "${LIMIT:-240}" scores "--model=$model" "--rows=${ROWS:-13525}" \
  --epochs=2 --rounds=2
# The whole table of scores, as a user gets it: training, scores, cold and
# cached. Forgetting looks at what changes between epochs, so there are two.
table=(--config=configs/rank_twitter.py "--config.data.path=${tweets%/*}")
table+=(--config.grid.cells=none "--config.tokens.tokenizer=$vocab")
table+=("--config.model=$model" --config.net.init=random)
table+=(--config.train.epochs=2.0 "--config.data.limit=${ROWS:-0}")
race table "${LIMIT:-400}" compiling "${table[@]}"
race precision "${LIMIT:-180}" precision "--rows=${ROWS:-2000}"
race compiling "${LIMIT:-240}" compiling
race resamples "${LIMIT:-180}" groups --what=resamples \
  "--rows=${ROWS:-10000000}" --rounds=1
race generate "${LIMIT:-240}" generate "--size=$size" "--device=$device" \
  --compile --rounds=3
