"""Service levels (SLs) of paths, and the tables that map them to virtual lanes (SL2VL).

Both kinds of files are read in the two forms that ``ibdmchk`` reads (manual page ibdmchk(1),
options ``-c`` and ``-d``): one line for each entry, or the form of OpenSM's dumps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Int8Array, frozen_array
from routelab.toolkit.infiniband.text_lines import MAX_LID, MAX_PORT, TextFile, guid_text

NUM_LEVELS = 16
"""Number of service levels, and of virtual lanes including VL15 of subnet management."""

_HEAD = re.compile(
    r"(?:Channel Adapter|Switch|Router) 0x(?P<guid>[0-9a-fA-F]{1,16}), base LID [0-9]+.*"
)
_LEVEL = re.compile(
    r"0x(?P<guid>[0-9a-fA-F]{1,16})[ \t]+(?P<lid>[0-9]{1,5})[ \t]+(?P<level>[0-9]{1,3})[ \t]*"
)
_OPENSM_LEVEL = re.compile(r"0x(?P<lid>[0-9a-fA-F]{1,4})[ \t]*:[ \t]*(?P<level>[0-9]{1,3})[ \t]*")
_LANES = re.compile(
    r"0x(?P<guid>[0-9a-fA-F]{1,16})[ \t]+(?P<input>[0-9]{1,3})[ \t]+(?P<output>[0-9]{1,3})"
    r"(?P<lanes>(?:[ \t]+0x[0-9a-fA-F]{2}){8})[ \t]*"
)
_OPENSM_LANES = re.compile(
    r"(?P<input>[0-9]{1,3})[ \t]+(?P<output>[0-9]{1,3})[ \t]*:"
    r"(?P<lanes>(?:[ \t]+[0-9]{1,2}){16})[ \t]*"
)


@dataclass(frozen=True, eq=False)
class ServiceLevels:
    """Service levels of paths.

    Attributes
    ----------
    source_guids : tuple of str
        Sources, by node GUID in lines of ``ibdmchk``, by port GUID in dumps of OpenSM.
    levels : int8 array, shape (N, L)
        SL from each source to each LID; −1 if it is not in the file.
    """

    source_guids: tuple[str, ...]
    levels: Int8Array


def read_service_levels(path: Path) -> ServiceLevels:
    """Read service levels: lines ``0xGUID LID SL``, or a dump of OpenSM.

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong; names the file and the line.
    """
    return parse_service_levels(TextFile.read(path))


def parse_service_levels(text: TextFile) -> ServiceLevels:
    """Read service levels from lines; see `read_service_levels`."""
    # 1. A line of ibdmchk names its source; in a dump of OpenSM, a head above the lines does.
    levels_of_source: dict[str, dict[int, int]] = {}  # SL by LID
    current = ""
    for line_number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if entry := _LEVEL.fullmatch(line):
            guid = guid_text(int(entry["guid"], 16))
            lid, level = int(entry["lid"]), int(entry["level"])
        elif entry := _OPENSM_LEVEL.fullmatch(line):
            if not current:
                raise text.error(line_number, "a service level before the first channel adapter")
            guid, lid, level = current, int(entry["lid"], 16), int(entry["level"])
        elif head := _HEAD.fullmatch(line):
            current = guid_text(int(head["guid"], 16))
            continue
        else:
            raise text.stray(line_number, "a line '0xGUID LID SL'")
        if not 1 <= lid <= MAX_LID:
            raise text.error(line_number, f"LID {lid} is not a unicast LID (1 to {MAX_LID})")
        if level >= NUM_LEVELS:
            raise text.error(line_number, f"SL {level} does not exist; SLs are 0 to 15")
        if levels_of_source.setdefault(guid, {}).setdefault(lid, level) != level:
            raise text.error(
                line_number, f"the path from {guid} to LID {lid} already has another SL"
            )
    if not levels_of_source:
        raise InputError(f"{text.name}: has no service level of a path")
    # 2. One array for all sources.
    top_lid = max(map(max, levels_of_source.values()))
    levels = np.full((len(levels_of_source), top_lid + 1), -1, dtype=np.int8)
    for row, level_of_lid in enumerate(levels_of_source.values()):
        levels[row, list(level_of_lid)] = list(level_of_lid.values())
    return ServiceLevels(tuple(levels_of_source), frozen_array(levels, np.int8))


@dataclass(frozen=True, eq=False)
class LaneTables:
    """Tables that map service levels to virtual lanes (SL2VL).

    Attributes
    ----------
    lanes : mapping of str to int8 array, shape (ports + 1, ports + 1, 16)
        By GUID of the switch (of the port, for channel adapters): lane by input port, output port
        and SL; −1 if it is not in the file.
    """

    lanes: Mapping[str, Int8Array]


def read_lane_tables(path: Path) -> LaneTables:
    """Read SL2VL tables: lines ``0xGUID IN OUT 0x01 0x23 ...``, or ``opensm-sl2vl.dump``.

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong; names the file and the line.
    """
    return parse_lane_tables(TextFile.read(path))


def parse_lane_tables(text: TextFile) -> LaneTables:
    """Read SL2VL tables from lines; see `read_lane_tables`."""
    # 1. A line of ibdmchk names its switch, and has a hexadecimal digit for each SL: "0x01 0x23"
    #    are lanes 0 to 3. In a dump of OpenSM, a head above the lines names the switch, and numbers
    #    are decimal.
    lanes_of_ports: dict[str, dict[tuple[int, int], list[int]]] = {}
    current = ""
    for line_number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if entry := _LANES.fullmatch(line):
            guid = guid_text(int(entry["guid"], 16))
            lanes = [int(digit, 16) for word in entry["lanes"].split() for digit in word[2:]]
        elif entry := _OPENSM_LANES.fullmatch(line):
            if not current:
                raise text.error(line_number, "an SL2VL table before the first switch")
            guid = current
            lanes = [int(lane) for lane in entry["lanes"].split()]
        elif head := _HEAD.fullmatch(line):
            current = guid_text(int(head["guid"], 16))
            continue
        else:
            raise text.stray(line_number, "a line of an SL2VL table")
        ports = int(entry["input"]), int(entry["output"])
        if max(ports) > MAX_PORT:
            raise text.error(
                line_number, f"port {max(ports)} does not exist; ports are 0 to {MAX_PORT}"
            )
        if max(lanes) >= NUM_LEVELS:
            raise text.error(line_number, f"VL {max(lanes)} does not exist; VLs are 0 to 15")
        if ports in lanes_of_ports.setdefault(guid, {}):
            raise text.error(
                line_number, f"{guid} has a second table for ports {ports[0]} to {ports[1]}"
            )
        lanes_of_ports[guid][ports] = lanes
    if not lanes_of_ports:
        raise InputError(f"{text.name}: has no SL2VL table")
    # 2. One array for each switch, because their numbers of ports differ.
    tables = {}
    for guid, lanes_of_switch in lanes_of_ports.items():
        size = max(max(ports) for ports in lanes_of_switch) + 1
        table = np.full((size, size, NUM_LEVELS), -1, dtype=np.int8)
        for (input_port, output_port), lanes in lanes_of_switch.items():
            table[input_port, output_port] = lanes
        tables[guid] = frozen_array(table, np.int8)
    return LaneTables(tables)
