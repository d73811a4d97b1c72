"""Writes small vocabularies as GGUF files without tensors: one for each pre-tokenizer of
byte-level BPE, and one as SentencePiece has them.

    python3 tools/golden/tiny_vocabularies.py tests/engine/tokenizer/golden
"""

import collections
import pathlib
import re
import sys

import gguf

import corpus

KINDS = gguf.TokenType
MERGES = 420


def letters() -> dict[int, str]:
    """GPT-2's letter for each byte."""
    prints = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {byte: chr(byte) for byte in prints}
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(0x100 + len(table) - len(prints))
    return table


def training_words() -> list[str]:
    text = "\n".join(corpus.NASTY[:50]) + " ".join(corpus.WORDS * 3)
    words = re.findall(r"'[a-z]{1,2}| ?[^\W\d_]+|\d{1,3}| ?[^\w\s]+[\r\n]*|\s+", text)
    words += ["    ", "\n\n", "\r\n", "  ", "\t\t", "123", "12", "'s", "'S", "'ll", "...\n"]
    table = letters()
    return ["".join(table[byte] for byte in word.encode()) for word in words]


def train(words: list[str], count: int) -> list[tuple[str, str]]:
    """Plain BPE: the most frequent pair of neighbours, the first of equals."""
    splits = collections.Counter(tuple(word) for word in words)
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for parts, often in splits.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += often
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        merged = collections.Counter()
        for parts, often in splits.items():
            out = []
            for part in parts:
                if out and (out[-1], part) == best:
                    out[-1] += part
                else:
                    out.append(part)
            merged[tuple(out)] += often
        splits = merged
    return merges


def write_byte_pairs(path: pathlib.Path, pre: str, add_bos: bool | None) -> None:
    merges = train(training_words(), MERGES)
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>",
              "<|eot_id|>"]
    kinds = [KINDS.CONTROL] * len(tokens)
    tokens += list(letters().values())
    tokens += list(dict.fromkeys(left + right for left, right in merges))
    # Tokens that no merge makes: only a rule that prefers whole words finds them.
    tokens += ["Ġquagmire", "ĠÂ§Â§"]
    kinds += [KINDS.NORMAL] * (len(tokens) - len(kinds))
    tokens += ["<code>", "</code>", "<gh_stars>"]
    kinds += [KINDS.USER_DEFINED] * 3
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([f"{left} {right}" for left, right in merges])
    writer.add_bos_token_id(3)
    writer.add_eos_token_id(0)
    if add_bos is not None:
        writer.add_add_bos_token(add_bos)
    close(writer)


def write_pieces(path: pathlib.Path) -> None:
    tokens = ["<unk>", "<s>", "</s>"]
    kinds = [KINDS.UNKNOWN, KINDS.CONTROL, KINDS.CONTROL]
    scores = [0.0] * 3
    tokens += [f"<0x{byte:02X}>" for byte in range(256)]
    kinds += [KINDS.BYTE] * 256
    scores += [0.0] * 256
    text = "\n".join(corpus.NASTY[:50]) + " ".join(corpus.WORDS * 3)
    text = text.replace("\0", "")  # llama.cpp reads tokens as C strings
    words = [word.replace(" ", "\u2581") for word in re.findall(r"[ ]?[^ ]+|[ ]+", text)]
    merges = train(words, MERGES)
    pieces = list(dict.fromkeys(left + right for left, right in merges))
    # Not all of them: the others are spelled in bytes.
    singles = sorted({letter for word in words for letter in word})[::2]
    pieces += [letter for letter in singles if letter not in pieces]
    pieces += ["\u2581" * count for count in range(2, 9)
               if "\u2581" * count not in pieces]
    pieces = [piece for piece in pieces if piece not in ("[INST]", "[/INST]", "<code>")]
    tokens += pieces
    kinds += [KINDS.NORMAL] * len(pieces)
    # Pairs of equal scores: the leftmost is joined first.
    scores += [-float(rank // 2) for rank in range(len(pieces))]
    tokens += ["[INST]", "[/INST]", "<code>"]
    kinds += [KINDS.CONTROL, KINDS.CONTROL, KINDS.USER_DEFINED]
    scores += [0.0] * 3
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    close(writer)


def close(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for pre, add_bos in [("smollm", False), ("gpt-2", None), ("llama-bpe", None),
                         ("qwen2", False)]:
        write_byte_pairs(folder / f"tiny-{pre}.gguf", pre, add_bos)
    write_pieces(folder / "tiny-llama.gguf")


if __name__ == "__main__":
    main()
