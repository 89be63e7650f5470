"""`auto` takes what is here and answers, and nothing else."""

import asyncio
from pathlib import Path

import pytest

from pipelines import auto
from pipelines.engines.sphinx import Sphinx
from pipelines.engines.whisper import Whisper
from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from pipelines.providers import local_servers
from pipelines.providers.openai import OpenAITier
from pipelines.providers.own import OwnTier
from pipelines.providers.responder import ResponderTable
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VOICE_WHISPER_DIR", raising=False)
    monkeypatch.setattr(local_servers, "LOCAL_SERVERS", {})
    monkeypatch.delenv("VOICE_OWN_MODEL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("voice.models.hub.HubModel.find", lambda _model: None)


def test_a_bare_machine_gets_the_embedded_engines_and_is_told_what_would_be_better() -> None:
    choice = auto.resolve("auto", [])
    assert isinstance(choice.settings.asr, Sphinx)
    assert isinstance(choice.settings.llm, ResponderTable)
    assert any("`voice models pull tiny.en`" in reason for reason in choice.reasons)


async def test_a_local_server_that_completes_is_the_only_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(Simulator(preset="optimistic", seed=1)) as endpoint:
        monkeypatch.setattr(local_servers, "LOCAL_SERVERS", {"Test": endpoint.port})
        monkeypatch.setattr(local_servers, "FIND_WITHIN", 5.0)
        choice = await asyncio.to_thread(auto.resolve, "auto", [])
    llm = choice.settings.llm
    assert isinstance(llm, Tiers)
    assert llm.policy == "single"
    assert list(llm.tiers) == ["large"]
    large = llm.tiers["large"]
    assert isinstance(large, OpenAITier)
    assert large.base_url == endpoint.base_url
    assert "VOICE_OWN_MODEL" not in " ".join(choice.reasons)
    assert any(f"at Test on port {endpoint.port}" in reason for reason in choice.reasons)


def test_a_language_model_that_is_here_is_taken_before_the_responder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(auto, "find", lambda name: tmp_path if name == "qwen2.5-0.5b-gguf" else None)
    choice = auto.resolve("auto", [])
    assert isinstance(choice.settings.llm, Tiers)
    own = choice.settings.llm.tiers["large"]
    assert isinstance(own, OwnTier)
    assert own.model == "qwen2.5-0.5b-gguf"
    assert any("qwen2.5-0.5b-gguf in this process" in reason for reason in choice.reasons)

    monkeypatch.setenv("VOICE_OWN_MODEL", str(tmp_path))
    named = auto.resolve("auto", []).settings.llm
    assert isinstance(named, Tiers)
    assert named.tiers["large"].model == str(tmp_path)  # type: ignore[attr-defined]


def test_a_folder_of_weights_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VOICE_WHISPER_DIR", str(tmp_path))
    asr = auto.resolve("auto", []).settings.asr
    assert isinstance(asr, Whisper)
    assert asr.model == str(tmp_path)


def test_what_was_pulled_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(auto, "find", lambda name: tmp_path / name if name in ("tiny.en", "base", auto.VOICE) else None)
    choice = auto.resolve("auto", [])
    assert isinstance(choice.settings.asr, Whisper)
    assert choice.settings.asr.model == "tiny.en"
    assert choice.settings.tts.model_dump()["voice"] == auto.VOICE
    assert f"asr: faster-whisper tiny.en, found in {tmp_path / 'tiny.en'}" in choice.reasons
    assert f"tts: {auto.VOICE}, found in {tmp_path}" in choice.reasons


def test_single_settings_apply_to_auto_as_well() -> None:
    assert auto.resolve("auto", ["turns.fallback_ms=500"]).settings.turns.fallback_ms == 500
    with pytest.raises(ConfigurationError, match="auto: turns.nothing is not a setting"):
        auto.resolve("auto", ["turns.nothing=1"])


def test_a_named_pipeline_is_taken_as_it_is() -> None:
    assert auto.resolve("embedded", []).reasons == ()


def test_a_pulled_model_that_is_no_longer_whole_is_named_with_its_repair(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "turnaround" / "models" / "tiny.en"
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"half of it")
    reasons = auto.resolve("auto", []).reasons
    assert "tiny.en is damaged and is not taken: run `voice models pull tiny.en`" in reasons
