"""Containment: what an exception means for a job's outcome, and which plugin raised it."""

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
"""Characters of an exception's message that are kept."""


class PluginRaisedError(PluginError):
    """A plugin's code raised an unexpected exception; the cause has the traceback."""


class LostNetworkError(UnsupportedError):
    """A job's network could not be built: its outcome is that of the job, too.

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
        What it returned; None if it raised.
    status : {"ok", "unsupported", "failed", "timeout"}
    reason : str
        Why the status is not ``ok``.
    """

    result: Any
    status: Status
    reason: str


def contain(work: Callable[[], Any], plugins: Sequence[Plugin] = ()) -> Ending:
    """Do a piece of work and turn an exception into the status and reason of its outcome.

    Parameters
    ----------
    work : callable
    plugins : sequence of Plugin
        All that take part; the reason names the one whose code raised.
    """
    try:
        with blamed(plugins):
            return Ending(work(), "ok", "")
    except LostNetworkError as error:
        return Ending(None, error.status, str(error))
    except QuarantinedError as error:
        return Ending(None, "failed", str(error))
    except (UnsupportedError, InputError) as error:
        # an input error here is about parameters that do not fit this network
        return Ending(None, "unsupported", readable(error))
    except PluginRaisedError as error:
        traceback.print_exc()
        return Ending(None, "failed", readable(error))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and current() is None:
            raise
        traceback.print_exc()
        # a plugin that could not even be called has no frame: say what was being done
        meter = current()
        place = f" (in {meter.text})" if meter is not None and meter.text else ""
        return Ending(None, "failed", f"{type(error).__name__}: {readable(error)}{place}")


def readable(error: BaseException) -> str:
    """The text of an exception for people: not too long, without control characters."""
    try:
        text = str(error).strip()
    except Exception:
        text = "its message cannot be read"
    text = "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in text)
    return (
        text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"
    ) or "no reason given"


@contextmanager
def blamed(plugins: Sequence[Plugin]) -> Iterator[None]:
    """Name the plugin that an exception comes from; others, and those of routelab, pass.

    Parameters
    ----------
    plugins : sequence of Plugin
        All that take part.

    Raises
    ------
    PluginRaisedError
        In place of an exception that plugin code raised, compiled or not. A call of `sys.exit`
        is one, too.
    """
    try:
        yield
    except RoutelabError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and current() is None:
            raise  # a limited process ignores interruptions: there it is a plugin's
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
    """The first plugin that was called; an engine only if none of those that it calls was."""
    engines = [plugin for plugin in plugins if plugin.kind == "engine"]
    others = [plugin for plugin in plugins if plugin.kind != "engine"]
    return _first_called(frames, others) or _first_called(frames, engines)


def _first_called(
    frames: Sequence[FrameSummary], plugins: Sequence[Plugin]
) -> tuple[Plugin, FrameSummary] | None:
    """The first of some plugins, by the file of its class, else by the package's folder."""
    files = [(plugin, _file(plugin)) for plugin in plugins]
    for frame in frames:
        mine = [plugin for plugin, file in files if file == Path(frame.filename)]
        if mine:
            # a module may have several, and its compiled functions belong to none of its classes
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
