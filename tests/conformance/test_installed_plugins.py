"""Every installed plugin keeps its contract and its claims, as the kit sees it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from other_process import one_other_process

from routelab.api import KINDS
from routelab.registry.catalogue import installed_catalogue
from routelab.testing import run_checks
from routelab.testing.checks import CHECKS

DATA = Path(__file__).parents[1] / "data"
INSTANCES = {
    "fabric/command": "fabric/command~apply=true+{folder},restore=true+{hosts}",
    "topology/graph": f"topology/graph~file=[{DATA / 'abilene.graphml'}]",
    "topology/hypercube": "topology/hypercube~dims=3",
    "topology/infiniband": f"topology/infiniband~file=[{DATA / 'infiniband' / 'fabric.topo'}]",
    "routing/forwarding-tables": "routing/forwarding-tables~file="
    f"[{DATA / 'infiniband' / 'torus-4x3.lft'}]",
    "rules/words": f"rules/words~file=[{DATA / 'words.json'}]",
    "metric/traffic-load": f"metric/traffic-load~matrix=[{DATA / 'traffic.csv'}]",
    "traffic/matrix": f"traffic/matrix~file=[{DATA / 'traffic.csv'}]",
    "traffic/permutation": f"traffic/permutation~file=[{DATA / 'permutation.txt'}]",
    "workload/matrix": f"workload/matrix~file=[{DATA / 'messages.csv'}]",
    "workload/trace": f"workload/trace~file=[{DATA / 'trace.txt'}]",
}
"""Plugins that cannot be tried without being told something, or only in a trivial case."""

VARIANTS = (
    "rules/angara~turns=exact",
    "rules/angara~form=literal",
    "rules/angara~turns=exact,form=merged",
    "rules/dimension-order~order=longest",
    "rules/up-down~root=degree",
    "rules/up-down~tree=dfs,root=best",
    "rules/segment~order=greedy,restrict=local-search,root=best",
    "rules/fx~breaks=together",
    "rules/l-turn~tree=even,root=best",
    "rules/tree-turn~tree=first",
    "selection/p-sssp~root=destination",
    "selection/p-sssp~root=destination,routes=terminals",
    "selection/bfs~ties=balanced,tie_seed=3",
    "routing/sssp@up-down",
    "routing/dfsssp~routes=terminals",
    "routing/dimension-order~deadlock=dateline,order=random",
    "routing/minimal-adaptive~escape=dateline",
    "routing/valiant~base=[sssp@up-down]",
    "routing/ugal~base=[sssp@up-down]",
    "traffic/tornado~shift=1x1",
    "traffic/uniform~self=true",
    "traffic/hotspot~share=1.0,spots=0+1",
    "traffic/hotspot~share=1.0,groups=0+1",
    "traffic/switch-permutation~distance=2",
    "workload/transpose~by=coordinate,digits=reverse",
    "workload/neighbor~by=coordinate,digits=each,ways=two",
)
"""Instances whose claims rest on other code than those with default parameters."""

ENOUGH = 300.0
"""Seconds that a check gets: it may compile kernels on a busy machine."""

NEEDS = {"routing/opensm": "ibsim"}
"""Programs without which a plugin supports nothing."""

PLUGINS = [f"{kind}/{key}" for kind in KINDS for key in installed_catalogue().keys(kind)]
QUICK = [
    "result",
    "bounds",
    "candidates",
    "progress",
    "reachable",
    "legal",
    "minimal",
    "destination-based",
    "same-routes",
    "deadlock-free",
    "senders",
    "ends",
    "applies",
]


@pytest.fixture(scope="module", autouse=True)
def other_process():
    with one_other_process():
        yield


def failures(results):
    return [
        f"{result.check} on {result.input}: {result.message}"
        for result in results
        if result.status == "failed"
    ]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_an_installed_plugin_conforms(plugin):
    if plugin in NEEDS and shutil.which(NEEDS[plugin]) is None:
        pytest.skip(f"{NEEDS[plugin]} is not installed")
    results = run_checks(INSTANCES.get(plugin, plugin), budget_seconds=ENOUGH)
    assert failures(results) == []
    named = {check.name for check in CHECKS[plugin.partition("/")[0]]} & {"result"} or {"contract"}
    assert [each for each in results if each.status == "passed" and each.check in named]
    passed = {(each.check, each.input) for each in results if each.status == "passed"}
    explored = {tried for check, tried in passed if check == "candidates"}
    assert explored <= {tried for check, tried in passed if check == "bounds"}


@pytest.mark.parametrize("text", VARIANTS)
def test_a_variant_conforms(text):
    kind = text.partition("/")[0]
    checks = [check.name for check in CHECKS[kind] if check.name in QUICK]
    results = run_checks(text, only=checks, budget_seconds=ENOUGH)
    assert failures(results) == []
    assert ("applies", "passed") in {(each.check, each.status) for each in results}


def test_there_is_something_to_check():
    assert {plugin.partition("/")[0] for plugin in PLUGINS} == set(KINDS)
