#!/bin/sh
# The figures of docs/experiments.md, anew: replays the papers' experiments on the clusters of
# topologies/papers/ and prints what each comes to.
#
#   tools/experiments.sh [--keep DIR] TRACE [NAME...]
#
# TRACE: F25's conversation trace, as it was published. The other workloads are made here.
# NAME: which experiments; without one, all of them, which takes half an hour on one core:
#   cache placement prefill effective overload oscillation split steep bandwidth public
#   simulated twenty replicas global single layers
# --keep: where made traces and reports are left; else they are removed.
set -eu
cd "$(dirname "$0")/.."

stop() {
  echo "experiments: $*" >&2
  exit 1
}
names="cache placement prefill effective overload oscillation split steep bandwidth public simulated twenty replicas global single layers"
perigee=${PERIGEE:-build/release/apps/perigee/perigee}
papers=topologies/papers
mooncake=$papers/mooncake-8p8d.toml
keep=
if [ "${1-}" = --keep ]; then
  [ $# -gt 1 ] || stop "--keep wants a folder"
  keep=$2
  shift 2
fi
[ $# -gt 0 ] || stop "which trace? tools/experiments.sh [--keep DIR] TRACE [NAME...]"
conversation=$1
shift
[ -r "$conversation" ] || stop "$conversation cannot be read"
[ -x "$perigee" ] || stop "$perigee is not there: build it, or name it in PERIGEE"
for name in "$@"; do
  case " $names " in *" $name "*) ;; *) stop "no experiment is called '$name'; there are: $names" ;; esac
done
if [ -n "$keep" ]; then
  mkdir -p "$keep"
  work=$keep
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

generate() { # FILE OPTIONS...: a trace, unless it is there
  file=$work/$1.jsonl
  shift
  [ -s "$file" ] || "$perigee" workload generate --out "$file" "$@"
}
replay() { # REPORT ARGUMENTS...
  report=$work/$1.json
  shift
  nice "$perigee" replay "$@" --json "$report" > "$report.txt" 2> "$report.log" ||
    stop "see $report.log"
}
sweep() { # REPORT ARGUMENTS...
  report=$work/$1.json
  shift
  nice "$perigee" sweep --jobs 1 "$@" --json "$report" > "$report.txt" 2> "$report.log" ||
    stop "see $report.log"
}
table() { # what tools/experiments.py makes of reports
  python3 tools/experiments.py "$@"
}
made_traces() {
  generate toolagent --like toolagent --requests 23608 --seed 1
  generate synthetic --like synthetic --requests 3993 --seed 1
}

cache() {
  "$perigee" workload cache "$conversation" --policy lru,lfu,length_aware \
    --blocks 1000,10000,30000,50000,100000,1000000
}
placement() {
  sweep placement $mooncake "$conversation" \
    policy.placement=random,load_balance,cache_aware,kvcache_centric
  table means "$work/placement.json"
}
prefill() {
  made_traces
  for load in conversation toolagent synthetic; do
    trace=$work/$load.jsonl
    [ $load != conversation ] || trace=$conversation
    replay prefill-$load $mooncake "$trace"
    table prefill "$work/prefill-$load.json" "$trace"
  done
}
effective() {
  made_traces
  for load in conversation toolagent synthetic; do
    trace=$work/$load.jsonl
    [ $load != conversation ] || trace=$conversation
    for limit in 100 200 300; do
      for cluster in mooncake-8p8d vllm-16 vllm-prefix-16 vllm-chunked-16; do
        replay effective-$load-$limit-$cluster $papers/$cluster.toml "$trace" --set slo.tbt_ms=$limit
        table within "$work/effective-$load-$limit-$cluster.json"
      done
    done
  done
}
overload() {
  for run in 1-70 2-70 3-70 1-60 1-80; do # seed and limit
    generate toolagent-${run%-*} --like toolagent --requests 23608 --seed ${run%-*}
    sweep overload-$run $mooncake "$work/toolagent-${run%-*}.jsonl" --nodes 8+2 --speed 3 \
      --set slo.tbt_ms=${run#*-} policy.admission=baseline,early_rejection,early_rejection_predicted
    echo "seed and limit $run"
    table refused "$work/overload-$run.json"
  done
}
oscillation() {
  generate toolagent-long --like toolagent --requests 48000 --seed 1
  for admission in baseline early_rejection early_rejection_predicted; do
    replay oscillation-$admission $mooncake "$work/toolagent-long.jsonl" --nodes 16+4 --speed 6 \
      --set slo.tbt_ms=60 --set policy.admission=$admission --read-every 15
    table swing "$work/oscillation-$admission.json"
  done
}
steep() { # what F25's figure 15 says of decode, on its other figures
  made_traces
  for cluster in mooncake-8p8d vllm-16 vllm-prefix-16 vllm-chunked-16; do
    sed 's/decode_fixed_ms = .*/decode_fixed_ms = 21/; s/decode_sequence_us = .*/decode_sequence_us = 4800/' \
      $papers/$cluster.toml > "$work/$cluster-steep.toml"
    for load in conversation toolagent; do
      trace=$work/$load.jsonl
      [ $load != conversation ] || trace=$conversation
      replay steep-$load-$cluster "$work/$cluster-steep.toml" "$trace"
      table within "$work/steep-$load-$cluster.json"
    done
  done
  sweep steep-split "$work/mooncake-8p8d-steep.toml" "$work/synthetic.jsonl" \
    nodes=5+11,6+10,7+9,8+8,9+7,10+6,11+5 --set slo.ttft_ms=10000
  table means "$work/steep-split.json"
}
split() {
  made_traces
  sweep split $mooncake "$work/synthetic.jsonl" nodes=5+11,6+10,7+9,8+8,9+7,10+6,11+5 \
    --set slo.ttft_ms=10000
  table means "$work/split.json"
}
bandwidth() { # 24, 40, 80, 100, 160, 320, 400 Gbit/s
  made_traces
  sweep bandwidth $mooncake "$work/synthetic.jsonl" --set cluster.transfer_limit_ms=600000 \
    fabric.nic_gib_per_s=2.794,4.657,9.313,11.642,18.626,37.253,46.566
  table means "$work/bandwidth.json"
  sed 's/931GiB/1GiB/' $mooncake > "$work/no-cache.toml"
  for cluster in $mooncake "$work/no-cache.toml"; do
    sweep recompute "$cluster" "$work/synthetic.jsonl" nodes=8+8,12+8,16+8
    table means "$work/recompute.json"
  done
}
# shellcheck disable=SC2086 # a word each
rates() { # TRACE SPEEDS [baseline topologies...]: Mooncake on four nodes, and vLLM
  trace=$1 speeds=$2
  shift 2
  for nodes in 3+1 2+2; do
    sweep $trace-$nodes $mooncake "$work/$trace.jsonl" --nodes $nodes --set slo.ttft_ms=3600000 speed=$speeds
    table rates "$work/$trace-$nodes.json"
  done
  for cluster in "$@"; do
    sweep $trace-$cluster $papers/$cluster.toml "$work/$trace.jsonl" --nodes 4 \
      --set slo.ttft_ms=3600000 speed=$speeds
    table rates "$work/$trace-$cluster.json"
  done
}
public() {
  generate arxiv --rate 1 --requests 600 --input-mean 8088 --input-median 6500 \
    --output-mean 229 --output-median 200
  generate leval --rate 1 --requests 600 --tree 16384x30 --input-mean 2635 --input-median 2000 \
    --output-mean 72 --output-median 50
  rates arxiv .1,.5,.8,1,1.5,2,2.5,3,4 vllm-16
  rates leval .02,.1,.2,.5,.8,1,1.25,1.5,1.75,2 vllm-16 vllm-prefix-16
}
simulated() {
  for k in 16 32 64 128; do
    half=$((k * 512))
    generate simulated-${k}k --rate 1 --requests 200 --tree ${half}x4 --input-max 200000 \
      --input-mean $half --input-median $half --output-mean 512 --output-median 512
  done
  rates simulated-16k .02,.1,.2,.5,1,1.25,1.5,2,2.5,3 vllm-one-at-a-time-16
  rates simulated-32k .02,.1,.2,.5,.6,.8,1,1.25 vllm-one-at-a-time-16
  rates simulated-64k .02,.05,.1,.2,.3,.4,.5,.6 vllm-one-at-a-time-16
  rates simulated-128k .01,.02,.05,.1,.11,.12,.14,.2,.25 vllm-one-at-a-time-16
}
twenty() {
  made_traces
  replay twenty-mooncake $mooncake "$work/toolagent.jsonl" --nodes 10+10 --csv "$work/twenty-mooncake.csv"
  replay twenty-vllm $papers/vllm-16.toml "$work/toolagent.jsonl" --nodes 20 --csv "$work/twenty-vllm.csv"
  table shares "$work/twenty-mooncake.csv" "$work/twenty-vllm.csv"
}
replicas() {
  made_traces
  for load in conversation toolagent synthetic; do
    trace=$work/$load.jsonl
    [ $load != conversation ] || trace=$conversation
    replay replicas-$load $mooncake "$trace" --read-every 30
    table replicas "$work/replicas-$load.json"
  done
}
global() { # answers of one token, as in F25's figure 10
  made_traces
  for load in conversation toolagent synthetic; do
    trace=$work/$load.jsonl
    [ $load != conversation ] || trace=$conversation
    sed 's/"output_length": *[0-9]*/"output_length": 1/' "$trace" > "$work/$load-1.jsonl"
    sweep global-$load $mooncake "$work/$load-1.jsonl" --nodes 10+1 \
      policy.placement=kvcache_centric,cache_aware,load_balance,random
    table means "$work/global-$load.json"
  done
}

alone() { # REPORT SETTINGS...: layer by layer and one after the other, each request's stages
  name=$1
  shift
  for layer_wise in true false; do
    replay "$name-$layer_wise" $papers/single.toml $papers/single.jsonl \
      --journal "$work/$name-$layer_wise.journal" --set policy.layer_wise=$layer_wise "$@"
    "$perigee" trace "$work/$name-$layer_wise.journal" list
  done
}
single() {
  alone single
}
layers() { # at the bandwidth of TR's figure 7
  alone layers --set fabric.nic_gib_per_s=46.2
  for layer_wise in true false; do
    replay layer-wise-$layer_wise $mooncake "$conversation" --set policy.layer_wise=$layer_wise
    cat "$work/layer-wise-$layer_wise.json.txt"
  done
}

# shellcheck disable=SC2048,SC2086 # names are words
for name in ${*:-$names}; do
  echo "== $name"
  $name
done
