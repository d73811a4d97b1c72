"""The little of llama.cpp that the reference values are made with, by llama-cpp-python."""

import ctypes

import llama_cpp as lib


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
