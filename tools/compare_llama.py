"""Runs `perigee bench engine` and llama.cpp in turns, and prints the ratios of medians.

Called by compare_llama.sh. Both prefill a prompt alone, then decode from a context of the
same length for the same number of steps, greedily, alone and as a batch.
"""

import argparse
import ctypes
import json
import re
import statistics
import subprocess
import sys
import time

PREFILLS = (512, 2048)
BATCHES = (1, 4, 16)
CONTEXT, STEPS = 128, 32  # as in apps/perigee/bench_engine.cpp


def measure_llama(path: str, threads: int) -> dict:
    import llama_cpp as lib

    @lib.llama_log_callback
    def quiet(level, text, data):
        pass

    lib.llama_log_set(quiet, ctypes.c_void_p(0))
    lib.llama_backend_init()
    params = lib.llama_model_default_params()
    params.n_gpu_layers = 0
    model = lib.llama_model_load_from_file(path.encode(), params)
    if not model:
        raise SystemExit(f"llama.cpp can't load {path}")
    vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))

    def context(sequences: int, tokens_each: int):
        how = lib.llama_context_default_params()
        how.n_ctx = sequences * tokens_each
        how.n_seq_max = sequences
        how.n_batch = how.n_ubatch = 512
        how.n_threads = how.n_threads_batch = threads
        how.type_k = how.type_v = lib.GGML_TYPE_F16
        made = lib.llama_init_from_model(model, how)
        if not made:
            raise SystemExit("llama.cpp can't make a context")
        return made

    def feed(where, tokens):
        """Of (token, position, sequence, wants logits)."""
        batch = lib.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, (token, position, sequence, wanted) in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = wanted
        if lib.llama_decode(where, batch) != 0:
            raise SystemExit("llama.cpp can't decode")
        lib.llama_synchronize(where)
        lib.llama_batch_free(batch)

    def prompt(tokens: int, sequence: int):
        ids = [(i * 7919 + 13) % min(vocabulary, 40_000) for i in range(tokens)]
        return [(t, i, sequence, i + 1 == tokens) for i, t in enumerate(ids)]

    def prefill(where, tokens: int, sequence: int):
        all_of_it = prompt(tokens, sequence)
        for at in range(0, tokens, 512):
            feed(where, all_of_it[at:at + 512])

    def best_guess(where, row: int) -> int:
        logits = lib.llama_get_logits_ith(where, row)
        array = ctypes.cast(logits, ctypes.POINTER(ctypes.c_float * vocabulary)).contents
        import numpy

        return int(numpy.frombuffer(array, numpy.float32).argmax())

    rates = {}
    for tokens in PREFILLS:
        if tokens > lib.llama_model_n_ctx_train(model):
            continue
        spent = []
        for _ in range(3):
            where = context(1, tokens)
            began = time.perf_counter()
            prefill(where, tokens, 0)
            spent.append(time.perf_counter() - began)
            lib.llama_free(where)
        rates[f"prefill {tokens} tokens"] = tokens / statistics.median(spent)
    for batch in BATCHES:
        where = context(batch, CONTEXT + STEPS)
        for sequence in range(batch):
            prefill(where, CONTEXT, sequence)
        last = [13] * batch
        began = time.perf_counter()
        for step in range(STEPS):
            feed(where, [(last[s], CONTEXT + step, s, True) for s in range(batch)])
            last = [best_guess(where, s) for s in range(batch)]
        rates[f"decode, batch {batch}"] = batch * STEPS / (time.perf_counter() - began)
        lib.llama_free(where)
    info = lib.llama_print_system_info()
    return {"rates": rates, "info": (info or b"").decode()}


def measure_ours(perigee: str, path: str, threads: int) -> dict:
    said = subprocess.run([perigee, "bench", "engine", path, "--threads", str(threads)],
                          check=True, capture_output=True, text=True).stdout
    rates, floors = {}, {}
    for line in said.splitlines():
        row = re.match(r"((?:prefill|decode).*?)\s{2,}([\d.]+)\s+([\d.]+)\s+([\d.]+)%", line)
        if row:
            rates[row[1]], floors[row[1]] = float(row[2]), float(row[3])
    if not rates:
        raise SystemExit(f"{perigee} printed no rates:\n{said}")
    head = next((line for line in said.splitlines() if "kernels" in line), "")
    return {"rates": rates, "floors": floors, "info": head}


def in_process_of_its_own(path: str, threads: int) -> dict:
    said = subprocess.run([sys.executable, __file__, "--measure-llama", path, "--threads",
                           str(threads)], check=True, capture_output=True, text=True)
    return json.loads(said.stdout.splitlines()[-1])


def main() -> None:
    flags = argparse.ArgumentParser()
    flags.add_argument("model", nargs="?",
                       default="models/SmolLM2-135M-Instruct.Q4_1.gguf")
    flags.add_argument("--perigee", default="build/release/apps/perigee/perigee")
    flags.add_argument("--threads", type=int, default=2)
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--measure-llama", action="store_true", help=argparse.SUPPRESS)
    how = flags.parse_args()
    if how.measure_llama:
        print(json.dumps(measure_llama(how.model, how.threads)))
        return
    ours, theirs = [], []
    for number in range(how.rounds):
        print(f"round {number + 1} of {how.rounds}", file=sys.stderr)
        ours.append(measure_ours(how.perigee, how.model, how.threads))
        theirs.append(in_process_of_its_own(how.model, how.threads))
    print(f"{how.model}, {how.threads} threads, medians of {how.rounds} rounds in turns")
    print(f"perigee:   {ours[0]['info']}")
    print(f"llama.cpp: {theirs[0]['info']}")
    print(f"{'':22} {'perigee':>10} {'llama.cpp':>10} {'ratio':>7} {'of floor':>9}")
    for what in ours[0]["rates"]:
        a = statistics.median(r["rates"][what] for r in ours)
        b = statistics.median(r["rates"].get(what, 0) for r in theirs)
        floor = statistics.median(r["floors"][what] for r in ours)
        ratio = f"{a / b:7.2f}" if b else f"{'-':>7}"
        print(f"{what:22} {a:10.1f} {b:10.1f} {ratio} {100 * a / floor:8.1f}%")


main()
