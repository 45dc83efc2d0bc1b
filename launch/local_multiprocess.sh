#!/usr/bin/env bash
# N processes of fairjax on this machine's CPU, joined by gloo:
#
#   launch/local_multiprocess.sh 2 -- --config=configs/quickstart.py
#
# The result is that of one process; this shows that it is, without a cluster.
# Ends with the first exit code that is not 0, after asking the others to stop
# (they save and end with 75) and killing whoever has not ended after GRACE
# seconds. Where one was killed and another says 75 (run again), that is 75.
# PYTHON names the interpreter.
# Run in the tests with 2 and 3 processes.
set -uo pipefail

usage() {
  echo "usage: $0 N -- --config=configs/x.py [flags of fairjax.main]" >&2
  exit 2
}

[[ $# -ge 1 && $1 =~ ^[1-9][0-9]*$ ]] || usage
count=$1
shift
[[ ${1:-} == -- ]] && shift
[[ $# -ge 1 ]] || usage

python=${PYTHON:-python}
grace=${GRACE:-30}
export JAX_PLATFORMS=${JAX_PLATFORMS:-cpu}

port=$("$python" -c '
import socket
with socket.socket() as s:
  s.bind(("localhost", 0))
  print(s.getsockname()[1])
') || exit 2

pids=()
for ((index = 0; index < count; index++)); do
  "$python" -m fairjax.main "$@" \
    --coordinator_address="localhost:$port" \
    --num_processes="$count" --process_id="$index" &
  pids+=($!)
done

watchdog=''
stop() { # asks all to end; kills who does not within the grace
  kill -TERM "${pids[@]}" 2>/dev/null
  [[ -n $watchdog ]] && return
  (
    trap 'kill "$nap" 2>/dev/null; exit' TERM
    sleep "$grace" &
    nap=$!
    wait "$nap"
    kill -KILL "${pids[@]}" 2>/dev/null
  ) >/dev/null 2>&1 &
  watchdog=$!
}
trap stop TERM INT

code=0
running=("${!pids[@]}")
while ((${#running[@]})); do
  left=()
  for index in "${running[@]}"; do
    if kill -0 "${pids[index]}" 2>/dev/null; then
      left+=("$index")
      continue
    fi
    wait "${pids[index]}"
    ended=$?
    if ((ended != 0 && code == 0)); then
      code=$ended
      stop
    elif ((ended == 75 && code > 128)); then
      code=75
    fi
  done
  running=(${left[@]+"${left[@]}"})
  ((${#running[@]})) && sleep 0.1
done
[[ -n $watchdog ]] && kill -TERM "$watchdog" 2>/dev/null
exit "$code"
