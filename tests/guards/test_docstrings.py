"""Docstrings name parameters and fields that exist, and the classes that annotations name."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = re.compile(
    r"^(Parameters|Attributes|Class attributes|Returns|Raises)\n-+\n(.*?)(?=\n\n\S|\Z)", re.M | re.S
)
CLASS = re.compile(r"(?<![\w.`\"'])((?:\w+\.)*)([A-Z]\w*[a-z]\w*)")


def definitions(node: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for child in getattr(node, "body", []):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield child
            yield from definitions(child)


def members(node: ast.AST, classes: dict[str, ast.AST]) -> dict[str, str]:
    """Annotations by name of a function's parameters, or of all in a class and its bases."""
    annotations: dict[str, str] = defaultdict(str)
    for base in getattr(node, "bases", []):
        name = re.split(r"\W", ast.unparse(base))[0]
        annotations |= members(classes[name], classes) if name in classes else {}
    for part in ast.walk(getattr(node, "args", node)):
        match part:
            case ast.arg(arg=name, annotation=type_) | ast.FunctionDef(name=name, returns=type_):
                pass
            case ast.AnnAssign(target=target, annotation=type_):
                name = ast.unparse(target)
            case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                name, type_ = ast.unparse(part), None
            case _:
                continue
        annotations[name.removeprefix("self.")] += f"{ast.unparse(type_)} " if type_ else ""
    return annotations


def mistakes(node: ast.AST, classes: dict[str, ast.AST]) -> Iterator[str]:
    for title, text in SECTION.findall(ast.get_docstring(node) or ""):
        if title in ("Parameters", "Attributes", "Class attributes"):
            known = members(node, classes)
        else:
            returned = node.returns if title == "Returns" else None
            known = {title: f"{ast.unparse(returned)} " if returned else ""}
        for line in re.findall(r"^\S.*", text, re.M):
            names, _, type_ = line.partition(" : ")
            for name in names.split(", ") if title not in known else [title]:
                annotation = known.get(name.lstrip("*"))
                if annotation is None:
                    yield f"'{name}' is no parameter or field"
                for module, class_ in CLASS.findall(type_ or line):
                    if annotation and annotation.replace("Any ", ""):
                        right = class_ in re.findall(r"\w+", annotation)
                    else:
                        right = class_ in classes or hasattr(builtins, class_)
                        right = right or (module and find_spec(module[:-1]))
                    if not right:
                        yield f"'{line}' names {class_}; annotation: {annotation}"


def test_docstrings_name_parameters_fields_and_classes_that_exist():
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    nodes = [(path, node) for path in paths for node in definitions(ast.parse(path.read_text()))]
    classes = {node.name: node for _, node in nodes if isinstance(node, ast.ClassDef)}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {mistake}"
        for path, node in nodes
        for mistake in mistakes(node, classes)
    ]
    assert not wrong, "\n" + "\n".join(wrong)
