#!/usr/bin/env python3
"""Puts many streams at once to a running cluster, and says what they got.

    tests/bench/streams.py [--url http://127.0.0.1:8000] [--streams 1 16 64] [--pid PID]

Each number of streams is kept open for `--requests` requests in all: as one ends, the next
begins. Prompts share nothing. With the server's --pid, its peak of memory is printed, too.
"""

import argparse
import asyncio
import json
import statistics
import time
import urllib.parse

WORDS = "river stone cloud engine paper mirror garden signal copper window".split()


def prompt_of(number: int, words: int) -> str:
    return " ".join(WORDS[(number * 7 + i * (3 + number % 5)) % len(WORDS)] + str(number)
                    for i in range(words))


async def one_request(where, number: int, how) -> tuple[float, float, int]:
    """Seconds to the first token and to the end, and tokens."""
    body = json.dumps({
        "prompt": prompt_of(number, how.prompt_words), "max_tokens": how.tokens,
        "temperature": 0, "ignore_eos": True, "stream": True,
        "stream_options": {"include_usage": True},
    }).encode()
    reader, writer = await asyncio.open_connection(where.hostname, where.port,
                                                   limit=1 << 20)
    head = (f"POST /v1/completions HTTP/1.1\r\nHost: {where.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n")
    began = time.perf_counter()
    writer.write(head.encode() + body)
    first = None
    tokens = 0
    status = await reader.readline()
    if b" 200 " not in status:
        raise SystemExit(f"{status.decode().strip()}: {(await reader.read()).decode()}")
    async for line in reader:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if event["choices"] and event["choices"][0].get("text") and first is None:
            first = time.perf_counter() - began
        if event.get("usage"):
            tokens = event["usage"]["completion_tokens"]
    writer.close()
    return first or 0.0, time.perf_counter() - began, tokens


async def measure(where, streams: int, how, begin_at: int) -> None:
    numbers = iter(range(begin_at, begin_at + max(how.requests, streams)))
    results = []

    async def stream() -> None:
        for number in numbers:
            results.append(await one_request(where, number, how))

    began = time.perf_counter()
    await asyncio.gather(*(stream() for _ in range(streams)))
    spent = time.perf_counter() - began
    firsts = sorted(first for first, _, _ in results)
    tokens = sum(count for _, _, count in results)
    print(f"{streams:8} {len(results):9} {len(results) / spent:11.2f} {tokens / spent:10.1f}"
          f" {1e3 * statistics.median(firsts):13.1f}"
          f" {1e3 * firsts[int(0.9 * (len(firsts) - 1))]:13.1f}{memory_of(how.pid)}")


def memory_of(pid: int) -> str:
    if not pid:
        return ""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        peak = next(line for line in file if line.startswith("VmHWM"))
    return f" {int(peak.split()[1]) / 1024:11.1f}"


def main() -> None:
    flags = argparse.ArgumentParser()
    flags.add_argument("--url", default="http://127.0.0.1:8000")
    flags.add_argument("--streams", type=int, nargs="+", default=[1, 16, 64])
    flags.add_argument("--requests", type=int, default=64)
    flags.add_argument("--tokens", type=int, default=64)
    flags.add_argument("--prompt-words", type=int, default=40)
    flags.add_argument("--pid", type=int, default=0)
    how = flags.parse_args()
    where = urllib.parse.urlparse(how.url)
    print(f"{'streams':>8} {'requests':>9} {'requests/s':>11} {'tokens/s':>10}"
          f" {'TTFT P50 ms':>13} {'TTFT P90 ms':>13}{'  peak MiB' if how.pid else ''}")
    number = 0
    for streams in how.streams:
        asyncio.run(measure(where, streams, how, number))
        number += max(how.requests, streams)


main()
