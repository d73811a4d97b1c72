"""Writes the seeds of tests/fuzz/tokenizer from the corpus.

    python3 tools/golden/fuzz_seeds.py tests/fuzz/tokenizer/seeds MODEL.gguf
"""

import pathlib
import sys

import gguf

import chat_prompts
import corpus

DIVIDER = b"\x1e"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    texts = [text[:200] for text in corpus.texts()[:120] if text]
    for kind, name in enumerate(["smollm", "gpt-2", "llama-bpe", "qwen2", "llama"]):
        for number in range(3):
            some = texts[3 * kind + number::15]
            (folder / f"text-{name}-{number}").write_bytes(
                bytes([kind]) + DIVIDER.join(some)[:1500])
    pairs = b"a\nb\nab\nabab\n<s>\n \xe2\x96\x81"
    (folder / "vocabulary-merges").write_bytes(
        b"\x05" + DIVIDER.join([pairs, b"a b\nab ab", b"\x01\x01\x01\x01\x03\x01",
                                b"ababab<s>ab"]))
    (folder / "vocabulary-pieces").write_bytes(
        b"\x05" + DIVIDER.join([b"<unk>\n" + pairs, b"",
                                b"\x02\x09\x11\x19\x21\x03\x04", b"abab a<s>"]))
    model = gguf.GGUFReader(sys.argv[2])
    sources = {"smollm2": model.fields["tokenizer.chat_template"].contents(),
               "llama3": chat_prompts.LLAMA3, "gemma": chat_prompts.GEMMA,
               "mistral": chat_prompts.MISTRAL_V7}
    for name, source in sources.items():
        (folder / f"chat-{name}").write_bytes(
            b"\x06" + DIVIDER.join([source.encode(), b"system", b"user", b"assistant",
                                    b"u <|im_end|>"]))


if __name__ == "__main__":
    main()
