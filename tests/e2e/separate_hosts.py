"""Hosts that are network namespaces of this machine, joined by a bridge: for tests that cut
what one says to another. All of it is gone when the test's process is."""

import os
import subprocess
import sys
import time

INSIDE = "PERIGEE_TEST_HOSTS"
NOBODY = "02:00:00:00:00:01"  # no card on the bridge has this address


def may_be_made():
    """Whether this machine lets us; else why not."""
    try:
        tried = subprocess.run(
            [*unshare(), "ip", "link", "add", "bridge0", "type", "bridge"],
            capture_output=True, text=True)
    except OSError as missing:
        return False, str(missing)
    return tried.returncode == 0, tried.stderr.strip()


def unshare():
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, "--net"]


def enter():
    """The program that calls begins anew in a namespace of its own, unless it did."""
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", [*unshare(), sys.executable, *sys.argv])


def ip(*arguments, prefix=()):
    subprocess.run([*prefix, "ip", *arguments], check=True, capture_output=True)


class Hosts:
    """One for each name, and the test on the bridge between them."""

    def __init__(self, names):
        self.names = list(names)
        self.holders = {}
        ip("link", "set", "lo", "up")
        ip("link", "add", "bridge0", "type", "bridge")
        ip("address", "add", "10.77.0.254/24", "dev", "bridge0")
        ip("link", "set", "bridge0", "up")
        for name in self.names:
            self.make(name)

    def make(self, name):
        # Ends with the test, however that ends, and holds nothing of it open.
        holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.holders[name] = holder
        ours = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{holder.pid}/ns/net") == ours:
            time.sleep(0.01)
        ip("link", "add", name, "type", "veth", "peer", "name", "card0", "netns",
           str(holder.pid))
        ip("link", "set", name, "master", "bridge0", "up")
        inside = self.prefix_of(name)
        ip("address", "add", self.address_of(name) + "/24", "dev", "card0", prefix=inside)
        ip("link", "set", "card0", "up", prefix=inside)
        ip("link", "set", "lo", "up", prefix=inside)

    def close(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()
        ip("link", "delete", "bridge0")

    def address_of(self, name):
        return f"10.77.0.{1 + self.names.index(name)}"

    def prefix_of(self, name):
        return ["nsenter", "--net", "--target", str(self.holders[name].pid)]

    def cut(self, sender, receiver):
        """What one sends to the other is lost from now on, without a word."""
        ip("neighbour", "replace", self.address_of(receiver), "lladdr", NOBODY, "dev",
           "card0", "nud", "permanent", prefix=self.prefix_of(sender))

    def heal(self, sender, receiver):
        ip("neighbour", "delete", self.address_of(receiver), "dev", "card0",
           prefix=self.prefix_of(sender))
