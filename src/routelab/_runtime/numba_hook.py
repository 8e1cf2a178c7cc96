"""Make Numba keep compiled kernels where `routelab._runtime.numba_cache` says.

A plugin's kernels are plain ``numba.njit(cache=True)`` and may be imported right after routelab.
So what registers our rule is the import of Numba itself: importing routelab must not import Numba,
which takes longer than most commands, and no module of ours surely comes before every kernel.

The rule holds in this process. It does not go into the environment: a child Python without
routelab would fail to import it, with every cached function.
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False  # the typing module takes longer to import than all that is done here
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

STARTED = time.time_ns()
"""When routelab was imported, in nanoseconds since the epoch."""

LOCATOR = "routelab._runtime.numba_cache.Locator"
"""Numba imports it by this name when the first kernel that is to be cached is defined."""


def register_locator() -> None:
    """Register the locator with Numba, now or as soon as Numba is imported."""
    when_imported("numba.core.caching", _put_locator_first)


def compare_flags_fast() -> None:
    """Let Numba compare compiler flags fast, now or as soon as it is imported.

    Numba compares the flags of a call with those of calls before, option by option, and computes
    the hash of the names of all options. That takes a sixth of the time of a compilation.
    """
    when_imported("numba.core.targetconfig", _speed_up_comparison)


def when_imported(name: str, action: Callable[[Any], None]) -> None:
    """Call `action` with a module, now or as soon as it is imported.

    Parameters
    ----------
    name : str
        Name of the module, such as ``"numba.core.caching"``.
    action : callable
        Gets the module, after its code has run.
    """
    if name in sys.modules:
        action(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, action))


def when_compiling(action: Callable[[], None]) -> None:
    """Call `action` once, when this process or one forked from it begins to compile a function."""
    # The first compilation empties this list, so that later ones find nothing to call.
    actions = [action]

    def listen(events: Any) -> None:
        """Register a listener with the module `numba.core.event`, which reports compilations."""

        # here, because its base class exists only once Numba is imported
        class Listener(events.Listener):  # type: ignore[misc]
            """Calls the action when the first compilation begins."""

            def on_start(self, event: object) -> None:
                while actions:
                    actions.pop()()

            def on_end(self, event: object) -> None:
                """Do nothing."""

        events.register("numba:compile", Listener())

    when_imported("numba.core.event", listen)


class _Finder:
    """Finder of one module, which is first in `sys.meta_path` until the module is imported."""

    def __init__(self, name: str, action: Callable[[Any], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the module, with a loader that also calls the action.

        None for all other modules: the finders after this one find them.
        """
        if name != self._name:
            return None
        from importlib.util import find_spec

        # `find_spec` asks all finders, and this one must not be asked again
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            run_module_code = spec.loader.exec_module

            def run_module_code_and_act(module: ModuleType) -> None:
                run_module_code(module)
                self._action(module)

            spec.loader.exec_module = run_module_code_and_act  # type: ignore[method-assign]
        return spec


def _put_locator_first(caching: Any) -> None:
    """Make Numba ask our locator before others: those that the user has set, or else its own.

    Numba reads its settings again whenever the environment has changed, also in the midst of a
    compilation, and forgets what was set in the process. So the locator is registered after each
    time. `caching` is the module `numba.core.caching`.
    """
    config = caching.config
    default_locators = ",".join(
        _locator_name(locator, caching) for locator in caching.CacheImpl._locator_classes
    )
    reload_config = config.reload_config

    def register() -> None:
        # names, separated by commas; Numba asks the locators in this order
        others = config.CACHE_LOCATOR_CLASSES or default_locators
        if LOCATOR not in others:
            config.CACHE_LOCATOR_CLASSES = f"{LOCATOR},{others}"

    def reload_and_register() -> None:
        reload_config()
        register()

    config.reload_config = reload_and_register
    register()


def _speed_up_comparison(targetconfig: Any) -> None:
    """Replace comparison and hash of compiler flags by faster functions with the same results.

    `targetconfig` is the module `numba.core.targetconfig`.
    """
    flags_class = targetconfig.TargetConfig
    # another version of Numba may store the values of flags in another way
    if "_values" not in getattr(flags_class, "__slots__", ()):
        return
    compare, compute_hash = flags_class.__eq__, flags_class.__hash__
    hashes: dict[type, int] = {}

    def is_equal(self: Any, other: object) -> Any:
        # Equal stored values are equal flags. Others may be equal, too, so Numba compares them: an
        # option that is not stored has its default value, which the other flags may store.
        if type(self) is type(other) and self._values == other._values:  # type: ignore[attr-defined]
            return True
        return compare(self, other)

    def hash_of_names(self: Any) -> int:
        # Numba's hash is that of the names of all options, the same for all flags of a class
        class_hash = hashes.get(type(self))
        if class_hash is None:
            class_hash = hashes[type(self)] = compute_hash(self)
        return class_hash

    flags_class.__eq__, flags_class.__hash__ = is_equal, hash_of_names


def _locator_name(locator: Any, caching: Any) -> str:
    """Return the name by which Numba finds a locator; its own ones need no module."""
    name: str = locator.__name__
    return name if hasattr(caching, name) else f"{locator.__module__}.{name}"
