"""Writes what llama.cpp computes for a model: see tests/engine/golden/README.md.

    python3 tools/golden/forward_pass.py OUT.golden MODEL.gguf [chat]
"""

import pathlib
import sys

import golden_file
import llama
from prompts import prompts

SCORED = 64
GREEDY_STEPS = 200


def main() -> None:
    out, path = pathlib.Path(sys.argv[1]), sys.argv[2]
    model = llama.Model(path)
    written = []
    for name, text, parse in prompts(chat=sys.argv[3:] == ["chat"]):
        tokens = model.tokenize(text.encode(), True, parse)
        logits, steps = llama.greedy(model, tokens, GREEDY_STEPS)
        written.append(golden_file.prompt(name, tokens, logits, SCORED, steps))
        print(f"{name}: {len(tokens)} tokens")
    out.write_bytes(golden_file.model(out.stem, written))


if __name__ == "__main__":
    main()
