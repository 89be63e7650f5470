"""`--pipeline local` on a true server process, Whisper's whole path and a language model's wire.

The weights are scripted and the model is simulated, so these turns say nothing about quality, and the report says so.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.openai_server import OpenAIServer
from tests.pipelines.server_process import ServerProcess, running_server
from voice.language.english.phrases import ENGLISH

ROOT = Path(__file__).resolve().parents[2]
HEARD = "What time is it in Paris?"
AGENT = '''
import sys
from pipelines import Agent, serve


def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is raining in {city}."


serve(Agent("Be brief.", tools=[weather], pipeline="local", overrides=sys.argv[1:]), port=0)
'''


def voice(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pipelines.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def report(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "latency", "report", str(folder), "--json"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True)
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def turns(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def settings(openai_server: OpenAIServer, scripted_whisper: Callable[[str], Path]) -> list[str]:
    model = scripted_whisper(HEARD)
    return [f"asr.model={model}", f"llm.large.base_url={openai_server.url}", "llm.large.model=sim:echo"]


@pytest.fixture(scope="module")
def local(settings: list[str]) -> Iterator[ServerProcess]:
    with running_server(
        "--pipeline", "local", *(part for setting in settings for part in ("--set", setting))
    ) as running:
        yield running


def test_a_call_is_answered_survives_a_failure_of_the_provider_and_reports_it(
    local: ServerProcess, openai_server: OpenAIServer, conversation: Callable[..., Path], tmp_path: Path
) -> None:
    openai_server.requests.clear()
    openai_server.faults.extend([None, "http_500", "http_500"])
    fixture = conversation("paris", *[("commands/01", "you said what time is it in paris")] * 3)
    done = voice("replay", str(fixture), "--url", local.url, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr

    first, failed, last = turns(tmp_path / "run")
    assert first["heard"] == last["heard"] == HEARD
    assert first["said"] == last["said"] == f"You said: {HEARD}"
    assert first["failed"] is None
    assert [attempt["outcome"] for attempt in first["attempts"]] == ["spoken"]
    assert failed["said"] == ENGLISH.not_answering
    assert failed["failed"] == f"large: sim:echo at {openai_server.url} answered HTTP 500: the model has crashed."
    assert failed["marks"]["first_audible"] > failed["speech"][-1][1], "the apology was heard"

    figures = report(tmp_path / "run")
    assert (figures["turns"]["answered"], figures["turns"]["answers_ok"]) == (2, 2)
    assert figures["turns"]["unanswered"] == {"component failed": 1}
    assert figures["turn_ms"]["n"] == 2, "an apology is no answer and has no latency"
    assert figures["llm"]["missed"] == 1
    assert "UNANSWERED: component" in done.stdout

    headline = re.sub(r"\n {2,}", " ", done.stdout).splitlines()[1]
    assert headline.startswith("SIMULATED, not real: ")
    for name in ("scripted:whisper", "sim:echo"):
        assert any(name in component for component in figures["simulated"])
        assert name in headline

    asked = [[message["role"] for message in request["messages"]] for request in openai_server.requests]
    assert asked[0] == ["system", "user"]
    assert [attempt["outcome"] for attempt in failed["attempts"]] == ["failed", "failed"], "it was asked once more"
    assert asked[3] == ["system", "user", "assistant", "user", "assistant", "user"], "the failed turn leaves no hole"


def test_without_the_server_the_caller_is_told_and_the_report_names_it(
    local: ServerProcess, openai_server: OpenAIServer, conversation: Callable[..., Path], tmp_path: Path
) -> None:
    with openai_server.gone():
        fixture = conversation("gone", ("commands/01", "you said"))
        done = voice("replay", str(fixture), "--url", local.url, "--out", str(tmp_path / "run"))
    assert done.returncode == 4, "nobody was answered, because a component failed"
    last = done.stderr.splitlines()[-1]
    assert last.startswith("voice: no turn of ")
    assert last.endswith(f" was answered: large: sim:echo at {openai_server.url} refused the connection")
    (turn,) = turns(tmp_path / "run")
    assert turn["said"] == ENGLISH.not_answering
    assert turn["failed"] == f"large: sim:echo at {openai_server.url} refused the connection."
    assert report(tmp_path / "run")["turns"]["unanswered"] == {"component failed": 1}


def test_a_models_call_of_a_python_function_is_carried_out_and_its_result_spoken(
    settings: list[str], openai_server: OpenAIServer, conversation: Callable[..., Path], tmp_path: Path
) -> None:
    openai_server.requests.clear()
    (tmp_path / "agent.py").write_text(AGENT)
    command = [sys.executable, "-u", str(tmp_path / "agent.py"), *settings]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("Listening on ").strip()
        fixture = conversation("weather", ("commands/01", "it is raining in paris"))
        done = voice("replay", str(fixture), "--url", url, "--out", str(tmp_path / "run"))
    finally:
        server.terminate()
        server.wait(10)
    assert done.returncode == 0, done.stderr
    (turn,) = turns(tmp_path / "run")
    assert turn["said"] == "Let me see. It is raining in Paris."
    assert report(tmp_path / "run")["turns"]["answers_ok"] == 1
    offered = openai_server.requests[0]["tools"][0]["function"]
    assert (offered["name"], offered["description"]) == ("weather", "The weather in a city.")
