from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from routelab._sources import Sources, import_statements

FILES = {
    "core/__init__.py": "from core import version",
    "core/version.py": "",
    "core/kernels/__init__.py": "",
    "core/kernels/graph.py": "import numpy",
    "core/kernels/trees.py": "from core.kernels import graph",
    "core/stage.py": "def run():\n    from .kernels.trees import grow, prune\n",
    "core/cli.py": "from core.stage import run",
    "plugs/__init__.py": "",
    "plugs/a/__init__.py": "from . import helper\nimport core.kernels.graph as g",
    "plugs/a/helper.py": "from ..shared import (  # a comment with a ) in it\n    one,\n)",
    "plugs/b/__init__.py": "if True: import plugs.shared.two",
    "plugs/shared/__init__.py": "",
    "plugs/shared/one.py": "",
    "plugs/shared/two.py": "import plugs.a.cycle",
    "plugs/a/cycle.py": "from plugs.shared import two",
    "lone.py": "import core.kernels.trees",
}
ROOTS = {"core", "plugs", "lone"}


def write(folder: Path, files: dict[str, str] = FILES) -> Sources:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Sources([str(folder)])


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("core.kernels.graph", {"core", "core.version", "core.kernels", "core.kernels.graph"}),
        (
            "core.stage",
            {"core", "core.version", "core.stage", "core.kernels"}
            | {"core.kernels.trees", "core.kernels.graph"},
        ),
        (
            "plugs.a",
            {"plugs", "plugs.a", "plugs.a.helper", "plugs.shared", "plugs.shared.one"}
            | {"core", "core.version", "core.kernels", "core.kernels.graph"},
        ),
        (
            "plugs.b",
            {"plugs", "plugs.b", "plugs.shared", "plugs.shared.two", "plugs.a.cycle"}
            # the package on the way to plugs.a.cycle runs, and it imports the rest
            | {"plugs.a", "plugs.a.helper", "plugs.shared.one"}
            | {"core", "core.version", "core.kernels", "core.kernels.graph"},
        ),
        (
            "lone",
            {"lone", "core", "core.version", "core.kernels"}
            | {"core.kernels.trees", "core.kernels.graph"},
        ),
    ],
)
def test_closure_holds_what_is_imported_and_nothing_else(
    tmp_path: Path, module: str, expected: set[str]
) -> None:
    sources = write(tmp_path)
    files = sources.closure([module], ROOTS)
    assert set(files) == expected
    assert all(Path(file).is_relative_to(tmp_path) for file in files.values())


def test_roots_limit_the_closure(tmp_path: Path) -> None:
    assert set(write(tmp_path).closure(["plugs.a"], {"plugs"})) == {
        "plugs",
        "plugs.a",
        "plugs.a.helper",
        "plugs.shared",
        "plugs.shared.one",
    }


def test_packages_on_the_way_can_be_left_out(tmp_path: Path) -> None:
    closure = write(tmp_path).closure(["core.kernels.trees"], ROOTS, packages=False)
    assert set(closure) == {"core.kernels.trees", "core.kernels", "core.kernels.graph"}


SHELF = {
    "p/__init__.py": "",
    "p/user.py": "from p.shelf import one",
    "p/a.py": "import p.deep",
    "p/b.py": "",
    "p/deep.py": "",
    "p/shelf/more/__init__.py": "from p.b import one",
}


@pytest.mark.parametrize(
    ("shelf", "expected"),
    [
        ("'''Text.'''\nfrom p.a import one\nfrom p.b import two\n__all__ = ['one']", "a deep"),
        ("from ..a import other as one\nfrom ..b import two", "a deep"),
        ("from p.shelf.more import one\nfrom p.a import two", "shelf.more b"),
        ("one = 1\nfrom p.a import two", ""),
        # it may be any of what is imported if it is not surely one of them
        ("from p.b import one as first\nfrom p.a import two", "a deep b"),
        ("from p.a import first\nfrom p.b import two\none = first + two", "a deep b"),
        ("from p.a import *\nfrom p.b import two", "a deep b"),
        ("from p.a import one\nfrom p.b import one", "a deep b"),
        ("import p.a\nfrom p.b import two\ndef one(): ...", "a deep b"),
        ("from p.b import two\nif two: from p.a import one", "a deep b"),
    ],
)
def test_a_name_leads_to_the_module_that_a_package_has_it_from(
    tmp_path: Path, shelf: str, expected: str
) -> None:
    sources = write(tmp_path, {**SHELF, "p/shelf/__init__.py": shelf})
    closure = sources.closure(["p.user"], {"p"}, packages=False)
    found = {"p.user", "p.shelf", *(f"p.{name}" for name in expected.split())}
    # `import p.deep` binds p as well
    assert set(closure) == found | ({"p"} if "deep" in expected else set())


def test_a_submodule_counts_beside_a_name(tmp_path: Path) -> None:
    files = {**SHELF, "p/shelf/__init__.py": "from p.a import one", "p/shelf/one.py": ""}
    closure = write(tmp_path, files).closure(["p.user"], {"p"}, packages=False)
    assert {"p.shelf.one", "p.a"} < set(closure)


def test_names_that_packages_have_from_each_other_come_to_an_end(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from q import x\nfrom . import y",
        "q/__init__.py": "from p import x",
        "r.py": "from p import x, y",
    }
    closure = write(tmp_path, files).closure(["r"], {"p", "q", "r"}, packages=False)
    assert set(closure) == {"p", "q", "r"}


def test_digest_knows_content_and_not_place(tmp_path: Path) -> None:
    here = write(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "there" / "deep")
    there = Sources([str(tmp_path / "there" / "deep")])
    assert here.digest(["plugs.a"], ROOTS) == there.digest(["plugs.a"], ROOTS)
    assert here.digest(["plugs.a"], ROOTS) != here.digest(["plugs.b"], ROOTS)


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("core/kernels/graph.py", True),
        ("core/version.py", True),
        ("plugs/__init__.py", True),
        ("plugs/shared/one.py", True),
        ("plugs/shared/two.py", False),
        ("core/cli.py", False),
    ],
)
def test_digest_follows_edits_of_the_closure_only(
    tmp_path: Path, edited: str, changes: bool
) -> None:
    before = write(tmp_path).digest(["plugs.a"], ROOTS)
    (tmp_path / edited).write_text(FILES[edited] + "\n# edited")
    after = Sources([str(tmp_path)]).digest(["plugs.a"], ROOTS)
    assert (before != after) is changes


def test_a_renamed_module_is_another_digest(tmp_path: Path) -> None:
    one = write(tmp_path / "1", {"p/__init__.py": "from p import a", "p/a.py": "X = 1"})
    two = write(tmp_path / "2", {"p/__init__.py": "from p import a", "p/a/__init__.py": "X = 1"})
    three = write(tmp_path / "3", {"p/__init__.py": "from p import b", "p/b.py": "X = 1"})
    assert one.digest(["p"], {"p"}) == two.digest(["p"], {"p"})
    assert one.digest(["p.a"], {"p"}) != three.digest(["p.b"], {"p"})


def test_unknown_module_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"plugs\.missing"):
        write(tmp_path).closure(["plugs.missing"], ROOTS)


def test_file_that_does_not_parse_counts_by_its_content(tmp_path: Path) -> None:
    broken = {"p/__init__.py": "", "p/bad.py": "def ("}
    first = write(tmp_path, broken).digest(["p.bad"], {"p"})
    assert write(tmp_path, {**broken, "p/bad.py": "def (("}).digest(["p.bad"], {"p"}) != first


def test_compiled_extension_is_part_of_a_closure(tmp_path: Path) -> None:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    files = {"p/__init__.py": "from p._fast import f", f"p/_fast{suffix}": "machine code"}
    assert set(write(tmp_path, files).closure(["p"], {"p"})) == {"p", "p._fast"}


def test_modules_lists_a_package(tmp_path: Path) -> None:
    sources = write(tmp_path, {**FILES, "plugs/notes.txt": "", "plugs/.hidden/x.py": ""})
    expected = [
        file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for file in FILES
        if file.startswith("plugs/")
    ]
    assert sources.modules("plugs") == sorted(expected)
    assert sources.modules("lone") == ["lone"]
    assert sources.modules("missing") == []


def test_editable_install_leads_to_the_real_files() -> None:
    import routelab

    place = Sources().locate("routelab._sources")
    assert place is not None
    assert place[0] is not None
    assert Path(place[0]).samefile(Path(routelab.__file__).parent / "_sources.py")


def test_looking_up_imports_nothing() -> None:
    code = """
import sys
from routelab._sources import Sources
sources = Sources()
assert sources.locate("xml.dom.minidom")[0].endswith("minidom.py")
assert sources.closure(["xml.sax.handler"], {"xml"})
assert not [name for name in sys.modules if name.partition(".")[0] == "xml"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def naive_imports(text: bytes) -> set[tuple[int, str, tuple[str, ...]]]:
    """The statements that a parser finds in the whole file."""
    found: set[tuple[int, str, tuple[str, ...]]] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                found |= {(0, ".".join(parts[:end]), ()) for end in range(1, len(parts) + 1)}
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names if alias.name != "*")
            found.add((node.level, node.module or "", names))
    return found


def test_import_statements_misses_none_in_the_standard_library() -> None:
    library = Path(sysconfig.get_path("stdlib"))
    files = [*library.glob("*.py"), *library.glob("asyncio/*.py"), *library.glob("importlib/*.py")]
    assert len(files) > 150
    surplus = 0
    for file in files:
        text = file.read_bytes()
        expected, found = naive_imports(text), set(import_statements(text))
        assert expected <= found, file
        surplus += found != expected
    assert surplus < len(files) / 10  # statements in strings may come on top, but are rare


@pytest.mark.parametrize(
    "text",
    [
        b"x = 1; import a.b",
        b"try: from a import b\nexcept E: import c",
        b"from a import (\n    b,  # not )\n    c as d,\n)",
        b"from .. import \\\n    a, \\\n    b",
        b"from.a import(b)",
        b"\timport a\n".join([b"if x:\n", b""]),
        b"if x: \\\n  import a",
        b"import a\r\nimport b\rimport c",
        b'"""import the graph\nfrom a to b; import c"""\nimport d',
        b"import a # from b; import c",
        b"\xef\xbb\xbfimport a",
    ],
)
def test_import_statements_in_every_layout(text: bytes) -> None:
    found = set(import_statements(text))
    assert naive_imports(text) <= found
    assert len(found) <= len(naive_imports(text)) + 1
