"""Writes golden files, as tests/engine/golden/README.md describes them."""

import struct

import numpy as np

GREEDY_SCORED = 8


def log_softmax(logits: np.ndarray) -> np.ndarray:
    wide = logits.astype(np.float64)
    wide -= wide.max()
    return wide - np.log(np.exp(wide).sum())


def text(value: str) -> bytes:
    return struct.pack("<I", len(value.encode())) + value.encode()


def scored(logits: np.ndarray, count: int) -> bytes:
    logprobs = log_softmax(logits)
    ids = np.argsort(-logits, kind="stable")[:count]
    return ids.astype("<u4").tobytes() + logprobs[ids].astype("<f4").tobytes()


def prompt(name: str, tokens: list[int], logits: np.ndarray, count: int,
           greedy_logits: list[np.ndarray]) -> bytes:
    out = text(name) + struct.pack("<I", len(tokens))
    out += np.array(tokens, "<u4").tobytes()
    out += struct.pack("<I", count)
    out += b"".join(scored(row, count) for row in logits)
    out += struct.pack("<II", len(greedy_logits), GREEDY_SCORED)
    return out + b"".join(scored(row, GREEDY_SCORED) for row in greedy_logits)


def model(name: str, prompts: list[bytes]) -> bytes:
    return b"PGM1" + text(name) + struct.pack("<I", len(prompts)) + b"".join(prompts)


def blocks(entries: list[tuple[str, bytes, np.ndarray]]) -> bytes:
    out = b"PGB1" + struct.pack("<I", len(entries))
    for name, raw, values in entries:
        out += text(name) + struct.pack("<I", len(raw)) + raw
        out += struct.pack("<I", values.size) + values.astype("<f4").tobytes()
    return out
