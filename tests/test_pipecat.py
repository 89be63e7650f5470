"""Which private members of pipecat are used: all are listed, and the installed version has them."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pipelines import registry  # noqa: F401

ROOT = Path(__file__).parent.parent
PRIVATE: dict[str, set[str]] = {}
"""Private members of pipecat that are imported, called, set or overridden, by where pipecat has them."""


def used() -> dict[str, set[str]]:
    """Those that the sources use, by module or class of pipecat."""
    found: dict[str, set[str]] = {}
    for path in sorted((*(ROOT / "voice").rglob("*.py"), *(ROOT / "pipelines").rglob("*.py"))):
        source = path.read_text(encoding="utf-8")
        if "pipecat" not in source:
            continue
        tree = ast.parse(source)
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for where, name in _used_in(tree, module):
            found.setdefault(where, set()).add(name)
    return found


def _used_in(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pipecat"):
            yield from ((str(node.module), each.name) for each in node.names if _is_private(each.name))
        elif isinstance(node, ast.ClassDef):
            own = getattr(importlib.import_module(module), node.name, None)
            theirs = [kind for kind in inspect.getmro(own) if kind.__module__.startswith("pipecat.")] if own else []
            names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and _is_of_self(each)}
            names |= {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
            for name in filter(_is_private, names):
                if kinds := [kind for kind in theirs if name in _members(kind)]:
                    yield f"{kinds[-1].__module__}.{kinds[-1].__qualname__}", name


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_of_self(node: ast.Attribute) -> bool:
    value = node.value
    is_super = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
    return is_super or (isinstance(value, ast.Name) and value.id in ("self", "cls"))


@cache
def _members(kind: type[Any]) -> frozenset[str]:
    """What a class itself defines or sets on its instances."""
    return frozenset(vars(kind)) | frozenset(re.findall(r"\bself\.(_\w+)", inspect.getsource(kind)))


if __name__ == "__main__":
    import pprint

    pprint.pprint(used())
