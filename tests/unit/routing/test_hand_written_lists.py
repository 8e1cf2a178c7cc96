"""Lists as people and other programs write them, next to a naive reader of characters."""

import random
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import pytest
from listed_networks import linked, random_network, random_routes

from routelab.api import InputError
from routelab.routing.prove import prove_routes

SEPARATORS = ",;\t"


class RefusedError(Exception):
    """The naive reader cannot be sure."""


def naive_cells(line, separator):
    """Cells of a line, character by character."""
    cells, cell, inside = [], "", False
    for character in line + separator:
        if character == '"':
            inside = not inside
        if character == separator and not inside:
            cells.append(cell.strip())
            cell = ""
        else:
            cell += character
    if inside:
        raise RefusedError
    plain = []
    for text in cells:
        if text.startswith('"') and text.endswith('"') and len(text) > 1:
            text = text[1:-1].replace('""', "\0")
            if '"' in text:
                raise RefusedError
            plain.append(text.replace("\0", '"'))
        elif any(mark in text for mark in SEPARATORS + '"'):
            raise RefusedError
        else:
            plain.append(text)
    while plain and not plain[-1]:
        plain.pop()
    return plain


def naive_routes(content):
    """(source, target, hops) of each route of a file."""
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text.split("\n") if line.strip() and line.strip()[0] != "#"]
    present = {mark for mark in SEPARATORS if mark in lines[0]}
    if len(present) != 1:
        raise RefusedError
    separator = present.pop()
    header, *rows = filter(None, (naive_cells(line, separator) for line in lines))
    if header != ["source", "target", "switches"]:
        raise RefusedError
    for source, target, *hops in rows:
        if any("@" in hop and not hop.partition("@")[2].isdecimal() for hop in hops):
            raise RefusedError
        yield source, target, hops


def naive_facts(routes, at, links):
    """The verdict, the pairs with a route and the largest load.

    `at`: the switch of each host; `links`: those of the network, None if any may exist.
    """
    hosts = {switch: {h for h in at if at[h] == switch} for switch in at.values()}
    ends = {**{h: {h} for h in at}, **hosts}
    of_pair, dependencies = {}, nx.DiGraph()
    for source, target, hops in routes:
        start = at.get(source, source)
        resources = [
            (a.partition("@")[0], *b.partition("@")[::2]) for a, b in pairwise([start, *hops])
        ]
        nx.add_path(dependencies, [(a, b, vc or "0") for a, b, vc in resources])
        steps = [(a, b) for a, b, _ in resources]
        if steps[-1][1] != at.get(target, target) or (links and not links.issuperset(steps)):
            return "broken", None, None
        of_pair.setdefault((source, target), []).append(steps)
    load, joined = {}, 0
    for s in at:
        for t in at:
            if at[s] == at[t]:
                joined += s != t
                continue
            levels = [
                {(s, t)},
                {(s, at[t]), (at[s], t)},
                {(at[s], at[t])},
            ]
            listed = next((lists for level in levels if (lists := level & set(of_pair))), set())
            if len(listed) > 1:
                raise RefusedError
            for pair in listed:
                joined += 1
                for route in of_pair[pair]:
                    for link in route:
                        load[link] = load.get(link, 0) + Fraction(1, len(of_pair[pair]))
    assert all(source in ends and target in ends for source, target in of_pair)
    status = "proven" if nx.is_directed_acyclic_graph(dependencies) else "cycle"
    return status, joined, max(load.values(), default=0)


class Writer:
    """Writes routes as a person might, without or with one trap."""

    def __init__(self, draw, trap):
        self.draw, self.trap = draw, trap
        self.separator = draw.choice(",,;\t")
        self.quotes = draw.choice([0, 0.2, 1])
        self.blanks = [" ", "  "] if draw.random() < 0.5 else [""]
        if self.separator != "\t":
            self.blanks.append("\t" if self.draw.random() < 0.2 else "")

    def cell(self, text):
        if self.draw.random() < self.quotes or any(mark in text for mark in SEPARATORS + '"#'):
            text = '"' + text.replace('"', '""') + '"'
        blank = self.draw.choice
        return blank(self.blanks) + text + blank(self.blanks)

    def line(self, cells):
        return self.separator.join(self.cell(cell) for cell in cells)

    def header(self):
        if self.trap == "two separators":
            return self.draw.choice(["source,target;switches", "source;target\tswitches"])
        # blanks that are tabs would be a second separator
        return self.separator.join(["source", "target", "switches"])

    def trapped(self, cells):
        """The line of a route with the trap in it."""
        text, place = self.line(cells), self.draw.randrange(2, len(cells))
        name = {
            "case": cells[place].swapcase(),
            "colon": cells[place] + ":1",
            "no number": cells[place] + "@",
        }.get(self.trap)
        if name:
            return self.line([*cells[:place], name, *cells[place + 1 :]])
        other = {",": ";", ";": ",", "\t": ","}[self.separator]
        before, behind = {
            "comment": ("#", ""),
            "inner quote": ("", 'x"'),
            "open quote": ("", self.separator + '"x'),
            "other separator": ("", other + "x"),
        }.get(self.trap, ("", ""))
        return before + text + behind

    def content(self, routes):
        lines = [self.header()]
        victim = self.draw.randrange(len(routes))
        for number, (source, target, hops) in enumerate(routes):
            cells = [source, target, *hops]
            lines.append(self.trapped(cells) if number == victim else self.line(cells))
            if self.draw.random() < 0.1:
                lines.append(self.draw.choice(["", " ", self.separator * 3]))
        if self.draw.random() < 0.3:
            lines.insert(0, "# made by hand")
        end = self.draw.choice(["\n", "\r\n", "\r"])
        content = (end.join(lines) + end).encode()
        return b"\xef\xbb\xbf" * (self.draw.random() < 0.2) + content


TRAPS = (
    "case",
    "colon",
    "no number",
    "comment",
    "inner quote",
    "open quote",
    "other separator",
    "two separators",
)


def test_a_list_is_read_as_a_naive_reader_does_or_refused(tmp_path):
    draw = random.Random(62)
    file, counts = tmp_path / "routes.csv", {}
    for _ in range(500):
        graph, switches, at = random_network(draw)
        with_network = draw.random() < 0.5
        routes = random_routes(draw, graph, switches, at, with_hosts=with_network)
        trap = draw.choice(TRAPS) if draw.random() < 0.4 else None
        file.write_bytes(Writer(draw, trap).content(routes))
        try:
            read = [*naive_routes(file.read_bytes())]
            if not with_network:
                used = {end for source, target, _ in read for end in (source, target)}
                at = {f"h {switch}": switch for switch in used}
            links = {(switches[a], switches[b]) for x in graph.edges for a, b in (x, x[::-1])}
            expected = naive_facts(read, at, links if with_network else None)
        except RefusedError:
            expected = None
        try:
            proof = prove_routes(file, linked(graph, switches, at) if with_network else None)
        except InputError:
            outcome = "refused"
        else:
            outcome = proof.status
            assert expected is not None, file.read_bytes()
            assert proof.status == expected[0], file.read_bytes()
            if outcome != "broken":
                facts = proof.facts
                joined = facts["pairs"] - facts["pairs_without_route"]
                assert joined == expected[1], file.read_bytes()
                assert facts["max_load"] == pytest.approx(float(expected[2])), file.read_bytes()
                if trap in ("comment", "colon") or (trap == "case" and not with_network):
                    named = proof.read["notes"] or not used_twice(file, trap)
                    assert named, file.read_bytes()
        key = "trap" if trap or expected is None else "plain"
        counts[key, outcome] = counts.get((key, outcome), 0) + 1
    plain = {outcome: count for (key, outcome), count in counts.items() if key == "plain"}
    assert set(plain) == {"proven", "cycle"}, counts
    assert min(plain.values()) > 20, counts
    assert counts["trap", "refused"] > 50, counts
    assert min(counts["trap", status] for status in ("proven", "cycle", "broken")) > 1, counts


def used_twice(file, trap):
    """Whether the name without the trap occurs too."""
    cells = {
        c
        for s, t, hops in naive_routes(file.read_bytes())
        for c in (s, t, *(h.partition("@")[0] for h in hops))
    }
    if trap == "colon":
        return any(c.endswith(":1") and c[:-2] in cells for c in cells)
    return trap == "comment" or len({c.casefold() for c in cells}) < len(cells)
