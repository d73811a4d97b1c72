"""How far a request has come, by what the journals of the cluster's processes say of it."""

import collections

STAGES = ["arrival", "queue", "fetch", "prefill", "transfer", "hand-off", "decode"]

# A chunk at hand has two movements open, to the node's shard and to the decode instance:
# with another one, KV of an earlier chunk is still on its way.
MOVES_OF_A_CHUNK = 2


class Place:
    """Where a request is, in its last attempt. `at` is a stage."""

    def __init__(self, events):
        self.at = "arrival"
        self.prefill = self.decode = self.source = None
        seen = collections.Counter()
        for one in events:
            if is_taking(one, "prefill", "Prefill"):
                self.prefill, self.source = one.node, None
                seen.clear()
            elif is_taking(one, "decode", "Expect"):
                self.decode = one.node
            elif is_taking(one, "shard", "Pin"):
                self.source = one.node
            seen[one.kind, one.role, one.message] += 1
        if self.prefill:
            self.at = stage_of(seen)


def is_taking(one, role, message):
    return (one.kind, one.role, one.message) == ("took", role, message)


def stage_of(seen):
    fetches = seen["took", "transfer", "Fetch"]
    moved = seen["sent", "transfer", "Moved"]
    if seen["took", "decode", "Landed"]:
        return "decode"
    if seen["took", "decode", "Handoff"]:
        return "hand-off"
    if fetches > moved:
        return "fetch"
    pushes_open = seen["took", "transfer", "Push"] + fetches - moved
    if seen["took", "prefill", "Roomed"] and pushes_open > MOVES_OF_A_CHUNK:
        return "transfer"
    if seen["sent", "prefill", "Room"]:
        return "prefill"
    return "queue"
