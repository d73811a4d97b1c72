#!/bin/sh
# Measures our CPU engine beside llama.cpp: the same file, threads and machine, in one run,
# taking turns. Builds llama.cpp (from PyPI's llama-cpp-python, some minutes) the first time.
#
#   tools/compare_llama.sh [MODEL.gguf] [--threads N] [--rounds N]
#
# Without a model: the default one. Needs a release build: tools/quickstart.sh --once.
set -eu
cd "$(dirname "$0")/.."

stop() {
  echo "compare_llama: $*" >&2
  exit 1
}

perigee=build/release/apps/perigee/perigee
[ -x "$perigee" ] || stop "there is no $perigee: run tools/quickstart.sh --once first"
version=0.3.36
venv=build/venv-llama
if ! "$venv/bin/python" -m pip freeze 2>/dev/null | grep -qx "llama_cpp_python==$version"; then
  echo "Building llama.cpp into $venv"
  python3 -m venv --clear "$venv" || stop "python3 -m venv failed"
  # For this machine's processor, with all that it has.
  CMAKE_ARGS="-DGGML_NATIVE=ON" "$venv/bin/python" -m pip install --quiet \
    --disable-pip-version-check --no-binary llama-cpp-python "llama-cpp-python==$version" ||
    stop "pip could not build llama.cpp; is the network there?"
fi
exec "$venv/bin/python" tools/compare_llama.py --perigee "$perigee" "$@"
