"""Nothing on the server's event loop takes 10 ms, while all samples are replayed beside two calls that come and go.

python -m pytest tests/benchmarks/test_quiet_loop.py -m slow -s
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipelines.lab.scripted.model import build_for_fixtures
from tests.pipelines.openai_server import OpenAIServer, serving

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 0.01
"""Seconds of processor time: wall time also counts what else the machine does.

While the host of a virtual machine stops a processor, that clock goes on too; the pauses that `host_pauses.py` sees are
subtracted.
"""

BUSY = """
import asyncio, json, runpy, time

module = runpy.run_path("tests/benchmarks/loop_profile.py")
profile = module["Profile"]()
asyncio.Handle._run = lambda handle: profile.run(handle)

def busy():
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass

async def main():
    asyncio.get_running_loop().call_soon(busy)
    await asyncio.sleep(0.01)

asyncio.run(main())
print(json.dumps(profile.callbacks))
"""


@contextmanager
def profiled(out: Path, *options: str) -> Iterator[str]:
    """Run a server that writes its profile when it ends; yields its URL."""
    script = Path(__file__).with_name("loop_profile.py")
    command = [sys.executable, str(script), str(out), "serve", "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().removeprefix("Listening on ").strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(10)


def replaying(url: str, out: Path, *fixtures: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "pipelines.cli", "replay", *fixtures, "--url", url, "--out", str(out)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def table(kind: str, found: Sequence[Mapping[str, Any]]) -> str:
    worst = sorted(found, key=lambda one: -one["processor"])[:6]
    head = f"  {kind}: {len(found)} took 2 ms or more of wall time; the longest by processor time"
    return "\n".join([head, *(row(one) for one in worst)])


def row(one: Mapping[str, Any]) -> str:
    """Milliseconds of processor time and, in brackets, of wall time, and how long the machine stood still."""
    paused = one["processor"] - one["own"]
    less = f", {paused * 1000:.1f} ms of it while the machine stood still" if paused else ""
    return f"    {one['processor'] * 1000:5.1f} ms ({one['seconds'] * 1000:5.1f}) {one['name']}{less}"


def test_the_profile_names_a_callback_that_takes_long(tmp_path: Path) -> None:
    script = tmp_path / "busy.py"
    script.write_text(BUSY)
    out = subprocess.run([sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (noted,) = [one for one in json.loads(out) if one["processor"] > LONGEST]
    assert noted["name"] == "busy"


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with serving() as running:
        yield running


@pytest.fixture
def options(request: pytest.FixtureRequest, tmp_path: Path, openai_server: OpenAIServer) -> list[str]:
    """The options of `voice serve` for a pipeline; the local one gets a scripted recogniser and language model."""
    settings = []
    if request.param == "local":
        whisper = build_for_fixtures(tmp_path / "whisper", [ROOT / "samples"])
        settings = [
            "asr.engine=scripted",
            f"asr.model={whisper}",
            f"llm.large.base_url={openai_server.url}",
            "llm.large.model=sim:echo",
        ]
    return ["--pipeline", request.param, *(part for setting in settings for part in ("--set", setting))]


def without_pauses(one: Mapping[str, Any], pauses: Mapping[int, Sequence[tuple[float, float]]]) -> float:
    """At most how many seconds of processor time a step took, without the pauses of the processor that it ended on."""
    begin, end = one["at"], one["at"] + one["seconds"]
    paused = [min(until, end) - max(since, begin) for since, until in pauses.get(one["cpu"], ())]
    processor: float = one["processor"]
    return min(processor, one["seconds"] - sum(seconds for seconds in paused if seconds > 0))


def test_a_pause_of_the_machine_does_not_count_as_time_of_a_step() -> None:
    step = {"at": 10.0, "seconds": 0.02, "processor": 0.018, "cpu": 1}
    assert without_pauses(step, {}) == 0.018
    assert without_pauses(step, {0: [(10.0, 10.02)]}) == 0.018
    assert without_pauses(step, {1: [(9.0, 9.9), (10.1, 10.2)]}) == 0.018
    assert without_pauses(step, {1: [(10.001, 10.005), (10.01, 10.5)]}) == pytest.approx(0.006)
    assert without_pauses({**step, "processor": 0.002}, {1: [(10.0, 10.01)]}) == 0.002


WORK = """
import os, sys, time

os.sched_setaffinity(0, {int(sys.argv[1])})
end = time.monotonic() + 1.5
while time.monotonic() < end:
    bytes(50_000_000)
    sum(range(100_000))
"""
"""Uses processor time, both in the kernel and in Python."""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="pauses can be watched only on Linux, as root")
def test_work_on_a_processor_does_not_count_as_a_pause(tmp_path: Path) -> None:
    cpu, file = str(min(os.sched_getaffinity(0))), tmp_path / "pauses"
    command = [sys.executable, str(Path(__file__).with_name("host_pauses.py")), cpu, str(file)]
    watcher = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        subprocess.run([sys.executable, "-c", WORK, cpu], check=True)
        if watcher.poll() is not None:
            assert watcher.stderr is not None
            pytest.skip(watcher.stderr.read())
        at_work = [until - since for since, until in map(json.loads, file.read_text().splitlines())]
        watcher.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        watcher.send_signal(signal.SIGCONT)
        time.sleep(0.5)
    finally:
        watcher.kill()
        watcher.communicate()
    stopped = [until - since for since, until in map(json.loads, file.read_text().splitlines())]
    assert sum(at_work) < 0.75
    assert max(stopped) > 1.4


@contextmanager
def watched(folder: Path) -> Iterator[dict[int, list[tuple[float, float]]]]:
    """Yields the pauses of each processor, filled in at the end; empty where they cannot be watched."""
    script = Path(__file__).with_name("host_pauses.py")
    pauses: dict[int, list[tuple[float, float]]] = {}
    processors = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" and os.geteuid() == 0 else []
    files = {cpu: folder / f"pauses-{cpu}" for cpu in processors}
    watchers = [subprocess.Popen([sys.executable, str(script), str(cpu), str(file)]) for cpu, file in files.items()]
    try:
        yield pauses
    finally:
        for watcher in watchers:
            watcher.terminate()
            watcher.wait(10)
    seen = {cpu: file for cpu, file in files.items() if file.exists()}
    pauses |= {cpu: [json.loads(line) for line in file.read_text().splitlines()] for cpu, file in seen.items()}


@pytest.mark.slow
@pytest.mark.parametrize("options", ["embedded", "sim-adaptive", "local"], indirect=True)
def test_nothing_on_the_event_loop_takes_10_ms(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with watched(tmp_path) as pauses, profiled(tmp_path / "profile.json", *options) as url:
        ready = time.monotonic()
        longest = replaying(url, tmp_path / "all", "--all")
        visits = 0
        while longest.poll() is None:
            visits += 1
            for call in [replaying(url, tmp_path / f"{visits}-{which}", "samples/commands") for which in "ab"]:
                assert call.wait(120) == 0
        assert longest.returncode == 0
    profile = json.loads((tmp_path / "profile.json").read_text())
    serving = {kind: [one for one in profile[kind] if one["at"] > ready] for kind in ("callbacks", "collections")}
    for one in (one for found in serving.values() for one in found):
        one["own"] = without_pauses(one, pauses)
    stood = [until - since for found in pauses.values() for since, until in found]
    with capsys.disabled():
        print(f"\n{options[1]}: {profile['count']} callbacks, {1 + 2 * visits} calls, load {os.getloadavg()[0]:.1f}")
        still = f"{len(stood)} times, at most for {max(stood, default=0) * 1000:.1f} ms" if pauses else "unknown"
        print(f"  the machine stood still: {still}")
        print("\n".join(table(kind, found) for kind, found in serving.items()))
    assert profile["count"] > 10_000
    assert not [one for found in serving.values() for one in found if one["own"] > LONGEST]
