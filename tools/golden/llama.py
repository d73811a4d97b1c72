"""The little of llama.cpp that the reference values are made with, by llama-cpp-python."""

import ctypes

import llama_cpp as lib
import numpy as np


@lib.llama_log_callback
def _quiet(level, text, data):
    pass


lib.llama_log_set(_quiet, ctypes.c_void_p(0))
lib.llama_backend_init()


class Model:
    def __init__(self, path: str, vocab_only: bool = False):
        params = lib.llama_model_default_params()
        params.vocab_only = vocab_only
        params.n_gpu_layers = 0
        self.model = lib.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise SystemExit(f"llama.cpp can't load {path}")
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.is_spm = lib.llama_vocab_type(self.vocab) == lib.LLAMA_VOCAB_TYPE_SPM
        self.size = lib.llama_vocab_n_tokens(self.vocab)

    def tokenize(self, text: bytes, special: bool, parse: bool) -> list[int]:
        room = 3 * len(text) + 8  # U+FFFD for a byte may be three
        ids = (lib.llama_token * room)()
        count = lib.llama_tokenize(self.vocab, text, len(text), ids, room, special, parse)
        if count < 0:
            raise SystemExit("llama.cpp made more than three tokens a byte")
        return list(ids[:count])

    def piece(self, token: int, special: bool) -> bytes:
        room = 1024
        buffer = ctypes.create_string_buffer(room)
        count = lib.llama_token_to_piece(self.vocab, token, buffer, room, 0, special)
        if count < 0:
            raise SystemExit("a piece of more than 1,024 bytes")
        return buffer.raw[:count]

    def detokenize(self, ids: list[int]) -> bytes:
        room = 1 << 20
        buffer = ctypes.create_string_buffer(room)
        array = (lib.llama_token * max(1, len(ids)))(*ids)
        count = lib.llama_detokenize(self.vocab, array, len(ids), buffer, room, False,
                                     False)
        if count < 0:
            raise SystemExit("a text of more than 1 MiB")
        return buffer.raw[:count]


class Context:
    """Runs one sequence: two threads, KV in F16, no flash attention."""

    def __init__(self, model: Model, tokens_max: int):
        params = lib.llama_context_default_params()
        params.n_ctx = tokens_max
        params.n_batch = tokens_max
        params.n_threads = params.n_threads_batch = 2
        params.type_k = params.type_v = lib.GGML_TYPE_F16
        params.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.no_perf = True
        self.size = model.size
        self.context = lib.llama_init_from_model(model.model, params)
        if not self.context:
            raise SystemExit("llama.cpp can't make a context")

    def run(self, tokens: list[int], first_position: int) -> np.ndarray:
        """Logits after each of `tokens`."""
        batch = lib.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = first_position + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = True
        if lib.llama_decode(self.context, batch) != 0:
            raise SystemExit("llama.cpp can't decode")
        lib.llama_batch_free(batch)
        rows = [np.ctypeslib.as_array(lib.llama_get_logits_ith(self.context, i),
                                      (self.size,)).copy() for i in range(len(tokens))]
        return np.stack(rows)

    def free(self) -> None:
        lib.llama_free(self.context)


def greedy(model: Model, tokens: list[int], steps: int):
    """Logits after each of `tokens`, and of each greedy step after them."""
    context = Context(model, len(tokens) + steps + 8)
    logits = context.run(tokens, 0)
    steps_logits = []
    last = logits[-1]
    for step in range(steps):
        steps_logits.append(last)
        if step + 1 < steps:
            last = context.run([int(last.argmax())], len(tokens) + step)[0]
    context.free()
    return logits, steps_logits
