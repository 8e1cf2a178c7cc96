"""A new plugin package: small, complete, and working from the start."""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import jinja2

import routelab.api
from routelab.api import KINDS, InputError
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.names import Name
from routelab.registry.requirements import collect_errors
from routelab.registry.suggest import did_you_mean
from routelab.results.atomic import atomic_directory
from routelab.toolkit.input_files import is_folder

HOP_BY_HOP = "hops"
"""Template of a routing that decides hop by hop; other templates are named by their kind."""

SUMMARIES = {
    "topology": "Ring of switches with chords",
    "rules": "Half of the directions first, then the other half",
    "selection": "A random shortest legal route for every pair",
    "routing": "All routes along one spanning tree",
    HOP_BY_HOP: "Adaptive shortest routes, with a virtual channel for every hop",
    "metric": "Share of the load that the busiest channels carry",
    "traffic": "Every terminal sends to the one a stride of ranks away",
}
"""Summary of each template's plugin."""

EXAMPLES = {
    "topology": "evaluate {} dfsssp sssp@up-down",
    "rules": "evaluate mesh~dims=4x4 sssp@{} dor",
    "selection": "evaluate torus~dims=4x4 {}@angara sssp@angara",
    "routing": "evaluate torus~dims=4x4 {} dor",
    HOP_BY_HOP: "simulate torus~dims=4x4 {} uniform --load 0.3",
    "metric": "route torus~dims=4x4 dor --metrics {}",
    "traffic": "simulate torus~dims=4x4 dor {} --load 0.3",
}
"""A first command with a new plugin of each template."""

PLUGINS = "plugins/routelab_plugins"
"""Folder of the built-in plugins in a checkout, with a folder for each kind."""

_IMPORTED = ("Literal",)
"""Names that plugins import besides routelab's names and that a class could have."""

_AUTHOR = re.compile(r"(?P<name>[^<>\x00-\x1f\x7f]*?)\s*(?:<(?P<email>[^<>\s]+@[^<>\s]+)>)?")


@dataclass(frozen=True)
class NewPlugin:
    """The description of a new plugin package.

    Attributes
    ----------
    kind, key : str
    author_name, author_email : str
        Empty if not given.
    hop_by_hop : bool
        Of a routing: whether it decides hop by hop and has no table.
    """

    kind: str
    key: str
    author_name: str = ""
    author_email: str = ""
    hop_by_hop: bool = False

    @property
    def template(self) -> str:
        """Name of the package's template."""
        return HOP_BY_HOP if self.hop_by_hop else self.kind

    @property
    def _words(self) -> list[str]:
        return [word for word in re.split(r"[-_.]+", self.key) if word]

    @property
    def distribution(self) -> str:
        """Name of the distribution: ``routelab-<key>``, as package tools normalize it."""
        return "-".join(["routelab", *self._words]).lower()

    @property
    def package(self) -> str:
        """Name of the import package."""
        return self.distribution.replace("-", "_")

    @property
    def class_name(self) -> str:
        """Name of the plugin's class: ``MySssp`` for the key ``my-sssp``.

        It begins with ``My`` if it would otherwise hide a class that the plugin's module may
        import, such as ``Topology``, or would not be a valid name, such as ``True`` or ``2d``.
        """
        name = "".join(word[0].upper() + word[1:] for word in self._words)
        is_taken = name in {*routelab.api.__all__, *_IMPORTED} or keyword.iskeyword(name)
        return f"My{name}" if is_taken or not name.isidentifier() else name

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield for each file of the package its template, and its path in the package."""
        for name in ("pyproject.toml", "README.md", "ci.sh"):
            yield f"common/{name}.j2", name
        yield "common/gitignore.j2", ".gitignore"
        yield f"{self.template}/plugin.py.j2", f"{self.package}/__init__.py"
        if self.hop_by_hop:
            yield f"{self.template}/kernels.py.j2", f"{self.package}/kernels.py"
        yield f"{self.template}/test_plugin.py.j2", "tests/test_plugin.py"
        yield f"{self.template}/study.yaml.j2", f"{self.key}.yaml"

    def texts(self) -> dict[str, str]:
        """Return the text of all files by their path in the package."""
        templates = jinja2.Environment(
            loader=jinja2.PackageLoader("routelab", "templates/plugin"),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )
        # a JSON string is also a string of Python and of TOML
        templates.filters["quoted"] = lambda text: json.dumps(text, ensure_ascii=False)
        facts = {
            "kind": self.kind,
            "key": self.key,
            "distribution": self.distribution,
            "package": self.package,
            "class_name": self.class_name,
            "hop_by_hop": self.hop_by_hop,
            # column of a new metric: "my_share" for the key "my-share"
            "measurement": "_".join(self._words).lower(),
            "summary": SUMMARIES[self.template],
            "example": f".venv/bin/routelab {EXAMPLES[self.template].format(self.key)}",
            "author_name": self.author_name,
            "author_email": self.author_email,
            "year": datetime.now(UTC).year,
        }
        return {
            path: templates.get_template(template).render(facts) for template, path in self.files()
        }


def make_new_plugin(
    kind: str, key: str, author: str = "", *, hop_by_hop: bool = False
) -> NewPlugin:
    """Check what the user has typed, and return it as the description of a new plugin.

    Parameters
    ----------
    kind, key : str
    author : str
        ``Name``, ``Name <address>`` or nothing.
    hop_by_hop : bool
        A routing that decides hop by hop.

    Raises
    ------
    InputError
        Lists all mistakes; or the import package of the plugin exists already.
    """
    # `collect_errors` calls all three, raises their errors as one, and returns their results
    _, author_match, _ = collect_errors(
        partial(_require_template, kind, hop_by_hop=hop_by_hop),
        partial(_match_author, author),
        partial(Name, key),
    )
    plugin = NewPlugin(
        kind,
        key,
        author_name=author_match["name"],
        author_email=author_match["email"] or "",
        hop_by_hop=hop_by_hop,
    )
    if importlib.util.find_spec(plugin.package) is not None:
        raise InputError(
            f"a package {plugin.package} is already installed, and this one would have the same "
            "name; choose another name or uninstall it"
        )
    return plugin


def _require_template(kind: str, *, hop_by_hop: bool) -> None:
    """Raise InputError if there is no template for this kind of plugin."""
    if kind not in KINDS:
        raise InputError(
            f"unknown kind of plugin: {kind!r}{did_you_mean(kind, KINDS)} (kinds: "
            f"{', '.join(KINDS)})"
        )
    if kind not in SUMMARIES:
        # engines are part of routelab itself
        folder = "src/routelab/simulation" if kind == "engine" else f"{PLUGINS}/{kind}"
        raise InputError(
            f"there is no template for the kind {kind}; copy a built-in plugin of {folder}, as "
            "docs/plugins.md describes"
        )
    if hop_by_hop and kind != "routing":
        raise InputError(f"--hop-by-hop is for plugins of the kind routing, not {kind}")


def _match_author(author: str) -> re.Match[str]:
    """Return the match of an author, with the groups "name" and "email" (None if not given)."""
    match = _AUTHOR.fullmatch(author.strip())
    if match is None:
        raise InputError(f"--author {author!r} is not of the form 'Name' or 'Name <address>'")
    return match


def owner(kind: str, key: str) -> str | None:
    """Return the installed distribution and version with a plugin of this kind and key, if any."""
    if key not in installed_catalogue().keys(kind):
        return None
    entry = installed_catalogue().entry(kind, key)
    return f"{entry.distribution} {entry.version}"


def write_package(plugin: NewPlugin, directory: Path | None = None) -> Path:
    """Write the files of a new package into a folder, all of them or none.

    Parameters
    ----------
    plugin : NewPlugin
    directory : path, optional
        A new or empty folder (default: one with the name of the distribution).

    Returns
    -------
    directory : Path

    Raises
    ------
    InputError
        If the folder is not empty or cannot be written.
    """
    target = Path(plugin.distribution) if directory is None else directory
    if is_folder(target) and any(target.iterdir()):
        raise InputError(f"the folder {target} is not empty; choose another with --directory")
    if is_folder(target) and target.resolve() == Path.cwd():
        raise InputError(f"{target} is the folder you are in; name a new one with --directory")
    texts = plugin.texts()
    with atomic_directory(target) as folder:
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (folder / "ci.sh").chmod(0o755)
    return target
