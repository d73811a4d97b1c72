"""Writes the seeds: every golden message as it is, and one of them broken in many ways.

    python3 tests/fuzz/messages/make_seeds.py

A seed is a byte, the message's place in the golden file, and the message. What a run of
the fuzzer found lies beside them under names that begin with "found-".
"""

import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "schemas" / "golden" / "v4.txt"
BROKEN = "Handoff"  # one segment, with structs and lists at its root


def golden_messages() -> dict[str, list[int]]:
    lines = (line.split() for line in GOLDEN.read_text().splitlines())
    return {words[1]: [int(word, 16) for word in words[2:]]
            for words in lines if words[0] == "message"}


def pack(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}Q", *words)


def pointers_of_root(words: list[int]) -> range:
    offset, data, pointers = (words[1] & 0xFFFFFFFF) >> 2, words[1] >> 32 & 0xFFFF, \
        words[1] >> 48
    first = 2 + offset + data
    return range(first, first + pointers)


def struct_at(place: int, target: int, data: int, pointers: int) -> int:
    """A pointer that lies in word `place`."""
    offset = (target - place - 1) & 0x3FFFFFFF
    return pointers << 48 | data << 32 | offset << 2


def broken_messages(sound: list[int]) -> dict[str, bytes]:
    assert sound[0] & 0xFFFFFFFF == 0, f"{BROKEN} is no longer in one segment"
    pointers = pointers_of_root(sound)
    list_at = next(at for at in pointers if sound[at] & 3 == 1)
    struct_first = next(at for at in pointers if sound[at] and sound[at] & 3 == 0)

    def with_word(at: int, value: int) -> bytes:
        return pack(sound[:at] + [value] + sound[at + 1:])

    return {
        "cut": pack(sound[:-1]),
        "ragged": pack(sound)[:-3],
        "behind": pack(sound + [0]),
        "segments": with_word(0, 0xFFFFFFFF),
        "segment-size": with_word(0, 0xFFFFFFFF << 32),
        "circle": with_word(list_at, struct_at(list_at, 2, 1, len(pointers))),
        "far": with_word(1, 1 << 3 | 2),
        "far-segment": with_word(1, 9 << 32 | 2),
        "capability": with_word(list_at, 3),
        "count": with_word(list_at, sound[list_at] | 0x1FFFFFFF << 35),
        "outside": with_word(list_at, sound[list_at] | 0x1FFFFFFF << 2),
        "twice": with_word(list_at, struct_at(list_at, struct_first + 1, 1, 0)),
        "kind": with_word(struct_first, sound[struct_first] ^ 1),
        "bits": with_word(2, (1 << 64) - 1),
        "nothing": pack([1 << 32, 0]),
    }


def main() -> None:
    seeds = HERE / "seeds"
    seeds.mkdir(exist_ok=True)
    messages = golden_messages()
    for place, (name, words) in enumerate(messages.items()):
        (seeds / name).write_bytes(bytes([place]) + pack(words))
    place = list(messages).index(BROKEN)
    for how, message in broken_messages(messages[BROKEN]).items():
        (seeds / f"{BROKEN}-{how}").write_bytes(bytes([place]) + message)


if __name__ == "__main__":
    main()
