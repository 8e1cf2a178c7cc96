"""The list of decision records is written by hand."""

import re
from pathlib import Path

RECORDS = Path(__file__).parents[2] / "docs/decisions"


def test_every_record_is_listed_under_its_title():
    listed = re.findall(r"\| (\d+) \| \[(.*)\]\((.*)\)", (RECORDS / "index.md").read_text())
    found = []
    for record in sorted(RECORDS.glob("0*.md")):
        number, title = re.match(r"# (\d+)\. (.*)\n", record.read_text()).groups()
        found.append((number, title, record.name))
    assert listed == found
