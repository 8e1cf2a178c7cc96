"""A program that asks the subnet administrator for the service level of each pair of ports.

It runs in a separate process, because the library that leads to the simulator replaces system
calls. Arguments: a file with a line ``GUID switch`` for each port, and a file to write: one byte
for each ordered pair, its service level; 255 if there is no answer. Pairs at one switch are not
asked for and have level 0.

It calls libibmad (Debian's libibmad5; structures as in ``infiniband/mad.h``).
"""

import ctypes
import sys
from pathlib import Path

LIBRARY = "libibmad.so.5"
CLASSES = (1, 0x81, 3)
"""Management classes: by LID, by directed route, subnet administration."""
LEVEL_BYTE = 53
"""Byte of a path record with the service level in its lower half."""
RECORD_BYTES = 256
NO_ANSWER = 255
TIMEOUT_MS = 2000


class PortId(ctypes.Structure):
    """The structure ``ib_portid_t`` of libibmad: the address of a port."""

    _fields_ = (
        ("lid", ctypes.c_int),
        ("hops", ctypes.c_int),
        ("route", ctypes.c_uint8 * 64),
        ("route_source", ctypes.c_uint16),
        ("route_target", ctypes.c_uint16),
        ("has_gid", ctypes.c_int),
        ("gid", ctypes.c_uint8 * 16),
        ("queue", ctypes.c_uint32),
        ("queue_key", ctypes.c_uint32),
        ("level", ctypes.c_uint8),
        ("partition", ctypes.c_uint),
    )


def main(ports_file: str, levels_file: str) -> None:
    """Ask for the service levels of all ordered pairs of ports, and write them to a file.

    The module's docstring describes both files.
    """
    mad = ctypes.CDLL(LIBRARY)
    mad.mad_rpc_open_port.restype = ctypes.c_void_p
    mad.ib_resolve_smlid_via.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    gid = ctypes.c_char_p
    mad.ib_path_query_via.argtypes = (ctypes.c_void_p, gid, gid, ctypes.c_void_p, ctypes.c_char_p)
    port = mad.mad_rpc_open_port(None, 0, (ctypes.c_int * len(CLASSES))(*CLASSES), len(CLASSES))
    manager = PortId()
    if not port or mad.ib_resolve_smlid_via(ctypes.byref(manager), TIMEOUT_MS, port) < 0:
        sys.exit("the subnet manager cannot be reached")
    ports = [line.split() for line in Path(ports_file).read_text().splitlines()]
    # a link-local GID is the prefix fe80::, then the GUID of the port
    gids = [b"\xfe\x80" + bytes(6) + int(guid, 16).to_bytes(8, "big") for guid, _ in ports]
    levels = bytearray(len(ports) ** 2)
    record = ctypes.create_string_buffer(RECORD_BYTES)
    pair = 0
    for (_, source_switch), source in zip(ports, gids, strict=True):
        for (_, target_switch), target in zip(ports, gids, strict=True):
            if source_switch != target_switch:
                ctypes.memset(record, 0, RECORD_BYTES)
                # fills `record`; returns the target's LID, which is positive, or an error
                lid = mad.ib_path_query_via(port, source, target, ctypes.byref(manager), record)
                levels[pair] = record.raw[LEVEL_BYTE] & 15 if lid > 0 else NO_ANSWER
            pair += 1
    Path(levels_file).write_bytes(levels)


if __name__ == "__main__":
    main(*sys.argv[1:])
