"""The Python API: the README's agent takes a call, and its tool answers in it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import soundfile

from pipelines import Agent
from voice.errors import ComponentError, ConfigurationError
from voice.llm.tools import irreversible
from voice.tts.piper.voice import Voice, embedded_voice

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


def question(path: Path, text: str) -> Path:
    """A recording of somebody asking, in our own voice; the same one every time, as no two are heard alike."""
    onnxruntime.set_seed(1)
    voice = Voice(embedded_voice())
    speech = voice.synthesize(text) / 32768
    quiet = np.zeros(voice.sample_rate // 2)
    soundfile.write(path, np.concatenate([quiet, 0.7 * speech / abs(speech).max(), quiet]), voice.sample_rate)
    return path


COLLECTOR = (
    "import gc\nbefore = gc.get_freeze_count(), gc.get_threshold()\n",
    "\nprint(gc.get_freeze_count() <= before[0], gc.get_threshold() == before[1])\n",
)
"""What shows whether the program has Python's garbage collector back as it was."""


def test_the_readmes_agent_answers_with_its_tool(tmp_path: Path) -> None:
    (example,) = EXAMPLE
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    script = tmp_path / "agent.py"
    script.write_text(COLLECTOR[0] + example.replace("serve(agent)", "serve(agent, port=0)") + COLLECTOR[1])
    log = tmp_path / "log.txt"
    with log.open("w") as stderr:
        command = [sys.executable, "-u", str(script)]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("Listening on ").strip()
        wav = question(tmp_path / "question.wav", "What is my order status?")
        done = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", "replay", str(wav), "--url", url, "--out", str(tmp_path / "run")],
            cwd=ROOT, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "left the warehouse" in done.stderr
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0
        assert server.stdout.read() == "True True\n"
        assert "Traceback" not in log.read_text()
        assert "DEBUG" not in log.read_text()
    finally:
        server.kill()
        server.wait(5)


WITHOUT_A_HUB = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING", "VOICE_"))}
SERVES_WHISPER = "from pipelines import Agent, ComponentError, serve\nagent = Agent(pipeline='local')\n"


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("serve(agent, port=0)", ComponentError.exit_code, r"agent\.py: The Whisper model .* is not here: run .*\."),
        (
            "from pipelines import replay\nreplay(agent, out='run')",
            ComponentError.exit_code,
            r"agent\.py: The Whisper model .* is not here: run .*\.",
        ),
        ("import sys\nsys.excepthook = lambda *_: print('mine', file=sys.stderr)\nserve(agent, port=0)", 1, "mine"),
        ("try:\n    serve(agent, port=0)\nexcept ComponentError:\n    0 / 0", 1, r"Traceback.*ZeroDivisionError.*"),
    ],
    ids=[
        "nobody catches it",
        "nor what a replay raises",
        "a hook of its own",
        "the program catches it and fails otherwise",
    ],
)
def test_a_missing_model_ends_a_program_in_a_sentence(tmp_path: Path, script: str, code: int, said: str) -> None:
    path = tmp_path / "agent.py"
    path.write_text(SERVES_WHISPER + script)
    env = WITHOUT_A_HUB | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(path)], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    without_pipecats_banner = [line for line in done.stderr.splitlines() if "| INFO " not in line]
    assert re.fullmatch(said, "\n".join(without_pipecats_banner), flags=re.DOTALL), done.stderr
    assert done.returncode == code


def test_a_tool_that_cannot_be_called_is_refused_when_the_agent_is_made() -> None:
    def nameless(city: str) -> str:
        return city

    with pytest.raises(ConfigurationError, match="docstring"):
        Agent(tools=[nameless], pipeline="embedded")


def test_an_unknown_pipeline_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(ConfigurationError, match='no pipeline "nowhere"'):
        Agent(pipeline="nowhere")


def test_a_tool_that_cannot_be_undone_needs_a_large_tier() -> None:
    @irreversible
    def close_account() -> str:
        """Close the caller's account."""
        return "closed"

    Agent(tools=[close_account], pipeline="sim-fallback")
    Agent(tools=[close_account], pipeline="sim-single")
    with pytest.raises(ConfigurationError, match=r"close_account cannot be undone, so only a tier in the large role"):
        Agent(
            tools=[close_account],
            pipeline="embedded",
            overrides=['llm={ policy = "single", fast = { provider = "sim", model = "groq-fast" } }'],
        )
