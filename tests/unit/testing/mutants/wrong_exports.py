"""Wrong exports; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from right import RightExport


class NoFile(RightExport):
    name = "no-file"
    caught = "result", "export() made no file"

    def export(self, table, machine):
        return {}


class BareText(RightExport):
    name = "bare-text"
    caught = "result", "expected a dict, found str"

    def export(self, table, machine):
        return "\n".join(super().export(table, machine).values())


class IntoAnotherFolder(RightExport):
    name = "into-another-folder"
    caught = "result", "export(): '../network.txt' is not a plain file name"

    def export(self, table, machine):
        return {f"../{name}": text for name, text in super().export(table, machine).items()}


class InBytes(RightExport):
    name = "in-bytes"
    caught = "result", "network.txt is bytes, expected text"

    def export(self, table, machine):
        return {name: text.encode() for name, text in super().export(table, machine).items()}


class FirstPathOnly(RightExport):
    name = "first-path-only"
    caught = "round-trip", "path_weight"

    def read(self, files):
        table = super().read(files)
        return replace(table, path_weight=np.full(table.num_paths, 0.75))


class TheOtherWayRound(RightExport):
    name = "the-other-way-round"
    caught = "round-trip", "what is read back differs in switch_names"

    def network(self, topology):
        return super().network(replace(topology, switch_names=topology.switch_names[::-1]))


class ReadsAnything(RightExport):
    name = "reads-anything"
    caught = "round-trip", "read() returned dict"

    def read(self, files):
        return dict(files)


class ReadsNothing(RightExport):
    name = "reads-nothing"
    caught = "round-trip", "read() raised InputError"

    def export(self, table, machine):
        return {"network.txt": "", "routes.txt": super().export(table, machine)["routes.txt"]}


class OnePathOnly(RightExport):
    name = "one-path-only"
    caught = "multipath", "claims multipath and refuses several paths"

    def supports(self, table):
        return "several paths" if (np.diff(table.pair_start) > 1).any() else None
