"""How much of an answer's sound a caller loses while another client floods the server.

python -m pytest tests/benchmarks/test_floods.py -m slow -s

FLOOD in the environment chooses the floods by their names, with a regular expression. Before each flood the caller
listens for as long without one. Takes some ten minutes.
"""

import asyncio
import json
import os
import re
import resource
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from tests.benchmarks.flooding import FLOODS
from tests.benchmarks.neighbour import Heard, Neighbour
from tests.pipelines.server_process import ROOT, running_server

pytestmark = pytest.mark.slow

LASTS = float(os.environ.get("SECONDS", "8"))
"""Seconds of each flood, and of the control before it."""
RESTS = 1.5
"""Seconds after a flood."""
MORE = 0.04
"""Seconds by which the longest gap during a flood may exceed the longest without one."""
DESCRIPTORS = 256
"""That the server may open."""
SENTENCE = "the river runs past the old mill and under the bridge to the sea and the boats go home in the evening "
QUESTION = "repeat after me " + SENTENCE * 2
_LAG = re.compile(r"^voice_event_loop_lag_seconds (\S+)$", re.MULTILINE)


def lag(port: int) -> float | None:
    """The longest time for which the server's loop was held up in the last seconds, milliseconds; None if unknown."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            found = _LAG.search(answer.read().decode())
    except OSError:
        return None
    assert found is not None
    return float(found[1]) * 1000


async def flooded(port: int, name: str) -> str:
    """Flood the server; returns what became of the connections."""
    # The processors are the server's and the caller's first.
    command = ["nice", "-n", "10", sys.executable, "-m", "tests.benchmarks.flooding"]
    command += [str(port), name, str(LASTS)]
    flood = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    said, _ = await flood.communicate()
    told = json.loads(said.splitlines()[-1])
    return f"{told['connects']} connections, {told['ends']}"


def line(name: str, control: Heard, heard: Heard, lag_ms: float | None, log_bytes: int, ends: str) -> str:
    def ms(found: Heard) -> str:
        return f"{found.lost * 1000:5.0f} {found.longest * 1000:5.0f}"

    share = heard.seconds / max(control.seconds, 0.1)
    late = "?" if lag_ms is None else f"{lag_ms:.0f}"
    return f"{name:36}{ms(control)}  {ms(heard)} {share:6.2f} {late:>6} {log_bytes / 1000:8.1f}  {ends}"


async def test_a_neighbour_hears_its_answers_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    log, failed = tmp_path / "server.log", []
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, limits[1]))
    errors, own = os.dup(2), os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(own, 2)
    try:
        with running_server("--pipeline", "embedded", "--set", "call.part_ms=0", "--resume", "1") as server:
            os.dup2(errors, 2)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            port = int(server.url.rsplit(":", 1)[1].split("/")[0])
            neighbour = Neighbour(server.url, QUESTION)
            listening = asyncio.create_task(neighbour.listen(3600))
            await asyncio.sleep(6)
            with capsys.disabled():
                print(f"\n{'':36}{'without':>11}  {'with':>11}  sound    lag   log")
                print(f"{'flood':36}{'lost':>5} {'gap':>5}  {'lost':>5} {'gap':>5}  share     ms    kB  closed with")
            for name in FLOODS:
                if re.search(os.environ.get("FLOOD", ""), name) is None:
                    continue
                neighbour.reset()
                await asyncio.sleep(LASTS)
                control, before = neighbour.reset(), log.stat().st_size
                ends = await flooded(port, name)
                heard = neighbour.reset()
                late = await asyncio.to_thread(lag, port)
                with capsys.disabled():
                    print(line(name, control, heard, late, log.stat().st_size - before, ends), flush=True)
                if heard.longest > control.longest + MORE:
                    failed.append(name)
                await asyncio.sleep(RESTS)
                assert not listening.done(), f"the neighbour's call has ended in the flood of {name}"
            listening.cancel()
            held = psutil.Process(server.process.pid).num_fds()
    finally:
        os.dup2(errors, 2)
        os.close(errors)
        os.close(own)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "Traceback" not in log.read_text(errors="replace")
    assert held < DESCRIPTORS / 2
    assert not failed
