"""docs/notebook.md as a reader runs it: blocks in order, in one process; outputs are compared."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/notebook.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.slow


def test_the_outputs_of_the_guide_are_those_of_its_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks].count("text") >= 4
    names: dict[str, object] = {}
    printed = ""
    for kind, text in blocks:
        if kind == "text":
            # spaces depend on the version of pandas
            assert printed.split() == text.split()
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(text, str(GUIDE), "exec"), names)
        printed = output.getvalue()
        assert printed or "print" not in text
    assert (tmp_path / "angara-sssp.svg").read_text().startswith("<?xml")
