"""Check entries, instances and bounds of the benchmark in this folder, and certificates.

python3 check.py NAME FOLDER           an entry: about.json and routes.csv.gz in FOLDER
python3 check.py NAME                  an instance in v1/ beside this program, and its bound
python3 check.py --certificate FILE    a proof of routelab that routes cannot deadlock

Exit codes: 0 accepted, or a proof; 2 it cannot be read, or about.json claims something false; 3 not
enough input; 4 it proves nothing; 5 cycle; 6 broken; 7 outside the instance.
"""

import gzip
import hashlib
import heapq
import io
import json
import re
import sys
import zlib
from fractions import Fraction
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, pairwise
from math import ceil, lcm
from pathlib import Path

WORDS = ("", "", "cannot accept", "not enough input", "unproven", "cycle", "broken", "outside")
MAX_STORED, MAX_BYTES, VCS, ANY = 5_000_000, 200_000_000, range(2**31), range(2**63)
V1, VALUE = Path(__file__).parent / "v1", "[0-9]{1,200}(/0*[1-9][0-9]{0,200})?"
ROUTE = "(HOP( HOP)*)?(;(HOP( HOP)*)?)*".replace("HOP", "[0-9]{1,12}(:[0-9]{1,12})?")
SWITCH, NUMBER, CAPACITY = r"""[^\s#@,"'][^@,"]*""", "[0-9]{1,18}", r"[0-9]{1,9}(\.[0-9]{1,9})?"
INSTANCE = {"format": "routing-instance/1", "title": str, "topology?": str}
INSTANCE |= {"terminals": object, "virtual_channels": range(1, 2**15), "per": "hop|pair"}
INSTANCE |= {"table": "any|destination", "max_hops": {range(1, 2**31)}, "whole_loads": bool}
ABOUT = {"format": "routing-entry/1", "instance": str, "network": str, "routes": str}
ABOUT |= {"value": object} | dict.fromkeys(("who?", "tool?", "version?", "command?", "date?"), str)


class RefusedError(Exception):
    """A sentence, and the exit code."""


def need(fact, text, code=2):
    """Return `fact`, or refuse what is checked unless it holds."""
    if not fact:
        raise RefusedError(text, code)
    return fact


def read_file(path):
    """Return the bytes of a regular file, unpacked if it is .gz; refuse what may fill memory."""
    path = Path(path)
    need(path.is_file(), f"{str(path)!r:.300} is not a regular file")
    if path.suffix != ".gz":
        return path.read_bytes()
    need(path.stat().st_size <= MAX_STORED, f"{path.name} has more than {MAX_STORED:,} bytes")
    with gzip.open(path) as file:
        content = file.read(MAX_BYTES + 1)
    need(len(content) <= MAX_BYTES, f"{path.name} contains more than {MAX_BYTES:,} bytes")
    return content


def read_json(path):
    """Return a JSON value; refuse fields that occur twice, and NaN, for which int() raises."""

    def unique(pairs):
        need(len(dict(pairs)) == len(pairs), "a field occurs twice")
        return dict(pairs)

    return json.loads(read_file(path).decode(), parse_constant=int, object_pairs_hook=unique)


def expect(value, form, name):
    """Refuse a JSON value of another form: a type, a range of int, a pattern of str, or its parts.

    Parts: {"a": f, "b?": f} (b may be missing), [f] (any number), (f, g) (both), {f} (null or f).
    """
    if type(form) is dict and type(value) is dict:
        fields = {k.rstrip("?"): f for k, f in form.items() if k[-1] != "?" or k[:-1] in value}
        need(value.keys() == fields.keys(), f"{name} must have the fields {', '.join(fields)}")
        for key in fields:
            expect(value[key], fields[key], key)
    elif type(form) in (list, tuple) and type(value) is list:
        forms = form * len(value) if type(form) is list else form
        need(len(value) == len(forms), f"{name} has {value!r:.60}, with a wrong length")
        for part, part_form in zip(value, forms, strict=True):
            expect(part, part_form, name)
    elif type(form) is not set or value is not None:
        form = next(iter(form)) if type(form) is set else form
        fits = form is object or type(value) is form
        fits |= type(form) is range and type(value) is int and value in form  # True is a bool
        fits |= type(form) is str and type(value) is str and re.fullmatch(form, value) is not None
        need(fits, f"{name} has a wrong form: {value!r:.60}")


def read_rows(content, *headings):
    """Return the heading of a CSV file, one of those expected, and an iterator over its rows."""
    lines = (line.strip() for line in io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig"))
    cells = (line.split(",") for line in lines if line and line[0] != "#")
    rows = ([*map(str.strip, row)] for row in cells if need(row[1:], f"{row[0]!r:.60}: no comma"))
    heading = ",".join(next(rows, []))
    need(heading in headings, f"the heading is {heading!r:.60} instead of {' or '.join(headings)}")
    return heading, rows


def read_instance(folder, name):
    """Return rules, {channel: capacity}, {pair: demand} and the SHA-256 of network.csv."""
    index = read_rows(read_file(V1 / "index.csv"), "name,network_sha256,instance_sha256,retired")[1]
    digests = {row[0]: row[1:] for row in index}.get(name, ())
    need(len(digests) == 3, f"index.csv has no instance {name!r:.60}")
    network, rules = read_file(folder / "network.csv"), read_json(folder / "instance.json")
    for file, digest in (("network.csv", digests[0]), ("instance.json", digests[1])):
        is_same = hashlib.sha256(read_file(folder / file)).hexdigest() == digest
        need(is_same, f"{file} of {name} is not the one in index.csv")
    expect(rules, INSTANCE | {"name": re.escape(name)}, "instance.json")
    capacity = {}
    for a, b, *cells in read_rows(network, "source,target,capacity", "source,target")[1]:
        expect([a, b, *(cells or "1")], (SWITCH, SWITCH, CAPACITY), "network.csv")  # default: 1
        need((a, b) not in capacity and a != b, f"network.csv: {[a, b]} again")
        capacity[a, b] = Fraction(cells[0] if cells else 1)
    whole = set(capacity.values()) == {1} or not rules["whole_loads"]
    need(all(capacity.values()) and whole, "network.csv: a capacity is 0, or loads are not whole")
    counts, switches = rules["terminals"], {end: 0 for channel in capacity for end in channel}
    terminals = counts if type(counts) is dict else dict.fromkeys(switches, counts)
    expect([*terminals.values()], [range(10**6)], "terminals")
    need(terminals.keys() <= switches.keys(), "terminals: a switch is not in network.csv")
    endpoints = [switch for switch in terminals if terminals[switch]]
    demand = {(a, b): terminals[a] * terminals[b] for a in endpoints for b in endpoints if a != b}
    return rules, capacity, demand, digests[0]


def join_next_hops(rows, resource, demand):
    """Yield the routes that a table of next hops gives, as rows: source, target, and each hop."""
    hops, vcs = {}, {}
    for switch, target, *cells in rows:
        if switch != target:
            packets, key = f"packets for {target} at {switch}", (switch, target)
            need(len(cells) == 1, f"{packets} have {len(cells)} next hops", 7 if cells else 2)
            need(key not in hops, f"{packets}: listed twice", 6 if [hops.get(key)] == cells else 7)
            vc = resource(switch, cells[0])[2]
            need(vcs.setdefault(target, vc) == vc, f"{packets} change their virtual channel", 7)
            hops[key] = cells[0]
    for source, target in demand:
        switch, cells = source, []
        while switch != target and (switch, target) in hops:
            cells.append(hops[switch, target])
            switch = resource(switch, cells[-1])[1]
            # a route without a loop has fewer hops than the table has lines
            need(len(cells) <= len(hops), f"packets from {source} for {target} never arrive", 6)
        if cells:
            yield source, target, *cells


def read_routes(content, rules, capacity, demand):
    """Return {pair: {route: weight}}; a route is a tuple of (source, target, virtual channel)."""

    @cache
    def resource(current, cell):
        switch, mark, vc = cell.partition("@")
        need(switch and (not mark or re.fullmatch(NUMBER, vc)), f"{cell!r:.60} is not a hop")
        need((current, switch) in capacity, f"there is no channel from {current} to {switch}", 6)
        need(int(vc or 0) < rules["virtual_channels"], f"{cell}: too many virtual channels", 7)
        return current, switch, int(vc or 0)

    forms = ("source,target,switches", "source,target,weight,switches")
    heading, rows = read_rows(content, *forms, "switch,target,next", "switch,target,switches")
    per_hop, single, limit = rules["per"] == "hop", rules["whole_loads"], rules["max_hops"] or 2**31
    need(heading != forms[1] or not single, "each pair has one route, so that it has no weight", 7)
    if heading not in forms:
        need(not per_hop, "next hops are for instances of a virtual channel per pair", 7)
        rows = join_next_hops(rows, resource, demand)
    routes, exits = {pair: {} for pair in demand}, {}
    for source, target, *cells in rows:
        name, current, route = f"the route from {source} to {target}", source, []
        need((source, target) in demand, f"{name} joins no pair of the instance", 7)
        weight = cells.pop(0) if "weight" in heading and cells else "1"
        need(re.fullmatch(NUMBER, weight) and int(weight), f"the weight {weight!r:.60} is wrong")
        for cell in cells:
            route.append(hop := resource(current, cell))
            fits = exits.setdefault((current, target), hop[1]) == hop[1] or rules["table"] == "any"
            need(fits, f"packets for {target} at {current} have two next hops", 7)
            current = hop[1]
        need(current == target, f"{name} ends at {current}", 6)
        need(len(route) <= limit, f"{name} has more than {limit} hops", 7)
        vcs, listed, route = {hop[2] for hop in route}, routes[source, target], tuple(route)
        need(per_hop or len(vcs) == 1, f"{name} changes its virtual channel", 7)
        need(route not in listed, f"{name} is listed twice", 6)
        need(not (listed and single), f"{name} is the second of its pair", 7)
        listed[route] = int(weight)
    for source, target in demand:
        need(routes[source, target], f"there is no route from {source} to {target}", 7)
    return routes


def order_dependencies(routes):
    """Refuse routes in which virtual channels (resources) wait for each other in a cycle."""
    waits = {}
    for a, b in {step for pair in routes.values() for route in pair for step in pairwise(route)}:
        waits.setdefault(b, []).append(a)
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        cycle = [f"{a}>{b}@{vc}" for a, b, vc in error.args[1]]
        need(False, " -> ".join(cycle if len(cycle) < 10 else [*cycle[:8], "..."]), 5)


def largest_load(routes, capacity, demand):
    """Return the largest load of a channel; a pair's routes share its demand by their weights."""
    totals = {pair: sum(weights.values()) for pair, weights in routes.items()}
    load, scale = dict.fromkeys(capacity, 0), lcm(*totals.values())  # loads times scale are whole
    need(scale < 10**100, "the sums of the weights of pairs have too large a common multiple")
    for pair, weights in routes.items():
        for route, weight in weights.items():
            for source, target, _ in route:
                load[source, target] += demand[pair] * weight * (scale // totals[pair])
    return max(load[channel] / capacity[channel] for channel in load) / scale


def read_bound(path, capacity, demand):
    """Return a lower bound of the largest load of every routing, from weights of the channels."""
    weights, outgoing, distances = {}, {}, {source: {} for source, _ in demand}
    for row in read_rows(read_file(path), "source,target,weight")[1]:
        expect(row, (str, str, NUMBER), "bound.csv.gz")
        is_new = (row[0], row[1]) in capacity and (row[0], row[1]) not in weights
        need(is_new, f"the bound has {row[:2]} twice, or the network does not have it", 4)
        weights[row[0], row[1]] = int(row[2])
    for source, target in capacity:
        outgoing.setdefault(source, []).append((target, weights.get((source, target), 0)))
    for source, distance_to in distances.items():
        heap = [(0, source)]
        while heap:
            distance, switch = heapq.heappop(heap)
            if switch not in distance_to:
                distance_to[switch] = distance
                for target, weight in outgoing.get(switch, ()):
                    heapq.heappush(heap, (distance + weight, target))
    # For any weights, the sum of demand x distance is at most the sum of weight x traffic of all
    # channels, and the traffic of each is at most capacity x largest load.
    total = sum(weight * capacity[channel] for channel, weight in weights.items())
    exact = sum(demand[a, b] * distances[a].get(b, 0) for a, b in demand) / Fraction(total or 1)
    need(exact, "the bound is 0", 4)
    return exact


def check_benchmark(name, folder=None):
    """Check an instance and its bound, and an entry in a folder; return the result in words."""
    rules, capacity, demand, network = read_instance(V1 / name, name)
    need((V1 / name / "bound.csv.gz").exists(), f"{name} has no bound", 3)
    exact = read_bound(V1 / name / "bound.csv.gz", capacity, demand)
    bound = Fraction(ceil(exact)) if rules["whole_loads"] else exact
    if folder is None:
        return f"bound: {bound}" + f" ({exact})" * (bound != exact)
    about, file = read_json(Path(folder) / "about.json"), Path(folder) / "routes.csv.gz"
    expect(about, ABOUT, "about.json")
    is_same = about["instance"] == name and about["network"] == network
    need(is_same, f"about.json is of another network, or instance: {about['instance']!r:.60}", 7)
    need(file.exists(), "there is no routes.csv.gz", 3)
    content, claim = read_file(file), str(about["value"])
    routes = read_routes(content, rules, capacity, demand)
    order_dependencies(routes)
    value = largest_load(routes, capacity, demand)
    need(re.fullmatch(VALUE, claim), f"about.json: the value {claim!r:.60} is not a number")
    need(Fraction(claim) == value, f"about.json claims the value {claim:.60}, and it is {value}")
    is_same = hashlib.sha256(content).hexdigest() == about["routes"]
    need(is_same, "about.json claims another SHA-256 of the routes")
    need(bound <= value, f"the maximum load {value} is below the bound {bound}", 4)
    all_routes = [route for weights in routes.values() for route in weights]
    vcs, hops = 1 + max(vc for route in all_routes for _, _, vc in route), max(map(len, all_routes))
    gap = f"bound {bound} (gap {100 * float(value / bound - 1):.1f} %)"
    used = f"{vcs} virtual channel{'s' * (vcs > 1)}; at most {hops} hop{'s' * (hops > 1)}"
    return f"accepted: maximum load {value}; {gap}; {used}"


def check_ranks(proof, source, target):
    """Refuse a certificate of routes unless ranks rise along dependencies; say what it proves."""
    flow, rings, ends = proof["flow_control"], proof["rings"], proof["endpoints"]
    need(all(ring["channels"] for ring in rings), "a ring is empty")
    known = flow == "bubble" or (flow == "plain" and not rings)
    need(known, f"flow control is {flow!r:.60}; it must be plain, and rings need bubble", 4)
    resource = [(channel, vc) for channel, vc, _ in proof["resources"]]
    rank = {(channel, vc): rank for channel, vc, rank in proof["resources"]}
    need(len(rank) == len(resource), "a resource is listed twice", 4)
    next_in_ring = {}  # a virtual channel is in one ring at most, a switch once in a ring
    for ring in rings:
        loop, vc = ring["channels"], ring["vc"]
        need(len({source[a] for a in loop}) == len(loop), f"ring {loop} visits a switch twice", 4)
        for a, b in pairwise([*loop, loop[0]]):
            need(target[a] == source[b], f"ring {loop} is broken between {a} and {b}", 4)
            need((a, vc) not in next_in_ring, f"channel {a} is in two rings", 4)
            next_in_ring[a, vc] = (b, vc)
    goals, routes, used = proof.get("destinations", ends), [], set()
    pairs = [(a, b) for a in ends for b in goals]
    need(len(proof["routes"]) == len(pairs), "there must be one entry for every pair", 4)
    for (start, goal), text in zip(pairs, proof["routes"], strict=True):
        routes.append([])
        for path in [] if text is None else text.split(";"):
            hops = [tuple(map(int, f"{hop}:0".split(":")[:2])) for hop in path.split()]
            need(all(c < len(source) for c, _ in hops), f"route {path} has an unknown channel", 4)
            stops = [start, *(target[c] for c, _ in hops)]
            need(stops[:-1] == [source[c] for c, _ in hops], f"route {path} is not connected", 4)
            need(stops[-1] == goal, f"route {path} misses its target", 4)
            need(all(hop in rank for hop in hops), f"route {path} has a hop without a rank", 4)
            used.update(pairwise(hops))
            routes[-1].append(hops)
    index_pairs = proof["dependencies"]
    need(all(max(pair) < len(resource) for pair in index_pairs), "a dependency does not exist", 4)
    listed = {(resource[i], resource[j]) for i, j in index_pairs}
    need(len(listed) == len(index_pairs), "a dependency is listed twice", 4)
    need(listed == used, "the dependencies do not match the routes", 4)
    for a, b in listed:
        ordered = rank[a] < rank[b] or (rank[a] == rank[b] and next_in_ring.get(a) == b)
        need(ordered, f"dependency {a} -> {b} does not increase in rank", 4)
    number = {name: position for position, name in enumerate(proof["switches"])}
    need({*source, *target, *ends, *goals} <= number.keys(), "a switch is not listed", 4)
    network = [[number[name] for name in names] for names in (source, target, ends)]
    paths = [path for pair in routes for path in pair]
    table = [[0, *accumulate(map(len, part))] for part in (routes, paths)]
    table += [[hop[part] for path in paths for hop in path] for part in (0, 1)]
    table += [[number[goal] for goal in goals]] * ("destinations" in proof)
    for key, lists in (("topology", network), ("routes", table)):
        # little-endian int64, each list after its length
        numbers = (item.to_bytes(8, "little") for part in lists for item in (len(part), *part))
        same = hashlib.sha256(b"".join(numbers)).hexdigest() == proof["digests"][key]
        need(same, f"{key} does not match its digest", 4)
    kinds = "switches" + " and terminals" * ("destinations" in proof)
    pairs = f"{sum(map(any, routes))} of {sum(a != b for a, b in pairs)} pairs of {kinds} routed"
    return f"proven: {flow} flow control, {pairs},\n{len(listed)} dependencies, {len(rings)} rings"


def check_removal(proof, source, target):
    """Refuse a certificate of next hops unless its order frees all buffers; say what it proves."""
    names, goals, sources = proof["switches"], proof["destinations"], proof["sources"]
    need({*goals, *sources, *source, *target} <= {*names}, "a switch is not listed", 4)
    waits, hops, states = proof["waits"], {}, 0
    for switch, goal, choices in proof["entries"]:
        entry = names[switch], goal
        need(entry not in hops and choices, "an entry is listed twice, or has no next hop", 4)
        need(all(source[c] == entry[0] for c, _ in choices), "a next hop begins elsewhere", 4)
        hops[entry] = [tuple(hop) for hop in choices]
    step_of = {tuple(buffer): step for step, buffer in enumerate(proof["removal"])}
    need(len(step_of) == len(proof["removal"]), "a buffer is removed twice", 4)
    for number, goal in enumerate(goals):
        unvisited = [a for a in sources if a != goal and (a, number) in hops]
        reached = {goal, *unvisited}
        while unvisited:
            for buffer in hops[unvisited.pop(), number]:
                need(buffer in step_of, "a buffer with packets is never removed", 4)
                switch, states = target[buffer[0]], states + 1
                if switch == goal:
                    continue
                packets, choices = f"packets for {goal} at {switch}", hops.get((switch, number))
                need(choices, f"{packets} have no next hop", 4)
                earlier = [step_of.get(hop, len(step_of)) < step_of[buffer] for hop in choices]
                is_safe = {"any": any(earlier), "one": all(earlier), "escape": earlier[0]}
                need(is_safe[waits], f"{packets} wait for later buffers", 4)
                unvisited += {switch} - reached
                reached.add(switch)
    count = f"{len(hops)} entries,\n{states} states, {len(step_of)} buffers"
    return f"proven: packets wait for {waits}, {count}"


def check_certificate(path):
    """Return what a certificate proves."""
    proof = read_json(path)
    expect(proof, dict, "the certificate")
    formats, name = ("deadlock-certificate/2", "removal-order/1"), proof.get("format")
    need(name in formats, f"its format is {name!r:.60}, and this program reads {formats[0]!r}")
    indices = {key: range(len(part)) for key, part in proof.items() if type(part) is list}
    form = {"format": str, "switches": [str], "channels": [(str, str, str)]}
    channel, switch, goal = map(indices.get, ("channels", "switches", "destinations"))
    if name == formats[0]:
        form |= {"flow_control": str, "preconditions": [str], "endpoints": [str]}
        form |= {"digests": {"topology": object, "routes": object}, "dependencies": [(ANY, ANY)]}
        form |= {"rings": [{"vc": VCS, "channels": [channel]}], "resources": [(channel, VCS, ANY)]}
        form |= {"routes": [{ROUTE}], "destinations?": [str], "provenance?": dict}
    else:
        form |= {"waits": "any|one|escape", "destinations": [str], "sources": [str]}
        form |= {"entries": [(switch, goal, [(channel, VCS)])], "removal": [(channel, VCS)]}
    expect(proof, form, "the certificate")
    need(len(set(proof["switches"])) == len(switch), "two switches have the same name", 4)
    check = check_ranks if name == formats[0] else check_removal
    return check(proof, *([channel[end] for channel in proof["channels"]] for end in (1, 2)))


def main(arguments):
    """Check what the arguments name, and return the exit code."""
    try:
        need(0 < len(arguments) < 3, "give NAME, NAME FOLDER, or --certificate FILE")
        is_proof = len(arguments) == 2 and arguments[0] == "--certificate"
        print(check_certificate(arguments[1]) if is_proof else check_benchmark(*arguments))
        return 0
    except RefusedError as error:
        text, code = error.args
    except (OSError, ValueError, RecursionError, EOFError, MemoryError, zlib.error) as error:
        text, code = repr(error), 2
    print(f"{WORDS[code]}: {' '.join(text[:500].split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
