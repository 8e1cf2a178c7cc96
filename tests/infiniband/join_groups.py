"""A program that joins multicast groups for hosts: it asks the subnet administrator.

It runs on a host of a simulated fabric. Arguments: a file with a line ``GUID number state`` for
each member: its port, the number of the group, and its state (1: full member, 4: only sends). It
calls libibmad, as `routelab_plugins.routing.opensm.path_queries` does.
"""

import ctypes
import sys
from pathlib import Path

LIBRARY = "libibmad.so.5"
CLASSES = (1, 0x81, 3)
PORT_ID_BYTES = 256
"""More than ``ib_portid_t`` has."""
MEMBER_RECORD, SET = 0x38, 2
RECORD_BYTES = 52
# group, port, key, traffic class, partition, SL, flow, hops, state
COMPONENTS = sum(1 << bit for bit in (0, 1, 2, 6, 7, 12, 13, 14, 16))
TIMEOUT_MS = 2000


class Call(ctypes.Structure):
    """``ib_sa_call_t``."""

    _fields_ = (
        ("attribute", ctypes.c_uint),
        ("modifier", ctypes.c_uint),
        ("components", ctypes.c_uint64),
        ("method", ctypes.c_uint),
        ("transaction", ctypes.c_uint64),
        ("record_size", ctypes.c_uint),
        ("rmpp", ctypes.c_int * 8),
    )


def record(guid: int, group: int, state: int) -> bytes:
    """Return a member record (InfiniBand Architecture Specification, MCMemberRecord)."""
    return b"".join(
        (
            bytes.fromhex("ff12401bffff0000") + group.to_bytes(8, "big"),
            bytes.fromhex("fe80000000000000") + guid.to_bytes(8, "big"),
            (0xB1B).to_bytes(4, "big"),  # key
            bytes.fromhex("0000 84 00 ffff 83 92"),  # LID, MTU, class, partition, rate, lifetime
            bytes(4),  # SL 0, flow, hops
            bytes((0x20 | state, 0, 0, 0)),  # local scope and state
        )
    )


def main(members_file: str) -> None:
    """Join all groups."""
    mad = ctypes.CDLL(LIBRARY)
    mad.mad_rpc_open_port.restype = mad.sa_rpc_call.restype = ctypes.c_void_p
    pointer = ctypes.c_void_p
    mad.ib_resolve_smlid_via.argtypes = (pointer, ctypes.c_int, pointer)
    mad.sa_rpc_call.argtypes = (pointer, pointer, pointer, pointer, ctypes.c_uint)
    port = mad.mad_rpc_open_port(None, 0, (ctypes.c_int * len(CLASSES))(*CLASSES), len(CLASSES))
    manager = ctypes.create_string_buffer(PORT_ID_BYTES)
    if not port or mad.ib_resolve_smlid_via(manager, TIMEOUT_MS, port) < 0:
        sys.exit("the subnet manager cannot be reached")
    for line in Path(members_file).read_text().splitlines():
        guid, group, state = line.split()
        answer = ctypes.create_string_buffer(512)
        content = record(int(guid, 16), int(group), int(state))
        ctypes.memmove(answer, content, RECORD_BYTES)
        call = Call(MEMBER_RECORD, 0, COMPONENTS, SET, 0, RECORD_BYTES)
        if not mad.sa_rpc_call(port, answer, manager, ctypes.byref(call), TIMEOUT_MS):
            sys.exit(f"{guid} cannot join group {group}")


if __name__ == "__main__":
    main(*sys.argv[1:])
