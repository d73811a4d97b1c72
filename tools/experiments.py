"""What tools/experiments.sh prints of reports: `experiments.py KIND FILE...`."""

import csv
import json
import statistics
import sys
import tomllib


def runs_of(file):
    with open(file) as text:
        return json.load(text)


def print_means(file):
    """A row for each run of a sweep: what most experiments look at."""
    for run in runs_of(file):
        print("{:>16}  within {:6.2f} %  TTFT {:8.3f} s  TBT {:8.1f} ms  hits {:5.1f} %  "
              "prefill busy {:5.1f} %  remote {:4.1f} %".format(
                  run["run"], run["within_percent"], run["ttft_ms"]["mean"] / 1e3,
                  run["tbt_ms"]["mean"], run["hit_percent"]["all"],
                  run["busy_percent"].get("prefill", 0), run["hit_percent"]["remote"]))


def print_refused(file):
    for run in runs_of(file):
        causes = {name: count for name, count in run["rejected"].items() if count}
        print("{:>26}  refused {:6}  within {:6}  wasted {:5.2f} %  {}".format(
            run["run"], run["refused"], run["within"], run["tokens"]["wasted_percent"],
            causes))


def print_within(file):
    run = runs_of(file)
    print("{:>28}  {:3} ms  within {:6.2f} %".format(
        run["topology"].rsplit("/", 1)[-1], run["objectives_ms"]["tbt"],
        run["within_percent"]))


def print_rates(file):
    """P90 as a share of 10 and 5 times that at the lowest rate, which is the limit."""
    runs = sorted(runs_of(file), key=lambda run: float(run["run"]))
    first, token = runs[0]["ttft_ms"]["p90"], runs[0]["tpot_ms"]["p90"]
    print(file.rsplit("/", 1)[-1], "alone: TTFT %.0f ms, per token %.1f ms" % (first, token))
    for run in runs:
        print("  {:>5}/s  TTFT {:6.3f}  per token {:6.3f}".format(
            run["run"], run["ttft_ms"]["p90"] / first / 10, run["tpot_ms"]["p90"] / token / 5))


def prefill_seconds(topology):
    """Of a prompt of n tokens, by the topology's only hardware."""
    with open(topology, "rb") as file:
        (cost,) = tomllib.load(file)["hardware"].values()
    return lambda n: (cost["prefill_fixed_ms"] * 1e-3 + cost["prefill_token_us"] * 1e-6 * n
                      + cost["prefill_pair_ns"] * 1e-9 * n * n)


def print_prefill(file, trace):
    """Mean prefill time: of our engines, and of a cluster that reuses nothing."""
    run = runs_of(file)
    lengths = [json.loads(line)["input_length"] for line in open(trace)]
    alone = statistics.mean(map(prefill_seconds(run["topology"]), lengths))
    groups = len(run["course"]["prefill_busy_ns"])
    mine = run["lasted_s"] * groups * run["busy_percent"]["prefill"] / 100 / run["requests"]
    print("{:.3f} s a request, {:.3f} without reuse, hits {:.1f} %".format(
        mine, alone, run["hit_percent"]["all"]))


def correlation(a, b):
    mean_a, mean_b = statistics.mean(a), statistics.mean(b)
    both = statistics.mean((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return both / (statistics.pstdev(a) * statistics.pstdev(b))


def print_swing(file):
    """Loads of both pools, without the first two minutes and the last."""
    run = runs_of(file)
    course = run["course"]
    arrivals_end = course["at_s"][-1] - 60
    rows = [i for i, at in enumerate(course["at_s"]) if 120 <= at <= arrivals_end]
    prefill, decode = ([course["load_permille"][pool][i] / 1000 for i in rows]
                       for pool in ("prefill", "decode"))
    print(file.rsplit("/", 1)[-1], len(rows), "samples; refused", run["refused"])
    for pool, loads in (("prefill", prefill), ("decode", decode)):
        print("  {:8} mean {:.2f}  s.d. {:.2f}  {:.2f} to {:.2f}".format(
            pool, statistics.mean(loads), statistics.pstdev(loads), min(loads), max(loads)))
    print("  correlation {:.2f}; prefill a sample later {:.2f}; decode two later {:.2f}".format(
        correlation(prefill, decode), correlation(prefill[1:], decode[:-1]),
        correlation(decode[2:], prefill[:-2])))


def per_token_ms(row):
    """From the first token to the last, by the gaps between."""
    decoded = (float(row["end_s"]) - float(row["arrival_s"])) * 1e3 - float(row["ttft_ms"])
    return decoded / (int(row["output_tokens"]) - 1)


def print_shares(*files):
    """Shares of requests within limits, of TTFT and of the mean time per token."""
    for file in files:
        rows = [row for row in csv.DictReader(open(file)) if row["outcome"] == "served"]
        ttft = sorted(float(row["ttft_ms"]) for row in rows)
        token = sorted(per_token_ms(row) for row in rows if row["tbt_ms"])
        longest = sorted(float(row["tbt_ms"]) for row in rows if row["tbt_ms"])
        print(file.rsplit("/", 1)[-1])
        for name, values, limits in (("TTFT", ttft, (1e3, 2e3, 5e3, 1e4, 2e4, 3e4)),
                                     ("per token", token, (50, 100, 200, 500, 1000)),
                                     ("longest tenth", longest, (50, 100, 200, 500, 1000))):
            shares = " ".join("{:g}:{:.3f}".format(
                limit, sum(value <= limit for value in values) / len(values))
                for limit in limits)
            ranks = " ".join("P{}:{:.0f}".format(p, values[len(values) * p // 100])
                             for p in (50, 75, 90, 95, 99))
            print("  {:14} {}   {}".format(name, shares, ranks))


def print_replicas(file):
    """When each rank's block first had so many replicas, and how many at the end."""
    run = runs_of(file)
    print(file.rsplit("/", 1)[-1])
    for rank, counts in run["replicas"]["replicas"].items():
        first = {}
        for at, count in zip(run["replicas"]["at_s"], counts):
            first.setdefault(count, at)
        print("  {:12} {}  last {}".format(
            rank, " ".join(f"{at:g}:{count}" for count, at in sorted(first.items())),
            counts[-1]))


kinds = {"means": print_means, "refused": print_refused, "within": print_within,
         "rates": print_rates, "prefill": print_prefill, "swing": print_swing,
         "shares": print_shares, "replicas": print_replicas}

if __name__ == "__main__":
    kinds[sys.argv[1]](*sys.argv[2:])
