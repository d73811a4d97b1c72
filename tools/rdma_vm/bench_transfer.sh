#!/bin/bash
# What `perigee bench transfer` measures of rdma, in the emulated machine: between rxe0 and
# rxe1, beside perftest's ib_write_bw and ib_read_bw over the same two.
#
#   bench_transfer.sh PERIGEE [OPTIONS of perigee bench transfer]
#
# 20 lines, five times each, take about ten minutes; --runs 1 a fifth of that.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: bench_transfer.sh PERIGEE [OPTIONS]" >&2; exit 125; }
PERIGEE=$1
shift
exec "$(dirname "$(realpath "$0")")/run_in_vm.sh" -t 3600 -m 2G \
  -w ib_write_bw -w ib_read_bw \
  "$PERIGEE" bench transfer --transport rdma --from-device rxe0 --to-device rxe1 "$@"
