"""Holds the table of who may import whom, by reading the import statements."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"latency", "voice", "pipelines"}
MODULES = [path.relative_to(ROOT) for package in sorted(OURS) for path in sorted((ROOT / package).rglob("*.py"))]
OF_LATENCY_IN_VOICE = ("latency.record", "latency.budget")
OF_LATENCY_IN_THE_CLIENT = (*OF_LATENCY_IN_VOICE, "latency.audio.onset")
"""Speech without labels is measured in the client as the report measures it: there is one estimator."""


def imported(source: str, module: Path) -> Iterator[str]:
    """Full names of the modules that a source imports anywhere, `from a import b` as "a.b"."""
    package = list(module.parent.parts)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base += node.module.split(".") if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)


def complaint(module: Path, name: str) -> str | None:
    """Why a module may not import a name; None when it may."""
    package, top = module.parts[0], name.split(".")[0]
    if package == "latency":
        allowed = {"latency", "numpy"} | ({"rich"} if module.parts[1] == "render" else set())
        if top not in allowed and top not in sys.stdlib_module_names:
            return f"latency/ may import only the standard library and numpy (rich in render/), not {name}"
    if package == "voice":
        if top == "pipelines":
            return f"voice/ may not import pipelines: {name}"
        allowed = OF_LATENCY_IN_THE_CLIENT if module.parts[1] == "client" else OF_LATENCY_IN_VOICE
        if top == "latency" and not any(name == one or name.startswith(f"{one}.") for one in allowed):
            return f"{module.parent} may import only {' and '.join(allowed)} of latency, not {name}"
    return None


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_go_in_one_direction(module: Path) -> None:
    names = imported((ROOT / module).read_text(encoding="utf-8"), module)
    assert [found for name in names if (found := complaint(module, name))] == []


def test_every_package_is_read() -> None:
    assert {module.parts[0] for module in MODULES} == OURS


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("latency/audio/onset.py", "import numpy as np", True),
        ("latency/report/report.py", "import rich", False),
        ("latency/render/terminal/report.py", "from rich.table import Table", True),
        ("latency/cli.py", "def f():\n    from pipelines import replay", False),
        ("latency/cli.py", "from ..voice import errors", False),
        ("voice/llm/policy.py", "from latency.budget import Deadline", True),
        ("voice/llm/policy.py", "from latency.record import marks", True),
        ("voice/llm/policy.py", "from latency.audio import onset", False),
        ("voice/client/call/session.py", "import latency", False),
        ("voice/client/fixtures/fixture.py", "from latency.audio.onset import estimated_speech", True),
        ("voice/client/fixtures/fixture.py", "from latency import report", False),
        ("voice/client/call/session.py", "import pipelines.settings", False),
        ("pipelines/replaying/replay.py", "import latency.report.report, voice.errors, pipecat", True),
    ],
)
def test_the_table_itself_is_held(module: str, source: str, allowed: bool) -> None:
    complaints = [complaint(Path(module), name) for name in imported(source, Path(module))]
    assert (complaints == [None] * len(complaints)) is allowed
