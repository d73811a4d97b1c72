"""What clients see when a process is killed or stopped while their requests are at a given
stage: each process, each stage, each signal. A stage is held open by how the cluster is set
up, and hit when the journals say that a request has come to it.

    stages_test.py PROGRAM MODEL
"""

import contextlib
import itertools
import signal
import time
import unittest

import served_cluster
from journal_watch import JournalWatch
from node_processes import LIMIT, Call, Nodes
from stages import STAGES, Place

CONTROL = "c0"
NODES = (CONTROL, "p0", "p1", "d0", "d1")
ATTEMPTS = 5  # to hit a stage: it may be over before the signal arrives

SHORT = "Once upon a time"
SHORT_TOKENS = 300
LONG = "Tell me everything about the sea. " * 110
AHEAD = "Tell me everything about the land. " * 95
ANSWER_TOKENS, LONG_ANSWER_TOKENS = 24, 200

# Small chunks, so that a prompt is computed for a while; and links over which its KV takes
# some seconds.
SMALL_CHUNKS = "prefill_chunk = 64"
SLOW_LINKS = "".join(
    f'[[link]]\nfrom = "{a}"\nto = "{b}"\ntransport = "tcp"\ngib_per_s = 0.006\n'
    for a, b in itertools.combinations(NODES[1:], 2)
)
SLOW = {"policy": SMALL_CHUNKS, "links": SLOW_LINKS, "cluster": "transfer_limit_ms = 20000"}

WELL = {"length"}
LOST = {"actor_lost", "engine_failed"}

# At which stage whose end is survived by the request: it is placed again, or goes on.
SURVIVES = {
    ("queue", "prefill"), ("queue", "decode"), ("fetch", "prefill"), ("fetch", "source"),
    ("fetch", "decode"), ("prefill", "prefill"), ("prefill", "decode"),
    ("transfer", "prefill"), ("transfer", "decode"), ("decode", "prefill"),
}


def expected_of(stage, victim, how):
    if victim == "control":
        # Who is only stopped keeps its connections, and says what became of them later.
        return {"closed"} if how == signal.SIGKILL else WELL | LOST | {"not_ready"}
    return WELL if (stage, victim) in SURVIVES else LOST


class Missed(Exception):
    """The request had left the stage when the signal came, or the others were not there."""


class Round:
    """One request, what goes on beside it, and a process that ends or stops."""

    def __init__(self, case, stage, victim, how):
        self.case, self.stage, self.victim, self.how = case, stage, victim, how
        self.all, self.watch = case.all, case.watch
        self.salt = {"cache_salt": f"{stage} {victim} {how} {time.time()}"}
        self.tokens = LONG_ANSWER_TOKENS if stage == "decode" else ANSWER_TOKENS
        self.beside = []
        self.request = None

    def call(self, prompt, tokens, **more):
        return Call(self.all, prompt, tokens, **(self.salt | more))

    def place(self, of, until=float("inf")):
        return Place([one for one in self.watch.look(of.trace) if one.at <= until])

    def wait_for(self, is_so):
        end = time.monotonic() + LIMIT
        while not is_so():
            self.case.assertLess(time.monotonic(), end, self.all.said())
            time.sleep(0.01)

    def start_bystanders(self):
        """One decodes on each decode node at least."""
        for _ in range(3):
            both = [self.call(SHORT, SHORT_TOKENS) for _ in range(2)]
            self.beside += both
            for one in both:
                self.wait_for(lambda: self.place(one).at == "decode" or not one.is_open())
            if {self.place(one).decode for one in self.beside} == {"d0", "d1"}:
                return
        raise Missed("all bystanders are on one node")

    def store_prompt(self):
        """One prefill node's shard has it."""
        self.case.assertEqual(self.all.ask(LONG, 1, **self.salt)[1], "length")
        time.sleep(0.3)  # until the conductor has been told of it

    def start_request(self):
        """With others before it in every queue; or, to be fetched, at the one node that has
        its prompt."""
        if self.stage == "queue":
            for i in range(4):
                self.beside.append(self.call(f"{i} {AHEAD}", 1))
                self.wait_for(lambda: self.place(self.beside[-1]).prefill)
        if self.stage == "fetch":
            self.beside.append(one := self.call(LONG + AHEAD[:len(AHEAD) // 3], 1))
            self.wait_for(lambda: self.place(one).prefill)
        self.request = self.call(LONG, self.tokens)
        self.wait_for(self.has_come)

    def has_come(self):
        where = self.place(self.request)
        if STAGES.index(where.at) > STAGES.index(self.stage) or not self.request.is_open():
            raise Missed(f"{where.at} {self.request.reason}")
        if not where.decode or not self.find_victim(where):
            return False  # one's journal is behind the other's
        return where.at == self.stage and (where.at != "decode" or self.request.pieces > 2)

    def find_victim(self, where):
        return CONTROL if self.victim == "control" else getattr(where, self.victim)

    def strike(self):
        node = self.find_victim(self.place(self.request))
        self.independent = [
            one for one in self.beside
            if one.is_open() and node != CONTROL and not self.needs(one, node)
        ]
        self.lost = {name: self.all[name].count(f"node_lost node={node}") for name in NODES}
        self.struck_at = time.time()
        self.all[node].strike(self.how)
        return node

    def needs(self, one, node):
        where = self.place(one)
        return where.decode == node or where.at != "decode" and node in (
            where.prefill, where.source)

    def check_hit(self, node):
        """The journals are behind by some tenth of a second: now they tell."""
        if (at := self.place(self.request, self.struck_at).at) != self.stage:
            raise Missed(f"it was {at} by then")
        if node != CONTROL and not self.independent:
            raise Missed("nobody else was there")

    def run(self):
        if self.stage == "fetch":
            self.store_prompt()
        self.start_bystanders()
        self.start_request()
        node = self.strike()
        try:
            if node == CONTROL:
                self.check_all_is_let_go(node)
                if self.how == signal.SIGSTOP:
                    self.all[node].wake()
            self.wait_for_all()
        finally:
            self.bring_back(node)
        self.check_hit(node)
        self.check_answers(node)
        return node

    def wait_for_all(self):
        for one in [*self.beside, *([self.request] if self.request else [])]:
            one.join(LIMIT)
            self.case.assertFalse(one.is_open(), self.all.said())

    def check_all_is_let_go(self, gone):
        """What it owned, by all others, once they have noticed."""
        for name in NODES:
            if name != gone:
                self.all[name].wait_for_line(f"node_lost node={gone}", self.lost[name] + 1)
        self.all.wait_until_nothing_is_held(but=gone)

    def bring_back(self, node):
        if self.all[node].was_killed:
            self.all.start(node)
        else:
            self.all[node].wake()
        self.all.wait_until_whole()
        self.all.wait_until_nothing_is_held()
        self.check_it_takes_part(node)

    def check_it_takes_part(self, node):
        back_at = time.time()
        for _ in range(8):
            calls = [self.call(f"{i} {SHORT}", 8) for i in range(2)]
            for one in calls:
                one.join(LIMIT)
                self.case.assertEqual(one.reason, "length", self.all.said())
            if node == CONTROL:
                return
            time.sleep(0.15)  # until the journals are written
            if any(node in (self.place(one).prefill, self.place(one).decode)
                   for one in calls):
                return
        self.case.fail(f"{node} gets no work since {back_at}:\n" + self.all.said())

    def check_answers(self, node):
        allowed = expected_of(self.stage, self.victim, self.how)
        self.case.assertIn(self.request.reason, allowed, self.all.said())
        if self.request.reason == "length":
            self.case.assertEqual(self.request.text,
                                  self.case.answers[self.request.ask[1:3]])
        for one in self.independent:
            self.case.assertEqual(one.reason, "length", self.all.said())
            if one.ask[1] == SHORT:
                self.case.assertEqual(one.text, self.case.answers[one.ask[1:3]])


class Stages(unittest.TestCase):
    """The processes are those of one cluster, which is never started again as a whole."""

    @classmethod
    def setUpClass(cls):
        cls.table = []

    @classmethod
    def tearDownClass(cls):
        print(f"\n{'stage':10}{'process':10}{'signal':9}{'client saw':15}{'after s':>8}"
              f"{'tries':>7}")
        for row in cls.table:
            print("{:10}{:10}{:9}{:15}{:8.2f}{:7}".format(*row))

    @contextlib.contextmanager
    def cluster(self, **more):
        with Nodes(*served_cluster.arguments(), NODES, keeps_journal=True, **more) as all:
            self.all, self.watch = all.start(), JournalWatch(all.journal)
            all.wait_until_whole()
            self.answers = {
                asked: all.ask(*asked)[0]
                for asked in ((LONG, ANSWER_TOKENS), (LONG, LONG_ANSWER_TOKENS),
                              (SHORT, SHORT_TOKENS))
            }
            yield

    def hit(self, stage, *victims):
        for victim in victims:
            for how in (signal.SIGKILL, signal.SIGSTOP):
                with self.subTest(stage=stage, victim=victim, how=how.name):
                    self.hit_once(stage, victim, how)

    def hit_once(self, stage, victim, how):
        for attempt in range(1, ATTEMPTS + 1):
            one = Round(self, stage, victim, how)
            try:
                one.run()
            except Missed:
                one.wait_for_all()
                continue
            self.table.append((stage, victim, how.name, one.request.reason,
                               one.request.ended_at - one.struck_at, attempt))
            return
        self.fail("it was never at that stage when the signal came")

    def test_before_there_is_anything_to_move(self):
        with self.cluster(policy=SMALL_CHUNKS):
            self.hit("queue", "prefill", "decode", "control")
            self.hit("prefill", "prefill", "decode", "control")
            self.hit("decode", "prefill", "decode", "control")

    def test_while_kv_moves_over_a_slow_link(self):
        with self.cluster(**SLOW):
            self.hit("fetch", "prefill", "source", "decode", "control")
            self.hit("transfer", "prefill", "decode", "control")
            self.hit("hand-off", "prefill", "decode", "control")


if __name__ == "__main__":
    served_cluster.main()
