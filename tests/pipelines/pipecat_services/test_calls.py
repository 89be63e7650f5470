"""Calls with pipecat's own services in the place of ours, from Python and from a file."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from voice.tts.piper.voice import embedded_voice

ROOT = Path(__file__).resolve().parents[3]
HEARD = "What time is it in Paris?"
AGENT = """
import sys
from pathlib import Path

from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService

from pipelines import Agent, serve

weights, voice, url = sys.argv[1:]


class Passing(FrameProcessor):
    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


serve(
    Agent(
        "Be brief.",
        pipeline="embedded",
        stt=lambda: WhisperSTTService(
            device="cpu", compute_type="int8", settings=WhisperSTTService.Settings(model=weights)
        ),
        tts=lambda: PiperTTSService(
            download_dir=Path(voice).parent, settings=PiperTTSService.Settings(voice=Path(voice).stem)
        ),
        large=lambda: OpenAILLMService(
            api_key="none", base_url=url, settings=OpenAILLMService.Settings(model="sim:echo")
        ),
        processors={"before_llm": [Passing], "before_tts": [Passing()]},
    ),
    port=0,
)
"""


def replay(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pipelines.cli", "replay", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def one_turn(folder: Path) -> dict[str, Any]:
    (line,) = (folder / "turns.jsonl").read_text().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def check(folder: Path, turn: dict[str, Any]) -> None:
    """The turn was answered, timed in every stage, and the report names the parts by their classes."""
    assert turn["heard"] == HEARD
    assert turn["said"] == f"You said: {HEARD}"
    assert turn["failed"] is None
    assert [(attempt["tier"], attempt["outcome"]) for attempt in turn["attempts"]] == [("large", "spoken")]
    marks = turn["marks"]
    order = ["vad_stop", "transcript_final", "turn_commit", "clause_to_tts", "tts_first_sample", "first_audible"]
    assert [marks[name] for name in order] == sorted(marks[name] for name in order)
    assert marks["llm_first_token"] <= marks["llm_first_clause"]
    run = json.loads((folder / "run.json").read_text())
    components = run["components"]
    assert components["asr"] == "pipecat:WhisperSTTService (scripted:whisper)"
    assert components["large"] == "pipecat:OpenAILLMService (sim:echo)"
    assert len(run["simulated"]) == 2, "test doubles are named even where they are others' to run"


def test_an_agent_takes_pipecats_own_services_and_an_instance_serves_one_call(
    openai_server: Any, scripted_whisper: Callable[[str], Path], conversation: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    parts = (str(scripted_whisper(HEARD)), str(embedded_voice()), openai_server.url)
    command = [sys.executable, "-u", str(tmp_path / "agent.py"), *parts]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    openai_server.requests.clear()
    try:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("Listening on ").strip()
        fixture = conversation("paris", ("commands/01", "you said what time is it in paris"))
        done = replay(str(fixture), "--url", url, "--out", str(tmp_path / "run"))
        refused = replay(str(fixture), "--url", url, "--out", str(tmp_path / "again"))
    finally:
        server.terminate()
        server.wait(10)
    assert done.returncode == 0, done.stderr
    check(tmp_path / "run", one_turn(tmp_path / "run"))
    components = json.loads((tmp_path / "run" / "run.json").read_text())["components"]
    assert components["tts"] == "pipecat:PiperTTSService"
    assert components["before_tts"] == "pipecat:Passing"
    asked = openai_server.requests[0]["messages"]
    assert asked[0]["role"] == "system"
    assert asked[0]["content"].startswith("Be brief. The call began on ")
    assert refused.returncode == 4
    assert "this Passing has served a call" in refused.stderr


def test_a_pipeline_file_names_pipecats_services_by_their_classes(
    openai_server: Any,
    scripted_whisper: Callable[[str], Path],
    conversation: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    pipeline = tmp_path / "mine.toml"
    pipeline.write_text(f"""
[asr]
engine = "pipecat"
service = "pipecat.services.whisper.stt.WhisperSTTService"
parameters = {{ device = "cpu", compute_type = "int8", settings = {{ model = "{scripted_whisper(HEARD)}" }} }}

[llm]
policy = "single"

[llm.large]
provider = "pipecat"
service = "pipecat.services.openai.llm.OpenAILLMService"
parameters = {{ base_url = "{openai_server.url}", settings = {{ model = "sim:echo" }} }}
api_key_env = "MY_KEY"

[tts]
engine = "pipecat"
service = "pipecat.services.piper.tts.PiperTTSService"
parameters = {{ download_dir = "{embedded_voice().parent}", settings = {{ voice = "{embedded_voice().stem}" }} }}
""")
    fixture = conversation("paris", ("commands/01", "you said what time is it in paris"))
    done = replay(str(fixture), "--pipeline", str(pipeline), "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    check(tmp_path / "run", one_turn(tmp_path / "run"))
    assert "secret" not in (tmp_path / "run" / "run.json").read_text()
