"""A server is the same after two hours of long calls, beside which short ones come and go.

python -m pytest tests/benchmarks/test_soak.py -m slow -s

Three callers hold the conversation of the tour eight times over in one call, with a slow simulated model and a fast one
that rescues late turns, while others call as in `test_thousand_calls`. After each round of some ten minutes the idle
server is measured. MINUTES in the environment gives another length.
"""

import asyncio
import json
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.benchmarks.churn import ROOT, check_flat, serving, some_calls

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="memory is read as on Linux")]

MINUTES = float(os.environ.get("MINUTES", "120"))
CALLERS = 3
SHORT_CALLS = 100
"""In each round, one after the other."""


def long_conversation(folder: Path) -> Path:
    """The tour eight times over; only the last one says goodbye."""
    shutil.copytree(ROOT / "samples" / "tour", folder)
    file = folder / "scenario.yaml"
    scenario = yaml.safe_load(file.read_text())
    (call,) = scenario["scenarios"]
    call["turns"] = call["turns"][:-1] * 8 + call["turns"][-1:]
    file.write_text(yaml.safe_dump(scenario))
    return folder


async def long_calls(url: str, conversation: Path, folder: Path) -> str:
    """What became of them."""
    command = [sys.executable, "-m", "pipelines.cli", "load", str(conversation), "--callers", str(CALLERS)]
    command += ["--ramp", "5", "--url", url, "--out", str(folder), "--json"]
    load = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complaint = await load.communicate()
    assert said, complaint.decode()[-2000:]
    found = json.loads(said)
    turns = found["tally"]["turn_ms"]
    return (
        f"long calls: {found['calls']} ({len(found['refused'])} refused, {len(found['failed'])} failed), "
        f"{turns['n']} turns answered, {turns['unanswered']} not, p50 {turns['p50']}, p95 {turns['p95']} ms"
    )


async def test_two_hours_of_calls_leave_nothing_behind(tmp_path: Path) -> None:
    conversation = long_conversation(tmp_path / "long")
    outcomes, sizes = Counter[str](), []
    begun = time.monotonic()
    with serving(tmp_path, "sim-fallback") as server:
        print(f"\n  0 min: {await server.idle()}", flush=True)
        while time.monotonic() - begun < MINUTES * 60:
            folder = tmp_path / f"round-{len(sizes)}"
            said, short = await asyncio.gather(
                long_calls(server.url, conversation, folder), some_calls(server.url, SHORT_CALLS, at_once=1)
            )
            shutil.rmtree(folder)
            outcomes += short
            sizes.append(await server.idle())
            print(f"{(time.monotonic() - begun) / 60:3.0f} min: {sizes[-1]}; {said}", flush=True)
        print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
        check_flat(sizes, server)
