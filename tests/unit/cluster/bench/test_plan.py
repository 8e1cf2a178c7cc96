"""What people read of a plan."""

import pytest

from routelab.cluster.bench.plan import fabric_text
from routelab.study.cluster.file import load_cluster

CLUSTER = """\
launcher: mpiexec
fabric:
  apply: [sudo, -n, /usr/sbin/routes, load, "{folder}", "two words"]
  restore: [sudo, -n, /usr/sbin/routes, default]
  export: ""
  seconds: 60
  state: /shared/state
"""


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "here.yaml").write_text(CLUSTER)
    return load_cluster(tmp_path / "here.yaml")


def test_the_fabric_is_described_in_words(cluster):
    assert fabric_text(cluster, True) == (
        "apply: sudo -n /usr/sbin/routes load {folder} 'two words'; "
        "restore: sudo -n /usr/sbin/routes default"
    )
    assert fabric_text(cluster, False) == ""
