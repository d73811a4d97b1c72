"""The arithmetic of tools/fidelity.sh.

    fidelity.py speed TRACE COSTS.toml DIVIDED_BY LOAD   the speed that gives that load
    fidelity.py table DIR RUNS                           how far the replays are off
"""

import json
import re
import statistics
import sys

MEASURES = [(group, part) for group in ("ttft_ms", "tbt_ms") for part in ("mean", "p50", "p90")]


def speed(trace, costs, divided_by, load):
    """Prefill takes `load` per cent of the time in which requests arrive, uncached."""
    with open(costs) as file:
        cost = {name: float(value) for name, value in re.findall(r"^(\w+) = ([\d.e+-]+)$", file.read(), re.M)}
    with open(trace) as file:
        requests = [json.loads(line) for line in file]
    busy = 0.0
    for one in requests:
        tokens = -(-one["input_length"] // divided_by)
        busy += (
            cost.get("prefill_fixed_ms", 0) * 1e-3
            + cost.get("prefill_token_us", 0) * 1e-6 * tokens
            + cost.get("prefill_pair_ns", 0) * 1e-9 * tokens**2
        )
    wanted = busy / (load / 100)
    span = requests[-1]["timestamp"] / 1000
    if span <= 0:
        sys.exit("fidelity: the trace has no duration; expected more requests")
    print(f"{min(max(span / wanted, 0.01), 1000):.5f}")


def table(folder, runs):
    errors = {measure: [] for measure in MEASURES}
    print(f"{'run':<5}{'':<14}{'real ms':>12}{'replayed ms':>14}{'error %':>10}")
    for run in range(1, runs + 1):
        with open(f"{folder}/real{run}.json") as file:
            real = json.load(file)
        with open(f"{folder}/replayed{run}.json") as file:
            replayed = json.load(file)
        for name, one in (("real", real), ("replayed", replayed)):
            if one["served"] != one["requests"]:
                print(f"{run:<5}{name}: only {one['served']} of {one['requests']} were served")
        for group, part in MEASURES:
            was, is_said = real[group][part], replayed[group][part]
            error = (is_said / was - 1) * 100
            errors[group, part].append(error)
            print(f"{run:<5}{group[:-3].upper() + ' ' + part:<14}{was:>12.1f}{is_said:>14.1f}{error:>+10.1f}")
    print(f"\n{'error %':<19}{'mean':>12}{'of absolutes':>14}{'largest':>10}")
    for group, part in MEASURES:
        all_of = errors[group, part]
        largest = max(all_of, key=abs)
        print(
            f"{group[:-3].upper() + ' ' + part:<19}{statistics.mean(all_of):>+12.1f}"
            f"{statistics.mean(map(abs, all_of)):>14.1f}{largest:>+10.1f}"
        )


if sys.argv[1:2] == ["speed"] and len(sys.argv) == 6:
    speed(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
elif sys.argv[1:2] == ["table"] and len(sys.argv) == 4:
    table(sys.argv[2], int(sys.argv[3]))
else:
    sys.exit(__doc__)
