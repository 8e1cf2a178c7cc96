"""The report on a machine that has no network at all."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from PIL import Image

pytestmark = pytest.mark.browser


@pytest.fixture
def without_network():
    """A command's beginning that leaves it no network, not even the loopback."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (Linux, package util-linux)")
    begin = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    tried = subprocess.run([*begin, "cat", "/proc/net/dev"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"needs the right to make network namespaces: {tried.stderr.strip()}")
    devices = [line.split(":")[0].strip() for line in tried.stdout.splitlines()[2:]]
    assert devices == ["lo"]
    return begin


@pytest.fixture
def render(chromium, flags, report, without_network, tmp_path):
    """Chromium's standard output for a page."""

    def run(page, *arguments):
        command = [*without_network, chromium, *flags, f"--user-data-dir={tmp_path / 'profile'}"]
        return subprocess.run(
            [*command, *arguments, (report / page).as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout

    return run


def test_scripts_run(render):
    text = render("angara-small/index.html", "--dump-dom")
    assert 'aria-sort="none"><button' in text
    assert text.count('class="copy"') > 0


def test_pages_are_painted(render, tmp_path):
    for page in ("index.html", "angara-small/index.html"):
        picture = tmp_path / "page.png"
        render(page, f"--screenshot={picture}", "--window-size=1000,1200")
        colours = Image.open(picture).convert("RGB").getcolors(1 << 24)
        (paper, _), *_ = sorted(colours, reverse=True)
        assert len(colours) > 100
        assert paper < 0.95 * 1000 * 1200
