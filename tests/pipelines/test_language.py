"""A pipeline in German: what cannot be done in it is refused, and a whole call speaks and judges German.

The words are scripted, and the model is simulated; the voice detector, the passes of a multilingual Whisper, the
decisions and the call are real. A German voice cannot be downloaded in tests, so the embedded English one reads.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipelines import auto, settings
from pipelines.lab.scripted.model import build_for_fixtures
from tests.pipelines.openai_server import MODEL, OpenAIServer
from voice.errors import ConfigurationError
from voice.language.german.phrases import GERMAN

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "overlaps"
ANSWER = "Gern. Eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn. " * 3
TURNS = [
    {"user": "zähle bis zehn", "audio": "01.wav"},
    {"user": "ja genau", "audio": "02.wav", "send_after": {"event": "bot_started_speaking", "delay_ms": 2200}},
    {"user": "warten sie", "audio": "05.wav", "send_after": {"event": "bot_started_speaking", "delay_ms": 4000}},
]


def test_german_takes_its_usual_recogniser_voice_prompt_and_question() -> None:
    found = settings.load("sim-single", ["language=de", "asr.engine=whisper"])
    assert found.asr.model_dump()["model"] == "base"
    assert found.tts.model_dump()["voice"] == "de_DE-thorsten-medium"
    assert found.llm.model_dump()["prompt"] == GERMAN.prompt
    assert found.call.silence_question == GERMAN.still_there
    assert settings.load("german").call.silence_question == GERMAN.still_there


def test_what_is_set_is_not_replaced() -> None:
    own = ["asr.model=small", "tts.voice=embedded", "llm.prompt=Kurz.", "call.silence_question=Hallo?"]
    found = settings.load("german", own)
    assert found.asr.model_dump()["model"] == "small"
    assert found.tts.model_dump()["voice"] == "embedded"
    assert (found.llm.model_dump()["prompt"], found.call.silence_question) == ("Kurz.", "Hallo?")


REFUSED = [
    ("sim-single", [], r'asr.engine = "sphinx" understands English only: use "whisper", with asr.model = "base"'),
    ("local", [], r'asr.model = "tiny.en" understands English only: use other weights, such as "base" or "small"'),
    ("embedded", ["asr.engine=whisper"], r'llm.provider = "responder" understands .* English only: name a language'),
    ("sim-relay", ["asr.engine=whisper"], r'llm.policy = "relay" judges .* English words: use "fallback"'),
    ("sim-best-of", ["asr.engine=whisper"], r"English words"),
    ("german", ["llm.best_of=3"], r"llm.best_of compares drafts by English words: leave it out"),
    ("german", ['llm.hold_phrases=["Ja, gern."]'], r"The hold phrase “Ja, gern.” claims something"),
]


def in_german(pipeline: str, overrides: list[str]) -> None:
    found = settings.load(pipeline, ["language=de", *overrides])
    found.llm.language_models(found.language)


@pytest.mark.parametrize(("pipeline", "overrides", "sentence"), REFUSED)
def test_what_knows_only_english_is_refused_in_one_sentence(pipeline: str, overrides: list[str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as refused:
        in_german(pipeline, overrides)
    assert "\n" not in str(refused.value)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"language = 'fr' is not allowed: input should be 'en' or 'de'"):
        settings.load("german", ["language=fr"])


def test_auto_takes_multilingual_weights_or_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_WHISPER_DIR", "/models/base")
    monkeypatch.setattr(auto, "find", lambda _name: None)
    monkeypatch.setattr(auto, "found", lambda _kind: {})
    monkeypatch.setattr(auto, "_llm", lambda _language: ({"large": {"provider": "sim"}}, "llm: a simulated one"))
    choice = auto.resolve("auto", ["language=de"])
    assert choice.settings.call.silence_question == GERMAN.still_there
    assert choice.reasons[-1] == "tts: the embedded voice, because no German voice is here"
    monkeypatch.delenv("VOICE_WHISPER_DIR")
    with pytest.raises(ConfigurationError, match=r'use "whisper", with asr.model = "base"'):
        auto.resolve("auto", ["language=de"])


def test_what_is_worse_in_german_is_said_at_the_start() -> None:
    found = settings.load("german", ["tts.voice=embedded", "llm.fast={provider='sim'}", "llm.policy=adaptive"])
    assert any("reads German as if it were English" in notice for notice in found.notices())
    assert any("every German turn as an open question" in notice for notice in found.notices())
    assert any("no model of how finished German words read" in notice for notice in found.notices())
    assert settings.load("embedded").notices() == []


def test_a_call_in_german(tmp_path: Path, openai_server: OpenAIServer) -> None:
    fixture = tmp_path / "gespraech"
    shutil.copytree(SAMPLES, fixture)
    scenario = yaml.safe_load((fixture / "scenario.yaml").read_text())
    speaker = {"speaker": "sim:flite slt"}
    scenario["scenarios"][0]["turns"] = [{**turn, **speaker} for turn in TURNS]
    (fixture / "scenario.yaml").write_text(yaml.safe_dump(scenario, allow_unicode=True))
    model = build_for_fixtures(tmp_path / "whisper", [fixture], size="quick", misheard=0, multilingual=True)
    openai_server.answers.append(ANSWER)
    openai_server.delay = 0.8
    changes = [
        "asr.engine=scripted", f"asr.model={model}", "asr.context=auto", "tts.voice=embedded", "turns.speculation=off",
        f"llm.large.base_url={openai_server.url}", f"llm.large.model={MODEL}",
    ]  # fmt: skip
    settings_of = [part for change in changes for part in ("--set", change)]
    run = tmp_path / "run"
    command = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--pipeline", "german", *settings_of]
    done = subprocess.run([*command, "--out", str(run)], cwd=ROOT, capture_output=True, text=True, timeout=90)
    assert done.returncode in (0, 3), done.stderr
    assert 'tts.voice = "embedded" reads German as if it were English' in done.stderr
    turns = [json.loads(line) for line in (run / "turns.jsonl").read_text().splitlines()]
    served = [of for turn in turns for of in turn["server_turns"]]
    said = [phrase["text"] for of in served for response in of["responses"] for phrase in response["said"]]
    assert said[0] in GERMAN.hold
    because = [one["because"] for of in served for one in of["overlaps"] or [] if one["words"]]
    assert because == ["backchannel", "stop_word"]
    system = openai_server.requests[0]["messages"][0]
    assert system["content"].startswith("Du bist ein hilfreicher Assistent")
    components = json.loads((run / "run.json").read_text())["components"]
    assert components["language"] == "German"
    assert "not how words read" in components["turns"]
