"""Pages and pictures of a report load nothing from other places."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from routelab.report.page.index_page import write_index
from routelab.report.page.study_page import write_study_report

STUDY = """
tables: {loads: {rows: [routing], values: [max_load]}}
figures:
  spread: {kind: ecdf, x: load, hue: routing}
  picture: {kind: network, colour: load}
"""
LOADING = {"src", "srcset", "poster", "data", "action", "formaction", "background", "manifest"}
"""Attributes whose address a browser loads, besides those of links."""


class Resources(HTMLParser):
    """Collects the addresses that a browser loads without a click."""

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.feed(text)
        self.close()
        self.addresses += re.findall(r"url\(\s*[\"']?([^)\"']*)", text)
        self.addresses += re.findall(r"@import\s+[\"']?([^;\"']*)", text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in LOADING or (name in ("href", "xlink:href") and tag != "a"):
                self.addresses.append(value or "")


def remote(text):
    """Addresses with a host; pictures refer to their own parts by ``#name``."""
    return [one for one in Resources(text).addresses if re.match(r"\s*(?!data:)(\w+:|//)", one)]


def test_pages_and_pictures_load_only_files_of_the_report(world, write_study, tmp_path):
    world.add("bfs", "4x2", load=[7, 3])
    report = tmp_path / "report"
    write_study_report(write_study(STUDY), world.records, world.results, report / "demo")
    write_index(report)
    files = [*report.rglob("*.html"), *report.rglob("*.svg")]
    assert len(files) == 4
    for path in files:
        assert remote(path.read_text(encoding="utf-8")) == [], path
