"""Instructions that go with the files."""

from __future__ import annotations

import textwrap

from routelab.toolkit.infiniband import Addresses, CompleteTables
from routelab_plugins.export.opensm.files import (
    LFTS,
    LIDS,
    OPTIONS,
    POLICY,
    ROOTS,
    ROUTING_ORDER,
    SIMULATION,
)


def readme(
    tables: CompleteTables,
    addresses: Addresses,
    vls: int,
    *,
    own_levels: bool,
    reply_problem: str | None,
    manager: str = "",
) -> str:
    """Return the text of README.md.

    Parameters
    ----------
    tables : CompleteTables
        As read back from the files.
    addresses : Addresses
    vls : int
        Virtual lanes that the hardware has.
    own_levels : bool
        Whether service levels are the virtual channels of the routing.
    reply_problem : str or None
        Why replies on the level of the request can deadlock; None if they cannot.
    manager : str
        Host of the subnet manager whose packets are part of the proof; "" if they are not.
    """
    topology = tables.topology
    num_used = int(tables.lanes.max(initial=0)) + 1
    hardware = (
        "The network has no GUIDs. Those in these files are invented: use them with the simulator "
        "only.\n"
        if addresses.invented
        else "The files are for the hardware with the GUIDs in them.\n"
    )
    single = (
        "All traffic is on SL 0, so software that requests no path record is safe as well."
        if num_used == 1
        else "**Warning**: software that requests no path record sends everything on SL 0. That is "
        "safe only with tables for one virtual lane: export them with `opensm~vls=1`. Connections "
        "that are open while the tables change keep their old service level: restart the programs."
    )
    return f"""# Routes for OpenSM

{topology.num_switches} switches and {topology.num_terminals} host ports.
{num_used} of {vls} virtual lanes are used.

{hardware}
Every switch has an entry for every LID, also for those of the switches. All files were read back,
every route was walked from every switch to every host and switch, and the routes of each virtual
lane were proven free of deadlock.

{_wrapped(_limits_of_proof(manager, num_used))}

{_wrapped(_reply_levels(reply_problem, manager, own_levels=own_levels))}

{_wrapped(single)}

## Load them

First stop the running OpenSM and all standby subnet managers, so that none of them replaces these
tables. Switches keep their present tables until the new OpenSM writes others.

`-F` replaces your own configuration file: copy the options that you need from it into `{OPTIONS}`.
Then, on the node of the subnet manager, in this folder:

    mkdir -p /var/cache/opensm
    cp --backup {LIDS} /var/cache/opensm/{LIDS}
    opensm -F "$PWD/{OPTIONS}" -R file,no_fallback -U "$PWD/{LFTS}" \\
        -Q -Y "$PWD/{POLICY}" -e -f /var/log/opensm-routelab.log --dump_files_dir /var/log -D 0x43

OpenSM stays in the foreground; use a second terminal, or `-B` for a daemon. Wait for `SUBNET UP` in
the log, and look for `ERR`. OpenSM does not check what it loads: a damaged table or a policy with a
syntax error also ends in SUBNET UP. Compare its tables with these afterwards:

    diff <(grep -v dumped /var/log/opensm-lfts.dump) <(grep -v dumped {LFTS})

It prints nothing if they are equal. To go back, stop this OpenSM and start your own again.

## Files

| file | contents |
| --- | --- |
| `{LFTS}` | forwarding tables for `-R file -U` |
| `{POLICY}` | service level of each pair of ports, for `-Q -Y` |
| `{OPTIONS}` | virtual lanes, their arbitration, and SL2VL |
| `{LIDS}` | LID of each port GUID |
| `{ROOTS}` | GUIDs of root switches, for `-R updn -a` |
| `{ROUTING_ORDER}` | GUIDs of host ports in their order, for `-R minhop -X` |
| `{SIMULATION}` | the network for the simulator ibsim |
| `network.json` | the network in its own order, so that routelab can read the files |
"""


def _limits_of_proof(manager: str, num_used: int) -> str:
    """Return the paragraph on packets that the proof leaves out.

    With one virtual lane, the proof covers packets to and from any subnet manager: they are on the
    same lane as all others.
    """
    if num_used == 1:
        return "The proof leaves out multicast."
    if manager:
        return (
            f"The subnet manager must run on {manager}. Packets between it and all hosts and "
            "switches on SL 0, as of subnet administration, are part of the proof. The proof "
            "leaves out multicast."
        )
    return (
        "**The proof leaves out** multicast, and packets of subnet administration: each host asks "
        "the subnet manager for paths on SL 0, whatever the policy says, and these packets can "
        "close a cycle on virtual lane 0. `opensm~sm=HOST` takes them into the proof for a subnet "
        "manager on this host."
    )


def _reply_levels(reply_problem: str | None, manager: str, *, own_levels: bool) -> str:
    """Return the paragraph on replies: on which service levels they cannot deadlock.

    The arguments are those of `readme`.
    """
    if reply_problem:
        return (
            "**Warning**: replies must use the service level of their own path record. If they use "
            f"that of the request, as RDMA-CM does, deadlock is possible: {reply_problem}. Service "
            "levels are those of the routing; with more lanes `opensm~replies=same` may find "
            "levels that are safe for both."
        )
    proven = (
        "Replies may use the service level of their own path record or that of the request (as "
        "RDMA-CM does): all routes were proven free of deadlock for both."
    )
    if own_levels:
        return proven
    if manager:
        return (
            f"{proven} For that and for the packets of the subnet manager, both directions of a "
            "pair have one service level, which may not be the routing's. The routes are the same."
        )
    return (
        f"{proven} For that, both directions of a pair have one service level, which may take more "
        "lanes than the routing alone. The routing's own levels are safe for replies on their own "
        "level only; `opensm~replies=own` writes them. The routes are the same."
    )


def _wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, 100, break_long_words=False, break_on_hyphens=False)
