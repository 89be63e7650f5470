"""The simulator as a process: `voice simulate`, its health, its records and its faults from outside."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from pipelines.cli import main
from pipelines.lab.simulator.app import Endpoint, serving
from pipelines.lab.simulator.command import parse_faults
from pipelines.lab.simulator.simulator import Simulator, UnknownModelError
from pipelines.lab.simulator.timetable import Fault
from tests.pipelines.lab.simulator.simulated import user
from voice.errors import ConfigurationError

HELLO = user("hello")
LIMIT = 60.0


@asynccontextmanager
async def served(simulator: Simulator) -> AsyncIterator[tuple[Endpoint, httpx2.AsyncClient]]:
    async with (
        serving(simulator) as endpoint,
        httpx2.AsyncClient(base_url=f"http://{endpoint.host}:{endpoint.port}") as client,
    ):
        yield endpoint, client


async def test_health_reports_the_preset_the_seed_and_the_connections() -> None:
    async with served(Simulator(seed=1, preset="optimistic")) as (_, client):
        health = (await client.get("/healthz")).json()
    assert health == {"ready": True, "preset": "optimistic", "seed": 1, "connections": {"open": 1, "opened": 1}}


async def test_faults_change_while_the_server_runs_and_requests_are_recorded() -> None:
    async with served(Simulator(seed=1)) as (endpoint, client):
        llm = AsyncOpenAI(base_url=endpoint.base_url, api_key="none", max_retries=0)
        await client.post("/sim/fault", params={"model": "sim:steady", "fault": "500"})
        with pytest.raises(openai.InternalServerError):
            await llm.chat.completions.create(model="sim:steady", messages=HELLO)
        await client.post("/sim/fault", params={"model": "steady"})
        assert (await llm.chat.completions.create(model="sim:steady", messages=HELLO)).choices
        records = (await client.get("/sim/requests")).json()
        wrong = await client.post("/sim/fault", params={"model": "steady", "fault": "rain"})
        await llm.close()
    assert [(record["outcome"], record["fault"]) for record in records] == [("failed", "500"), ("completed", None)]
    assert records[1]["tokens_sent"] > 3
    assert wrong.status_code == 400
    assert "cut-socket" in wrong.json()["error"]["message"]


async def test_a_port_in_use_is_reported_in_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigurationError, match="choose another port"):
            async with serving(Simulator(seed=1), port=taken.getsockname()[1]):
                raise AssertionError("it listened on a taken port")


def test_unknown_models_and_faults_are_refused_when_the_simulator_is_made() -> None:
    with pytest.raises(UnknownModelError, match="no simulated model gpt-9"):
        Simulator(faults={"gpt-9": Fault.SILENT})
    with pytest.raises(ConfigurationError, match="takes MODEL=FAULT"):
        parse_faults(["silent"])
    with pytest.raises(ConfigurationError, match="There is no fault rain"):
        parse_faults(["sonnet=rain"])
    assert parse_faults(["sim:sonnet=silent", "haiku=429"]) == {
        "sim:sonnet": Fault.SILENT,
        "haiku": Fault.RATE_LIMITED,
    }


@pytest.mark.parametrize(
    "arguments",
    [["--fault", "sonnet"], ["--fault", "sonnet=rain"], ["--fault", "nobody=429"]],
)
def test_the_command_refuses_wrong_faults_with_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *arguments]) == 2
    assert capsys.readouterr().err.startswith("voice: ")


@pytest.mark.parametrize("arguments", [["--preset", "rosy"], ["--socket-life", "0"], ["--port", "70000"]])
def test_the_command_refuses_wrong_values_with_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", *arguments])
    assert stopped.value.code == 2


async def test_the_command_serves_faults_logs_requests_and_stops_on_a_signal() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "pipelines.cli", "simulate", "--port", "0", "--preset", "optimistic", "--seed", "5"),
        *("--fault", "sonnet=429"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT):
            line = (await process.stdout.readline()).decode()
            assert line.startswith("Listening on http://127.0.0.1:")
            async with AsyncOpenAI(base_url=line.split()[2], api_key="none", max_retries=0) as client:
                with pytest.raises(openai.RateLimitError):
                    await client.chat.completions.create(model="sim:sonnet", messages=HELLO)
                reply = await client.chat.completions.create(model="sim:steady", messages=HELLO)
            assert "How can I help" in (reply.choices[0].message.content or "")
            process.send_signal(signal.SIGINT)
            out, err = (text.decode() for text in await process.communicate())
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 130
    assert "Preset optimistic, seed 5" in out
    assert "sim:groq-fast" in out
    assert "sim:sonnet over chat" in err
    assert "(fault 429)" in err
    assert "Traceback" not in err


async def test_a_fixed_answer_is_given_to_every_request() -> None:
    async with (
        served(Simulator(seed=1, answer="Quite so, I think.")) as (endpoint, _),
        AsyncOpenAI(base_url=endpoint.base_url, api_key="none") as client,
    ):
        reply = await client.chat.completions.create(model="sim:steady", messages=HELLO)
    assert reply.choices[0].message.content == "Quite so, I think."
