"""Writes small random models, one for each weight type and one Gemma 3, and what llama.cpp
computes with them; and blocks of every weight type with their values.

    python3 tools/golden/tiny_models.py tests/engine/golden
"""

import dataclasses
import pathlib
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

import golden_file
import llama

PLAIN = [Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1,
         Type.Q8_0]
SUPER = [Type.Q4_K, Type.Q5_K, Type.Q6_K]
GREEDY_STEPS = 24


@dataclasses.dataclass
class Shape:
    architecture: str = "llama"
    layers: int = 2
    width: int = 64
    heads: int = 2
    kv_heads: int = 1
    head_dim: int = 32
    feed_forward: int = 96
    window: int = 0
    tied: bool = True


# The blocks of the latter kinds are 256 wide.
SMALL = Shape()
WIDE = Shape(layers=1, width=256, heads=4, head_dim=64, feed_forward=256)
# Every sixth layer sees everything, the others a window shorter than the prompts.
GEMMA = Shape("gemma3", layers=7, window=8, head_dim=64)


def vocabulary() -> tuple[list[str], list[float], list[int]]:
    pieces = ["\u2581", "e", "t", "a", "o", "n", "\u2581t", "he", "in", "er", "an",
              "\u2581the", "\u2581a", "on", "re", "\u2581and", "s", "i", "h", "r", "d", "l",
              "th", "nd", "\u2581s", "\u2581o", "u", "c", "m"]
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    scores = [0.0] * 259 + [-float(rank) for rank in range(len(pieces))]
    kinds = [gguf.TokenType.UNKNOWN] + [gguf.TokenType.CONTROL] * 2
    kinds += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(pieces)
    return tokens, scores, kinds


def pack_scales(scales: np.ndarray, mins: np.ndarray) -> np.ndarray:
    """Eight 6-bit scales and eight 6-bit minima in twelve bytes, as Q4_K and Q5_K do."""
    low = scales[:, :4] | (scales[:, 4:] >> 4) << 6
    low_mins = mins[:, :4] | (mins[:, 4:] >> 4) << 6
    high = (scales[:, 4:] & 15) | (mins[:, 4:] & 15) << 4
    return np.concatenate([low, low_mins, high], axis=1).astype(np.uint8)


def halves(values: np.ndarray) -> np.ndarray:
    return values.astype("<f2").reshape(-1, 1).view(np.uint8)


def super_blocks(chance: np.random.Generator, kind: Type, count: int,
                 spread: float) -> np.ndarray:
    """Blocks of 256 random weights around zero, with about this standard deviation."""
    if kind == Type.Q6_K:
        scales = chance.integers(10, 30, (count, 16)) * chance.choice([-1, 1], (count, 16))
        unit = spread / (20 * 18.5) * chance.uniform(0.7, 1.4, count)
        quants = chance.integers(0, 256, (count, 192), dtype=np.uint8)
        return np.concatenate([quants, scales.astype(np.int8).view(np.uint8),
                               halves(unit)], axis=1)
    levels = 16 if kind == Type.Q4_K else 32
    scales = chance.integers(20, 64, (count, 8))
    mins = np.clip(scales + chance.integers(-3, 4, (count, 8)), 0, 63)
    unit = spread / (42 * levels * 0.29) * chance.uniform(0.7, 1.4, count)
    head = [halves(unit), halves(unit * (levels - 1) / 2), pack_scales(scales, mins)]
    if kind == Type.Q5_K:
        head.append(chance.integers(0, 256, (count, 32), dtype=np.uint8))
    quants = chance.integers(0, 256, (count, 128), dtype=np.uint8)
    return np.concatenate([*head, quants], axis=1)


def matrix(chance: np.random.Generator, kind: Type, rows: int, columns: int,
           spread: float) -> np.ndarray:
    if kind in SUPER:
        blocks = super_blocks(chance, kind, rows * columns // 256, spread)
        return blocks.reshape(rows, -1)
    weights = chance.normal(0, spread, (rows, columns)).astype(np.float32)
    if kind in (Type.F32, Type.F16):
        return weights.astype("<f4" if kind == Type.F32 else "<f2")
    return gguf.quants.quantize(weights, kind)


class ModelWriter:
    def __init__(self, path: pathlib.Path, shape: Shape, kind: Type, seed: int):
        self.out = gguf.GGUFWriter(path, shape.architecture)
        self.chance = np.random.default_rng(seed)
        self.shape, self.kind = shape, kind

    def matrix(self, name: str, rows: int, columns: int, spread: float = 0) -> None:
        data = matrix(self.chance, self.kind, rows, columns, spread or columns ** -0.5)
        is_plain = self.kind in (Type.F32, Type.F16)
        self.out.add_tensor(name, data, raw_dtype=None if is_plain else self.kind)

    def vector(self, name: str, size: int) -> None:
        self.out.add_tensor(name, self.chance.uniform(0.5, 1.5, size).astype("<f4"))

    def metadata(self) -> None:
        shape, out = self.shape, self.out
        tokens, scores, kinds = vocabulary()
        out.add_name(f"tiny {shape.architecture} {self.kind.name}")
        out.add_context_length(512)
        out.add_embedding_length(shape.width)
        out.add_block_count(shape.layers)
        out.add_feed_forward_length(shape.feed_forward)
        out.add_head_count(shape.heads)
        out.add_head_count_kv(shape.kv_heads)
        out.add_key_length(shape.head_dim)
        out.add_value_length(shape.head_dim)
        out.add_layer_norm_rms_eps(1e-5)
        out.add_rope_freq_base(1e6 if shape.window else 1e4)
        if shape.window:
            out.add_sliding_window(shape.window)
        else:
            out.add_rope_dimension_count(shape.head_dim)
        out.add_tokenizer_model("llama")
        out.add_tokenizer_pre("default")
        out.add_token_list(tokens)
        out.add_token_scores(scores)
        out.add_token_types(kinds)
        out.add_bos_token_id(1)
        out.add_eos_token_id(2)
        out.add_unk_token_id(0)

    def layer(self, prefix: str) -> None:
        shape = self.shape
        self.vector(prefix + "attn_norm.weight", shape.width)
        self.matrix(prefix + "attn_q.weight", shape.heads * shape.head_dim, shape.width)
        self.matrix(prefix + "attn_k.weight", shape.kv_heads * shape.head_dim, shape.width)
        self.matrix(prefix + "attn_v.weight", shape.kv_heads * shape.head_dim, shape.width)
        self.matrix(prefix + "attn_output.weight", shape.width,
                    shape.heads * shape.head_dim)
        self.vector(prefix + "ffn_norm.weight", shape.width)
        self.matrix(prefix + "ffn_gate.weight", shape.feed_forward, shape.width)
        self.matrix(prefix + "ffn_up.weight", shape.feed_forward, shape.width)
        self.matrix(prefix + "ffn_down.weight", shape.width, shape.feed_forward)
        if shape.window:
            self.vector(prefix + "attn_q_norm.weight", shape.head_dim)
            self.vector(prefix + "attn_k_norm.weight", shape.head_dim)
            self.vector(prefix + "post_attention_norm.weight", shape.width)
            self.vector(prefix + "post_ffw_norm.weight", shape.width)

    def write(self) -> None:
        size = len(vocabulary()[0])
        self.metadata()
        spread = 2.4 * self.shape.width ** -0.5  # of the embeddings: logits within reason
        self.matrix("token_embd.weight", size, self.shape.width, spread)
        self.vector("output_norm.weight", self.shape.width)
        if not self.shape.tied:
            self.matrix("output.weight", size, self.shape.width, spread)
        for layer in range(self.shape.layers):
            self.layer(f"blk.{layer}.")
        self.out.write_header_to_file()
        self.out.write_kv_data_to_file()
        self.out.write_tensors_to_file()
        self.out.close()


def compute(path: pathlib.Path, seed: int) -> bytes:
    model = llama.Model(path)
    chance = np.random.default_rng(seed)
    written = []
    for name, size in [("one token", 1), ("short", 7), ("longer", 40)]:
        tokens = [1] + [int(token) for token in chance.integers(3, model.size, size - 1)]
        logits, steps = llama.greedy(model, tokens, GREEDY_STEPS)
        written.append(golden_file.prompt(name, tokens, logits, model.size, steps))
    return golden_file.model(path.stem, written)


def some_blocks(seed: int) -> bytes:
    chance = np.random.default_rng(seed)
    entries = []
    for kind in PLAIN + SUPER:
        data = matrix(chance, kind, 4, 256, 1.0)
        values = gguf.quants.dequantize(data, kind) if kind != Type.F32 else data
        entries.append((kind.name, data.tobytes(), np.asarray(values)))
    return golden_file.blocks(entries)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    models = [(kind.name.lower(), SMALL, kind) for kind in PLAIN]
    models += [(kind.name.lower(), WIDE, kind) for kind in SUPER]
    models.append(("untied", dataclasses.replace(SMALL, tied=False), Type.Q8_0))
    models.append(("gemma3", GEMMA, Type.Q8_0))
    for seed, (name, shape, kind) in enumerate(models, 1):
        path = folder / "tiny" / f"{name}.gguf"
        ModelWriter(path, shape, kind, seed).write()
        path.with_suffix(".golden").write_bytes(compute(path, seed))
        print(f"{name}: {path.stat().st_size:,} bytes")
    (folder / "blocks.golden").write_bytes(some_blocks(len(models) + 1))


if __name__ == "__main__":
    main()
