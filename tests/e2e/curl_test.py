"""What curl, and clients that behave badly, make of Perigee."""

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

from served_cluster import SKIP, Cluster, arguments, main

CHAT = {
    "messages": [{"role": "user", "content": "Say hello."}],
    "max_tokens": 8,
    "temperature": 0,
}


class WithCurl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(
            *arguments(),
            http='api_keys = ["secret"]\ncors_origins = ["https://page.example"]',
        )

    @classmethod
    def tearDownClass(cls):
        code, said = cls.cluster.close()
        assert code == 0, said
        assert "[error]" not in said and "[critical]" not in said, said

    def curl(self, path, *more, key="secret", stdin=None):
        """Status, headers in lower case, and body."""
        wish = ["curl", "--silent", "--include", "--max-time", "120", *more]
        if key:
            wish += ["--header", "Authorization: Bearer " + key]
        ran = subprocess.run(
            wish + [self.cluster.url + path],
            capture_output=True, check=True, input=stdin and stdin.encode(),
        )
        head, _, body = ran.stdout.partition(b"\r\n\r\n")
        while head.startswith(b"HTTP/1.1 100"):
            head, _, body = body.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), fields, body.decode()

    def post(self, path, body, *more, **other):
        data = body if isinstance(body, str) else json.dumps(body)
        return self.curl(
            path, "--header", "Content-Type: application/json", "--data", data, *more,
            **other,
        )

    def is_well(self):
        status, _, body = self.post("/v1/chat/completions", CHAT)
        return status == 200 and json.loads(body)["usage"]["completion_tokens"] > 0

    def test_small_routes(self):
        for path in ("/health", "/ready", "/live", "/version", "/v1/models"):
            status, fields, body = self.curl(path)
            self.assertEqual((path, status), (path, 200))
            json.loads(body)
            self.assertEqual(fields["content-type"], "application/json")
        status, fields, body = self.curl("/metrics")
        self.assertEqual(status, 200)
        for name in (
            "vllm:num_requests_running", "vllm:num_requests_waiting",
            "vllm:kv_cache_usage_perc", "vllm:prompt_tokens_total",
            "vllm:time_to_first_token_seconds_bucket",
        ):
            self.assertIn("\n" + name + "{", body)

    def test_a_stream_as_curl_sees_it(self):
        status, fields, body = self.post(
            "/v1/chat/completions", {**CHAT, "stream": True}, "--no-buffer"
        )
        self.assertEqual(status, 200)
        self.assertTrue(fields["content-type"].startswith("text/event-stream"))
        events = body.split("\n\n")
        self.assertEqual(events[-2:], ["data: [DONE]", ""])
        for event in events[:-2]:
            json.loads(event.removeprefix("data: "))

    def test_keys_and_origins(self):
        self.assertEqual(self.curl("/v1/models", key=None)[0], 401)
        self.assertEqual(self.curl("/v1/models", key="secre")[0], 401)
        self.assertEqual(self.curl("/health", key=None)[0], 200)
        status, fields, _ = self.curl(
            "/v1/chat/completions",
            "--request", "OPTIONS",
            "--header", "Origin: https://page.example",
            "--header", "Access-Control-Request-Headers: authorization",
            key=None,
        )
        self.assertEqual(status, 204)
        self.assertEqual(
            fields["access-control-allow-origin"], "https://page.example"
        )

    def test_bad_bodies(self):
        chats = "/v1/chat/completions"
        deep = '{"messages":' + "[" * 5000
        for body, code in (
            ("", "invalid_json"),
            ("{", "invalid_json"),
            (deep, "invalid_json"),
            ('{"messages":[{"role":"user","content":"\\ud800"}]}', "invalid_json"),
            ('{"messages":[]}', "invalid_value"),
            ('{"messages":[{"role":"user","content":"x"}],"temperature":1e999}',
             "invalid_value"),
        ):
            status, _, answer = self.post(chats, body)
            self.assertEqual((status, json.loads(answer)["error"]["code"]), (400, code))
        status, _, answer = self.post(chats, '{"x":1}', "--header", "Transfer-Encoding: chunked")
        self.assertEqual(json.loads(answer)["error"]["code"], "unknown_parameter")
        self.assertEqual(self.curl(chats, "--data", "{}")[0], 415)  # curl's own type
        self.assertEqual(self.curl(chats)[0], 405)
        self.assertEqual(self.curl("/nowhere")[0], 404)
        self.assertTrue(self.is_well())

    def raw_post(self, length, body):
        """The whole reply to a body of that announced length."""
        with socket.create_connection(("127.0.0.1", self.cluster.port)) as client:
            client.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
                b"Authorization: Bearer secret\r\nContent-Type: application/json\r\n"
                b"Connection: close\r\nContent-Length: %d\r\n\r\n" % length + body
            )
            return b"".join(iter(lambda: client.recv(4096), b""))

    def test_a_huge_body(self):
        answer = self.raw_post(999999999999, b"")
        self.assertTrue(answer.startswith(b"HTTP/1.1 413 "))
        self.assertIn(b"body_too_large", answer)
        self.assertTrue(self.is_well())

    def test_a_prompt_far_beyond_the_context(self):
        for text in (" " * 900_000, "a" * 900_000, "word " * 180_000):
            status, _, answer = self.post(
                "/v1/completions", "@-", stdin=json.dumps({"prompt": text})
            )
            error = json.loads(answer)["error"]
            self.assertEqual(
                (status, error["code"], error["param"]),
                (400, "context_length_exceeded", "prompt"),
            )

    def test_a_body_whose_end_is_uncertain(self):
        with socket.create_connection(("127.0.0.1", self.cluster.port)) as client:
            client.sendall(
                b"POST /v1/models HTTP/1.1\r\nHost: x\r\n"
                b"Transfer-Encoding: xchunked\r\n\r\n"
                b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
            )
            answer = b"".join(iter(lambda: client.recv(4096), b""))
        self.assertTrue(answer.startswith(b"HTTP/1.1 400 "))
        self.assertEqual(answer.count(b"HTTP/1.1 "), 1)

    def test_invalid_utf8(self):
        body = b'{"messages":[{"role":"user","content":"\xff\xfe"}]}'
        answer = self.raw_post(len(body), body)
        self.assertTrue(answer.startswith(b"HTTP/1.1 400 "))
        self.assertIn(b"invalid_json", answer)

    def test_clients_that_go_leave_nothing_behind(self):
        for wait in (0.0, 0.05, 0.3, 1.0):
            client = socket.create_connection(("127.0.0.1", self.cluster.port))
            body = json.dumps(
                {**CHAT, "max_tokens": 800, "ignore_eos": True, "stream": True}
            ).encode()
            client.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
                b"Authorization: Bearer secret\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body) + body
            )
            time.sleep(wait)  # in the queue, in prefill, in transfer, in decode
            client.close()
        for name in (
            "vllm:num_requests_running", "vllm:num_requests_waiting",
            "perigee_gateway_cancelling", "perigee_decode_blocks_used",
        ):
            self.assertTrue(self.cluster.wait_for_metric(name, 0), name)
        self.assertTrue(self.is_well())


class Ending(unittest.TestCase):
    def test_a_cluster_that_is_told_to_end_finishes_what_it_began(self):
        cluster = Cluster(*arguments())
        answers = []
        body = {**CHAT, "max_tokens": 60, "ignore_eos": True}
        asking = threading.Thread(
            target=lambda: answers.append(cluster.call("/v1/chat/completions", body))
        )
        asking.start()
        while cluster.metric("vllm:num_requests_running") == 0 and asking.is_alive():
            time.sleep(0.01)
        cluster.end()
        asking.join()
        status, _, answer = answers[0]
        self.assertEqual(status, 200)
        self.assertEqual(answer["usage"]["completion_tokens"], 60)
        code, said = cluster.close()
        self.assertEqual(code, 0, said)

    def test_who_is_not_finished_at_the_limit_is_told(self):
        cluster = Cluster(*arguments(), drain_ms=200)
        answers = {}

        def ask(stream):
            answers[stream] = cluster.call(
                "/v1/chat/completions",
                {**CHAT, "max_tokens": 900, "ignore_eos": True, "stream": stream},
            )

        asking = [threading.Thread(target=ask, args=(way,)) for way in (False, True)]
        for one in asking:
            one.start()
        while cluster.metric("vllm:num_requests_running") < 2:
            time.sleep(0.01)
        cluster.end()
        for one in asking:
            one.join()
        status, _, answer = answers[False]
        self.assertEqual((status, answer["error"]["code"]), (503, "not_ready"))
        status, _, events = answers[True]
        self.assertEqual(status, 200)
        *_, last, done, rest = events.split("\n\n")
        self.assertEqual((done, rest), ("data: [DONE]", ""))
        error = json.loads(last.removeprefix("data: "))["error"]
        self.assertEqual(error["code"], "not_ready")
        cluster.close()


if __name__ == "__main__":
    if shutil.which("curl") is None:
        print("skipped: there is no curl")
        sys.exit(SKIP)
    main()
