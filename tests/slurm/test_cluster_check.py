"""What a real Slurm says of its partition, as `routelab cluster check` reads it."""

import pytest

from routelab.workflow.cluster_check import check_cluster

CLUSTER = """\
launcher: srun
mpi: pmi2
partition: virtual
topology: torus~dims=4x2
hosts: n[01-08]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CLUSTER, ("partition virtual", "ok", "up, 8 nodes")),
        (
            CLUSTER.replace("partition: virtual", "partition: other"),
            ("partition other", "missing", "Slurm does not know it"),
        ),
    ],
)
def test_a_partition_is_looked_up(slurm, tmp_path, monkeypatch, text, expected):
    for name, value in slurm.environ.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "some.yaml"
    path.write_text(text)
    checks = check_cluster(str(path))
    assert [
        (check.subject, check.state, check.finding)
        for check in checks
        if "partition" in check.subject
    ] == [expected]
    assert {check.state for check in checks if "partition" not in check.subject} == {"ok"}


@pytest.mark.parametrize(
    ("old", "new", "subject", "named"),
    [
        ("n[01-08]", "n[02-09]", "hosts in Slurm", "n09"),
        ("mpi: pmi2", "mpi: pmi7", "mpi: pmi7", "srun"),
    ],
)
def test_what_slurm_does_not_know_is_missing(
    slurm, tmp_path, monkeypatch, old, new, subject, named
):
    for name, value in slurm.environ.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "some.yaml"
    path.write_text(CLUSTER.replace(old, new))
    (check,) = [check for check in check_cluster(str(path)) if check.state != "ok"]
    assert check.subject == subject
    assert named in check.finding
