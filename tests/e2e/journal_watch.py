"""What a cluster's journals say while it runs: who has taken which message of which
request, and when. Reads the files as journal/format.hpp says, behind those who write them.
"""

import collections
import hashlib
import pathlib
import re
import struct
import typing

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"
SEGMENT_HEAD_BYTES = 16
FRAME_HEAD_BYTES = 16


class Event(typing.NamedTuple):
    """`role` of `node` sent, or began to handle, a message of a request's. `at` is in
    seconds since 1970; of what was sent, when the handler that did so began."""

    at: float
    kind: str  # "sent", "took"
    node: str
    role: str
    message: str
    trace: str  # the request's, as in its client's traceparent


class Header(typing.NamedTuple):
    trace: str = ""
    sent_ns: int = 0


def message_names():
    """Type's number -> name, for each struct at the top of a schema. A struct's number
    follows from its file's and its name."""
    names = {}
    for file in SCHEMAS.glob("*.capnp"):
        text = file.read_text()
        parent = int(re.search(r"^@0x([0-9a-f]+);", text, re.MULTILINE).group(1), 16)
        for name in re.findall(r"^struct (\w+)", text, re.MULTILINE):
            digest = hashlib.md5(struct.pack("<Q", parent) + name.encode()).digest()
            names[int.from_bytes(digest[:8], "big") | 1 << 63] = name
    return names


class Bytes:
    """A frame's payload, read from its front."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def __bool__(self):
        return self.at < len(self.data)

    def raw(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.raw(1)[0]

    def fixed64(self):
        return int.from_bytes(self.raw(8), "little")

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed(self):
        bits = self.number()
        return bits >> 1 ^ -(bits & 1)

    def text(self):
        return self.raw(self.number()).decode(errors="replace")


def unpack(packed, words):
    """The first `words` words of what Cap'n Proto has packed."""
    out = bytearray()
    at = 0
    while at < len(packed) and len(out) < 8 * words:
        tag = packed[at]
        at += 1
        for bit in range(8):
            if tag >> bit & 1:
                out.append(packed[at])
                at += 1
            else:
                out.append(0)
        if tag == 0:
            out += bytes(8 * packed[at])
            at += 1
        elif tag == 255:
            count = 8 * packed[at]
            out += packed[at + 1:at + 1 + count]
            at += 1 + count
    return bytes(out)


def header_of(packed):
    """Of a message: its first pointer leads there."""
    words = unpack(packed, 64)
    segments = 1 + struct.unpack_from("<I", words)[0]
    root_at = segments // 2 + 1  # behind the sizes of all segments
    if 8 * root_at + 8 > len(words):
        return Header()
    root = struct.unpack_from("<Q", words, 8 * root_at)[0]
    pointer_at = root_at + 1 + (root >> 2 & 0x3FFFFFFF) + (root >> 32 & 0xFFFF)
    if 8 * pointer_at + 8 > len(words):
        return Header()
    pointer = struct.unpack_from("<Q", words, 8 * pointer_at)[0]
    data_at = 8 * (pointer_at + 1 + (pointer >> 2 & 0x3FFFFFFF))
    if pointer == 0 or data_at + 64 > len(words):
        return Header()
    fields = struct.unpack_from("<7Qq", words, data_at)
    return Header(f"{fields[1]:016x}{fields[2]:016x}", fields[7])


class Segment:
    """One file, from where it was last left."""

    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.offset = SEGMENT_HEAD_BYTES
        self.node = path.parent.name.split("@")[0]
        self.clock_offset = 0
        self.actors = [""]
        self.types = [""]
        self.headers = {}  # (sender, sequence) -> what the message begins with
        self.moment = 0

    def read(self):
        """The events of the frames that have been written since."""
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        at = 0
        events = []
        while len(data) - at >= FRAME_HEAD_BYTES:
            size = int.from_bytes(data[at:at + 4], "little")
            end = at + FRAME_HEAD_BYTES + size
            if size == 0 or end > len(data):
                break
            self.moment = 0
            frame = Bytes(data[at + FRAME_HEAD_BYTES:end])
            while frame:
                self.read_record(frame, events)
            at = end
        self.offset += at
        return events

    def read_record(self, frame, events):
        kind = frame.byte()
        if kind == 1:
            self.read_opening(frame)
        elif kind == 2:
            self.read_introduction(frame)
        elif kind == 3:
            self.actors.append(f"{frame.fixed64():x}")
        elif kind == 4:
            number = frame.fixed64()
            self.types.append(self.names.get(number, f"{number:x}"))
        elif kind in (5, 6, 7, 8):
            self.read_message(kind, frame, events)
        elif kind == 9:
            frame.number()
        elif kind in (10, 11, 12):
            self.read_trouble(kind, frame)
        elif kind == 13:
            frame.number()
        else:
            raise ValueError(f"{self.path}: no record begins with {kind}")

    def read_opening(self, frame):
        frame.number()
        frame.fixed64()
        self.node = frame.text()
        frame.text()
        frame.fixed64()
        self.clock_offset = frame.signed()
        frame.byte()
        self.moment += frame.signed()

    def read_introduction(self, frame):
        frame.byte()
        frame.fixed64()
        name = frame.text()
        frame.text()
        frame.number()
        frame.number()
        frame.fixed64()
        frame.fixed64()
        frame.text()
        frame.signed()
        self.actors.append(name)

    def read_trouble(self, kind, frame):
        frame.number()
        if kind == 12:
            frame.number()
        else:
            frame.fixed64()
        if kind != 10:
            self.moment += frame.signed()
        frame.number()
        frame.number()
        frame.text()

    def read_message(self, kind, frame, events):
        by = self.actors[frame.number()]
        is_sent = kind in (5, 6)
        if is_sent:
            frame.number()
        message = frame.number(), frame.number()
        name = self.types[frame.number()]
        at = frame.signed()
        if not is_sent:
            at = self.moment = self.moment + at
        if kind in (5, 8):
            frame.number()
            self.headers[message] = header_of(frame.raw(frame.number()))
        header = self.headers.get(message, Header())
        if is_sent:
            at = header.sent_ns
        if header.trace.strip("0"):
            role = by.split("/")[-1].split(".")[0]
            kind = "sent" if is_sent else "took"
            at = (at + self.clock_offset) / 1e9
            events.append(Event(at, kind, self.node, role, name, header.trace))


class JournalWatch:
    """Of all nodes that keep their journals in `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.names = message_names()
        self.segments = {}
        self.events = collections.defaultdict(list)

    def look(self, trace):
        """All events so far of one trace, in order of time."""
        for path in self.folder.glob("*/*.journal"):
            if path not in self.segments:
                if path.stat().st_size < SEGMENT_HEAD_BYTES:
                    continue
                self.segments[path] = Segment(path, self.names)
            for event in self.segments[path].read():
                self.events[event.trace].append(event)
        return sorted(self.events[trace])
