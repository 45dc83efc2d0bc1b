#!/usr/bin/env bash
# fairjax on all workers of one TPU VM slice, from your own machine:
#
#   export TPU=my-slice ZONE=us-east5-a        # and gcloud, logged in
#   launch/tpu_vm.sh setup                     # copies this commit, installs
#   launch/tpu_vm.sh run --config=configs/train_twitter.py \
#     --workdir=/mnt/shared/runs/twitter
#   launch/tpu_vm.sh stop                      # SIGTERM: save and end with 75
#
# What is not committed stays here. The images' own Python is too old, so setup
# brings another with uv. PORT (8476) is that of the coordinator: one that the
# slice's firewall leaves open and nobody else has.
# Every worker runs the same command and learns the coordinator, the number of
# workers and its own number from the slice's metadata server. With more than
# one worker --workdir must be a folder that all of them see (a mounted bucket
# or file store). The same command again resumes a run.
# New generations of TPU are served by GKE or instance groups rather than by
# `gcloud compute tpus tpu-vm`: see k8s_jobset.yaml.
#
# Not run on a TPU: checked with shellcheck, and its commands by a test with
# stand-ins for gcloud and the metadata server.
set -euo pipefail

usage() {
  echo "usage: TPU=name ZONE=zone [PORT=8476] $0 setup|stop|run [flags of fairjax.main]" >&2
  exit 2
}

[[ -n ${TPU:-} && -n ${ZONE:-} && $# -ge 1 ]] || usage
action=$1
port=${PORT:-8476}
[[ $port =~ ^[0-9]+$ ]] || usage
shift
where=(--zone="$ZONE" --worker=all)
[[ -n ${PROJECT:-} ]] && where+=(--project="$PROJECT")

on_all_workers() {
  gcloud compute tpus tpu-vm ssh "$TPU" "${where[@]}" --command="$1"
}

case $action in
  setup)
    root=$(cd "$(dirname "$0")/.." && pwd)
    archive=$(mktemp)
    trap 'rm -f "$archive"' EXIT
    git -C "$root" archive --format=tar.gz --output="$archive" HEAD
    gcloud compute tpus tpu-vm scp "$archive" "$TPU:fairjax.tar.gz" "${where[@]}"
    on_all_workers 'mkdir -p fairjax && tar -xzf fairjax.tar.gz -C fairjax &&
      python3 -m pip install --quiet --user uv &&
      python3 -m uv venv --quiet --clear --python 3.12 fairjax/.venv &&
      python3 -m uv pip install --quiet --python fairjax/.venv/bin/python \
        "./fairjax[tpu]"'
    ;;
  run)
    [[ $# -ge 1 ]] || usage
    flags=$(printf ' %q' "$@")
    # Endpoints are addresses with commas between, or name:number:address.
    # shellcheck disable=SC2016  # these expand on the worker
    on_all_workers 'set -euo pipefail
      ask() {
        curl --silent --fail --header "Metadata-Flavor: Google" \
          "http://metadata.google.internal/computeMetadata/v1/instance/attributes/$1"
      }
      endpoints=$(ask worker-network-endpoints)
      number=$(ask agent-worker-number)
      IFS=, read -r -a workers <<< "$endpoints"
      cd fairjax && echo $$ > run.pid && exec .venv/bin/python -m fairjax.main'"$flags"' \
        --coordinator_address="${workers[0]##*:}:'"$port"'" \
        --num_processes="${#workers[@]}" --process_id="$number"'
    ;;
  stop)
    # The last run of this script, if its number is still that of fairjax.
    # shellcheck disable=SC2016  # these expand on the worker
    on_all_workers 'pid=$(cat fairjax/run.pid 2>/dev/null) &&
      grep -q fairjax.main "/proc/$pid/cmdline" && kill -TERM "$pid" || true'
    ;;
  *) usage ;;
esac
