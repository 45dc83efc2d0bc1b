#!/usr/bin/env bash
# All races on one GPU, one after the other, each with its time limit.
# The tests that need it come first. What a race prints lies in OUT/NAME.txt,
# its last line, one JSON object, in OUT/races.jsonl; one that fails or runs out
# of time does not stop the next. A summary comes last, also OUT/summary.txt.
# The names: device train kernels library unfused compiled train5 train256
# grand16 grand64 grand256 resamples generate.
# See fairjax/bench/README.md. `kernels` is `train` with kernels of ours. On an
# H200 a shape took 84 to 99 s, so `library` and `unfused` train without parts
# of XLA's trials: they show what a trial costs and what it gains.
#
#   launch/races_gpu.sh TWEETS.csv VOCAB_FOLDER OUT [NAME …]
set -uo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0"
  exit 2
fi
tweets=$1 vocab=$2 out=$3
shift 3
device=${DEVICE:-gpu} # DEVICE=cpu SIZE=tiny rehearses every command
size=${SIZE:-base}
python=${PYTHON:-python3}
if [ "$device" = cpu ]; then export JAX_PLATFORMS=cpu; fi
mkdir -p "$out"
wanted=" $* "

run() { # run NAME SECONDS arguments of python: 0 where it ended well
  local name=$1 limit=$2
  shift 2
  if [ "$wanted" != "  " ] && [[ $wanted != *" $name "* ]]; then return 1; fi
  echo "== $name: python $*"
  timeout "$limit" "$python" "$@" 2>"$out/$name.err" |
    tee "$out/$name.txt" | grep -v '^{'
  local code=${PIPESTATUS[0]}
  if [ "$code" = 0 ]; then return 0; fi
  local why
  why="ended with $code: $(tail -n 1 "$out/$name.err")"
  if [ "$code" = 124 ]; then why="ran out of its $limit seconds"; fi
  summary+=("$(printf '%-12s %s' "$name" "$why")")
  echo "${summary[-1]}"
  return 1
}

race() { # race NAME SECONDS arguments of fairjax.bench
  local name=$1 limit=$2
  shift 2
  local began=$SECONDS
  run "$name" "$limit" -m fairjax.bench "$@" || return
  local took=$((SECONDS - began))
  tail -n 1 "$out/$name.txt" | tee -a "$out/races.jsonl" >"$out/$name.json"
  summary+=("$("$python" - "$name" "$out/$name.json" "$took" <<'END'
import json, sys
one = json.load(open(sys.argv[2]))
show = lambda value: '-' if value is None else f'{value:.4g}'
peer = f'{show(one["peer"])} ({one.get("peer_name") or "no peer"})'
print(f'{sys.argv[1]:12} ours {show(one["ours"]):>9}, best peer {peer}, '
      f'ratio {show(one["ratio"])}, {one["unit"]}; {sys.argv[3]} s in all')
END
  )")
}

summary=()
# The kernels against the plain code, and a run against the same on the CPU.
if run device "${LIMIT:-400}" -m pytest --device tests/test_device.py; then
  summary+=("$(printf '%-12s %s' device "$(tail -n 1 "$out/device.txt")")")
fi

train=(train "--data=$tweets" --text=tweet --label=Class "--vocab=$vocab")
train+=("--size=$size" "--device=$device" "--steps=${STEPS:-48}")
race train "${LIMIT:-240}" "${train[@]}" --peers=group --rounds=5
race kernels "${LIMIT:-240}" "${train[@]}" --kernels=on --peers= --rounds=5
XLA_FLAGS='--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false' \
  race library "${LIMIT:-240}" "${train[@]}" --peers= --rounds=3
XLA_FLAGS=--xla_gpu_experimental_enable_fusion_autotuner=false \
  race unfused "${LIMIT:-240}" "${train[@]}" --peers= --rounds=3
race compiled "${LIMIT:-400}" "${train[@]}" --peers=compile --rounds=3
race train5 "${LIMIT:-180}" "${train[@]}" --peers= --seeds=5 --rounds=3
race train256 "${LIMIT:-180}" "${train[@]}" --peers=group --batch=256 --rounds=3
for batch in ${BATCHES:-16 64 256}; do
  # functorch keeps every example's gradient: 0.43 GB each of BERT-base.
  if [ "$batch" -gt 64 ]; then peers=loop; else peers=functorch,loop; fi
  race "grand$batch" "${LIMIT:-150}" grand "--size=$size" "--batch=$batch" \
    "--device=$device" --cores=16 --rounds=3 "--peers=$peers"
done
race resamples "${LIMIT:-180}" groups --what=resamples \
  "--rows=${ROWS:-10000000}" --rounds=1
race generate "${LIMIT:-240}" generate "--size=$size" "--device=$device" \
  --compile --rounds=3

echo "== summary"
printf '%s\n' "${summary[@]}" | tee "$out/summary.txt"
