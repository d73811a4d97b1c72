#!/bin/sh
# How well `perigee replay` predicts this machine: starts a small cluster for real (one prefill
# and one decode engine, a thread each), measures what batches cost while both are busy, has
# it serve a trace over HTTP, replays the same trace in virtual time with these costs, and
# prints how far the replay is off in TTFT and TBT. Several times, each with another trace.
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
others=
tidy_up() {
  rm -f "$in/busy"
  for one in $others; do
    kill "$one" 2>/dev/null || true
  done
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

say "Measuring what batches cost, while another engine is at work"
touch "$in/busy"
while [ -e "$in/busy" ]; do
  "$perigee" calibrate "$in/real.toml" --out /dev/null >/dev/null 2>&1 || break
done &
"$perigee" calibrate "$in/real.toml" --hardware here --out "$in/costs.toml" 2>"$in/costs.log" ||
  { cat "$in/costs.log" >&2; stop "calibration failed"; }
rm "$in/busy"
wait

sed 's/^\[hardware\..*\]$/[cost_model]/' "$in/costs.toml" >>"$in/real.toml"
{
  topology modelled ', hardware = "here"'
  cat "$in/costs.toml"
} >"$in/modelled.toml"
"$perigee" check "$in/real.toml" >/dev/null
"$perigee" check "$in/modelled.toml" >/dev/null

say "Starting the cluster at $url"
"$perigee" --log-level warning serve "$in/real.toml" 2>"$in/serve.log" &
others=$!
waited=0
until curl --silent --fail --max-time 2 --output /dev/null "$url/ready"; do
  waited=$((waited + 1))
  [ $waited -lt 120 ] || { cat "$in/serve.log" >&2; stop "the cluster is not ready"; }
  sleep 0.5
done

run=1
while [ $run -le "$runs" ]; do
  trace=$in/trace$run.jsonl
  "$perigee" workload generate --like conversation --requests "$requests" --seed $run >"$trace"
  speed=$(python3 tools/fidelity.py speed "$trace" "$in/costs.toml" "$divide" "$load")
  say "Run $run of $runs: $requests requests, the trace at $speed of its speed"
  "$perigee" bench serve "$trace" --url "$url" --divide-lengths "$divide" --speed "$speed" \
    --seed $run --json "$in/real$run.json" --csv "$in/real$run.csv" >"$in/real$run.txt"
  "$perigee" --log-level warning replay "$in/modelled.toml" "$trace" \
    --divide-lengths "$divide" --speed "$speed" --json "$in/replayed$run.json" \
    --csv "$in/replayed$run.csv" >"$in/replayed$run.txt"
  run=$((run + 1))
done

python3 tools/fidelity.py table "$in" "$runs"
