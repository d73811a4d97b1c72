"""A real `perigee serve`, for tests to be its clients."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from free_ports import free_ports

SKIP = 77  # what ctest is told

TOPOLOGY = """
[cluster]
listen = "127.0.0.1:0"
drain_limit_ms = {drain_ms}

[model]
path = "{model}"
context_tokens_max = {context}

[limits]
body_bytes_max = "1MiB"

[slo]
ttft_ms = 600000
tbt_ms = 600000

[http]
{http}

"""

ONE_NODE = """
[[node]]
name = "n0"
cache_shard = { dram = "128MiB" }
prefill_group = [ { engine = "cpu", threads = 1, arena = "96MiB" } ]
decode_instance = [ { engine = "cpu", threads = 1, arena = "96MiB", batch_max = 16 } ]
"""

# Where the environment names a transport: processes that move KV by it.
TRANSPORT = os.environ.get("E2E_TRANSPORT", "")
TWO_NODES = """
[cost_model]
prefill_token_us = 2500
decode_fixed_ms = 10
decode_sequence_us = 2000

[[node]]
name = "n0"
address = "127.0.0.1:{first}"
cache_shard = {{ dram = "128MiB" }}
prefill_group = [ {{ engine = "cpu", threads = 1, arena = "96MiB" }} ]

[[node]]
name = "n1"
address = "127.0.0.1:{second}"
cache_shard = {{ dram = "128MiB" }}
decode_instance = [ {{ engine = "cpu", threads = 1, arena = "96MiB", batch_max = 16 }} ]

[[link]]
from = "n0"
to = "n1"
transport = "{transport}"
"""


def nodes(first_port):
    if not TRANSPORT:
        return ONE_NODE
    return TWO_NODES.format(first=first_port, second=first_port + 3, transport=TRANSPORT)


def other_metrics(first_port):
    """Where nodes have theirs that serve no clients."""
    return [f"http://127.0.0.1:{first_port + 5}/metrics"] if TRANSPORT else []


class Cluster:
    """Runs until `close()`; `url` is where it serves."""

    def __init__(self, program, model, context=1024, http="", drain_ms=20000):
        self.folder = tempfile.TemporaryDirectory()
        topology = pathlib.Path(self.folder.name) / "e2e.toml"
        first_port = free_ports(6)
        topology.write_text(
            TOPOLOGY.format(
                model=model, context=context, http=http, drain_ms=drain_ms
            )
            + nodes(first_port)
        )
        self.others = other_metrics(first_port)
        self.process = subprocess.Popen(
            [program, "serve", str(topology), *(["--processes"] if TRANSPORT else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.was_asked_to_end = False
        self.lines = []
        self.url = None
        self.listening = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if not self.listening.wait(120) or self.url is None:
            self.process.kill()
            raise RuntimeError("it never served:\n" + "".join(self.lines))
        self._wait_until_ready()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"serving url=(http://\S+)", line)
            if found and (not TRANSPORT or line.startswith("[n0]")):
                self.url = found.group(1)
                self.listening.set()
        self.listening.set()

    def _wait_until_ready(self):
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.url + "/ready", timeout=10) as got:
                    if got.status == 200:
                        return
            except urllib.error.HTTPError as refused:
                assert refused.code == 503
            time.sleep(0.1)
        raise RuntimeError("it never was ready")

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def call(self, path, body=None, headers=None):
        """Status, headers and body of one request; JSON is read."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, dict(headers or {}))
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=120) as got:
                return got.status, got.headers, self._content(got)
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, self._content(refused)

    @staticmethod
    def _content(got):
        text = got.read().decode()
        is_json = got.headers.get("Content-Type", "").startswith("application/json")
        return json.loads(text) if is_json else text

    def metric(self, name):
        """The sum of all metrics of this name."""
        _, _, text = self.call("/metrics")
        for url in self.others:
            with urllib.request.urlopen(url, timeout=120) as got:
                text += got.read().decode()
        found = re.findall(
            r"^" + re.escape(name) + r"(?:\{[^}]*\})? (\S+)$", text, re.MULTILINE
        )
        if not found:
            raise KeyError(name)
        return sum(float(value) for value in found)

    def wait_for_metric(self, name, value):
        """False if it does not come to be `value` within half a minute."""
        return self.wait_until(lambda: self.metric(name) == value)

    @staticmethod
    def wait_until(is_so):
        """False if it does not come to that within half a minute."""
        for _ in range(300):
            if is_so():
                return True
            time.sleep(0.1)
        return False

    def end(self):
        """Asks it to end. Once: a second time would end it at once."""
        if not self.was_asked_to_end and self.process.poll() is None:
            self.was_asked_to_end = True
            self.process.send_signal(signal.SIGTERM)

    def close(self):
        """Has it end; returns its exit code and what it said."""
        self.end()
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.folder.cleanup()
        return code, "".join(self.lines)


def arguments():
    """Program and model from the command line; nothing if there is no model."""
    program, model = sys.argv[1:3]
    return (program, model) if os.path.exists(model) else None


def main():
    """Runs the tests of the program that calls, or says why not."""
    if arguments() is None:
        print("skipped: the model is not there; tools/fetch_model.sh fetches it")
        sys.exit(SKIP)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
