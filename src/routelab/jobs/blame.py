"""Containment: turns exceptions into outcomes of jobs, and names the plugin that raised them."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import FrameSummary
from typing import Any

from routelab.api import InputError, Plugin, PluginError, RoutelabError, UnsupportedError
from routelab.artifacts.outcome import Status
from routelab.jobs.meter import current
from routelab.registry.catalogue import QuarantinedError

LONGEST_REASON = 4000
"""Largest number of characters of an exception's message."""


class PluginRaisedError(PluginError):
    """A plugin's code raised an unexpected exception; the cause has the traceback."""


class LostInputError(UnsupportedError):
    """A network or table that a job needs has no result; the job gets its outcome.

    Parameters
    ----------
    status : str
    reason : str
    """

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status: Status = status


@dataclass(frozen=True)
class Ending:
    """How a piece of work ended.

    Attributes
    ----------
    result : object
        What the work returned; None if it raised.
    status : {"ok", "unsupported", "failed", "timeout"}
    reason : str
        Why the status is not ``ok``.
    """

    result: Any
    status: Status
    reason: str


def contain(work: Callable[[], Any], plugins: Sequence[Plugin] = ()) -> Ending:
    """Call `work` and turn an exception into the status and reason of its outcome.

    Parameters
    ----------
    work : callable
    plugins : sequence of Plugin
        All plugins that `work` uses; the reason names the one whose code raised.
    """
    try:
        with blame_plugin(plugins):
            return Ending(work(), "ok", "")
    except LostInputError as error:
        return Ending(None, error.status, str(error))
    except QuarantinedError as error:
        return Ending(None, "failed", str(error))
    except (UnsupportedError, InputError) as error:
        # an input error here means that parameters do not fit this network
        return Ending(None, "unsupported", readable(error))
    except PluginRaisedError as error:
        traceback.print_exc()
        return Ending(None, "failed", readable(error))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and current() is None:
            raise
        traceback.print_exc()
        # a plugin that could not be called has no frame: name what was being done
        meter = current()
        place = f" (in {meter.text})" if meter is not None and meter.text else ""
        return Ending(None, "failed", f"{type(error).__name__}: {readable(error)}{place}")


def readable(error: BaseException) -> str:
    """Return the text of an exception for messages: shortened, without control characters."""
    try:
        text = str(error).strip()
    except Exception:
        text = "its message cannot be read"
    text = "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in text)
    return (
        text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"
    ) or "no reason given"


@contextmanager
def blame_plugin(plugins: Sequence[Plugin]) -> Iterator[None]:
    """Name the plugin that raised an exception; let other exceptions and those of routelab pass.

    Parameters
    ----------
    plugins : sequence of Plugin
        All plugins that the block uses.

    Raises
    ------
    PluginRaisedError
        In place of an exception that plugin code raised, compiled or not, including
        `SystemExit`.
    """
    try:
        yield
    except RoutelabError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and current() is None:
            raise  # a limited process ignores interruptions: there a plugin raised it
        frames = traceback.extract_tb(error.__traceback__)
        found = _culprit(frames, plugins)
        if found is None:
            if isinstance(error, Exception):
                raise
            what = f"{type(error).__name__}: {readable(error)}"
            raise PluginRaisedError(f"a plugin raised {what}") from error
        plugin, frame = found
        last = [one for one in frames if one.filename == frame.filename][-1]
        raise PluginRaisedError(
            f"{plugin.name}: {frame.name}() raised {type(error).__name__}: {readable(error)} "
            f"({last.filename}, line {last.lineno})"
        ) from error


def _culprit(
    frames: Sequence[FrameSummary], plugins: Sequence[Plugin]
) -> tuple[Plugin, FrameSummary] | None:
    """Return the first plugin that was called; an engine only if it called no other plugin."""
    engines = [plugin for plugin in plugins if plugin.kind == "engine"]
    others = [plugin for plugin in plugins if plugin.kind != "engine"]
    return _first_called(frames, others) or _first_called(frames, engines)


def _first_called(
    frames: Sequence[FrameSummary], plugins: Sequence[Plugin]
) -> tuple[Plugin, FrameSummary] | None:
    """Return the first plugin called, by the file of its class, else by the package's folder."""
    files = [(plugin, _file(plugin)) for plugin in plugins]
    for frame in frames:
        mine = [plugin for plugin, file in files if file == Path(frame.filename)]
        if mine:
            # a module may have several plugins, and its compiled functions belong to no class
            named = [plugin for plugin in mine if frame.name in vars(type(plugin))]
            return (named or mine)[0], frame
    for frame in frames:
        for plugin, file in files:
            in_package = "." in type(plugin).__module__
            if in_package and file.parent in Path(frame.filename).parents:
                return plugin, frame
    return None


def _file(plugin: Plugin) -> Path:
    return Path(getattr(sys.modules[type(plugin).__module__], "__file__", None) or "")
