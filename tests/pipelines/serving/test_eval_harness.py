"""pipecat's own eval harness calls our server: a text conversation, and recordings of our samples."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipecat.evals.scenario import EvalScenarioFile
from pipecat.evals.serializer import EvalConnectionFlags, eval_connect_message
from pipecat.evals.session import EvalSession, EvalSessionParams
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.pipelines.server_process import ROOT, ServerProcess, running_server
from tests.pipelines.serving.test_strangers import TOKEN, eventually, fetch, guarded
from voice.wire.endpoint import START_PATH

__all__ = ["guarded"]  # a fixture

TEXT = """
name: text
scenarios:
  - name: arithmetic
    turns:
      - user: "what is twelve minus five"
        expect:
          - event: response
            text_contains: "7"
      - user: "set a timer for ten minutes"
        expect:
          - event: response
            text_contains: "10 minutes"
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_server("--pipeline", "embedded") as server:
        yield server.url


async def failures(file: Path, url: str) -> list[str]:
    """What the harness objects to in the scenarios of a file."""
    found = []
    for scenario in EvalScenarioFile.load(file):
        session = EvalSession.from_scenario(scenario, url, params=EvalSessionParams(default_timeout_ms=20_000))
        found += [str(failure) for failure in (await session.run()).failures]
    return found


async def test_a_text_scenario_passes_and_a_wrong_expectation_fails(url: str, tmp_path: Path) -> None:
    (tmp_path / "text.yaml").write_text(TEXT)
    assert await failures(tmp_path / "text.yaml", url) == []
    (tmp_path / "wrong.yaml").write_text(TEXT.replace('"7"', '"8"'))
    scenario = EvalScenarioFile.load(tmp_path / "wrong.yaml")["text/arithmetic"]
    session = EvalSession.from_scenario(scenario, url, params=EvalSessionParams(default_timeout_ms=1500))
    assert "does not contain '8'" in str((await session.run()).failures)


async def test_a_sample_passes_with_its_recordings(url: str) -> None:
    assert await failures(ROOT / "samples" / "arithmetic" / "scenario.yaml", url) == []


async def closed_because(url: str, *messages: str) -> str:
    """Why the server closes a call in which these messages are sent."""
    async with connect(url) as call:
        for message in messages:
            await call.send(message)
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionClosed):
                while True:
                    await call.recv()
        return call.close_reason or ""


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ('{"label": "rtvi-ai", "type": "raw-audio", "id": "1", "data": {"base64Audio": "?"}}', "cannot be read"),
        (
            '{"label": "rtvi-ai", "type": "raw-audio", "id": "1",'
            ' "data": {"base64Audio": "AAA=", "sampleRate": 7, "numChannels": 1}}',
            "audio must be 16000 Hz mono",
        ),
    ],
)
async def test_a_broken_message_of_a_harness_ends_its_call_with_the_reason(url: str, second: str, reason: str) -> None:
    assert reason in await closed_because(url, eval_connect_message(EvalConnectionFlags()), second)


async def test_only_a_harness_sends_text(url: str) -> None:
    assert "not a pipecat protobuf frame" in await closed_because(url, "hello")
    assert "eval-connect cannot be read" in await closed_because(url, "[eval-connect")


async def test_a_token_for_one_call_does_not_make_a_harness(guarded: ServerProcess) -> None:
    bearer = {"Authorization": "Bearer " + TOKEN}
    start = guarded.health.replace("/healthz", START_PATH)
    assert await eventually(lambda: fetch(start, data=b"{}", **bearer)[0] == 200)
    _, told = await asyncio.to_thread(lambda: fetch(start, data=b"{}", **bearer))
    assert "needs the server's own token" in await closed_because(
        told["wsUrl"], eval_connect_message(EvalConnectionFlags())
    )
