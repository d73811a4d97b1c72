"""`perigee bench serve` against a cluster that runs, and against servers that fail.

    bench_serve_test.py PROGRAM MODEL
"""

import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

program, model = map(os.path.abspath, sys.argv[1:3])
LIMIT = 60
PLAIN = ["--token-first", "260", "--token-last", "287"]  # the tiny model has few tokens

TOPOLOGY = f"""
model.path = "{model}"
model.block_tokens = 16
[hardware.fast]
prefill_fixed_ms = 1
decode_fixed_ms = 1
[[node]]
prefill_group = [ {{ engine = "modelled", hardware = "fast" }} ]
decode_instance = [ {{ engine = "modelled", hardware = "fast" }} ]
"""

TRACE = [
    {"timestamp": 0, "input_length": 2048, "output_length": 320, "hash_ids": [1, 2, 3, 4]},
    {"timestamp": 300, "input_length": 2560, "output_length": 64, "hash_ids": [1, 2, 3, 4, 5]},
    {"timestamp": 300, "input_length": 100, "output_length": 1, "hash_ids": [9]},
]


class BenchServe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in TRACE))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def bench(self, url, *more):
        return subprocess.run(
            [program, "bench", "serve", self.trace, "--url", url, "--divide-lengths", "32", *PLAIN, *more],
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )

    def figures(self, url, *more):
        got = self.bench(url, "--json", "-", *more)
        self.assertEqual(got.returncode, 0, got.stderr)
        return json.loads(got.stdout)

    def serve(self):
        process = subprocess.Popen(
            [program, "serve", self.write("c.toml", TOPOLOGY), "--set", "cluster.listen=127.0.0.1:0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        for line in process.stderr:
            if found := re.search(r"serving url=(http://\S+)", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()
                return found.group(1)
        self.fail("it does not serve")

    def answer_all(self, status, body):
        class Answers(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def test_a_trace_is_served_in_full_and_its_prefixes_are_found(self):
        seen = self.figures(self.serve())
        self.assertEqual(seen["requests"], 3)
        self.assertEqual(seen["served"], 3)
        self.assertEqual(seen["answers"], {"200": 3})
        self.assertEqual(seen["tokens"]["input"], 64 + 80 + 4)
        self.assertEqual(seen["tokens"]["output"], 10 + 2 + 1)
        self.assertEqual(seen["tokens"]["cached"], 64)
        self.assertGreater(seen["ttft_ms"]["p50"], 0)
        self.assertGreater(seen["tbt_ms"]["count"], 0)

    def test_the_table_says_the_same(self):
        got = self.bench(self.serve())
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("requests 3: served 3 (100.0 %)", got.stdout)
        self.assertIn("TBT, longest tenth", got.stdout)

    def test_refusals_and_errors_are_counted_by_status_and_code(self):
        full = self.figures(self.answer_all(429, b'{"error":{"code":"queue_full"}}'))
        self.assertEqual((full["served"], full["refused"], full["failed"]), (0, 3, 0))
        self.assertEqual(full["answers"], {"429": 3})
        self.assertEqual(full["refused_by"], {"queue_full": 3})
        broken = self.figures(self.answer_all(502, b"<html>"))
        self.assertEqual((broken["served"], broken["refused"], broken["failed"]), (0, 0, 3))
        self.assertEqual(broken["answers"], {"502": 3})
        self.assertEqual(broken["failed_by"], {"unnamed_error": 3})

    def test_answers_that_are_no_stream_or_no_whole_one_have_failed(self):
        for body, cause in ((b"hello\n", "no_events"), (b"data: {}\n\n", "broken_off")):
            seen = self.figures(self.answer_all(200, body))
            self.assertEqual(seen["failed_by"], {cause: 3})

    def test_more_open_requests_than_may_be_have_failed(self):
        seen = self.figures(self.serve(), "--open-max", "1", "--speed", "1000")
        self.assertEqual(seen["requests"], 3)
        self.assertEqual(seen["served"] + seen["failed_by"]["too_many_open"], 3)

    def test_nobody_there_and_a_url_that_is_none_are_said_once(self):
        got = self.bench("http://127.0.0.1:1")
        self.assertEqual(got.returncode, 1)
        self.assertIn("nobody serves at 127.0.0.1:1", got.stderr)
        got = self.bench("ftp://x")
        self.assertEqual(got.returncode, 2)
        self.assertIn("--url: found ftp://x; expected a URL such as", got.stderr)

    def test_a_wrong_trace_ends_it(self):
        self.trace = self.write("bad.jsonl", json.dumps(TRACE[0]) + "\nnonsense\n")
        got = self.bench(self.answer_all(429, b"{}"))
        self.assertEqual(got.returncode, 1)
        self.assertIn("bad.jsonl:2:", got.stderr)

    def test_lengths_are_divided_by_what_divides_blocks(self):
        got = self.bench("http://127.0.0.1:1", "--divide-lengths", "3")
        self.assertEqual(got.returncode, 2)


unittest.main(argv=sys.argv[:1], verbosity=2)
