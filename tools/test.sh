#!/bin/sh
# Installs what is needed, builds everything, and runs all tests. Cheap to run again.
#
#   tools/test.sh                the default model is fetched; what needs the second is
#                                skipped, and said to be
#   tools/test.sh --with-gemma   fetches the second model, too (253 MB, Gemma terms of use)
set -eu
cd "$(dirname "$0")/.."

say() {
  printf '\n==> %s\n' "$*"
}
stop() {
  echo "test: $*" >&2
  exit 1
}

gemma=
case ${1:-} in
'') ;;
--with-gemma) gemma=yes ;;
*) stop "no option is called '$1'; there is: --with-gemma" ;;
esac

say "Installing what is needed"
tools/setup.sh

say "Fetching models"
tools/fetch_model.sh
[ -z "$gemma" ] || tools/fetch_model.sh gemma3

say "Installing the openai client into build/venv"
openai=openai==3.57.0
if build/venv/bin/python -m pip freeze 2>/dev/null | grep -qx "$openai"; then
  echo "It is there."
else
  python3 -m venv --clear build/venv || stop "python3 -m venv failed"
  build/venv/bin/python -m pip install --quiet --disable-pip-version-check \
    "$openai" || stop "pip could not install $openai; is the network there?"
fi

say "Building"
mkdir -p build
cmake --preset release >build/configure.log 2>&1 ||
  { cat build/configure.log >&2; stop "cmake failed"; }
cmake --build --preset release || stop "the build failed"

say "Testing"
ctest --preset release --parallel "$(nproc)" || stop "tests failed (see above)"
say "All tests passed."
