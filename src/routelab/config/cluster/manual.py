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

A cluster is a YAML file, `config/clusters/NAME.yaml`: how jobs run there, and what its machine is
like. `routelab cluster list` tells which there are, `routelab cluster show NAME` what one says and
`routelab cluster check NAME` what is missing before jobs can run there. An editor with a YAML
language server completes keys when the file begins with the line

    # yaml-language-server: $schema=../schema/cluster.schema.json

`routelab cluster schema -o FILE` writes the schema. No shell reads anything of such a file.
"""

_HOSTS = """\
## Hosts

Hosts are in the order of the network's terminals, of a grid such that the last dimension varies
fastest. They are written as Slurm writes them, `n[01-32]`, `n[01-04,07],a1`, as a list of such
texts, or as a mapping with the coordinates of each, `{n01: [0, 0], n02: [0, 1]}`; then their order
does not matter.

A job on a part of the network needs a node set: `torus~dims=4: n[01,09,17,25]` names the hosts of
the terminals of a ring of four. What is a neighbour in the part has to be one in the whole;
`routelab cluster check` tells where that is not so. Any name of a network will do, with defaults
written out or not. Without node sets a network with as many terminals as there are hosts gets all
of them. Without hosts everything runs on this machine.

## Programs

`benchmarks` names for each benchmark plugin an absolute path (`~/...` is one): an executable, or
the folder that holds it; then the plugin says which file it is. A name without `/` is looked up on
`PATH`, that of `environment` if it has one, and so is what is not named at all.

The launcher has to be of the MPI that benchmarks are linked with, otherwise each rank is alone:
`mpiexec` is MPICH's (and of those that are like it), `openmpi` Open MPI's; `srun` starts both,
MPICH with `mpi: pmi2`, Open MPI with `mpi: pmix`, if Slurm was built with them.
"""

_MACHINE = """\
[The machine](../concepts/machine.md) has its own page. Each of its fields is a number (or truth
value) alone, or says where it is from: `{value: 4.0e+9, source: data sheet}`, or, of what nobody
has published, `{value: 4.0e+9, assumed: reason, range: [2.0e+9, 6.0e+9]}`.
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
