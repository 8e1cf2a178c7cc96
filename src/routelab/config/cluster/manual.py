"""The reference page of cluster files, made from their models."""

from __future__ import annotations

from routelab.config.cluster.file import Cluster
from routelab.config.cluster.jobs import FabricChoice
from routelab.config.cluster.machine import Assumed, Published
from routelab.config.manual import section
from routelab.simulation.flow.machine import Machine

_INTRODUCTION = """\
# Cluster files

<!-- Made by `make schema` from the models in src/routelab/config; edit those. -->

A cluster is a YAML file, `config/clusters/NAME.yaml`. It says how jobs run on the cluster, and
describes the machine. `routelab cluster list` lists all clusters, `routelab cluster show NAME`
prints one, and `routelab cluster check NAME` reports what is missing before jobs can
run. An editor with a YAML language server completes keys if the file begins with the line

    # yaml-language-server: $schema=../schema/cluster.schema.json

`routelab cluster schema -o FILE` writes the schema. No shell interprets the values of the file.
"""

_HOSTS = """\
## Hosts

List the hosts in the order of the network's terminals. On a grid, the last dimension varies
fastest. Hosts have one of three forms: text as in Slurm (`n[01-32]` or `n[01-04,07],a1`), a list
of such texts, or a mapping with the coordinates of each (`{n01: [0, 0], n02: [0, 1]}`). The order
of a mapping does not matter.

A job on a part of the network needs a node set: `torus~dims=4: n[01,09,17,25]` names the hosts of
the terminals of a ring of four. Neighbours in the part must be neighbours in the whole network;
`routelab cluster check` reports exceptions. A node set's network may be written with or without
default parameters. Without node sets, a network with as many terminals as hosts uses all hosts.
Without hosts, everything runs on this machine.

## Programs

`benchmarks` gives an absolute path (or `~/...`) for each benchmark plugin. It names an executable,
or the folder that holds it; then the plugin chooses the file. A name without `/` is looked up on
`PATH`, or on the `PATH` of `environment` if it has one. A benchmark that is not listed is looked up
there, too.

The launcher must belong to the MPI library that the benchmarks are linked with; otherwise each rank
runs alone. `mpiexec` is for MPICH and its derivatives, `openmpi` for Open MPI. `srun` starts both
if Slurm supports them: MPICH with `mpi: pmi2`, Open MPI with `mpi: pmix`.
"""

_MACHINE = """\
[The machine](../concepts/machine.md) has its own page. Each field is a single number (or truth
value), or a number with its source: `{value: 4.0e+9, source: data sheet}`. Unpublished values have
a reason and a range: `{value: 4.0e+9, assumed: reason, range: [2.0e+9, 6.0e+9]}`.
"""


def cluster_page() -> str:
    """Return the page, in Markdown."""
    return "\n".join(
        [
            _INTRODUCTION,
            section("Keys of a cluster", Cluster),
            _HOSTS,
            section("Fabric", FabricChoice),
            section("Machine", Machine),
            _MACHINE,
            section("Published values", Published),
            section("Assumed values", Assumed),
        ]
    )
