"""The environment of the Makefile's targets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[2] / "Makefile"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_targets_keep_compiled_python_files(tmp_path: Path) -> None:
    probe = tmp_path / "probe.mk"
    probe.write_text("probe:\n\t@echo found $$PYTHONDONTWRITEBYTECODE\n")
    done = subprocess.run(
        ["make", "-s", "-f", MAKEFILE, "-f", probe, "probe"],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MAKEFLAGS": ""},
        cwd=MAKEFILE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["found"]
