"""`perigee serve` as a process: starting, being ready, refusing, ending.

    serve_test.py PROGRAM MODEL
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

program, model = map(os.path.abspath, sys.argv[1:3])
LIMIT = 60

# A token every half second.
SLOW = """
model.path = "{model}"
cluster.drain_limit_ms = {drain_limit_ms}
slo.tbt_ms = 100000
[hardware.slow]
decode_fixed_ms = 500
[[node]]
prefill_group = [ {{ engine = "modelled", hardware = "slow" }} ]
decode_instance = [ {{ engine = "modelled", hardware = "slow" }} ]
"""


class Process:
    """Serves, or says on `lines` why not."""

    def __init__(self, *arguments, source=model):
        self.process = subprocess.Popen(
            [program, "serve", source, "--set", "cluster.listen=127.0.0.1:0", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines = []
        self.url = None
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                found = re.search(r"serving url=(http://\S+)", line)
                if found:
                    self.url = found.group(1)
                self.changed.notify_all()

    def wait_for_line(self, part):
        with self.changed:
            found = self.changed.wait_for(
                lambda: any(part in line for line in self.lines), LIMIT
            )
        assert found, f"never said {part}:\n" + "".join(self.lines)

    def wait_until_ready(self):
        self.wait_for_line("serving url=")
        for _ in range(LIMIT * 20):
            try:
                urllib.request.urlopen(self.url + "/ready", timeout=LIMIT).close()
                return
            except urllib.error.HTTPError as refused:
                assert refused.code == 503
                time.sleep(0.05)
        raise AssertionError("it never was ready")

    def stream(self, tokens):
        """A connection on which an answer of so many tokens has begun."""
        body = json.dumps(
            {"prompt": [3, 4, 5], "max_tokens": tokens, "stream": True, "ignore_eos": True}
        ).encode()
        request = urllib.request.Request(
            self.url + "/v1/completions", body, {"content-type": "application/json"}
        )
        opened = urllib.request.urlopen(request, timeout=LIMIT)
        assert opened.readline().startswith(b"data: ")
        return opened

    def send(self, what=signal.SIGTERM):
        self.process.send_signal(what)

    def wait(self):
        code = self.process.wait(LIMIT)
        self.reader.join(LIMIT)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.wait()
        self.process.stderr.close()


class ServeTest(unittest.TestCase):
    def test_it_serves_until_it_is_told_to_end(self):
        for what in (signal.SIGTERM, signal.SIGINT):
            with Process() as one:
                one.wait_until_ready()
                one.send(what)
                self.assertEqual(one.wait(), 0)
                self.assertIn("ended", one.lines[-1])

    def test_an_open_answer_ends_in_order_and_no_other_begins(self):
        with Process() as one:
            one.wait_until_ready()
            answer = one.stream(400)
            one.send()
            one.wait_for_line("draining gateways=1")
            with self.assertRaises(urllib.error.URLError):
                one.stream(1)
            rest = answer.read()
            self.assertTrue(rest.rstrip().endswith(b"data: [DONE]"), rest[-200:])
            self.assertIn(b'"finish_reason":"length"', rest)
            self.assertEqual(one.wait(), 0)

    def test_the_drain_limit_ends_what_does_not_end(self):
        # Tokens of a modelled engine take as long as we like.
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "slow.toml")
            with open(path, "w") as topology:
                topology.write(SLOW.format(model=model, drain_limit_ms=200))
            with Process(source=path) as one:
                one.wait_until_ready()
                with one.stream(400):
                    one.send()
                    one.wait_for_line("drain_limit_reached")
                    self.assertEqual(one.wait(), 0)

    def test_a_second_signal_ends_at_once(self):
        with Process("--set", "cluster.drain_limit_ms=86400000") as one:
            one.wait_until_ready()
            # Nobody reads it: so it does not end.
            with one.stream(400):
                one.send(signal.SIGSTOP)  # both signals wait for it
                one.send()
                one.send(signal.SIGINT)
                one.send(signal.SIGCONT)
                code = one.wait()
            self.assertIn(code, (128 + signal.SIGTERM, 128 + signal.SIGINT))
            # Other threads may still have something to say.
            self.assertIn("perigee: ended by a second signal\n", one.lines)

    def test_the_same_signal_once_more_ends_at_once_if_it_comes_later(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "slow.toml")
            with open(path, "w") as topology:
                topology.write(SLOW.format(model=model, drain_limit_ms=86400000))
            with Process(source=path) as one:
                one.wait_until_ready()
                with one.stream(400):
                    one.send()
                    one.wait_for_line("draining")  # so it was heard before the next
                    time.sleep(0.3)
                    one.send()
                    self.assertEqual(one.wait(), 128 + signal.SIGTERM)
                self.assertIn("perigee: ended by a second signal\n", one.lines)

    def test_metrics_show_a_cluster_that_is_up(self):
        with Process() as one:
            one.wait_until_ready()
            with urllib.request.urlopen(one.url + "/metrics", timeout=LIMIT) as got:
                text = got.read().decode()
            self.assertIn("\nperigee_cluster_ready 1\n", text)
            self.assertIn("\nperigee_cluster_actors_down 0\n", text)
            self.assertRegex(text, r"\nvllm:num_requests_running\{")

    def complete(self, url, prompt):
        """The timings of an answer of six tokens."""
        body = json.dumps({"prompt": prompt, "max_tokens": 6, "ignore_eos": True}).encode()
        request = urllib.request.Request(
            url + "/v1/completions", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=LIMIT) as got:
            return json.load(got)["timings"]

    def trace(self, folder, *arguments):
        return subprocess.run(
            [program, "trace", folder, *arguments],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        ).stdout

    def test_a_journal_tells_what_clients_were_told_but_not_what_they_said(self):
        secret = 259  # a token of the prompt: four bytes that nothing else here has
        with tempfile.TemporaryDirectory() as folder:
            for plain in (False, True):
                where = os.path.join(folder, str(plain))
                options = ["--journal", where] + ["--journal-plain"] * plain
                with Process(*options) as one:
                    one.wait_until_ready()
                    told = self.complete(one.url, [secret] * 40)
                    one.send()
                    self.assertEqual(one.wait(), 0)
                (row,) = self.trace(where, "list").splitlines()[1:]
                number, _, outcome, read, _, drawn = row.split()[:6]
                self.assertEqual((outcome, read, drawn), ("length", "40", "6"))
                shown = self.trace(where, "show", number)
                for stage in ("tokenize", "queue", "prefill"):  # before a flush
                    (line,) = [x for x in shown.splitlines() if x.startswith(stage + " ")]
                    self.assertAlmostEqual(
                        float(line.split()[2]), told[stage + "_ms"], places=6
                    )
                (life,) = os.listdir(where)
                path = os.path.join(where, life, "00000001.journal")
                with open(path, "rb") as journal:
                    # Packed: of a word of two such tokens, the four bytes that aren't 0.
                    said = b"\x33\x03\x01\x03\x01" in journal.read()
                self.assertEqual(said, plain)

    def test_what_cannot_be_started_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "huge.toml")
            with open(path, "w") as topology:
                topology.write(f"""
                    model.path = "{model}"
                    cluster.respawns_max = 1
                    [[node]]
                    prefill_group = [ {{ engine = "cpu", arena = "64TiB" }} ]
                    decode_instance = [ {{ engine = "cpu" }} ]
                """)
            with Process(source=path) as one:
                self.assertEqual(one.wait(), 1)
                self.assertIn("an actor could not be started", one.lines[-1])

    def test_an_address_that_is_taken_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with Process("--set", f"cluster.listen=127.0.0.1:{port}") as one:
                self.assertEqual(one.wait(), 1)
                self.assertIn(f"cannot listen at 127.0.0.1 port {port}", one.lines[-1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
