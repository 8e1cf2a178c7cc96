"""A new plugin package: small, complete, and working before its author writes a line."""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import jinja2

import routelab.api
from routelab.api import InputError
from routelab.artifacts.atomic import atomic_directory
from routelab.registry.catalogue import installed
from routelab.registry.names import Name
from routelab.registry.suggest import did_you_mean

SUMMARIES = {
    "topology": "Ring of switches with chords",
    "rules": "Half of the directions first, then the other half",
    "selection": "A random shortest legal route for every pair",
    "layers": "The number of the hop is its virtual channel",
    "routing": "All routes along one spanning tree",
    "metric": "Share of the load that the busiest channels carry",
}
"""What the plugin of each kind's template does."""

EXAMPLES = {
    "topology": "evaluate {} dfsssp sssp@up-down",
    "rules": "evaluate mesh~dims=4x4 sssp@{} dor",
    "selection": "evaluate torus~dims=4x4 {}@angara sssp@angara",
    "layers": "evaluate torus~dims=4x4 sssp@unrestricted@{} dfsssp",
    "routing": "evaluate torus~dims=4x4 {} dor",
    "metric": "route torus~dims=4x4 dor --metrics {}",
}
"""A first command with a new plugin of each kind."""

_AUTHOR = re.compile(r"(?P<name>[^<>\x00-\x1f\x7f]*?)\s*(?:<(?P<email>[^<>\s]+@[^<>\s]+)>)?")


@dataclass(frozen=True)
class NewPlugin:
    """What is known of a package before it is written.

    Attributes
    ----------
    kind, key : str
    author_name, author_email : str
        Empty where not told.
    """

    kind: str
    key: str
    author_name: str = ""
    author_email: str = ""

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
        """Name of the plugin's class; no keyword, and none of what it imports."""
        name = "".join(word[0].upper() + word[1:] for word in self._words)
        taken = name in {*routelab.api.__all__, "Literal"} or keyword.iskeyword(name)
        return f"My{name}" if taken or not name.isidentifier() else name

    def files(self) -> Iterator[tuple[str, str]]:
        """Template and place of each file."""
        for name in ("pyproject.toml", "README.md", "ci.sh"):
            yield f"common/{name}.j2", name
        yield "common/gitignore.j2", ".gitignore"
        yield f"{self.kind}/plugin.py.j2", f"{self.package}/__init__.py"
        yield f"{self.kind}/test_plugin.py.j2", "tests/test_plugin.py"
        yield f"{self.kind}/study.yaml.j2", f"{self.key}.yaml"

    def texts(self) -> dict[str, str]:
        """All files by their place in the package."""
        templates = jinja2.Environment(
            loader=jinja2.PackageLoader("routelab", "templates/plugin"),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )
        # a JSON string is one of Python and of TOML, too
        templates.filters["quoted"] = lambda text: json.dumps(text, ensure_ascii=False)
        facts = {
            "kind": self.kind,
            "key": self.key,
            "distribution": self.distribution,
            "package": self.package,
            "class_name": self.class_name,
            "measurement": "_".join(self._words).lower(),
            "summary": SUMMARIES[self.kind],
            "example": f".venv/bin/routelab {EXAMPLES[self.kind].format(self.key)}",
            "author_name": self.author_name,
            "author_email": self.author_email,
            "year": datetime.now(UTC).year,
        }
        return {
            place: templates.get_template(template).render(facts)
            for template, place in self.files()
        }


def described(kind: str, key: str, author: str = "") -> NewPlugin:
    """A new plugin from what the user typed.

    Parameters
    ----------
    kind, key : str
    author : str
        ``Name``, ``Name <address>`` or nothing.

    Raises
    ------
    InputError
        With all that is wrong.
    """
    problems = []
    if kind not in SUMMARIES:
        problems.append(
            f"there is no kind of plugin called {kind!r}{did_you_mean(kind, SUMMARIES)} "
            f"(kinds: {', '.join(SUMMARIES)})"
        )
    match = _AUTHOR.fullmatch(author.strip())
    if match is None:
        problems.append(f"--author {author!r} is not of the form 'Name' or 'Name <address>'")
    try:
        Name(key)
    except InputError as error:
        problems.append(str(error))
    if problems or match is None:
        raise InputError("\n".join(problems))
    new = NewPlugin(kind, key, match["name"], match["email"] or "")
    if importlib.util.find_spec(new.package) is not None:
        raise InputError(
            f"a package {new.package} is installed already, this one would be called the same; "
            "choose another name or uninstall it"
        )
    return new


def owner(kind: str, key: str) -> str | None:
    """The distribution that has a plugin of this kind and key already; None if none has."""
    if key not in installed().keys(kind):
        return None
    entry = installed().entry(kind, key)
    return f"{entry.distribution} {entry.version}"


def write(new: NewPlugin, directory: Path | None = None) -> Path:
    """Write the package, all of it or nothing.

    Parameters
    ----------
    new : NewPlugin
    directory : path, optional
        A folder that does not exist or is empty; by default one called like the distribution.

    Returns
    -------
    directory : Path

    Raises
    ------
    InputError
        If the folder holds something or cannot be written.
    """
    target = Path(new.distribution) if directory is None else directory
    if target.is_dir() and any(target.iterdir()):
        raise InputError(f"the folder {target} is not empty; choose another with --directory")
    if target.exists() and target.resolve() == Path.cwd():
        raise InputError(f"{target} is the folder you are in; name a new one with --directory")
    texts = new.texts()
    with atomic_directory(target) as folder:
        for place, text in texts.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (folder / "ci.sh").chmod(0o755)
    return target
