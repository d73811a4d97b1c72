#!/bin/sh
# Installs what Perigee is built and tested with, on Debian 12. Cheap to run again: what is
# there is left alone, and without anything to install nobody needs to be root.
#
#   tools/setup.sh         to build, run and test
#   tools/setup.sh --dev   also what developers use: formatting, linting, fuzzing
set -eu

stop() {
  echo "setup: $*" >&2
  exit 1
}

packages="g++ cmake ninja-build ccache curl python3 python3-pip python3-venv
  libcaf-dev capnproto libcapnp-dev catch2 libspdlog-dev libexpected-dev
  libboost1.81-dev libboost-json1.81-dev libtomlplusplus-dev libcli11-dev
  prometheus-cpp-dev libpcre2-dev libssl-dev libxxhash-dev libbenchmark-dev
  libjs-d3 chromium
  libibverbs-dev libhwloc-dev ibverbs-providers perftest
  qemu-system-x86 busybox-static kmod cpio iproute2 xz-utils"
# D3 draws the plots of reports, and Chromium opens them in a test. The last line is the
# emulated machine in which RDMA is tested (tools/rdma_vm/).
case ${1:-} in
'') ;;
--dev) packages="$packages clang libclang-rt-14-dev clang-format clang-tidy
  iperf3" ;; # what bench transfer sets tcp beside
*) stop "no option is called '$1'; there is: --dev" ;;
esac

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  stop "this is no Debian; install what corresponds to: $(echo $packages)"

missing=
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "All packages that Perigee needs are installed."
  exit 0
fi

root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    stop "these packages are missing:$missing. Install them, or run this as root."
  root=sudo
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# Only what is said on failure is of interest.
quietly() {
  log=$(mktemp)
  if ! $root "$@" >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    stop "'$*' failed (see above); is the network there?"
  fi
  rm -f "$log"
}
quietly apt-get update
# shellcheck disable=SC2086 # one argument a package
quietly apt-get install -y --no-install-recommends $missing
