"""The base class of all kinds of plugin, and the capabilities that plugins claim."""

from __future__ import annotations

import sys
from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from routelab.api.citation import Citation
from routelab.api.columns import Column
from routelab.api.parameters import Parameters as BaseParameters

FlowControl = Literal["plain", "bubble"]


@dataclass(frozen=True)
class Capabilities:
    """Claims of a plugin, which the conformance kit and the deadlock checker verify.

    Attributes
    ----------
    families : tuple of str
        Topology families that the plugin supports; empty: any.
    minimal : bool or None
        All routes are as short as the network allows without any rules; None: this depends on the
        network.
    deterministic : bool
        The same input and seed give the same output.
    multipath : bool
        More than one path a pair.
    tolerates_failures : bool
        Works on networks with missing switches and links.
    flow_control : {"plain", "bubble"} or None
        Flow control under which the routes are free of deadlock, without a layers plugin: on one
        virtual channel, or on the virtual channels that the rules prescribe. None: no such claim; a
        layers plugin must make the routes free of deadlock.
    virtual_channels : int or None
        Virtual channels needed; None: depends on the network.
    max_switches : int or None
        Largest supported network; None: no known limit.
    destination_based : bool
        Tables have one next hop for each switch and destination.

    Examples
    --------
    >>> from routelab.api import Capabilities
    >>> Capabilities(families=("torus",), minimal=True, flow_control="bubble").multipath
    False
    """

    families: tuple[str, ...] = ()
    minimal: bool | None = None
    deterministic: bool = True
    multipath: bool = False
    tolerates_failures: bool = True
    flow_control: FlowControl | None = None
    virtual_channels: int | None = 1
    max_switches: int | None = None
    destination_based: bool = False


class Plugin(ABC):
    """Base of all kinds. Subclass a kind's class, not this one.

    Class attributes
    ----------------
    kind : str
        Set by the kind's class.
    name : str
        The plugin's key; must equal its entry point's name.
    summary : str
        One line, no full stop.
    citations : sequence of Citation
        Works that the plugin implements or takes values from.
    capabilities : Capabilities
        What the plugin claims of its results.
    Parameters : class
        A frozen model of the parameters; the empty one by default.
    columns : sequence of Column
        Columns of results that the plugin produces: measurements of a metric or engine,
        counters of a selection.
    reads_files : sequence of str
        Files outside the plugin's import package that its code reads and no parameter names. A
        relative path begins at the folder of the module that has this attribute. A change of one
        makes the results stale.
    reads_variables : sequence of str
        Environment variables that the results depend on. A change of one makes them stale.
    """

    kind: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    citations: ClassVar[Sequence[Citation]] = ()
    capabilities: ClassVar[Capabilities] = Capabilities()
    Parameters: ClassVar[type[BaseParameters]] = BaseParameters
    columns: ClassVar[Sequence[Column]] = ()
    reads_files: ClassVar[Sequence[str]] = ()
    reads_variables: ClassVar[Sequence[str]] = ()

    def __init__(self, parameters: BaseParameters | None = None, **values: Any) -> None:
        """Take parameters as a model or as keyword arguments.

        Raises
        ------
        pydantic.ValidationError
            If a parameter is unknown or its value is not allowed.
        """
        self.parameters: Any = parameters if parameters is not None else self.Parameters(**values)

    def list_columns(self) -> Sequence[Column]:
        """List the columns of this instance: `columns`, unless parameters change their names."""
        return self.columns

    @classmethod
    def data_files(cls) -> list[Path]:
        """Return the paths of `reads_files`."""
        # a class may inherit the paths from one in another folder
        declaring = next(base for base in cls.__mro__ if "reads_files" in vars(base))
        module_file = getattr(sys.modules.get(declaring.__module__), "__file__", None) or ""
        return [Path(module_file).parent / file for file in cls.reads_files]

    def input_files(self) -> list[Path]:
        """Return the files that the parameters name; a change of one makes the results stale."""
        return []

    def program_versions(self) -> dict[str, str]:
        """Return the versions of the external programs that the plugin runs, by name."""
        return {}
