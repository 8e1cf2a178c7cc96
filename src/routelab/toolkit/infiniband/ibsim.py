"""What network files of the simulator ibsim have beyond the output of ibnetdiscover.

Identities of nodes are free strings. A line ``module="M"`` puts those below it into a module, where
``"A"`` stands for ``"M#A"``. Such nodes get GUIDs in the order of the file, from the last base of
their kind (``switchguids=0x200000``). A port may have the widths and speeds that it enables
(``w=``, ``s=``), as bits of the attribute PortInfo; lines ``width=`` and ``speed=`` set those of
all ports below. This is how ibsim 0.10 reads its files (``net-examples`` of its sources): ``w=4``
is a link with 8 lanes, and a link without options is 4xSDR.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from routelab.toolkit.infiniband.fabric import NodeKind
from routelab.toolkit.infiniband.fabric_builder import FabricBuilder, Key, NodeRecord
from routelab.toolkit.infiniband.text_lines import TextFile, shorten

LANES = {8: 12, 4: 8, 2: 4, 1: 1}
"""Lanes of a link by the bit of its width, widest first."""
SPEEDS = {4: "QDR", 2: "DDR", 1: "SDR"}

_BASE = re.compile(r"(switch|hca|ca|rt)guids?([=+])(0x[0-9a-fA-F]{1,16}|[0-9]{1,19})(?:\(.*\))?")
_SETTING = re.compile(r"(width|speed|pdebug)=([0-9]{1,3})")
_MODULE = re.compile(r'module="([^"#@]*)"')
_UNREAD = re.compile(r"(include|do)\b.*|@\[.*")
_KINDS: dict[str, NodeKind] = {"switch": "switch", "hca": "ca", "ca": "ca", "rt": "router"}


@dataclass
class Simulation:
    """State of ibsim while it reads a file.

    Attributes
    ----------
    text : TextFile
    module : str
    bases, guids : dict of str to int
        Base and next GUID of each kind of node; 0 if unknown.
    enabled : dict of str to int
        Bits of the widths and speeds that ports enable without options.
    ports : dict of (key, int) to dict of str to int
        The same of each port.
    has_rates : bool
        Whether the file sets any width or speed; otherwise the rates are unknown.
    """

    text: TextFile
    module: str = ""
    bases: dict[NodeKind, int] = field(
        default_factory=lambda: {"ca": 0x100000, "switch": 0x200000, "router": 0}
    )
    guids: dict[NodeKind, int] = field(default_factory=dict)
    enabled: dict[str, int] = field(default_factory=lambda: {"width": 2, "speed": 1})
    ports: dict[tuple[Key, int], dict[str, int]] = field(default_factory=dict)
    has_rates: bool = False

    def identity(self, name: str) -> str:
        """Return the identity of a node that a file names."""
        return name if "#" in name or not self.module else f"{self.module}#{name}"

    def next_guid(self, kind: NodeKind, ports: int) -> int:
        """Return the GUID of a node, and reserve those of its ports."""
        guid = self.guids.get(kind, self.bases[kind])
        self.guids[kind] = guid + (1 if kind == "switch" else ports + 1) if guid else 0
        return guid

    def read_setting(self, number: int, line: str) -> bool:
        """Read a line outside the records of nodes; return whether it is one of ibsim.

        Raises
        ------
        InputError
            If it is one whose effect is not known here.
        """
        if entry := _BASE.fullmatch(line):
            kind, guid = _KINDS[entry[1]], int(entry[3], 0)
            if entry[2] == "=":
                self.bases[kind] = guid
            self.guids[kind] = guid if entry[2] == "=" else self.bases[kind] + guid
        elif entry := _MODULE.fullmatch(line):
            self.module = entry[1]
        elif entry := _SETTING.fullmatch(line):
            if entry[1] != "pdebug":
                self.enabled = {**self.enabled, entry[1]: self._bits(number, entry[1], entry[2])}
        elif _UNREAD.fullmatch(line):
            raise self.text.error(
                number,
                f"{shorten(line)}: aliases, 'include' and 'do' of ibsim are not supported; write "
                "the whole network into one file, or give the output of ibnetdiscover",
            )
        else:
            return False
        return True

    def add_port(self, node: NodeRecord, port: int, number: int, options: str) -> None:
        """Read the options of a port, e.g. ``w=2 s=4``."""
        enabled = self.ports.setdefault((node.key, port), dict(self.enabled))
        for option in options.split():
            quantity = {"w": "width", "s": "speed"}[option[0]]
            enabled[quantity] = self._bits(number, quantity, option[2:])

    def _bits(self, number: int, what: str, text: str) -> int:
        largest = 15 if what == "width" else 7
        if not 1 <= int(text) <= largest:
            raise self.text.error(number, f"{what} {text} does not exist; ibsim has 1 to {largest}")
        self.has_rates = True
        return int(text)

    def set_rates(self, builder: FabricBuilder) -> None:
        """Give each cable the widest and fastest rate that both of its ends enable.

        Raises
        ------
        InputError
            If they enable none in common.
        """
        for key, near in self.ports.items() if self.has_rates else ():
            port = builder.ports[key]
            far = self.ports.get((port.peer_key, port.peer_number), near)
            lanes = next((LANES[bit] for bit in LANES if bit & near["width"] & far["width"]), 0)
            speed = next((SPEEDS[bit] for bit in SPEEDS if bit & near["speed"] & far["speed"]), "")
            if not (lanes and speed):
                raise self.text.error(
                    port.line, "the two ends of the cable enable no width or no speed in common"
                )
            if not port.rate:
                builder.ports[key] = replace(port, rate=f"{lanes}x{speed}")
