#!/bin/sh
# How well `perigee replay` predicts this machine: starts a small cluster for real (one prefill
# and one decode engine, a thread each), takes from its journal what batches cost while it
# serves one trace, has it serve another over HTTP, replays that one in virtual time with
# these costs, and prints how far the replay is off in TTFT and TBT. Several times, each
# with another trace.
#
#   tools/fidelity.sh [--runs 5] [--requests 40] [--load 50] [--divide 32] [--keep DIR]
#
# --load: how busy the prefill engine is to be, in per cent, if nothing is found cached.
# --keep: where topologies, traces and reports are left; else they are removed.
# Wants the model of tools/fetch_model.sh and a machine on which little else runs.
set -eu
cd "$(dirname "$0")/.."

stop() {
  echo "fidelity: $*" >&2
  exit 1
}
say() {
  printf '==> %s\n' "$*" >&2
}

runs=5 requests=40 load=50 divide=32 keep=
while [ $# -gt 0 ]; do
  case $1 in
  --runs | --requests | --load | --divide | --keep)
    [ $# -gt 1 ] || stop "$1 wants a value"
    eval "${1#--}=\$2"
    shift 2
    ;;
  *) stop "no option is called '$1'; there are: --runs, --requests, --load, --divide, --keep" ;;
  esac
done
[ "$load" -le 60 ] || stop "--load is $load: expected at most 60, or queues decide all"

perigee=${PERIGEE:-build/release/apps/perigee/perigee}
model=$PWD/models/SmolLM2-135M-Instruct.Q4_1.gguf
port=${PORT:-8123}
url=http://127.0.0.1:$port
[ -x "$perigee" ] || stop "there is no $perigee: build it, or set PERIGEE"
[ -f "$model" ] || stop "there is no $model: tools/fetch_model.sh fetches it"
if curl --silent --max-time 2 --output /dev/null "$url/live"; then
  stop "something listens at $url already; set PORT to another one"
fi

in=${keep:-$(mktemp -d)}
mkdir -p "$in"
served=
tidy_up() {
  [ -z "$served" ] || kill "$served" 2>/dev/null || true
  wait
  [ -n "$keep" ] || rm -rf "$in"
}
trap tidy_up EXIT
trap 'exit 1' INT TERM

# One cluster twice: with engines that compute, and with ones that take as long.
topology() { # engine, further words of an engine's table
  cat <<END
[cluster]
name = "fidelity"
listen = "127.0.0.1:$port"
control = "n0"

[model]
path = "$model"
block_tokens = $((512 / divide))

[slo]
ttft_ms = 600000
tbt_ms = 60000

[[node]]
name = "n0"
cache_shard = { dram = "1GiB" }
prefill_group = [ { engine = "$1", threads = 1$2 } ]
decode_instance = [ { engine = "$1", threads = 1, batch_max = 16$2 } ]
END
}

topology cpu "" >"$in/real.toml"

serve() { # further arguments
  "$perigee" --log-level warning serve "$in/real.toml" "$@" 2>"$in/serve.log" &
  served=$!
  waited=0
  until curl --silent --fail --max-time 2 --output /dev/null "$url/ready"; do
    waited=$((waited + 1))
    [ $waited -lt 120 ] || { cat "$in/serve.log" >&2; stop "the cluster is not ready"; }
    sleep 0.5
  done
}
serve_no_more() {
  kill "$served"
  wait "$served" || true
  served=
}
like_conversation() { # requests, seed, file
  "$perigee" workload generate --like conversation --requests "$1" --seed "$2" >"$3"
}
bench() { # trace, further arguments
  trace=$1
  shift
  "$perigee" bench serve "$trace" --url "$url" --divide-lengths "$divide" "$@"
}

say "Measuring what batches cost: one at a time, for a start"
"$perigee" calibrate "$in/real.toml" --quick --out "$in/first.toml" 2>"$in/costs.log" ||
  { cat "$in/costs.log" >&2; stop "calibration failed"; }
like_conversation $((2 * requests)) 1000 "$in/measured.jsonl"
speed=$(python3 tools/fidelity.py speed "$in/measured.jsonl" "$in/first.toml" "$divide" "$load")
say "and in a cluster at work: $((2 * requests)) requests at $speed of their speed"
serve --journal "$in/journal"
bench "$in/measured.jsonl" --speed "$speed" --seed 1000 >"$in/measured.txt"
serve_no_more
"$perigee" trace "$in/journal" export --batches -o "$in/batches.csv"
fit() { # further arguments
  "$perigee" calibrate --from "$in/batches.csv" "$@" 2>"$in/residuals.txt" ||
    { cat "$in/residuals.txt" >&2; stop "calibration failed"; }
}
fit --hardware here --out "$in/costs.toml"
tail -n 3 "$in/residuals.txt" | head -n 2 >&2
fit >>"$in/real.toml"
{
  topology modelled ', hardware = "here"'
  cat "$in/costs.toml"
} >"$in/modelled.toml"
"$perigee" check "$in/real.toml" >/dev/null
"$perigee" check "$in/modelled.toml" >/dev/null

say "Starting the cluster at $url"
serve

run=1
while [ $run -le "$runs" ]; do
  trace=$in/trace$run.jsonl
  like_conversation "$requests" $run "$trace"
  speed=$(python3 tools/fidelity.py speed "$trace" "$in/costs.toml" "$divide" "$load")
  say "Run $run of $runs: $requests requests, the trace at $speed of its speed"
  bench "$trace" --speed "$speed" --seed $run --json "$in/real$run.json" --csv "$in/real$run.csv" >"$in/real$run.txt"
  "$perigee" --log-level warning replay "$in/modelled.toml" "$trace" \
    --divide-lengths "$divide" --speed "$speed" --json "$in/replayed$run.json" \
    --csv "$in/replayed$run.csv" >"$in/replayed$run.txt"
  run=$((run + 1))
done

python3 tools/fidelity.py table "$in" "$runs"
