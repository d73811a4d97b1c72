"""The nodes of a cluster as processes of their own, for tests to be clients of, and to
kill."""

import collections
import http.client
import json
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from free_ports import free_ports

LIMIT = 60

# What a node holds of requests, by its letter: nothing, once they have ended.
OF_ALL_ENGINES = ["shard_blocks_leased", "shard_blocks_writing", "shard_blocks_kept",
                  "transfer_movements_open", "engine_forwards_open"]
GAUGES = {
    "c": ["conductor_requests", "gateway_cancelling"],
    "p": ["prefill_requests", "prefill_waiting", "prefill_moves", "prefill_pool_questions",
          "prefill_blocks_used", *OF_ALL_ENGINES],
    "d": ["decode_requests", "decode_sequences", "decode_waiting", "decode_parked",
          "decode_moves", "decode_pool_questions", "decode_blocks_used", *OF_ALL_ENGINES],
}

HEAD = """
[cluster]
name = "at{http}"
listen = "{host}:{http}"
control = "{control}"
drain_limit_ms = 5000
{cluster}

[model]
path = "{model}"
context_tokens_max = 1024

[network]
heartbeat_ms = 400
silence_limit_ms = {silence_ms}
{network}

{policy}

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
address = "{host}:{port}"
{parts}
"""

SHARD = 'cache_shard = { dram = "64MiB" }\n'
PARTS = {
    "c": "",
    "p": SHARD + 'prefill_group = [ { engine = "cpu", threads = 1, arena = "64MiB" } ]',
    "d": SHARD + 'decode_instance = [ { engine = "cpu", threads = 1, arena = "64MiB" } ]',
}


class Node:
    """One process; without a name, all of them, under `perigee serve`. `lines` is what
    it has said."""

    def __init__(self, program, topology, name, *arguments, before=()):
        self.name = name
        self.process = subprocess.Popen(
            [*before, program, *(["node", "--name", name] if name else ["serve"]),
             str(topology), *arguments],
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

    def count(self, part):
        with self.changed:
            return sum(part in line for line in self.lines)

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

    def strike(self, how):
        """SIGKILL, or SIGSTOP until it is to wake()."""
        if how == signal.SIGKILL:
            self.kill()
        else:
            self.send(how)

    def wake(self):
        self.send(signal.SIGCONT)

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
    does: p prefills, d decodes, c neither. They are on the hosts of `network`, or all on
    this one."""

    def __init__(self, program, model, names, cluster="", network="", policy="",
                 links="", keeps_journal=False, hosts=None, silence_ms=2000):
        self.program = program
        self.names = names
        self.hosts = hosts
        self.folder = tempfile.TemporaryDirectory()
        first = free_ports(3 * len(names) + 1)
        self.url = f"http://{self.address_of(names[0])}:{first}"
        self.ports = {name: first + 1 + 3 * i for i, name in enumerate(names)}
        self.topology = pathlib.Path(self.folder.name) / "nodes.toml"
        self.topology.write_text(
            HEAD.format(host=self.address_of(names[0]), http=first, control=names[0],
                        cluster=cluster, network=network,
                        policy=f"[policy]\n{policy}" if policy else "",
                        silence_ms=silence_ms, model=pathlib.Path(model).resolve())
            + "".join(
                NODE.format(name=name, host=self.address_of(name), port=self.ports[name],
                            parts=PARTS[name[0]])
                for name in names
            )
            + links
        )
        self.journal = pathlib.Path(self.folder.name) / "journal"
        self.arguments = ["--journal", str(self.journal)] if keeps_journal else []
        self.running = {}

    def address_of(self, name):
        return self.hosts.address_of(name) if self.hosts else "127.0.0.1"

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
                                      *self.arguments, before=self.before(name))
        return self

    def before(self, name):
        """Words that its command begins with."""
        return self.hosts.prefix_of(name) if self.hosts else []

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

    def wait_until(self, is_so, limit=LIMIT, why=lambda: "it never came to that"):
        end = time.monotonic() + limit
        while not is_so():
            assert time.monotonic() < end, f"{why()}:\n{self.said()}"
            for one in self.running.values():
                assert one.process.poll() is None or one.was_killed, self.said()
            time.sleep(0.05)

    def wait_until_ready(self):
        self.wait_until(self.is_ready)

    def wait_until_whole(self):
        """Everybody knows everybody."""
        for name in self.names:
            self.wait_until(
                lambda: self.metrics(name)["perigee_cluster_nodes_met"]
                == len(self.names) - 1)
        self.wait_until_ready()

    def wait_until_nothing_is_held(self, but=None):
        """Of any request, by all but one who is not there."""
        for name in self.names:
            if name != but:
                self.wait_until(lambda: not self.held_by(name),
                                why=lambda: f"{name} holds {self.held_by(name)}")

    def held_by(self, name):
        seen = self.metrics(name)
        gauges = GAUGES[name[0]] + (GAUGES["c"] if name == self.names[0] else [])
        return {one: seen.get("perigee_" + one, "?") for one in gauges
                if seen.get("perigee_" + one) != 0}

    def open(self, prompt, tokens, trace=None, **more):
        """The stream of an answer."""
        body = {"prompt": prompt, "max_tokens": tokens, "stream": True,
                "ignore_eos": True, "temperature": 0, **more}
        request = urllib.request.Request(
            self.url + "/v1/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        if trace:
            request.add_header("traceparent", f"00-{trace}-00000000000000ff-01")
        return urllib.request.urlopen(request, timeout=LIMIT)

    def ask(self, prompt, tokens, see=lambda text: None, **more):
        """Text and reason of a whole answer; or what the error says."""
        try:
            with self.open(prompt, tokens, **more) as stream:
                return answer_in(stream, see)
        except urllib.error.HTTPError as refused:
            return "", json.loads(refused.read())["error"]["code"]

    def series(self, node):
        """Name, labels and value of all metrics of a node."""
        url = self.url
        if node != self.names[0]:
            url = f"http://{self.address_of(node)}:{self.ports[node] + 2}"
        with urllib.request.urlopen(url + "/metrics", timeout=LIMIT) as got:
            text = got.read().decode()
        return [
            (name, labels, float(value)) for name, labels, value in
            re.findall(r"^([\w:]+)((?:\{.*\})?) (\S+)$", text, re.MULTILINE)
        ]

    def metrics(self, node):
        """By name: sums over their labels. None of them, if it does not answer."""
        sums = collections.defaultdict(float)
        try:
            for name, _, value in self.series(node):
                sums[name] += value
        except OSError:
            pass
        return sums

    def metric(self, name, node=None, label=""):
        """The sum of all metrics of this name that have the label, if one is given; of
        the control node or another."""
        return sum(value for one, labels, value in self.series(node or self.names[0])
                   if one == name and label in labels)


def answer_in(stream, see=lambda text: None):
    """Text and finish reason of a stream, or the code of the error that ends it. `see` is
    shown each piece of text as it comes."""
    text, reason = "", None
    for line in stream:
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        said = json.loads(line[6:])
        if "error" in said:
            return text, said["error"]["code"]
        for choice in said["choices"]:
            see(choice["text"])
            text += choice["text"]
            reason = choice["finish_reason"] or reason
    return text, reason


class Call(threading.Thread):
    """A client that waits for its answer. `trace` names its request in journals; `text`
    and `reason` are as of answer_in(), or `reason` is "closed" if the connection ended
    first."""

    def __init__(self, cluster, prompt, tokens, **more):
        super().__init__(daemon=True)
        self.trace = f"{random.getrandbits(128):032x}"
        self.ask = cluster.ask, prompt, tokens, more
        self.pieces = 0
        self.text, self.reason = "", None
        self.ended_at = None
        self.start()

    def run(self):
        ask, prompt, tokens, more = self.ask
        try:
            self.text, self.reason = ask(prompt, tokens, self.see, trace=self.trace, **more)
        except (OSError, http.client.HTTPException):
            self.reason = "closed"
        self.ended_at = time.time()
        self.reason = self.reason or "closed"

    def see(self, _):
        self.pieces += 1

    def is_open(self):
        return self.ended_at is None

    def result(self):
        self.join(LIMIT)
        return self.text, self.reason
