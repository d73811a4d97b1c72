#!/bin/sh
# Installs the libraries into a folder, builds the example as a stranger would, and runs it.
#
#   embed_test.sh BUILD_FOLDER SOURCE_FOLDER
set -eu
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

cmake --install "$build" --prefix "$work/prefix" --component development >/dev/null
launcher=
command -v ccache >/dev/null && launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache
cp -r "$source/apps/examples/embed" "$work/embed" # nothing of the tree is beside it
cmake -S "$work/embed" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" $launcher
cmake --build "$work/build"
"$work/build/embed"
