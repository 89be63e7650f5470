"""Holds the table of who may import whom, by reading the import statements."""

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"latency", "voice", "pipelines"}
MODULES = [path.relative_to(ROOT) for package in sorted(OURS) for path in sorted((ROOT / package).rglob("*.py"))]
OF_OTHERS_IN_LATENCY = {"render": ("rich",), "record": ("msgspec",), "page": ("msgspec", "soundfile")}
OF_LATENCY_IN_VOICE = ("latency.record", "latency.budget")
OF_LATENCY_IN_THE_CLIENT = (*OF_LATENCY_IN_VOICE, "latency.audio.onset")
"""Speech without labels is measured in the client as the report measures it: there is one estimator."""

APART = (
    ("voice/responder/language", "voice.responder.skills"),
    ("voice/client", "voice.server"),
    ("voice/server", "voice.client"),
)
"""(room, package that it may not import): a language has no skills, and the ends of a call share only the wire."""
CLOSED = {
    "voice/wire": ("voice.wire", "voice.errors", "latency.record"),
    "latency/record": ("latency.record", "latency.budget", "latency.audio.recording"),
}
"""The rooms that import, of the three packages, only what is named here."""


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
        allowed = ("latency", "numpy", *OF_OTHERS_IN_LATENCY.get(module.parts[1], ()))
        if top not in allowed and top not in sys.stdlib_module_names:
            return f"{module.parent} may import only {', '.join(allowed)} and the library, not {name}"
    if package == "voice":
        if top == "pipelines":
            return f"voice/ may not import pipelines: {name}"
        shared = OF_LATENCY_IN_THE_CLIENT if module.parts[1] == "client" else OF_LATENCY_IN_VOICE
        if top == "latency" and not any(is_in(name, one) for one in shared):
            return f"{module.parent} may import only {' and '.join(shared)} of latency, not {name}"
    return complaint_of_room(module, name)


def complaint_of_room(module: Path, name: str) -> str | None:
    """Why the room that a module is in may not import a name; None when it may."""
    for room, other in APART:
        if module.is_relative_to(room) and is_in(name, other):
            return f"{room} may not import {other}: {name}"
    for room, known in CLOSED.items():
        if module.is_relative_to(room) and name.split(".")[0] in OURS and not any(is_in(name, one) for one in known):
            return f"{room} may import only {' and '.join(known)} of ours, not {name}"
    if is_in(name, "pipelines.lab") and not module.is_relative_to("pipelines/lab"):
        return f"{module} may not import {name}: the product does not use the lab"
    return None


def is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def graph() -> dict[str, set[str]]:
    """The modules that each module imports as it loads."""
    names = {dotted(module): module for module in MODULES}
    loads: dict[str, set[str]] = {}
    for name, module in names.items():
        tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
        tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        loads[name] = {
            found for one in imported(ast.unparse(tree), module) if (found := of_ours(one, names)) and found != name
        }
    return loads


def of_ours(name: str, names: dict[str, Path]) -> str:
    """The module that holds an imported name, "" if it is not one of ours."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name


def dotted(module: Path) -> str:
    return ".".join(module.with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_go_in_one_direction(module: Path) -> None:
    names = imported((ROOT / module).read_text(encoding="utf-8"), module)
    assert [found for name in names if (found := complaint(module, name))] == []


def test_no_module_imports_itself_through_others() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_every_package_is_read() -> None:
    assert {module.parts[0] for module in MODULES} == OURS


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("latency/audio/onset.py", "import numpy as np", True),
        ("latency/report/report.py", "import rich", False),
        ("latency/record/marks.py", "from msgspec import Meta", True),
        ("latency/report/report.py", "import msgspec", False),
        ("latency/render/report.py", "from rich.table import Table", True),
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
        ("voice/responder/language/grammar.py", "from voice.responder.skills import units", False),
        ("voice/client/call/session.py", "from voice import server", False),
        ("voice/server/app.py", "from voice.client.call import session", False),
        ("voice/wire/framing.py", "from voice.errors import VoiceError", True),
        ("voice/wire/framing.py", "from voice.server import app", False),
        ("latency/record/turn.py", "from latency.budget import Deadline", True),
        ("latency/record/turn.py", "from latency.audio import onset", False),
        ("pipelines/engines/engine.py", "from pipelines.lab.bench import rounds", False),
        ("pipelines/lab/curve/command.py", "from pipelines.lab.bench.pauses import with_pauses", True),
    ],
)
def test_the_table_itself_is_held(module: str, source: str, allowed: bool) -> None:
    complaints = [complaint(Path(module), name) for name in imported(source, Path(module))]
    assert (complaints == [None] * len(complaints)) is allowed
