"""`replay` in Python: recorded conversations with the user's agent, and limits on their figures."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from latency.command_line import RUNS
from latency.record.run import Run, RunError
from latency.report.report import Report, build
from pipelines.agent import Agent
from pipelines.process import end_in_a_sentence
from pipelines.replaying.replay import chosen_fixtures, parse_checks
from pipelines.replaying.run_folder import check_folder
from pipelines.server_process import LISTENING
from pipelines.serving.address import Address
from pipelines.serving.serve import log_warnings, serve_agent
from voice.errors import ComponentError, ConfigurationError, VoiceError


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished replay: its run folder, which `latency report` can read, and its report."""

    folder: Path
    report: Report

    def check(self, *expressions: str) -> None:
        """Check limits on the report, such as "answer p95 < 1500" and "answers_ok == 1".

        A 95th percentile needs 20 turns, unless the limit allows fewer ("answer p95 < 1500 n>=5"). The first turn after
        the agent's start is counted apart, as `turn_cold`: replay a recording more than once to have it counted.

        Raises:
            AssertionError: a limit is broken, its figure has no data, or the run is refused because its audio was not
                sent in real time.
            ConfigurationError: an expression is invalid.
        """
        __tracebackhide__ = True
        limits = parse_checks(expressions)
        if self.report.refused:
            raise AssertionError(
                f"{'; '.join(expressions)}: the run is refused: {self.report.refused} (run folder: {self.folder})"
            )
        judged = [limit.judge(self.report) for limit in limits]
        broken = [
            f"{one.expr}: {one.reason if one.shown is None else f'it is {one.shown}'}"
            for one in judged
            if one.verdict != "passed"
        ]
        if broken:
            raise AssertionError(f"{'; '.join(broken)} (run folder: {self.folder})")


def replay(
    agent: Agent,
    fixtures: str | Path | Sequence[str | Path] = (),
    *,
    repeat: int = 1,
    out: str | Path | None = None,
) -> Replay:
    """Call `agent` with recordings in real time, as `voice replay` does, and return the measurements.

    The agent is served in this process, on a thread with an event loop of its own, because its tools and components are
    live objects. The caller is a child process, because in a shared interpreter it would measure its own waiting. This
    process should do nothing else in the meantime. The agent is started here and closed at the end. A program that does
    not catch the errors below ends with their message, as after `serve`.

    Args:
        agent: not served elsewhere at the same time.
        fixtures: recordings or folders; empty for the tour of samples.
        repeat: how often all of them are replayed.
        out: the run folder, which must be new; None for a new one in runs/.

    Raises:
        ConfigurationError: the run folder cannot be written, or the pipeline lacks a part.
        FixtureError: a recording cannot be used.
        ComponentError: an engine is missing or broken, or a call was cut short.
    """
    paths = [str(fixtures)] if isinstance(fixtures, str | Path) else list(map(str, fixtures))
    chosen_fixtures(paths, everything=False)
    folder = Path(out) if out else RUNS / f"{datetime.now():%Y%m%d-%H%M%S}-replay"
    check_folder(str(folder))
    log_warnings()
    end_in_a_sentence()
    options = ["--out", str(folder), "--repeat", str(repeat)]
    with served(agent) as url:
        command = [sys.executable, "-m", "pipelines.cli", "replay", *paths, "--url", url, "--fresh", *options]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode and not _is_complete(folder):
        raise _error(done.returncode, done.stderr)
    # The command reports a run without answered turns as a failure; here checks decide.
    return Replay(folder, build(Run.load(folder)))


def _is_complete(folder: Path) -> bool:
    try:
        return Run.load(folder).status == "complete"
    except RunError:
        return False


@contextmanager
def served(agent: Agent) -> Iterator[str]:
    """Serve an agent on a free loopback port while the context lasts; yields the URL.

    Raises:
        VoiceError: it cannot be started.
    """
    url: Future[str] = Future()
    end: Future[Callable[[], object]] = Future()

    async def run() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        end.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        await serve_agent(
            agent, Address(port=0), announce=lambda line: url.set_result(line.removeprefix(LISTENING).strip())
        )

    def on_thread() -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(run())
        except BaseException as error:
            # It belongs to the thread that asked for the server.
            if url.done():
                raise
            url.set_exception(error)

    thread = threading.Thread(target=on_thread, name="agent")
    thread.start()
    try:
        yield url.result()
    finally:
        if thread.is_alive():
            with suppress(RuntimeError):
                # The loop may be closed already.
                end.result()()
        thread.join()


def _error(code: int, said: str) -> VoiceError:
    """The error of a failed `voice replay`, with its last message."""
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "the replay failed without a word")
    kind = ConfigurationError if code == ConfigurationError.exit_code else ComponentError
    return kind(re.sub("^voice[^:]*: ", "", last))
