#!/usr/bin/env python3
"""Writes tests/engine/cpu/kernels/golden/dequantize.txt: random blocks of every type that
the engine reads, and the numbers that PyPI's gguf finds in them (gguf.quants, an
implementation apart from ours).

    pip install gguf numpy && tools/golden/dequantize.py
"""
import pathlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf import quants

TYPES = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K",
         "Q6_K"]
HALVES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
          "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
FLOATS = 8  # numbers a line, of types without blocks


def random_block(name, random):
    elements, size = GGML_QUANT_SIZES[Type[name]]
    if elements == 1:
        numbers = random.standard_normal(FLOATS).astype(np.float32)
        if name == "F32":
            return numbers.view(np.uint8)
        if name == "F16":
            return numbers.astype(np.float16).view(np.uint8)
        return (numbers.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    block = random.integers(0, 256, size, dtype=np.uint8)
    for at in HALVES[name]:  # finite scales
        scale = np.float16(random.standard_normal() * 0.1)
        block[at:at + 2] = np.frombuffer(scale.tobytes(), np.uint8)
    return block


def main():
    random = np.random.default_rng(20)
    root = pathlib.Path(__file__).resolve().parents[2]
    lines = []
    for name in TYPES:
        for _ in range(3):
            block = random_block(name, random)
            numbers = quants.dequantize(block, Type[name]).astype(np.float32)
            lines.append(f"{name} {block.tobytes().hex()} {numbers.tobytes().hex()}\n")
    golden = root / "tests/engine/cpu/kernels/golden/dequantize.txt"
    golden.write_text("".join(lines))


if __name__ == "__main__":
    main()
