"""The nodes of a cluster as processes of their own, for tests to be clients of, and to
kill."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

LIMIT = 60

HEAD = """
[cluster]
name = "at{http}"
listen = "127.0.0.1:{http}"
control = "{control}"
drain_limit_ms = 5000

[model]
path = "{model}"
context_tokens_max = 1024

[network]
heartbeat_ms = 400
silence_limit_ms = {silence_ms}
{network}

[slo]
ttft_ms = 600000
tbt_ms = 600000

[cost_model]
prefill_token_us = 2500
decode_fixed_ms = 10
decode_sequence_us = 2000
"""

NODE = """
[[node]]
name = "{name}"
address = "127.0.0.1:{port}"
cache_shard = {{ dram = "64MiB" }}
{parts}
"""

PARTS = {
    "p": 'prefill_group = [ { engine = "cpu", threads = 1, arena = "64MiB" } ]',
    "d": 'decode_instance = [ { engine = "cpu", threads = 1, arena = "64MiB" } ]',
}


def free_ports(count):
    """The first of so many ports in a row that nobody listens at. Two runs at once look in
    different places: a port is free until its process has begun to listen."""
    lowest, highest = 20000, 32000  # below those that the system gives to clients
    place = os.getpid() * 64 % (highest - lowest)
    for step in range(0, highest - lowest, count + 7):
        first = lowest + (place + step) % (highest - lowest)
        sockets = []
        try:
            for port in range(first, first + count):
                one = socket.socket()
                sockets.append(one)
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no ports are free")


class Node:
    """One process; without a name, all of them, under `perigee serve`. `lines` is what
    it has said."""

    def __init__(self, program, topology, name, *arguments, before=()):
        self.name = name
        self.process = subprocess.Popen(
            [*before, program, *(["node", "--name", name] if name else ["serve"]), str(topology),
             *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.was_killed = False
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def wait_for_line(self, part, count=1):
        with self.changed:
            found = self.changed.wait_for(
                lambda: sum(part in line for line in self.lines) >= count, LIMIT
            )
        assert found, f"{self.name} never said {part}:\n" + "".join(self.lines)

    def send(self, what):
        self.process.send_signal(what)

    def kill(self):
        self.was_killed = True
        self.process.kill()
        self.process.wait(LIMIT)

    def close(self):
        """Its exit code, after a SIGTERM."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.reader.join(LIMIT)
        self.process.stderr.close()
        return code


class Nodes:
    """A cluster of them. The first is the control node; a name's letter says what it
    does: p prefills, d decodes."""

    def __init__(self, program, model, names, network="", silence_ms=2000):
        self.program = program
        self.names = names
        self.folder = tempfile.TemporaryDirectory()
        first = free_ports(3 * len(names) + 1)
        self.url = f"http://127.0.0.1:{first}"
        self.ports = {name: first + 1 + 3 * i for i, name in enumerate(names)}
        self.topology = pathlib.Path(self.folder.name) / "nodes.toml"
        self.topology.write_text(
            HEAD.format(http=first, control=names[0], network=network,
                        silence_ms=silence_ms,
                        model=pathlib.Path(model).resolve())
            + "".join(
                NODE.format(name=name, port=self.ports[name], parts=PARTS[name[0]])
                for name in names
            )
        )
        self.running = {}

    def make_secure(self):
        """Certificates and keys for all, as `perigee certs` makes them."""
        certs = pathlib.Path(self.folder.name) / "certs"
        made = subprocess.run(
            [self.program, "certs", str(self.topology), "--out", str(certs)],
            capture_output=True, text=True, timeout=LIMIT, check=True,
        ).stdout
        text = self.topology.read_text().replace("[network]", '[network]\ntls = "certs"')
        for name, key in re.findall(r'name = "(\w+)"\nkey = "(\w+)"', made):
            text = text.replace(f'name = "{name}"\n', f'name = "{name}"\nkey = "{key}"\n')
        self.topology.write_text(text)
        return self

    def start(self, *names):
        for name in names or self.names:
            if name in self.running:
                self.running[name].close()
            self.running[name] = Node(self.program, self.topology, name,
                                      before=self.before(name))
        return self

    def before(self, name):
        """Words that its command begins with."""
        return []

    def __getitem__(self, name):
        return self.running[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.running.values():
            one.kill()
            one.close()
        self.folder.cleanup()

    def said(self):
        return "\n".join(
            f"--- {name}\n" + "".join(one.lines) for name, one in self.running.items()
        )

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.url + "/ready", timeout=LIMIT) as got:
                return got.status == 200
        except urllib.error.HTTPError as refused:
            assert refused.code == 503
            return False
        except urllib.error.URLError:
            return False

    def answers(self):
        """Whether its HTTP side is there, ready or not."""
        try:
            urllib.request.urlopen(self.url + "/live", timeout=LIMIT).close()
            return True
        except urllib.error.URLError:
            return False

    def wait_until(self, is_so, limit=LIMIT):
        end = time.monotonic() + limit
        while not is_so():
            assert time.monotonic() < end, "it never came to that:\n" + self.said()
            for one in self.running.values():
                assert one.process.poll() is None or one.was_killed, self.said()
            time.sleep(0.05)

    def wait_until_ready(self):
        self.wait_until(self.is_ready)

    def open(self, prompt, tokens, **more):
        """The stream of an answer."""
        body = {"prompt": prompt, "max_tokens": tokens, "stream": True,
                "ignore_eos": True, "temperature": 0, **more}
        request = urllib.request.Request(
            self.url + "/v1/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        return urllib.request.urlopen(request, timeout=LIMIT)

    def ask(self, prompt, tokens, **more):
        """Text and reason of a whole answer; or what the error says."""
        try:
            with self.open(prompt, tokens, **more) as stream:
                return answer_in(stream)
        except urllib.error.HTTPError as refused:
            return "", json.loads(refused.read())["error"]["code"]

    def metric(self, name, node=None, label=""):
        """The sum of all metrics of this name that have the label, if one is given; of
        the control node or another."""
        url = self.url
        if node and node != self.names[0]:
            url = f"http://127.0.0.1:{self.ports[node] + 2}"
        with urllib.request.urlopen(url + "/metrics", timeout=LIMIT) as got:
            text = got.read().decode()
        found = re.findall(
            r"^" + re.escape(name) + r"((?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE
        )
        return sum(float(value) for labels, value in found if label in labels)


def answer_in(stream):
    """Text and finish reason of a stream, or the code of the error that ends it."""
    text, reason = "", None
    for line in stream:
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        said = json.loads(line[6:])
        if "error" in said:
            return text, said["error"]["code"]
        for choice in said["choices"]:
            text += choice["text"]
            reason = choice["finish_reason"] or reason
    return text, reason
