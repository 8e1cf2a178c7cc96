"""Drawings for Graphviz: all parts, with hostile names and the loads of both ways."""

from __future__ import annotations

import re
from pathlib import Path

from routelab.metrics.load import channel_loads
from routelab.stages.export import export_routes

DATA = Path(__file__).parents[3] / "data" / "infiniband"


def test_all_links_have_their_loads_and_ports():
    result = export_routes("graphviz", [f"infiniband~file={DATA / 'fabric.topo'}", "dfsssp"])
    text, table = result.files["network.dot"], result.table
    topology, loads = table.topology, channel_loads(table)
    links = re.findall(
        r'(?m)^  s(\d+) -- s(\d+) \[label="(\S+) / (\S+)".*taillabel=(\d+), headlabel=(\d+)\];$',
        text,
    )
    expected = [
        (
            *(int(end) for end in (topology.channel_source[one], topology.channel_target[one])),
            loads[one],
            loads[back],
            int(topology.source_port[one]),
            int(topology.target_port[one]),
        )
        for one, back in topology.links.tolist()
    ]
    assert [tuple(map(float, link)) for link in links] == expected
    assert """  t2 [shape=ellipse, label="h2' - 'x"];""" in text
    assert text.count(" -- t") == 5
