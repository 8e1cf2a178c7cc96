"""Whose fault it is: an exception out of a plugin's code, by the plugin's name."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import FrameSummary

from routelab.api import Plugin, PluginError, RoutelabError


class PluginRaisedError(PluginError):
    """A plugin's code raised what it did not mean to raise; the cause has the traceback."""


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
        In place of an exception that plugin code raised, compiled or not.
    """
    try:
        yield
    except RoutelabError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        found = _culprit(frames, plugins)
        if found is None:
            raise
        plugin, frame = found
        last = [one for one in frames if one.filename == frame.filename][-1]
        raise PluginRaisedError(
            f"{plugin.name}: {frame.name}() raised {type(error).__name__}: {error} "
            f"({last.filename}, line {last.lineno})"
        ) from error


def _culprit(
    frames: Sequence[FrameSummary], plugins: Sequence[Plugin]
) -> tuple[Plugin, FrameSummary] | None:
    """The first plugin that was called, by the file of its class, else by the package's folder."""
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
