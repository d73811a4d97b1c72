"""Writes what llama.cpp makes of the corpus, with one vocabulary after another.

    python3 tools/golden/token_ids.py tests/engine/tokenizer/golden NAME=FILE.gguf ...

writes corpus.hex, a text a line, and for each vocabulary NAME.tokens: a line a text, of
fields with a tab between. Texts are in hexadecimal; `=` stands for the text itself.

    plain     token ids, control tokens not recognised; an id for BOS in front if added
    parsed    token ids, control tokens recognised; `=` if as `plain`
    shown     the text of `parsed`, control tokens spelled out
    decoded   the text of `plain`, control tokens hidden; for SentencePiece-like ones by
              llama.cpp's detokenize(), which for others drops spaces that were there
"""

import pathlib
import sys

import corpus
import llama


def line(model: llama.Model, text: bytes) -> str:
    plain = model.tokenize(text, True, False)
    parsed = model.tokenize(text, True, True)
    shown = b"".join(model.piece(token, True) for token in parsed)
    decoded = model.detokenize(plain) if model.is_spm else b"".join(
        model.piece(token, False) for token in plain)
    fields = [" ".join(map(str, plain)),
              "=" if parsed == plain else " ".join(map(str, parsed)),
              "=" if shown == text else shown.hex(),
              "=" if decoded == text else decoded.hex()]
    return "\t".join(fields) + "\n"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    texts = corpus.texts()
    (folder / "corpus.hex").write_text("".join(text.hex() + "\n" for text in texts))
    for argument in sys.argv[2:]:
        name, _, path = argument.partition("=")
        model = llama.Model(path, vocab_only=True)
        with open(folder / f"{name}.tokens", "w") as out:
            out.writelines(line(model, text) for text in texts)


if __name__ == "__main__":
    main()
