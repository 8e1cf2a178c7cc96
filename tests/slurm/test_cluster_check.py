"""What a real Slurm says of its nodes, as `routelab cluster check` reads it."""

import pytest

from routelab.stages.cluster.check import check_cluster

CLUSTER = """\
launcher: srun
mpi: pmi2
partition: virtual
topology: torus~dims=4x2
hosts: n[01-08]
"""


@pytest.fixture
def checks(slurm, tmp_path, monkeypatch):
    for name, value in slurm.environ.items():
        monkeypatch.setenv(name, value)

    def checks(text=CLUSTER):
        path = tmp_path / "some.yaml"
        path.write_text(text)
        found = check_cluster(str(path))
        return {one.what: (one.state, one.found) for one in found}

    return checks


def test_an_idle_cluster_misses_nothing(checks):
    found = checks()
    assert {state for state, _ in found.values()} == {"ok"}
    assert found["nodes n[01-08]"] == ("ok", "idle")
    assert found["partition virtual"] == (
        "ok",
        "up, 8 nodes, jobs of 1-infinite nodes, time limit infinite",
    )


def test_drained_nodes_are_told_with_their_reason(slurm, checks):
    slurm.drain("n03", "a cable | is loose")
    slurm.wait_for("drained", ["n03"])
    found = checks()
    assert found["nodes n03"] == ("missing", "drained (a cable | is loose)")
    assert found["nodes n[01-02,04-08]"] == ("ok", "idle")


def test_what_slurm_does_not_know_is_told(checks):
    text = CLUSTER.replace("pmi2", "bogus").replace("n[01-08]", "n[01-07],m1")
    found = checks(text.replace("partition: virtual", "partition: other"))
    assert found["partition other"] == ("missing", "Slurm does not know it")
    assert found["nodes m1"] == ("missing", "Slurm does not know it")
    assert found["nodes n[01-07]"] == ("missing", "not in partition other")
    assert found["srun --mpi=bogus"] == ("missing", "srun does not list it")


@pytest.mark.thorough
def test_without_a_controller_nothing_else_is_asked(slurm, checks):
    slurm.stop_controller()
    try:
        found = checks()
    finally:
        slurm.start_controller()
    assert found["Slurm"][0] == "missing"
    assert not [what for what in found if what.startswith(("nodes", "partition"))]
