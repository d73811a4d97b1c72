"""What clients see when the network between two nodes is cut, both ways or only one, and
that all is well again once it is mended. Each node is on a host of its own: a network
namespace.

    cuts_test.py PROGRAM MODEL
"""

import sys
import time
import unittest

import separate_hosts
import served_cluster
from node_processes import LIMIT, Call, Nodes

NODES = ("p0", "p1", "d0")
SHORT = "Once upon a time"
LONG = "Tell me everything about the sea. " * 60
NAMED = {"length", "actor_lost", "engine_failed", "not_ready", "rejected_prefill",
         "rejected_decode"}


def both(a, b):
    return (a, b), (b, a)


class Cuts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hosts = separate_hosts.Hosts(NODES)
        cls.addClassCleanup(cls.hosts.close)
        cls.all = Nodes(*served_cluster.arguments(), NODES, network="insecure = true",
                        policy="prefill_chunk = 64", hosts=cls.hosts)
        cls.addClassCleanup(cls.all.__exit__)
        cls.all.start().wait_until_whole()
        cls.all.wait_until(lambda: cls.all.ask(LONG, 60)[1] == "length")
        cls.answer = cls.all.ask(LONG, 60)[0]
        cls.table = []

    @classmethod
    def tearDownClass(cls):
        for row in cls.table:
            print("{:24}{:24}{:>6.2f} s".format(*row))

    def check(self, name, ways, prompt, tokens, useless=None):
        """Requests are under way, the network is cut, others come, it is mended. Once the
        cut was noticed nothing fails, or goes to who is `useless`, if somebody is."""
        ends = {end for way in ways for end in way}
        lost_before = self.count_lost(ends)
        calls = [self.call(i, tokens, prompt) for i in range(2)]
        time.sleep(0.5)
        cut_at = time.time()
        for way in ways:
            self.hosts.cut(*way)
        try:
            for i in range(2, 6):
                calls.append(self.call(i, 8))
                time.sleep(1)
            self.all.wait_until(lambda: self.count_lost(ends) > lost_before)
            for one in calls:
                one.join(LIMIT)
                self.assertIn(one.reason, NAMED, self.all.said())
                self.table.append((name, one.reason, one.ended_at - cut_at))
            if useless:
                self.check_placed_elsewhere(useless)
            self.all.wait_until_nothing_is_held()
        finally:
            for way in ways:
                self.hosts.heal(*way)
        self.all.wait_until_whole()
        for i in range(4):
            self.assertEqual(self.call(i, 60).result(), (self.answer, "length"))
        self.all.wait_until_nothing_is_held()

    def check_placed_elsewhere(self, useless):
        def work():
            return sum(self.all.metric(f"perigee_prefill_{what}_total", useless)
                       for what in ("tokens_computed", "failed"))

        before = work()
        for one in [self.call(i, 60) for i in range(6)]:
            self.assertEqual(one.result(), (self.answer, "length"))
        self.assertEqual(work(), before)

    def call(self, i, tokens, prompt=LONG):
        return Call(self.all, prompt, tokens, cache_salt=f"{i} {time.time()}")

    def count_lost(self, ends):
        """How often one of them has found another lost."""
        return sum(f"node_lost node={lost}" in line for by in ends for lost in ends
                   for line in self.all[by].lines)

    def test_control_and_decode_node_both_ways(self):
        self.check("p0 | d0", both("p0", "d0"), SHORT, 400)

    def test_what_the_control_node_says_to_the_decode_node(self):
        self.check("p0 -> d0", [("p0", "d0")], SHORT, 400)

    def test_what_the_decode_node_says_to_the_control_node(self):
        self.check("d0 -> p0", [("d0", "p0")], SHORT, 400)

    def test_prefill_and_decode_node_both_ways(self):
        self.check("p1 | d0", both("p1", "d0"), LONG, 8, "p1")

    def test_what_a_prefill_node_says_to_the_decode_node(self):
        self.check("p1 -> d0", [("p1", "d0")], LONG, 8, "p1")

    def test_what_the_decode_node_says_to_a_prefill_node(self):
        self.check("d0 -> p1", [("d0", "p1")], LONG, 8, "p1")

    def test_a_prefill_node_and_all_others(self):
        self.check("p1 | p0, d0", (*both("p1", "p0"), *both("p1", "d0")), LONG, 8, "p1")


if __name__ == "__main__":
    can, why_not = separate_hosts.may_be_made()
    if not can:
        print(f"skipped: no network namespaces with a bridge here: {why_not}")
        sys.exit(served_cluster.SKIP)
    separate_hosts.enter()
    served_cluster.main()
