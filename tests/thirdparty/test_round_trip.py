"""A stranger's package, from `plugins new` to a row in a report, then upgraded, then broken.

Everything is as it would be for the stranger: a fresh virtual environment, pip, the command line
and Snakemake. Only what routelab depends on is taken from the environment of this test, so that
nothing is downloaded, and kernels that were compiled before are used.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sysconfig
import time
import venv
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from routelab.stages.new_plugin import HOP_BY_HOP, SUMMARIES, make_new_plugin, write_package

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.thirdparty, pytest.mark.builtins]

pytest.importorskip("hatchling", reason="installing without a download needs hatchling")
pytest.importorskip("editables", reason="installing without a download needs editables")

STUDY = """\
title: A stranger's algorithm beside those of routelab
topologies: [torus~dims=4x2, mesh~dims=4x2]
routings: [my-tree, "my-walk@up-down", dor]
metrics: [channel-load]
tables:
  loads: {rows: [topology, routing], values: [max_load, max_hops]}
"""

FAULTS = {
    "shape": "[[0, 1], [1, 0]]",
    "channel": "np.full((8, 8), topology.num_channels)",
    "loop": "[0 for _ in iter(int, 1)]",
    "crash": "os.kill(os.getpid(), signal.SIGSEGV)",
}
"""What a broken `route` hands to `RouteTable.from_next_hops`."""

BROKEN_STUDY = f"""\
title: A stranger's broken algorithm
topologies: [torus~dims=4x2]
routings:
  - my-tree
  - my-tree: {{fault: {{sweep: [{", ".join(FAULTS)}]}}}}
  - dor
metrics: [channel-load]
limits: {{seconds: 6}}
tables:
  loads: {{rows: [routing], values: [max_load]}}
"""

MINE = [f"{network}~dims=4x2/my-tree" for network in ("torus", "mesh")]
OTHERS = [
    f"{network}~dims=4x2/{routing}"
    for network in ("torus", "mesh")
    for routing in ("my-walk@up-down", "dor")
]


@dataclass
class Stranger:
    """Somebody with a virtual environment, some packages and a folder with studies."""

    home: Path
    times: dict[str, float] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        return kept | {
            "PATH": f"{self.home / 'venv/bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as: no isolation
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "VENV": str(self.home / "venv"),
        }

    def do(self, what: str, *command: str | Path, folder: str = "") -> str:
        """Run a command that has to succeed, and note how long it took."""
        begin = time.monotonic()
        run = subprocess.run(
            command, cwd=self.home / folder, env=self.env, capture_output=True, text=True
        )
        self.times[what] = time.monotonic() - begin
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout + run.stderr

    def install(self, what: str, *packages: str) -> None:
        words = [word for package in packages for word in ("--editable", package)]
        self.do(what, "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", *words)

    def edit(self, old: str, new: str, file: str = "routelab_my_tree/__init__.py") -> None:
        path = self.home / "routelab-my-tree" / file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def report(self, what: str, study: str) -> str:
        """The page of a study, after a run of the workflow."""
        snakemake = [self.home / "venv/bin/python", "-m", "snakemake", "--quiet", "host", "rules"]
        where = ["--snakefile", ROOT / "Snakefile", "--cores", "2", "report"]
        told = self.do(what, *snakemake, *where, "--config", f"studies={study}", folder="project")
        page = self.home / "project/results/report" / Path(study).stem / "index.html"
        return page.read_text() + told

    def outcomes(self) -> dict[str, dict]:
        """Outcomes of all routings by their folder, with the time they were written."""
        routes = self.home / "project/results/routes"
        return {
            str(path.parent.relative_to(routes)): json.loads(path.read_text())
            | {"written": path.stat().st_mtime_ns}
            for path in sorted(routes.glob("*/*/outcome.json"))
        }


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """An environment with routelab from this checkout, and nothing of the stranger's yet."""
    stranger = Stranger(tmp_path_factory.mktemp("stranger"))
    begin = time.monotonic()
    venv.create(stranger.home / "venv", with_pip=False, symlinks=True)
    others = stranger.home / "others"
    others.mkdir()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if "routelab" not in path.name.lower() and path.suffix != ".pth":
                (others / path.name).symlink_to(path)
    (site,) = (stranger.home / "venv/lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"{others}\n")
    stranger.times["make an environment"] = time.monotonic() - begin
    stranger.install("install routelab", str(ROOT))
    (stranger.home / "project/config/studies").mkdir(parents=True)
    (stranger.home / "project/config/studies/mine.yaml").write_text(STUDY)
    (stranger.home / "project/config/studies/broken.yaml").write_text(BROKEN_STUDY)
    (stranger.home / "project/config/config.yaml").write_text("studies: [mine]\n")
    return stranger


@pytest.fixture(scope="module")
def installed(stranger: Stranger) -> Stranger:
    """Two packages, a complete algorithm made on the command line and a selection."""
    stranger.do("plugins new", "venv/bin/routelab", "plugins", "new", "routing", "my-tree")
    write_package(make_new_plugin("selection", "my-walk"), stranger.home / "routelab-my-walk")
    stranger.do("its own CI: install, check, test", "./ci.sh", folder="routelab-my-tree")
    stranger.install("install the other package", "routelab-my-walk")
    return stranger


@pytest.fixture(scope="module")
def first(installed: Stranger) -> tuple[str, dict[str, dict]]:
    """Page and outcomes of the first run."""
    return installed.report("study", "mine"), installed.outcomes()


@pytest.fixture(scope="module")
def upgraded(installed: Stranger, first: object) -> dict[str, dict]:
    """Outcomes after a second version of one package was installed."""
    installed.edit('version = "0.1"', 'version = "0.2"', file="pyproject.toml")
    installed.install("install the second version", "routelab-my-tree")
    installed.report("study after the upgrade", "mine")
    return installed.outcomes()


@pytest.fixture(scope="module")
def not_importable(installed: Stranger, upgraded: object) -> tuple[str, str, dict[str, dict]]:
    """List of plugins, page and outcomes after an edit that cannot be imported."""
    installed.edit("import numpy as np\n", "import numpy as np\nimport a_module_that_is_not\n")
    listed = installed.do("plugins list", "venv/bin/routelab", "plugins", "list", "routing")
    return listed, installed.report("study with a broken plugin", "mine"), installed.outcomes()


@pytest.fixture(scope="module")
def misbehaving(installed: Stranger, not_importable: object) -> tuple[str, dict[str, dict]]:
    """Page and outcomes of a version that can be imported again and does wrong when asked to."""
    imports = "import os\nimport signal\nfrom typing import Literal\n\nimport numpy as np\n"
    installed.edit("import numpy as np\nimport a_module_that_is_not\n", imports)
    words = ", ".join(f'"{fault}"' for fault in ("none", *FAULTS))
    parameter = f'    fault: Literal[{words}] = parameter("none", description="What goes wrong")\n'
    installed.edit("    root: int = ", f"{parameter}    root: int = ")
    faults = "".join(
        f'        if self.parameters.fault == "{fault}":\n'
        f"            return RouteTable.from_next_hops(topology, {deed})\n"
        for fault, deed in FAULTS.items()
    )
    installed.edit(
        "        tree = self._tree(topology)\n", f"{faults}        tree = self._tree(topology)\n"
    )
    return installed.report("study with four faults", "broken"), installed.outcomes()


def test_the_plugins_are_listed_with_their_distributions(installed):
    for kind, key in (("routing", "my-tree"), ("selection", "my-walk")):
        listed = installed.do("plugins list", "venv/bin/routelab", "plugins", "list", kind)
        (line,) = [line for line in listed.splitlines() if f" {key} " in line]
        assert line.split()[2:5] == [f"routelab-{key}", "0.1", "ok"]


def test_packages_of_the_other_kinds_pass_their_own_tests(installed):
    others = [each for each in SUMMARIES if each not in ("routing", "selection")]
    keys = {template: f"our-{template}" for template in others}
    folders = [f"routelab-{key}" for key in keys.values()]
    for (template, key), folder in zip(keys.items(), folders, strict=True):
        hops = template == HOP_BY_HOP
        new = make_new_plugin("routing" if hops else template, key, hop_by_hop=hops)
        write_package(new, installed.home / folder)
    installed.install("install the packages of other kinds", *folders)
    tested = ["routelab-my-walk", *folders]
    pytest_ = ["venv/bin/python", "-m", "pytest", "-q", "--import-mode=importlib", "--rootdir=."]
    told = installed.do("their tests", *pytest_, *(f"{name}/tests" for name in tested))
    assert re.search(r"(\d+) passed", told)
    assert "failed" not in told
    installed.do(
        "uninstall them",
        *("venv/bin/python", "-m", "pip", "uninstall", "--quiet", "--yes", *folders),
    )


def test_a_study_uses_it_by_its_name_and_in_a_composition(first, installed):
    page, outcomes = first
    assert set(outcomes) == {*MINE, *OTHERS}
    for outcome in outcomes.values():
        assert (outcome["status"], outcome["facts"]["deadlock"]) == ("ok", "proven")
    (mine,) = [
        plugin
        for plugin in outcomes[MINE[0]]["provenance"]["plugins"]
        if plugin["kind"] == "routing"
    ]
    assert (mine["distribution"], mine["version"]) == ("routelab-my-tree", "0.1")
    mixed = outcomes["torus~dims=4x2/my-walk@up-down"]["provenance"]["plugins"]
    assert {plugin["distribution"] for plugin in mixed} == {"routelab-my-walk", "routelab"}
    table = installed.home / "project/results/report/mine/tables/loads.csv"
    with table.open(newline="") as file:
        rows = {(row["topology"], row["routing"]): row for row in csv.DictReader(file)}
    # a tree of eight switches: the link that cuts it in two halves carries 4 x 4 pairs or less
    assert len(rows) == 6
    assert 7 <= float(rows["torus~dims=4x2", "my-tree"]["max_load"]) <= 16
    assert "my-walk@up-down" in page


def test_an_upgrade_makes_exactly_its_results_again(first, upgraded):
    _, before = first
    assert set(upgraded) == set(before)
    for path, outcome in upgraded.items():
        again = outcome["written"] != before[path]["written"]
        changed = outcome["provenance"]["fingerprint"] != before[path]["provenance"]["fingerprint"]
        assert (again, changed) == (path in MINE, path in MINE), path
        facts = {name: value for name, value in outcome["facts"].items() if "seconds" not in name}
        assert facts.items() <= before[path]["facts"].items()
    assert upgraded[MINE[0]]["provenance"]["plugins"][0]["version"] == "0.2"


def test_what_cannot_be_imported_is_quarantined_and_the_rest_is_reported(upgraded, not_importable):
    listed, page, outcomes = not_importable
    (line,) = [line for line in listed.splitlines() if " my-tree " in line]
    assert line.split()[2:5] == ["routelab-my-tree", "0.2", "broken"]
    cause = "No module named 'a_module_that_is_not'"
    assert cause in listed
    for path, outcome in outcomes.items():
        if path in MINE:
            assert outcome["status"] == "failed"
            assert cause in outcome["reason"]
            assert "plugin routing/my-tree of routelab-my-tree 0.2" in outcome["reason"]
        else:
            assert outcome == upgraded[path]
    assert "a_module_that_is_not" in page
    assert "6 runs on 2 networks: 4 ok, 2 failed" in page


def test_what_does_wrong_becomes_an_outcome_and_the_rest_is_reported(not_importable, misbehaving):
    page, outcomes = misbehaving
    ended = {fault: outcomes[f"torus~dims=4x2/my-tree~fault={fault}"] for fault in FAULTS}
    ends = {fault: outcome["status"] for fault, outcome in ended.items()}
    assert ends == {"shape": "failed", "channel": "failed", "loop": "timeout", "crash": "failed"}
    for fault, said in {
        "shape": "has shape (2, 2), expected (8, 8)",
        "channel": "names a channel that does not exist",
        "loop": "reached its limit of 6 CPU-s",
        "crash": "the process was killed by SIGSEGV",
    }.items():
        assert said in ended[fault]["reason"]
        assert said.replace("'", "&#39;") in page
    # the plugin can be imported again, so what failed for that was tried again
    assert outcomes[MINE[0]]["status"] == "ok"
    dor = "torus~dims=4x2/dor"
    assert outcomes[dor] == not_importable[2][dor]
    assert "6 runs on 1 network: 2 ok" in page


def test_the_whole_round_trip_takes_little_time(stranger, misbehaving):
    total = sum(stranger.times.values())
    for what, seconds in stranger.times.items():
        print(f"{seconds:6.1f} s  {what}")
    print(f"{total:6.1f} s  in all")
    assert total < 300, "a stranger waits for minutes"
