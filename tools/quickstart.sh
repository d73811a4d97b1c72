#!/bin/sh
# From a fresh Debian 12 to an answer: installs what is needed, builds, fetches the default
# model, launches the cluster of topologies/laptop.toml, asks it something over HTTP, prints
# the answer with its timings, and goes on serving until Ctrl-C. Cheap to run again.
#
#   tools/quickstart.sh          goes on serving
#   tools/quickstart.sh --once   ends the cluster after the answer
set -eu
cd "$(dirname "$0")/.."

say() {
  printf '\n==> %s\n' "$*"
}
stop() {
  echo "quickstart: $*" >&2
  exit 1
}

once=
case ${1:-} in
'') ;;
--once) once=yes ;;
*) stop "no option is called '$1'; there is: --once" ;;
esac

say "Installing what is needed"
tools/setup.sh

say "Building (the first time takes some minutes)"
mkdir -p build
cmake --preset release >build/configure.log 2>&1 ||
  { cat build/configure.log >&2; stop "cmake failed"; }
cmake --build --preset release --target perigee || stop "the build failed"

say "Fetching the default model"
tools/fetch_model.sh

perigee=build/release/apps/perigee/perigee
topology=topologies/laptop.toml
address=$("$perigee" check "$topology" | sed -n 's/^listen = "\(.*\)"$/\1/p')
url=http://$address
if curl --silent --max-time 2 --output /dev/null "$url/live"; then
  stop "something listens at $address already; end it, or choose another address:
  PERIGEE_CLUSTER_LISTEN=127.0.0.1:8001 tools/quickstart.sh"
fi

say "Launching the cluster: $perigee serve $topology"
"$perigee" serve "$topology" &
cluster=$!
trap 'kill "$cluster" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ready=
for _ in $(seq 600); do
  kill -0 "$cluster" 2>/dev/null || stop "the cluster ended before it was ready (see above)"
  if curl --silent --fail --max-time 2 --output /dev/null "$url/ready"; then
    ready=yes
    break
  fi
  sleep 0.2
done
[ -n "$ready" ] || stop "the cluster was not ready within two minutes"

question="Why is the sky blue? Answer in two sentences."
say "Asking it: $question"
request='{"messages": [{"role": "user", "content": "'$question'"}],
  "temperature": 0, "max_tokens": 100}'
echo "curl $url/v1/chat/completions -H 'content-type: application/json' -d '$request'"
answer=$(curl --silent --show-error --fail-with-body --max-time 300 \
  "$url/v1/chat/completions" -H 'content-type: application/json' -d "$request") ||
  stop "the request failed: $answer"
printf '%s' "$answer" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print("\n" + answer["choices"][0]["message"]["content"].strip() + "\n")
usage, timings = answer["usage"], answer.get("timings", {})
print("prompt tokens %d, of them cached %d; answer tokens %d" % (
    usage["prompt_tokens"],
    (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
    usage["completion_tokens"]))
for name, value in timings.items():
    print("%-20s %s" % (name, value))
' || stop "this is no answer: $answer"

if [ -n "$once" ]; then
  say "Ending the cluster"
  trap - EXIT
  kill -TERM "$cluster"
  wait "$cluster" || stop "the cluster ended with an error (see above)"
  say "All went well."
  exit 0
fi

say "The cluster serves at $url. Ctrl-C ends it."
wait "$cluster"
