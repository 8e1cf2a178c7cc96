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
"""Speeds of a link by bit, fastest first."""
MAX_BITS = {"width": 0b1111, "speed": 0b111}
"""All bits of `LANES` and of `SPEEDS`."""

_BASE = re.compile(
    r"(?P<kind>switch|hca|ca|rt)guids?(?P<sign>[=+])(?P<guid>0x[0-9a-fA-F]{1,16}|[0-9]{1,19})"
    r"(?:\(.*\))?"
)
_SETTING = re.compile(r"(?P<name>width|speed|pdebug)=(?P<value>[0-9]{1,3})")
_MODULE = re.compile(r'module="(?P<module>[^"#@]*)"')
_UNREAD = re.compile(r"(include|do)\b.*|@\[.*")
_KINDS: dict[str, NodeKind] = {"switch": "switch", "hca": "ca", "ca": "ca", "rt": "router"}


@dataclass
class IbsimState:
    """State of ibsim while it reads a file.

    Attributes
    ----------
    text : TextFile
    module : str
        Name of the module to which the nodes below belong; "" for none.
    bases, guids : dict of str to int
        By kind of node, the base of its GUIDs, that of ibsim unless the file sets one, and the GUID
        of the next node; 0 if unknown.
    enabled : dict of str to int
        Bits of the widths and speeds that the ports below enable unless they have options, by the
        names ``width`` and ``speed``.
    enabled_at_port : dict of (key, int) to dict of str to int
        Bits of the widths and speeds that each port enables, by key of its node and its number.
    has_rates : bool
        Whether the file sets any width or speed; otherwise the rates are unknown.
    """

    text: TextFile
    module: str = ""
    bases: dict[NodeKind, int] = field(
        default_factory=lambda: {"ca": 0x100000, "switch": 0x200000, "router": 0}
    )
    guids: dict[NodeKind, int] = field(default_factory=dict)
    # bits of 4 lanes and SDR, ibsim's defaults
    enabled: dict[str, int] = field(default_factory=lambda: {"width": 2, "speed": 1})
    enabled_at_port: dict[tuple[Key, int], dict[str, int]] = field(default_factory=dict)
    has_rates: bool = False

    def identity(self, name: str) -> str:
        """Return the identity of a node that a file names: ``A`` is ``M#A`` in module M."""
        return name if "#" in name or not self.module else f"{self.module}#{name}"

    def next_guid(self, kind: NodeKind, num_ports: int) -> int:
        """Return the GUID of a node, 0 if unknown, and reserve those of its ports.

        The ports of an adapter have the GUIDs behind its own; those of a switch have none.
        """
        guid = self.guids.get(kind, self.bases[kind])
        num_guids = 1 if kind == "switch" else 1 + num_ports
        self.guids[kind] = guid + num_guids if guid else 0
        return guid

    def read_setting(self, line_number: int, line: str) -> bool:
        """Read a line outside the records of nodes; return whether it is a setting of ibsim.

        Raises
        ------
        InputError
            If it is one whose effect is not known here.
        """
        if entry := _BASE.fullmatch(line):
            # switchguids=0x200000 sets the base and the next GUID, switchguids+16 is relative to it
            kind, guid = _KINDS[entry["kind"]], int(entry["guid"], 0)
            if entry["sign"] == "=":
                self.bases[kind] = guid
                self.guids[kind] = guid
            else:
                self.guids[kind] = self.bases[kind] + guid
        elif entry := _MODULE.fullmatch(line):
            self.module = entry["module"]
        elif entry := _SETTING.fullmatch(line):
            name = entry["name"]
            if name != "pdebug":
                self.enabled = self.enabled | {
                    name: self._read_bits(line_number, name, entry["value"])
                }
        elif _UNREAD.fullmatch(line):
            raise self.text.error(
                line_number,
                f"{shorten(line)}: aliases, 'include' and 'do' of ibsim are not supported; write "
                "the whole network into one file, or give the output of ibnetdiscover",
            )
        else:
            return False
        return True

    def add_port(self, node: NodeRecord, port: int, line_number: int, options: str) -> None:
        """Note what widths and speeds a port enables, by its `options`, such as ``w=2 s=4``."""
        enabled = self.enabled_at_port.setdefault((node.key, port), dict(self.enabled))
        for option in options.split():
            letter, _, value = option.partition("=")
            name = {"w": "width", "s": "speed"}[letter]
            enabled[name] = self._read_bits(line_number, name, value)

    def _read_bits(self, line_number: int, name: str, value: str) -> int:
        """Return the bits of a width or speed, and set `has_rates`.

        Raises
        ------
        InputError
            If the value is 0 or has other bits than ibsim knows; names line `line_number`.
        """
        largest = MAX_BITS[name]
        if not 1 <= int(value) <= largest:
            raise self.text.error(
                line_number, f"{name} {value} does not exist; ibsim has 1 to {largest}"
            )
        self.has_rates = True
        return int(value)

    def set_rates(self, builder: FabricBuilder) -> None:
        """Give each cable the widest and fastest rate that both of its ends enable.

        Raises
        ------
        InputError
            If they enable none in common.
        """
        if not self.has_rates:
            return
        for key, near in self.enabled_at_port.items():
            port = builder.ports[key]
            # If the file lacks the port at the other end, `FabricBuilder.build` raises an error;
            # until then, any bits will do.
            far = self.enabled_at_port.get((port.peer_key, port.peer_number), near)
            widths, speeds = near["width"] & far["width"], near["speed"] & far["speed"]
            # the first bit that both enable is the best, because the tables begin with the best
            lanes = next((LANES[bit] for bit in LANES if bit & widths), 0)
            speed = next((SPEEDS[bit] for bit in SPEEDS if bit & speeds), "")
            if not (lanes and speed):
                raise self.text.error(
                    port.line, "the two ends of the cable enable no width or no speed in common"
                )
            if not port.rate:
                builder.ports[key] = replace(port, rate=f"{lanes}x{speed}")
