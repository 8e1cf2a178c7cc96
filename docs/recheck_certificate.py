"""Check a deadlock certificate again: python recheck_certificate.py certificate.json.

Exit code 0: it is a proof; 4: it proves nothing; 2: it cannot be read as a certificate.
"""

import hashlib
import json
import re
import sys
from itertools import accumulate, pairwise
from pathlib import Path

UNPROVEN = 4
FORMAT = "deadlock-certificate/2"
REMOVAL_FORMAT = "removal-order/1"
FIELDS = {
    "format": str,
    "flow_control": str,
    "preconditions": list,
    "digests": dict,
    "switches": list,
    "channels": list,
    "rings": list,
    "resources": list,
    "dependencies": list,
    "endpoints": list,
    "routes": list,
}
OPTIONAL = {"destinations": list, "provenance": dict}
HOP = re.compile(r"[0-9]{1,12}(:[0-9]{1,12})?")


class MalformedError(Exception):
    """The file is not a certificate of this format."""


class RefusedError(Exception):
    """The certificate proves nothing."""


def need(fact, text):
    """Stop reading unless `fact` holds."""
    if not fact:
        raise MalformedError(text)


def require(fact, text):
    """Refuse the certificate unless `fact` holds."""
    if not fact:
        raise RefusedError(text)


def no_constant(name):
    """Stop at NaN and the infinities, which JSON does not have."""
    raise MalformedError(f"{name} is not a valid JSON number")


def no_duplicates(pairs):
    """Return an object whose fields are different."""
    need(len(dict(pairs)) == len(pairs), "a field occurs twice")
    return dict(pairs)


def is_tuple(value, *kinds):
    """Return whether a value is a list of items of these types; True is not an integer."""
    return (
        type(value) is list
        and len(value) == len(kinds)
        and all(type(item) is kind for item, kind in zip(value, kinds, strict=True))
    )


def are_numbers(value, below):
    """Return whether a value is a list of integers from 0 to below a limit."""
    return type(value) is list and all(type(item) is int and 0 <= item < below for item in value)


def read(path):
    """Return the content of a file after checks of the form of every field."""
    need(Path(path).is_file(), f"{path!r:.300} is not a regular file")
    with Path(path).open(encoding="utf-8") as file:
        proof = json.load(file, parse_constant=no_constant, object_pairs_hook=no_duplicates)
    need(type(proof) is dict, "it is not a JSON object")
    found = proof.get("format")
    if found == REMOVAL_FORMAT:
        return read_removal(proof)
    need(found == FORMAT, f"its format is {found!r:.60}, and this program reads {FORMAT!r}")
    for name in proof:
        need(
            name in FIELDS or name in OPTIONAL,
            f"unknown field {name!r:.60} for {FORMAT}",
        )
    for name in FIELDS:
        need(name in proof, f"the field {name} is missing")
    for name, value in proof.items():
        need(type(value) is (FIELDS | OPTIONAL)[name], f"{name} has the wrong type")
    for name in ("preconditions", "switches", "endpoints", "destinations"):
        texts = all(type(text) is str for text in proof.get(name, []))
        need(texts, f"{name} must be a list of texts")
    need(
        set(proof["digests"]) == {"topology", "routes"},
        "digests must have topology and routes, and nothing else",
    )
    triples = all(is_tuple(channel, str, str, str) for channel in proof["channels"])
    need(triples, "a channel must be a list of name, source and target")
    channels = len(proof["channels"])
    for resource in proof["resources"]:
        need(is_tuple(resource, int, int, int), "a resource must be a list of channel, vc and rank")
        need(0 <= resource[0] < channels, "a resource has a channel that does not exist")
        need(0 <= resource[1] < 2**31, "a resource has an invalid virtual channel")
        need(0 <= resource[2] < 2**63, "a resource has an invalid rank")
    for pair in proof["dependencies"]:
        need(
            are_numbers(pair, 2**63) and len(pair) == 2, "a dependency must be a pair of resources"
        )
    for ring in proof["rings"]:
        need(
            type(ring) is dict and set(ring) == {"vc", "channels"},
            "a ring must have vc and channels",
        )
        need(are_numbers([ring["vc"]], 2**31), "a ring has an invalid virtual channel")
        need(are_numbers(ring["channels"], channels), "a ring has a channel that does not exist")
        need(ring["channels"], "a ring is empty")
    for text in proof["routes"]:
        need(text is None or type(text) is str, "a route must be a text or null")
        for path in [] if text is None else text.split(";"):
            hops = path.split(" ") if path else []
            need(all(map(HOP.fullmatch, hops)), f"the route {path!r:.60} is not a list of hops")
    return proof


def routes_of(proof):
    """Return the paths of each pair; a path is a list of (channel, vc)."""
    return [
        []
        if text is None
        else [
            [(int(c), int(vc or 0)) for c, _, vc in (hop.partition(":") for hop in path.split())]
            for path in text.split(";")
        ]
        for text in proof["routes"]
    ]


def digest(*lists):
    """Return the SHA-256 of lists of integers, as little-endian int64, each after its length."""
    total = hashlib.sha256()
    for numbers in lists:
        total.update(len(numbers).to_bytes(8, "little"))
        total.update(b"".join(number.to_bytes(8, "little") for number in numbers))
    return total.hexdigest()


def check_digests(proof, routes):
    """Refuse a certificate that has another network or table than the one that was proven."""
    number = {name: place for place, name in enumerate(proof["switches"])}
    require(len(number) == len(proof["switches"]), "two switches have the same name")
    ends, goals = proof["endpoints"], proof.get("destinations", [])
    named = {*ends, *goals, *(end for channel in proof["channels"] for end in channel[1:])}
    require(named <= set(number), "a switch is not listed")
    network = [[number[channel[end]] for channel in proof["channels"]] for end in (1, 2)]
    same = digest(*network, [number[end] for end in ends]) == proof["digests"]["topology"]
    require(same, "the network does not match its digest")
    paths = [path for pair in routes for path in pair]
    arrays = [
        [0, *accumulate(map(len, routes))],
        [0, *accumulate(map(len, paths))],
        [channel for path in paths for channel, _ in path],
        [vc for path in paths for _, vc in path],
    ]
    if "destinations" in proof:
        arrays.append([number[goal] for goal in goals])
    require(digest(*arrays) == proof["digests"]["routes"], "the routes do not match their digest")


def check(proof):
    """Refuse a certificate that proves nothing; return what it proves."""
    require(proof["flow_control"] in ("plain", "bubble"), "unknown flow control")
    bubble = proof["flow_control"] == "bubble"
    require(bubble or not proof["rings"], "rings need bubble flow control")
    source = [channel[1] for channel in proof["channels"]]
    target = [channel[2] for channel in proof["channels"]]
    resource = [(channel, vc) for channel, vc, _ in proof["resources"]]
    rank = {(channel, vc): rank for channel, vc, rank in proof["resources"]}
    require(len(rank) == len(resource), "a resource is listed twice")

    follows = {}  # in its ring: each channel once in all rings, each switch once in a ring
    for ring in proof["rings"]:
        loop, vc = ring["channels"], ring["vc"]
        require(len({source[a] for a in loop}) == len(loop), f"ring {loop} visits a switch twice")
        for a, b in pairwise([*loop, loop[0]]):
            require(target[a] == source[b], f"ring {loop} is broken between channels {a} and {b}")
            require((a, vc) not in follows, f"channel {a} is in two rings")
            follows[a, vc] = (b, vc)

    ends, found = proof["endpoints"], set()
    goals, routes = proof.get("destinations", ends), routes_of(proof)
    require(len(routes) == len(ends) * len(goals), "there must be one entry for every pair")
    for pair, paths in enumerate(routes):
        for hops in paths:
            path = " ".join(f"{c}:{vc}" if vc else str(c) for c, vc in hops)
            require(
                all(c < len(source) for c, _ in hops),
                f"route {path} uses a channel that does not exist",
            )
            stops = [ends[pair // len(goals)], *(target[c] for c, _ in hops)]
            require(stops[:-1] == [source[c] for c, _ in hops], f"route {path} is not connected")
            require(stops[-1] == goals[pair % len(goals)], f"route {path} misses its target")
            require(all(hop in rank for hop in hops), f"route {path} has a hop without a rank")
            found.update(pairwise(hops))
    exist = all(place < len(resource) for pair in proof["dependencies"] for place in pair)
    require(exist, "a dependency names a resource that does not exist")
    listed = {(resource[i], resource[j]) for i, j in proof["dependencies"]}
    require(len(listed) == len(proof["dependencies"]), "a dependency is listed twice")
    require(listed == found, "the dependencies do not match the routes")
    for a, b in listed:
        ordered = rank[a] < rank[b] or (rank[a] == rank[b] and follows.get(a) == b)
        require(ordered, f"dependency {a} -> {b} does not increase in rank")
    check_digests(proof, routes)

    pairs = sum(end != goal for end in ends for goal in goals)
    routed = sum(any(paths) for paths in routes)
    what = "switches and terminals" if "destinations" in proof else "switches"
    return (
        f"proven: {proof['flow_control']} flow control, {routed} of {pairs} pairs of {what} "
        f"routed,\n{len(listed)} dependencies, {len(proof['rings'])} rings"
    )


def read_removal(proof):
    """Return a certificate of next hops after checks of the form of every field."""
    lists = ("switches", "destinations", "sources", "channels", "entries", "removal")
    need(set(proof) == {"format", "waits", *lists}, "it has other fields than the format")
    need(proof["waits"] in ("any", "one", "escape"), "unknown waits")
    for name in lists:
        need(type(proof[name]) is list, f"{name} has the wrong type")
    for name in ("switches", "destinations", "sources"):
        need(all(type(text) is str for text in proof[name]), f"{name} must be a list of texts")
    triples = all(is_tuple(channel, str, str, str) for channel in proof["channels"])
    need(triples, "a channel must be a list of name, source and target")
    channels = len(proof["channels"])
    for entry in proof["entries"]:
        need(is_tuple(entry, int, int, list), "an entry must be switch, destination and next hops")
        need(0 <= entry[0] < len(proof["switches"]), "an entry has no switch")
        need(0 <= entry[1] < len(proof["destinations"]), "an entry has no destination")
    for hop in [*proof["removal"], *(hop for entry in proof["entries"] for hop in entry[2])]:
        need(is_tuple(hop, int, int), "a next hop must be a list of channel and vc")
        need(0 <= hop[0] < channels and 0 <= hop[1] < 2**31, "a next hop does not exist")
    return proof


def check_removal(proof):
    """Refuse a certificate of next hops that proves nothing; return what it proves."""
    names = proof["switches"]
    require(len(set(names)) == len(names), "two switches have the same name")
    ends = [(source, target) for _, source, target in proof["channels"]]
    listed = {*proof["destinations"], *proof["sources"], *(end for pair in ends for end in pair)}
    require(listed <= set(names), "a switch is not listed")
    hops = {}
    for switch, destination, choices in proof["entries"]:
        key = names[switch], destination
        require(key not in hops and choices, "an entry is listed twice, or has no next hop")
        require(all(ends[c][0] == key[0] for c, _ in choices), "a next hop begins elsewhere")
        hops[key] = [tuple(hop) for hop in choices]
    order = {tuple(buffer): place for place, buffer in enumerate(proof["removal"])}
    require(len(order) == len(proof["removal"]), "a buffer is removed twice")
    states = 0
    for place, goal in enumerate(proof["destinations"]):
        waiting = [
            source for source in proof["sources"] if source != goal and (source, place) in hops
        ]
        seen = set(waiting)
        while waiting:
            for buffer in hops[waiting.pop(), place]:
                require(buffer in order, "a buffer with packets is never removed")
                switch = ends[buffer[0]][1]
                states += 1
                if switch == goal:
                    continue
                require((switch, place) in hops, f"packets for {goal} end at {switch}")
                choices = hops[switch, place]
                earlier = [order.get(hop, len(order)) < order[buffer] for hop in choices]
                holds = {"any": any(earlier), "one": all(earlier), "escape": earlier[0]}
                require(
                    holds[proof["waits"]], f"packets for {goal} at {switch} wait for later buffers"
                )
                if switch not in seen:
                    seen.add(switch)
                    waiting.append(switch)
    return (
        f"proven: packets wait for {proof['waits']}, {len(hops)} entries,\n{states} states, "
        f"{len(order)} buffers"
    )


def main(arguments):
    """Check the file of that name; return the exit code."""
    try:
        need(len(arguments) == 1, "give one file: python recheck_certificate.py certificate.json")
        proof = read(arguments[0])
        print(check_removal(proof) if proof["format"] == REMOVAL_FORMAT else check(proof))
    except RefusedError as error:
        print(f"unproven: {error}", file=sys.stderr)
        return UNPROVEN
    except MalformedError as error:
        print(f"cannot read the certificate: {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError, RecursionError) as error:
        print(f"cannot read the certificate: {error!r:.300}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
