"""Two nodes on two hosts that RDMA connects, in the machine of tools/rdma_vm/: that they
answer as one process does, and go on when a process or a link fails.

    rdma_test.py PROGRAM MODEL
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request

import served_cluster
from node_processes import LIMIT, Nodes, answer_in

PROGRAM, MODEL = map(os.path.abspath, sys.argv[1:3])
PROMPTS = ["The capital of France is", "Once upon a time, " * 5, "0123456789" * 20]
LONG = "Tell me everything about the sea. " * 2

# Two networks: v0 to v1, and v2 to v3. Each node has a NIC on both.
DEVICES = {"p0": ["rxe0", "rxe2"], "d0": ["rxe1", "rxe3"]}
INTERFACES = ["v0", "v1", "v2", "v3"]


def bytes_sent():
    """By all NICs."""
    folder = pathlib.Path("/sys/class/net")
    return sum(int((folder / name / "statistics/tx_bytes").read_text())
               for name in INTERFACES)


def cut(interface):
    subprocess.run(["ip", "link", "set", interface, "down"], check=True)


def mend(interface, other_end):
    """The system has forgotten how to get to the other end."""
    number, peer = int(interface[1]), int(other_end[1])
    network = "198.51.100" if number < 2 else "203.0.113"
    own, far = (f"{network}.{end % 2 + 1}" for end in (number, peer))
    for words in (f"link set {interface} up",
                  f"route replace {far} dev {interface} src {own} table 10{number}",
                  f"neigh replace {far} lladdr 02:00:00:00:00:0{peer} dev {interface} "
                  "nud permanent"):
        subprocess.run(["ip", *words.split()], check=True)


def completion(url, prompt):
    """Tokens, and how likely each was: equal where the same was computed."""
    body = {"prompt": prompt, "max_tokens": 24, "temperature": 0, "logprobs": 1,
            "ignore_eos": True}
    request = urllib.request.Request(url + "/v1/completions", json.dumps(body).encode(),
                                     {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as got:
            said = json.load(got)["choices"][0]["logprobs"]
    except urllib.error.HTTPError as refused:
        return json.load(refused)["error"]
    return said["tokens"], said["token_logprobs"]


def answers_of_one_process():
    one = served_cluster.Cluster(PROGRAM, MODEL)
    try:
        return [completion(one.url, prompt) for prompt in PROMPTS]
    finally:
        one.close()


class Hosts(Nodes):
    """Nodes that take each other to be on different hosts: the system's id of this boot
    is another for each, as it is for real ones."""

    def __init__(self):
        super().__init__(PROGRAM, MODEL, ("p0", "d0"), silence_ms=20000)
        text = self.topology.read_text().replace(
            "[cluster]\n", "[cluster]\ntransfer_limit_ms = 12000\n")
        for name, devices in DEVICES.items():
            text = text.replace(f'name = "{name}"\n',
                                f'name = "{name}"\nrdma_devices = {devices}\n')
        self.topology.write_text(text)

    def before(self, name):
        boot = pathlib.Path(self.folder.name) / (name + ".boot_id")
        boot.write_text(f"{name}-0000-0000-0000-000000000000\n")
        return ["unshare", "-m", "sh", "-c",
                f"mount --bind {boot} /proc/sys/kernel/random/boot_id && "
                'exec "$0" "$@"']

    def transports(self, name):
        """Of its lines so far, the oldest first."""
        return re.findall(r"line_up node=\w+ transport=(\w+)", "".join(self[name].lines))


class OneHost(Hosts):
    """The same on one host, where shared memory would be the best way."""

    def __init__(self):
        super().__init__()
        with self.topology.open("a") as more:
            more.write('[[link]]\nfrom = "p0"\nto = "d0"\ntransport = "rdma"\n')

    def before(self, name):
        return []


class Serving:
    """What cluster it is, is `made`."""

    made = Hosts

    @classmethod
    def setUpClass(cls):
        cls.expected = answers_of_one_process()

    def setUp(self):
        self.hosts = self.made()
        self.addCleanup(self.hosts.__exit__)
        self.hosts.start()
        self.hosts.wait_until_ready()
        self.check_lines(["rdma"], ["rdma"])

    def check_lines(self, of_p0, of_d0):
        self.hosts["p0"].wait_for_line("line_up", len(of_p0))
        self.hosts["d0"].wait_for_line("line_up", len(of_d0))
        self.assertEqual(self.hosts.transports("p0"), of_p0, self.hosts.said())
        self.assertEqual(self.hosts.transports("d0"), of_d0, self.hosts.said())

    def check_answers(self):
        for prompt, one in zip(PROMPTS, self.expected):
            self.assertEqual(completion(self.hosts.url, prompt), one, self.hosts.said())

    def bytes_moved(self, transport):
        """From and to the decode node, as the other counts."""
        return self.hosts.metric("perigee_transfer_bytes_by_transport_total",
                                 label=f'transport="{transport}"')

    def check_answers_over_rdma(self):
        """The KV of all prompts goes to the decode node, by the NICs."""
        moved, sent = self.bytes_moved("rdma"), bytes_sent()
        self.check_answers()
        moved, sent = self.bytes_moved("rdma") - moved, bytes_sent() - sent
        self.assertGreater(moved, 0)
        self.assertGreaterEqual(sent, moved)
        for other in ("shm", "tcp"):
            self.assertEqual(self.bytes_moved(other), 0)


class LaidDown(Serving, unittest.TestCase):
    made = OneHost

    def test_a_link_of_the_topology_lays_it_down_on_one_host(self):
        self.hosts["p0"].wait_for_line("line_up node=d0 transport=rdma why=laid_down")
        self.check_answers_over_rdma()


class Chosen(Serving, unittest.TestCase):
    @contextlib.contextmanager
    def cut_while_asked(self, *interfaces):
        """Somebody asks all the while, from before they are cut, and is answered as
        ever."""
        begun, is_over = threading.Event(), threading.Event()

        def ask():
            try:
                while not is_over.is_set():
                    self.check_answers()
                    begun.set()
            finally:
                begun.set()

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(ask)
            try:
                begun.wait(LIMIT)
                for interface in interfaces:
                    cut(interface)
                yield
            finally:
                is_over.set()
                asked.result(4 * LIMIT)

    def test_two_nodes_answer_as_one_process_does(self):
        for cache in ("cold", "warm"):
            with self.subTest(cache):
                self.check_answers_over_rdma()
        for name in ("d0", "p0"):
            self.assertEqual(self.hosts[name].close(), 0, self.hosts.said())
        self.check_lines(["rdma"], ["rdma"])

    def test_a_decode_node_is_killed_in_mid_stream_and_comes_back(self):
        with self.hosts.open(LONG, 400) as stream:
            stream.readline()
            self.hosts["d0"].kill()
            _, reason = answer_in(stream)
            self.assertEqual(reason, "actor_lost", self.hosts.said())
        self.hosts.start("d0")
        self.check_lines(["rdma", "rdma"], ["rdma"])
        self.hosts.wait_until_ready()
        self.check_answers_over_rdma()

    def test_one_of_two_links_is_cut_and_mended(self):
        with self.cut_while_asked("v1"):
            self.check_answers_over_rdma()
        mend("v1", "v0")
        self.check_answers_over_rdma()
        self.check_lines(["rdma"], ["rdma"])

    def test_all_links_are_cut_and_it_goes_on_over_tcp(self):
        with self.cut_while_asked("v1", "v3"):
            self.check_lines(["rdma", "tcp"], ["rdma", "tcp"])
            sent = bytes_sent()
            self.check_answers()
            self.assertEqual(bytes_sent(), sent)
            self.assertGreater(self.bytes_moved("tcp"), 0)
        for interface, other_end in (("v1", "v0"), ("v3", "v2")):
            mend(interface, other_end)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
