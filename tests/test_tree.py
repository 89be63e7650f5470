"""Every folder with code is a package, and no two sub-packages import each other."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.test_imports import imported

ROOT = Path(__file__).parent.parent
MODULES = [path.relative_to(ROOT) for top in ("latency", "voice", "pipelines") for path in (ROOT / top).rglob("*.py")]
TESTS = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py")]
FOLDERS = sorted({path.parent for path in (*MODULES, *TESTS)})


def test_every_folder_with_code_is_a_package() -> None:
    assert [str(folder) for folder in FOLDERS if not (ROOT / folder / "__init__.py").is_file()] == []


@pytest.mark.parametrize("package", ["latency", "voice", "pipelines"])
def test_no_sub_packages_import_each_other_in_a_circle(package: str) -> None:
    modules = [path for path in MODULES if path.parts[0] == package]
    assert circle({path: (ROOT / path).read_text(encoding="utf-8") for path in modules}) == []


def test_a_circle_of_sub_packages_is_found() -> None:
    sources = {
        Path("latency/judge/turn.py"): "def f():\n    from latency.report.report import Report",
        Path("latency/report/report.py"): "from latency.judge.session import judge_session",
        Path("latency/record/turn.py"): "from latency.record.marks import Mark",
    }
    assert set(circle(sources)) == {"latency.judge", "latency.report"}
    del sources[Path("latency/judge/turn.py")]
    assert circle(sources) == []


def circle(sources: dict[Path, str]) -> list[str]:
    """Sub-packages that import each other in a circle when they run, functions included; empty without one."""
    imports: dict[str, set[str]] = {}
    for path, source in sources.items():
        own = sub_package(".".join(path.with_suffix("").parts))
        found = {sub_package(name) for name in imported(without_types(source), path)}
        imports.setdefault(own, set()).update(found - {own})
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def without_types(source: str) -> str:
    """A source without what is imported for type checkers only."""
    tree = ast.parse(source)
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    ]
    return ast.unparse(tree)


def sub_package(name: str) -> str:
    """A module's sub-package: "latency.judge" of "latency.judge.turn"; a module beside them is one of its own."""
    return ".".join(name.split(".")[:2])
