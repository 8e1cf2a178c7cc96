"""Check a deadlock certificate again: python recheck_certificate.py certificate.json."""

import json
import sys
from itertools import pairwise
from pathlib import Path


def require(fact: bool, text: str) -> None:
    """Refuse the certificate unless `fact` holds."""
    if not fact:
        sys.exit(f"refused: {text}")


require(len(sys.argv) == 2, "give one file: python recheck_certificate.py certificate.json")
try:
    proof = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    require(proof["format"].startswith("deadlock-certificate/"), "this is no certificate")
except (OSError, ValueError, TypeError, KeyError) as error:
    sys.exit(f"refused: no certificate can be read: {error!r}")
require(proof["flow_control"] in ("plain", "bubble"), "unknown flow control")
require(proof["flow_control"] == "bubble" or not proof["rings"], "rings need bubble flow control")
source = [channel[1] for channel in proof["channels"]]
target = [channel[2] for channel in proof["channels"]]
resource = [(channel, vc) for channel, vc, _ in proof["resources"]]
rank = {(channel, vc): rank for channel, vc, rank in proof["resources"]}
require(len(rank) == len(resource), "a resource is listed twice")
require(all(0 <= c < len(source) for c, _ in rank), "a resource has no channel")

follows = {}  # in its ring: each channel once in all rings, each switch once in a ring
for ring in proof["rings"]:
    loop, vc = ring["channels"], ring["vc"]
    require(len({source[a] for a in loop}) == len(loop), f"ring {loop} visits a switch twice")
    for a, b in pairwise([*loop, loop[0]]):
        require(target[a] == source[b], f"ring {loop} is broken between channels {a} and {b}")
        require((a, vc) not in follows, f"channel {a} is in two rings")
        follows[a, vc] = (b, vc)

ends, found = proof["endpoints"], set()
goals = proof.get("destinations", ends)
require(len(proof["routes"]) == len(ends) * len(goals), "there must be one entry for every pair")
for pair, text in enumerate(proof["routes"]):
    for path in [] if text is None else text.split(";"):
        hops = [(int(c), int(vc or 0)) for c, _, vc in (hop.partition(":") for hop in path.split())]
        stops = [ends[pair // len(goals)], *(target[c] for c, _ in hops)]
        require(stops[:-1] == [source[c] for c, _ in hops], f"route {path} is not connected")
        require(stops[-1] == goals[pair % len(goals)], f"route {path} misses its target")
        require(all(hop in rank for hop in hops), f"route {path} has a hop without a rank")
        found.update(pairwise(hops))
listed = {(resource[i], resource[j]) for i, j in proof["dependencies"]}
require(listed == found, "the dependencies are not those of the routes")

for a, b in listed:
    ordered = rank[a] < rank[b] or (rank[a] == rank[b] and follows.get(a) == b)
    require(ordered, f"dependency {a} -> {b} does not rise in rank")
pairs = sum(end != goal for end in ends for goal in goals)
routed = sum(text not in (None, "") for text in proof["routes"])
what = "switches and terminals" if "destinations" in proof else "switches"
print(f"proven: {proof['flow_control']} flow control, {routed} of {pairs} pairs of {what} routed,")
print(f"{len(listed)} dependencies, {len(proof['rings'])} rings")
