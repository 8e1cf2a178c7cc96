"""The journal of a fabric: what it cannot tell is never taken for nothing."""

import json

import pytest

from routelab.api import InputError
from routelab.cluster.bench.fabric.journal import FORMAT, Journal

LEFT = {"topology": "torus~dims=2", "routing": "dor", "hosts": ["n1"], "folder": "/somewhere"}


def written(tmp_path, text):
    journal = Journal(tmp_path, "site")
    journal.folder.mkdir()
    journal.path.write_bytes(text)
    return journal


def test_an_entry_is_read_until_it_is_cleared(tmp_path):
    journal = Journal(tmp_path, "site")
    assert journal.read_entry() is None
    journal.write(LEFT)
    assert journal.read_entry() == {"format": FORMAT, **LEFT}
    journal.clear()
    assert journal.read_entry() is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "is damaged or not JSON"),
        (b"\xff\xfe", "is damaged or not JSON"),
        (b"[]", "expected fabric-journal/1, found no JSON object"),
        (b'{"format": "fabric-journal/2"}', "found fabric-journal/2"),
        (b'{"format": "fabric-journal/1"}', "expected texts topology, routing and folder"),
        *(
            (json.dumps({"format": FORMAT, **LEFT, name: 5}).encode(), "expected texts topology")
            for name in LEFT
        ),
    ],
)
def test_a_damaged_journal_asks_to_restore_by_hand_before_it_is_removed(tmp_path, text, reason):
    journal = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        journal.read_entry()
    message = str(caught.value)
    assert reason in message
    assert str(journal.path) in message
    assert message.endswith("restore the fabric by hand, and only then remove that file")
    assert "remove it and run again" not in message
