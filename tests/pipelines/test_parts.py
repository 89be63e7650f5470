"""A long answer in parts, in a whole call: asked, gone on with, and dropped.

The words are scripted and the model is simulated; the voice, the decisions and the call are real.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from pipelines.lab.scripted.model import build_for_fixtures
from tests.pipelines.openai_server import MODEL, OpenAIServer
from voice.language.english.phrases import ENGLISH

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "overlaps"
SENTENCES = [
    "We open at nine.", "We close at eight.", "We sell bicycles.", "We mend them, too.", "We rent some out.",
    "We also buy old ones.", "We paint frames.", "We teach children.", "We like rain.",
]  # fmt: skip
ANSWER = " ".join(SENTENCES)
SAID = [("tell me about your shop", "01.wav"), ("okay go on", "05.wav"), ("where are you", "06.wav")]


def test_the_rest_of_a_long_answer_is_spoken_when_asked_for_and_dropped_otherwise(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    fixture = tmp_path / "shop"
    shutil.copytree(SAMPLES, fixture)
    scenario = yaml.safe_load((fixture / "scenario.yaml").read_text())
    turns = [{"user": text, "audio": audio, "speaker": "sim:flite slt"} for text, audio in SAID]
    scenario["scenarios"][0]["turns"] = turns
    (fixture / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    model = build_for_fixtures(tmp_path / "whisper", [fixture], size="quick", misheard=0)
    openai_server.answers.append(ANSWER)
    changes = [
        "asr.engine=scripted", f"asr.model={model}", "asr.context=auto", "call.part_ms=2500", "turns.speculation=off",
        f"llm.large.base_url={openai_server.url}", f"llm.large.model={MODEL}",
    ]  # fmt: skip
    run = tmp_path / "run"
    command = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--pipeline", "local"]
    changed = [part for change in changes for part in ("--set", change)]
    done = subprocess.run([*command, *changed, "--out", str(run)], cwd=ROOT, capture_output=True, text=True, timeout=90)
    assert done.returncode in (0, 3), done.stderr

    asked = [[m for m in body["messages"] if m["role"] != "system"] for body in openai_server.requests]
    assert {messages[-1]["content"] for messages in asked} == {SAID[0][0], SAID[2][0]}, "no model was asked to go on"
    first, question, second, *_ = (message["content"] for message in asked[-1][1:4])
    assert question == SAID[1][0]
    heard = [re.sub(rf"\s*{re.escape(ENGLISH.go_on)}$", "", text) for text in (first, second)]
    assert all(text.endswith(ENGLISH.go_on) for text in (first, second))
    assert ANSWER.startswith(" ".join(heard))
    assert all(text.endswith(".") for text in heard)

    records = [json.loads(line) for line in (run / "turns.jsonl").read_text().splitlines()]
    served = [own for record in records for own in record["server_turns"] if own["said"]]
    parts = [own["part"] for own in served]
    assert parts == [{"number": 1, "asks": True}, {"number": 2, "asks": True}, None]
    assert [len(own["attempts"]) > 0 for own in served] == [True, False, True]
    assert served[1]["said"] == second
    report = subprocess.run(
        [sys.executable, "-m", "latency", "report", str(run), "--json"], cwd=ROOT, capture_output=True, text=True
    )
    assert json.loads(report.stdout)["quality"]["parts"] == {"asked": 2, "went_on": 1}
