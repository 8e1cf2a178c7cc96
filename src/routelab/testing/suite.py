"""All cases of one plugin and their results."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from routelab._runtime.sources import owner
from routelab.api import KINDS, InputError, PluginError
from routelab.api.hops import compile_kernel
from routelab.kernels.hops import is_kernel
from routelab.registry.catalogue import Catalogue
from routelab.registry.names import Name
from routelab.registry.suggest import did_you_mean
from routelab.testing.checks import CHECKS
from routelab.testing.checks.check import Check
from routelab.testing.inputs.by_kind import inputs
from routelab.testing.inputs.examples import name_parts
from routelab.testing.results import CheckResult, Failed, Skipped, Status
from routelab.testing.subjects import Subject, error_text

CONTRACT = "contract"


@dataclass(frozen=True)
class Suite:
    """The checks of a plugin instance; the plugin is not imported before `run`.

    Attributes
    ----------
    kind, text : str
        A kind and an instance name.
    catalogue : Catalogue
    topologies : tuple of str
        Instances of installed topologies to check it on, besides the kit's own networks.
    only : tuple of str
        Names of checks; empty: all.
    avoid : mapping
        Inputs that ended their process, with the reason; filled while cases run.

    Raises
    ------
    InputError
        If the kind, plugin or check does not exist.
    """

    kind: str
    text: str
    catalogue: Catalogue
    topologies: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    avoid: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"there is no kind of plugin called {self.kind!r}{did_you_mean(self.kind, KINDS)} "
                f"(kinds: {', '.join(KINDS)})"
            )
        for kind, name in self._plugin_names:
            if name.key not in self.catalogue.keys(kind):
                # raises an error that lists the plugins
                self.catalogue.entry(kind, name.key)
        check_names = [check.name for check in CHECKS[self.kind]]
        for chosen in self.only:
            if chosen not in check_names:
                hint = did_you_mean(chosen, check_names)
                raise InputError(
                    f"{self.kind} plugins have no check {chosen!r}{hint} "
                    f"(checks: {', '.join(check_names)})"
                )

    @cached_property
    def _plugin_names(self) -> list[tuple[str, Name]]:
        return name_parts(self.kind, self.text)

    @cached_property
    def cases(self) -> list[tuple[str, str]]:
        """Names of check and input of every case, in the order in which they run.

        A check without inputs has the plugin's instance name instead.
        """
        input_names = list(inputs(self.kind, self.text, self.topologies, self.catalogue))
        return [
            (check.name, name)
            for check in CHECKS[self.kind]
            if not self.only or check.name in self.only
            for name in (input_names if check.each else [self.text])
        ]

    def run(self, case: tuple[str, str]) -> CheckResult:
        """Run one check on one input: a case of `cases`."""
        begin = time.perf_counter()
        check_name, input_name = case
        check = next(check for check in CHECKS[self.kind] if check.name == check_name)
        status: Status
        try:
            status, message = "passed", self._run_check(check, input_name)
        except Failed as problem:
            status, message = "failed", str(problem)
        except Skipped as reason:
            status, message = "skipped", str(reason)
        except Exception as error:
            status, message = "failed", f"the check stopped: {error_text(error)}"
        seconds = time.perf_counter() - begin
        return CheckResult(check_name, input_name, status, message, seconds)

    def _run_check(self, check: Check, input_name: str) -> str:
        """Run a check and return its findings, as `Check.run` does.

        If the plugin cannot be loaded, the check of the contract fails; the others are skipped.
        """
        try:
            subject = self.subject
        except (Failed, InputError) as problem:
            if check.name == CONTRACT:
                raise Failed(str(problem)) from None
            raise Skipped(f"the plugin cannot be used, see the check {CONTRACT!r}") from None
        except Skipped:
            # a required parameter has no value, which does not break the contract
            if check.name == CONTRACT:
                return "more checks need parameters"
            raise
        return check.run(subject.trials[input_name] if check.each else subject)

    @cached_property
    def subject(self) -> Subject:
        """The plugin under test.

        Raises
        ------
        Failed
            If it is broken or ambiguous, or one of its hop-by-hop functions does not compile.
        InputError, Skipped
            If the instance does not exist, or needs parameters that cannot be guessed.
        """
        # 1. Import each plugin of the name, and compile its hop-by-hop functions. A plugin that two
        #    distributions register has two entries, both with a cause.
        for kind, name in self._plugin_names:
            for entry in self.catalogue.entries(kind, name.key):
                if entry.status != "ok":
                    raise Failed(entry.cause)
                # the value of an entry point is "module:class"
                module = entry.value.partition(":")[0]
                for kernel in _imported_kernels(module):
                    try:
                        compile_kernel(kernel)
                    except PluginError as error:
                        raise Failed(str(error)) from None
        # 2. Make the instance.
        return Subject(
            kind=self.kind,
            text=self.text,
            topologies=self.topologies,
            catalogue=self.catalogue,
            inputs=inputs(self.kind, self.text, self.topologies, self.catalogue),
            avoid=self.avoid,
        )


def _imported_kernels(module: str) -> Iterator[Any]:
    """Yield the hop-by-hop functions in a module of a plugin and in those that it imports.

    They include functions that the plugin uses with other parameters than those of the checks. The
    modules have been imported already; no other module is.
    """
    visited: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if name in visited or name not in sys.modules:
            continue
        visited.add(name)
        values = list(vars(sys.modules[name]).values())
        kernels = [value for value in values if is_kernel(value)]
        yield from kernels
        # Follow the imports of modules that have such functions, of the plugin's own module, and of
        # distributions with plugins (`owner`). All other modules, such as NumPy's, have none.
        if kernels or name == module or owner(name) is not None:
            # What a module imports is among its values: a module, which has a `__name__`, or a
            # function or class, whose `__module__` says where it is from.
            for value in values:
                attribute = "__name__" if isinstance(value, ModuleType) else "__module__"
                pending.append(str(getattr(value, attribute, "")))
