#!/usr/bin/env bash
# Five questions to one GPU, in this order, each in races of at most 150 s
# (torch.compile gets 300):
#   1 train   a step of BERT-base against torch packed and compiled: train64
#             buffers64 train5x64 (five stacked seeds) train256
#   2 norms   exact gradient norms against ghost clipping and our step: norms64
#   3 diet    the diet's table at base size, ours alone; it goes on where it was
#   4 write   BART-base against torch with a static cache and compiled: write
#   5 kernels each kernel of ours alone, beside none: plain attention norm
# What a race prints lies in OUT/NAME.txt, its last line, one JSON object, in
# OUT/NAME.json; a race whose json is there is not run again unless it is named.
# One that fails or runs out of time does not stop the next. A summary comes
# last, also OUT/summary.txt. The tests that need a GPU: pytest --device
# tests/test_device.py. See fairjax/bench/README.md.
#
#   launch/races_gpu.sh TWEETS.csv VOCAB_FOLDER OUT [NAME …]
set -uo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,16s/^# \{0,1\}//p' "$0"
  exit 2
fi
tweets=$1 vocab=$2 out=$3
shift 3
device=${DEVICE:-gpu} # DEVICE=cpu SIZE=tiny rehearses every command
size=${SIZE:-base}
python=${PYTHON:-python3}
if [ "$device" = cpu ]; then export JAX_PLATFORMS=cpu; fi
mkdir -p "$out"
export TORCHINDUCTOR_CACHE_DIR=$out/inductor # of a run that goes on
wanted=" $* "
summary=()

run() { # run NAME SECONDS arguments of python: 0 where it ended well
  local name=$1 limit=${LIMIT:-$2} code why
  shift 2
  if [ "$wanted" = "  " ] && [ -s "$out/$name.json" ]; then return 2; fi
  if [ "$wanted" != "  " ] && [[ $wanted != *" $name "* ]]; then return 1; fi
  echo "== $name: python $*"
  timeout "$limit" "$python" "$@" 2>"$out/$name.err" |
    tee "$out/$name.txt" | grep -v '^{'
  code=${PIPESTATUS[0]}
  if [ "$code" = 0 ]; then return 0; fi
  why="ended with $code: $(tail -n 1 "$out/$name.err")"
  if [ "$code" = 124 ]; then why="ran out of its $limit seconds"; fi
  summary+=("$(printf '%-12s %s' "$name" "$why")")
  echo "${summary[-1]}"
  return 1
}

race() { # race NAME SECONDS arguments of fairjax.bench
  local name=$1 limit=$2
  shift 2
  run "$name" "$limit" -m fairjax.bench "$@"
  case $? in
    0) tail -n 1 "$out/$name.txt" >"$out/$name.json" ;;
    1) return ;;
  esac
  summary+=("$("$python" - "$name" "$out/$name.json" <<'END'
import json, sys
one = json.load(open(sys.argv[2]))
show = lambda value: '-' if value is None else f'{value:.4g}'
peer = f'{show(one["peer"])} ({one.get("peer_name") or "no peer"})'
print(f'{sys.argv[1]:12} ours {show(one["ours"]):>9}, best peer {peer}, '
      f'ratio {show(one["ratio"])}, {one["unit"]}')
END
  )")
}

train=(train "--data=$tweets" --text=tweet --label=Class "--vocab=$vocab")
train+=("--size=$size" "--device=$device" "--steps=${STEPS:-48}" --rounds=3)
plain=(--peers= --kernels=off)
race train64 300 "${train[@]}" --peers=packed-compile
XLA_FLAGS=--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL \
  race buffers64 150 "${train[@]}" --peers=
race train5x64 150 "${train[@]}" --peers= --seeds=5
race train256 150 "${train[@]}" --peers= --batch=256
race norms64 150 grand "--size=$size" "--batch=${BATCH:-64}" --cores=16 \
  "--device=$device" --rounds=3 --peers=ghost-bf16,opacus-ghost-bf16
if run diet 150 -m fairjax.main "--config=${DIET:-configs/claims/diet_base.py}" \
  "--workdir=$out/diet"; then
  summary+=("diet         $(grep -o '"seconds": [0-9.]*' "$out/diet/versions.json")")
fi
race write 150 generate "--size=$size" "--device=$device" --compile --rounds=3
race plain 150 "${train[@]}" "${plain[@]}"
race attention 150 "${train[@]}" --peers= --kernels=attention
race norm 150 "${train[@]}" --peers= --kernels=norm

echo "== summary"
printf '%s\n' "${summary[@]}" | tee "$out/summary.txt"
