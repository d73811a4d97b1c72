"""A cluster of several processes: that it answers as one process does, and what its
clients see when one of them is killed or stopped.

    nodes_test.py PROGRAM MODEL
"""

import os
import re
import signal
import socket
import subprocess
import unittest

import served_cluster
from node_processes import LIMIT, Node, Nodes, answer_in

PROMPTS = [
    "The capital of France is",
    "Once upon a time, " * 20,
    "A list of the planets, from the sun outwards: " * 8,
]
LONG = "Tell me everything about the sea. " * 10


def program_and_model():
    return served_cluster.arguments()


def nodes(*names, **more):
    return Nodes(*program_and_model(), names, **more)


class SameTokens(unittest.TestCase):
    def test_two_and_three_processes_answer_as_one_does(self):
        program, model = program_and_model()
        one = served_cluster.Cluster(program, os.path.abspath(model))
        try:
            expected = []
            for prompt in PROMPTS:
                _, _, said = one.call(
                    "/v1/completions",
                    {"prompt": prompt, "max_tokens": 24, "temperature": 0,
                     "ignore_eos": True},
                )
                expected.append(said["choices"][0]["text"])
        finally:
            one.close()
        for names in (("p0", "d0"), ("p0", "p1", "d0")):
            with nodes(*names).start() as all:
                all.wait_until_ready()
                for round in range(2):  # from a cold cache, and from a warm one
                    for prompt, text in zip(PROMPTS, expected):
                        self.assertEqual(all.ask(prompt, 24), (text, "length"))
                self.assertGreater(all.metric("perigee_transfer_bytes_moved_total"), 0)
                for name in reversed(names):
                    self.assertEqual(all[name].close(), 0, all.said())


class Coming(unittest.TestCase):
    def test_they_find_each_other_in_any_order(self):
        with nodes("p0", "d0").start("d0") as all:
            all["d0"].wait_for_line("serving url=")
            all.start("p0")
            all.wait_until_ready()
            self.assertEqual(all.ask(PROMPTS[0], 4)[1], "length")

    def test_without_a_node_that_it_needs_the_cluster_is_not_ready(self):
        with nodes("p0", "d0").start("p0") as all:
            all.wait_until(all.answers)
            self.assertFalse(all.is_ready())
            all.start("d0")
            all.wait_until_ready()

    def test_who_has_another_topology_is_turned_away_and_both_say_why(self):
        with nodes("p0", "d0").start("p0") as all:
            other = all.topology.with_name("other.toml")
            other.write_text(all.topology.read_text() + "\n[policy]\nload_max = 0.5\n")
            stranger = Node(all.program, other, "d0")
            try:
                stranger.wait_for_line("the topologies differ")
                all["p0"].wait_for_line("the topologies differ")
            finally:
                stranger.kill()
                stranger.close()
            all.start("d0")
            all.wait_until_ready()


class Going(unittest.TestCase):
    def check_it_serves(self, all):
        all.wait_until_ready()
        all.wait_until(lambda: all.ask(PROMPTS[0], 4)[1] == "length")

    def test_a_decode_node_is_killed_in_mid_stream(self):
        with nodes("p0", "d0").start() as all:
            all.wait_until_ready()
            with all.open(LONG, 700) as stream:
                stream.readline()
                all["d0"].kill()
                text, reason = answer_in(stream)
                self.assertEqual(reason, "actor_lost", all.said())
            all.start("d0")
            self.check_it_serves(all)

    def test_a_decode_node_is_stopped_and_wakes(self):
        with nodes("p0", "d0").start() as all:
            all.wait_until_ready()
            with all.open(LONG, 700) as stream:
                stream.readline()
                all["d0"].send(signal.SIGSTOP)
                text, reason = answer_in(stream)
                self.assertEqual(reason, "actor_lost", all.said())
            all["p0"].wait_for_line("node_lost node=d0")
            all["d0"].send(signal.SIGCONT)
            all["p0"].wait_for_line("node_met node=d0", 2)
            self.check_it_serves(all)

    def test_one_of_two_prefill_nodes_is_killed_and_comes_back(self):
        with nodes("p0", "d0", "p1").start() as all:
            all.wait_until_ready()
            for i in range(8):
                if i == 2:
                    all["p1"].kill()
                if i == 5:
                    all.start("p1")
                    all["p1"].wait_for_line("node_met node=p0")
                # Placed again, if it was on the one that is gone.
                self.assertEqual(all.ask(f"{i} {LONG}", 8)[1], "length", all.said())

    def test_the_control_node_is_killed_and_the_others_stay(self):
        with nodes("p0", "d0").start() as all:
            all.wait_until_ready()
            with all.open(LONG, 700) as stream:
                stream.readline()
                all["p0"].kill()
            all["d0"].wait_for_line("node_lost node=p0")
            all.start("p0")
            self.check_it_serves(all)
            self.assertEqual(all["d0"].close(), 0, all.said())


class Draining(unittest.TestCase):
    def drain(self, all, name):
        """The command that does it, running."""
        cluster = f"at{all.url.rpartition(':')[2]}"
        return subprocess.Popen(
            [all.program, "drain", name, "--cluster", cluster],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def patient(self, *names):
        """Nodes that may go on for as long as it takes."""
        all = nodes(*names)
        all.topology.write_text(all.topology.read_text().replace(
            "drain_limit_ms = 5000", "drain_limit_ms = 60000"))
        return all.start()

    def test_a_node_ends_what_it_has_while_others_serve_and_comes_back(self):
        with self.patient("p0", "d0", "d1") as all:
            all.wait_until_whole()
            with all.open(LONG, 400) as stream:
                first = stream.readline()
                both = ("d0", "d1")
                all.wait_until(lambda: any(
                    all.metric("perigee_decode_sequences", name) > 0 for name in both))
                busy = next(name for name in both
                            if all.metric("perigee_decode_sequences", name) > 0)
                other = "d1" if busy == "d0" else "d0"
                draining = self.drain(all, busy)
                all["p0"].wait_for_line(f"node_parting node={busy}")
                decoded = all.metric("perigee_decode_steps_total", other)
                for prompt in PROMPTS:
                    self.assertEqual(all.ask(prompt, 8)[1], "length", all.said())
                self.assertGreater(all.metric("perigee_decode_steps_total", other), decoded)
                self.assertIsNone(all[busy].process.poll())  # it has the stream
                text, reason = answer_in([first, *stream])
                self.assertEqual(reason, "length", all.said())
            said, complaint = draining.communicate(timeout=LIMIT)
            self.assertEqual(draining.returncode, 0, complaint)
            self.assertIn("is drained", said)
            self.assertEqual(all[busy].close(), 0, all.said())
            self.assertIn("[cluster] drained", "".join(all[busy].lines))
            self.assertEqual(all.ask(LONG, 400), (text, "length"))
            all.start(busy)
            all[busy].wait_for_line("node_met node=p0")
            all[other].kill()  # so that it is the other's turn
            all.wait_until(lambda: all.ask(PROMPTS[0], 4)[1] == "length")

    def test_a_prefill_node_too_and_by_a_signal(self):
        with self.patient("p0", "p1", "d0") as all:
            all.wait_until_ready()
            streams = [all.open(f"{i} {LONG}", 8) for i in range(6)]
            all["p1"].send(signal.SIGTERM)
            for stream in streams:
                with stream:
                    self.assertEqual(answer_in(stream)[1], "length", all.said())
            self.assertEqual(all["p1"].process.wait(LIMIT), 0, all.said())
            all["p1"].was_killed = True  # it is to be away
            self.assertEqual(all.ask(LONG, 8)[1], "length", all.said())

    def test_without_the_last_of_its_kind_the_cluster_is_not_ready(self):
        with self.patient("p0", "d0") as all:
            all.wait_until_ready()
            with all.open(LONG, 200) as stream:
                first = stream.readline()
                all["d0"].send(signal.SIGTERM)
                all["p0"].wait_for_line("node_parting node=d0")
                all.wait_until(lambda: not all.is_ready())
                self.assertEqual(all.ask(PROMPTS[0], 4)[1], "not_ready")
                self.assertEqual(answer_in([first, *stream])[1], "length", all.said())
            self.assertEqual(all["d0"].process.wait(LIMIT), 0)
            all.start("d0")
            all.wait_until_ready()

    def test_who_goes_on_for_too_long_is_ended_and_the_client_hears(self):
        with nodes("p0", "d0") as all:
            all.topology.write_text(all.topology.read_text().replace(
                "drain_limit_ms = 5000", "drain_limit_ms = 500"))
            all.start().wait_until_ready()
            with all.open(LONG, 700) as stream:
                stream.readline()
                all["d0"].send(signal.SIGTERM)
                self.assertEqual(answer_in(stream)[1], "actor_lost", all.said())
            self.assertEqual(all["d0"].process.wait(LIMIT), 0)

    def test_who_is_not_there_cannot_be_drained(self):
        with nodes("p0", "d0") as all:
            nobody = self.drain(all, "d0")
            _, complaint = nobody.communicate(timeout=LIMIT)
            self.assertEqual(nobody.returncode, 1)
            self.assertIn("does not run on this host", complaint)


class Secure(unittest.TestCase):
    def test_with_certificates_and_keys_they_serve_as_without(self):
        with nodes("p0", "d0").make_secure().start() as all:
            all.wait_until_ready()
            self.assertEqual(all.ask(PROMPTS[0], 8)[1], "length", all.said())

    def test_who_has_another_nodes_key_does_not_start(self):
        with nodes("p0", "d0").make_secure() as all:
            folder = all.topology.parent / "certs"
            (folder / "d0.name.key").unlink()
            (folder / "p0.name.key").rename(folder / "d0.name.key")
            all.start("d0")
            all["d0"].wait_for_line("is not the private half")

    def test_beyond_this_machine_it_takes_tls(self):
        with nodes("p0", "d0") as all:
            all.topology.write_text(
                all.topology.read_text().replace("127.0.0.1:%d" % all.ports["d0"],
                                                 "192.0.2.1:7400"))
            all.start("p0")
            all["p0"].wait_for_line("expected network.tls")


class Supervised(unittest.TestCase):
    def test_serve_starts_a_process_for_each_node_and_again_who_dies(self):
        with nodes("p0", "d0") as all:
            journal = str(all.topology.parent / "journal")
            serve = Node(all.program, all.topology, None, "--processes",
                         "--journal", journal)
            try:
                all.wait_until_ready()
                self.assertEqual(all.ask(PROMPTS[0], 4)[1], "length")
                serve.wait_for_line("[d0]")
                line = next(one for one in serve.lines if "d0 up (" in one)
                os.kill(int(re.search(r"d0 up \((\d+)\)", line).group(1)), signal.SIGKILL)
                serve.wait_for_line("node_died node=d0")
                serve.wait_for_line("node_started node=d0", 2)
                all.wait_until(lambda: all.is_ready()
                               and all.ask(PROMPTS[0], 4)[1] == "length")
                subprocess.run([all.program, "drain", "d0", "--cluster",
                                f"at{all.url.rpartition(':')[2]}"],
                               timeout=LIMIT, check=True, stdout=subprocess.DEVNULL)
                serve.wait_for_line("node_drained node=d0")
                serve.wait_for_line("node_started node=d0", 3)
                all.wait_until(lambda: all.is_ready()
                               and all.ask(PROMPTS[0], 4)[1] == "length")
            finally:
                self.assertEqual(serve.close(), 0, "".join(serve.lines))
            said = "".join(serve.lines)
            self.assertIn("restarts 2", said)
            self.assertEqual(said.count('how="exit code 0"'), 2, said)
            listed = subprocess.run([all.program, "trace", journal, "list"], text=True,
                                    capture_output=True, timeout=LIMIT, check=True)
            self.assertIn(" length ", listed.stdout)


class Strangers(unittest.TestCase):
    def test_garbage_at_a_nodes_ports_disturbs_nobody(self):
        with nodes("p0", "d0").start() as all:
            all.wait_until_ready()
            open_ones = []
            for port in (all.ports["p0"], all.ports["p0"] + 1, all.ports["d0"] + 1):
                for bytes in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, b"\0" * 65):
                    one = socket.create_connection(("127.0.0.1", port), LIMIT)
                    one.sendall(bytes)
                    open_ones.append(one)
            self.assertEqual(all.ask(LONG, 50)[1], "length", all.said())
            for one in open_ones:
                one.close()
            self.assertEqual(all.ask(LONG, 50)[1], "length", all.said())


if __name__ == "__main__":
    served_cluster.main()
