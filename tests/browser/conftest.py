"""A small real report, and headless Chromium to look at it with."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from routelab.jobs.folder_job import run_job
from routelab.workflow import report as report_stage
from routelab.workflow.plan.expansion import expand_studies

ROOT = Path(__file__).parents[2]
BLOCKS = "routelab.report.page.blocks"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)

STUDIES = {
    "angara-small": """
title: Routings of the Angara interconnect on small tori, and one network without coordinates
cites: mukosey2020
topologies:
  - torus: {dims: {sweep: [4x2, 4x2x2, 4x2x2x2]}}
  - {use: "graph~file=abilene.graphml", as: abilene}
routings:
  - angara-bfs: {tie_seed: {range: 5}}
  - angara-sssp: {tie_seed: {range: 5}}
  - dor
  - dfsssp
headline:
  question: How much does SSSP lower the maximum load?
  figure: gain
  value: max_load
  compare: angara-sssp
  baseline: angara-bfs
notes: ["angara-bfs and angara-sssp are shown over five tie orders."]
tables:
  loads:
    title: Channel loads beside the paper's Table 2
    rows: [routing, nodes]
    values: [max_load, min_load, sigma4, max_hops]
    over: {tie_seed: range}
    where: {nodes: [8, 16, 32]}
    beside: {reference: table2.csv, on: [routing, nodes]}
  lengths:
    title: Lengths of routes on all networks
    rows: [routing, topology]
    values: [max_hops, mean_hops, mean_turns]
    over: {tie_seed: median}
  wide:
    title: Loads, lengths and verdicts of all runs
    rows: [topology, routing, tie_seed]
    values: [max_load, min_load, sigma4, max_hops, mean_hops, mean_turns, deadlock, cpu_seconds]
  grouped:
    title: Loads and lengths by routing
    rows: [topology]
    pivot: {by: routing, value: [max_load, mean_hops], groups: names}
    over: {tie_seed: median}
figures:
  distribution:
    {title: Distribution of the channel load, kind: ecdf, x: load, hue: routing, col: nodes}
  torus:
    {title: Channel load in the torus of 32 nodes, kind: network, colour: load, where: {nodes: 32}}
  gain:
    title: Reduction of the maximum load, compared with each tie order of angara-bfs
    kind: improvement
    x: nodes
    y: max_load_gain
    relative: {to: angara-bfs, column: max_load}
    where: {nodes: [8, 16, 32], routing: angara-sssp}
  abilene:
    {title: Channel load of Abilene, kind: network, colour: load, where: {topology: abilene}}
""",
    "networks": """
title: Cycles in pictures of networks
topologies:
  - torus~dims=4x4
  - {use: "dragonfly~h=2", as: dragonfly}
routings:
  - {use: "balanced@unrestricted", as: loops}
  - {use: "dfsssp~routes=terminals", as: per-host}
figures:
  torus: {title: Torus, kind: network, colour: load, where: {topology: torus~dims=4x4}}
  dragonfly: {title: Dragonfly, kind: network, colour: load, where: {topology: dragonfly}}
""",
    "large": """
title: A picture with many channels
topologies: [torus~dims=4x4]
routings: [dor]
figures:
  torus: {title: Torus, kind: network, colour: load}
""",
    "sizes": """
title: Dimension order on growing tori
topologies: [torus: {dims: {sweep: ["4", 4x2, 4x4]}}]
routings: [dor, angara-sssp]
tables: {loads: {rows: [routing, nodes], values: [max_load]}}
figures:
  growth: {title: Growth, kind: line, x: nodes, y: max_load, hue: routing}
  spread: {title: Spread, kind: box, x: nodes, y: load, hue: routing}
""",
}


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``results/report`` of studies that really ran; workers of xdist share it."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    home = shared / "browser"
    report = home / "results/report"
    with (shared / "browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (report / "index.html").exists():  # it is written last
            home.mkdir(exist_ok=True)
            with contextlib.chdir(home):
                make_report()
    return report


def make_report() -> None:
    """Run the studies in the working directory, and write their report."""
    shutil.copytree(ROOT / "config/references", "config/references")
    studies, results = Path("config/studies"), Path("results")
    studies.mkdir()
    shutil.copy(ROOT / "tests/data/abilene.graphml", studies)
    paths = [studies / f"{name}.yaml" for name in STUDIES]
    for path in paths:
        path.write_text(STUDIES[path.stem])
    for job in expand_studies(paths, results).jobs.values():  # networks first
        run_job(job)
    for path in paths:
        with pytest.MonkeyPatch.context() as patch:
            if path.stem == "large":
                patch.setattr(f"{BLOCKS}.MAX_SVG", 10)
            report_stage.write_report(path, results, results / "report" / path.stem)
    report_stage.write_report_index(results)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs Chromium: install Debian's package chromium")
    return program


class Browser:
    """A page in Chromium, and what tests ask of it.

    Parameters
    ----------
    driver : selenium.webdriver.Chrome
    report : Path
    """

    def __init__(self, driver: Any, report: Path) -> None:
        self.driver = driver
        self.report = report

    def open(
        self, page: str, width: int = 1280, height: int = 900, *, touch: bool = False, **media: str
    ) -> None:
        """Open a page at a size; ``media`` are features with ``_`` for ``-``, and ``type``."""
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.cdp(
            "Emulation.setEmulatedMedia",
            media=media.pop("type", ""),
            features=[{"name": k.replace("_", "-"), "value": v} for k, v in media.items()],
        )
        self.driver.get((self.report / page).as_uri())
        self.js("document.documentElement.style.scrollBehavior = 'auto'")

    def cdp(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def element(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.all(selector)]

    def wait(self, seen: Callable[[], bool]) -> None:
        """Ask again until something is seen, for at most 120 s: pictures come after their page."""
        wait = pytest.importorskip("selenium.webdriver.support.wait")
        wait.WebDriverWait(self.driver, 120).until(lambda _: seen())

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def requests(self) -> list[str]:
        """What was requested since the last call."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [m for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [message["params"]["request"]["url"] for message in sent]

    def complaints(self) -> list[str]:
        """The console's messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def _driver(chromium: str) -> Iterator[Any]:
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="needs selenium: pip install 'routelab[browser]'"
    )
    tool = shutil.which("chromedriver")
    if tool is None:
        pytest.skip("needs chromedriver: install Debian's package chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SE_OFFLINE", "true")  # selenium looks for no other browser
            patch.setenv("NO_PROXY", "localhost,127.0.0.1")
            service = webdriver.ChromeService(executable_path=tool)
            driver = webdriver.Chrome(options=options, service=service)
            driver.set_script_timeout(120)
            driver.get("about:blank")  # the browser's own first page is no page of ours
            yield driver
            driver.quit()


@pytest.fixture
def browser(_driver: Any, report: Path) -> Browser:
    """Chromium, its logs empty."""
    page = Browser(_driver, report)
    _driver.get("about:blank")  # the page of the last test may still be loading pictures
    page.requests()
    page.complaints()
    return page
