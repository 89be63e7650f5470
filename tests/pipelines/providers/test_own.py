"""A model with made-up weights answers a whole call."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from latency.record.requests import Price
from pipelines import settings
from pipelines.providers.own import OwnTier
from pipelines.tiers.models import mostly_wrong_tier
from pipelines.tiers.table import Tiers
from tests.pipelines.conversations import write_conversation
from tests.voice.llm.wires.in_process.scripted_gguf import build
from voice.errors import ComponentError, ConfigurationError

ROOT = Path(__file__).resolve().parents[3]
PIPELINE = """
[asr]
engine = "sphinx"
[llm]
policy = "single"
[llm.large]
provider = "own"
model = "{model}"
"""


def tier(model: str) -> tuple[OwnTier, Tiers]:
    llm = Tiers.model_validate({"large": {"provider": "own", "model": model}})
    large = llm.tiers["large"]
    assert isinstance(large, OwnTier)
    return large, llm


def test_a_call_is_answered_and_the_record_says_that_the_weights_are_made_up(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = build(tmp_path / "model.gguf")
    pipeline = tmp_path / "own.toml"
    pipeline.write_text(PIPELINE.format(model=file))
    fixture = write_conversation(tmp_path / "one", ("commands/02", "kettle"))
    out = tmp_path / "run"
    done = run("pipelines.cli", "replay", str(fixture), "--pipeline", str(pipeline), "--out", str(out))
    assert done.returncode in (0, 3), done.stdout + done.stderr
    (turn,) = [json.loads(line) for line in (out / "turns.jsonl").read_text().splitlines()]
    assert {attempt["model"] for attempt in turn["attempts"]} == {"scripted:own"}
    assert turn["attempts"][-1]["outcome"] == "spoken"
    figures = json.loads(run("latency", "report", "--json", str(out)).stdout)
    assert figures["turns"]["answers_ok"] == 1, "what was heard is what the model says"
    assert "Traceback" not in done.stderr


def run(module: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=200
    )


def test_what_is_not_here_or_no_model_is_refused_before_anything_starts(tmp_path: Path) -> None:
    for model, error, words in (
        ("gpt-9", ConfigurationError, "'gpt-9' names no model: use a GGUF file"),
        (str(tmp_path), ComponentError, "is a folder, and a language model in this process is a GGUF file"),
        (str(tmp_path / "none.gguf"), ComponentError, "There is no file"),
    ):
        own, llm = tier(model)
        assert words in own.needs()[0]
        with pytest.raises(error, match=words):
            own.check("large", llm)


def test_a_model_that_is_not_here_names_both_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("voice.models.hub.HubModel.find", lambda _model: None)
    own, _ = tier("qwen3-0.6b-gguf")
    (need,) = own.needs()
    assert "run `voice models pull qwen3-0.6b-gguf`, or copy the file Qwen3-0.6B-Q8_0.gguf here" in need
    assert own.label == "qwen3-0.6b-gguf"


def test_threads_are_one_unless_set() -> None:
    own, llm = tier("qwen3-0.6b-gguf")
    assert own.threads == 1
    assert own.describe(llm) == "qwen3-0.6b-gguf in this process (1 thread)"
    with pytest.raises(ConfigurationError, match="threads"):
        settings.check({"llm": {"large": {"provider": "own", "model": "x", "threads": 0}}}, source="test", overrides=[])


def test_a_model_in_this_process_costs_nothing_unless_a_price_is_set() -> None:
    tier = OwnTier(provider="own", model="smollm2-135m")
    assert tier.billing == Price(input=0, output=0)
    priced = OwnTier.model_validate({"provider": "own", "model": "smollm2-135m", "price": {"input": 1, "output": 2}})
    assert priced.billing == Price(input=1, output=2)


def test_a_fast_model_that_is_right_less_than_half_as_often_is_no_rescue() -> None:
    llm = settings.load("two-models").llm
    assert isinstance(llm, Tiers)
    assert mostly_wrong_tier(llm) == "fast"
    assert mostly_wrong_tier(settings.load("two-models", ["llm.fast.model=qwen2.5-coder-0.5b"]).llm) is None  # type: ignore[arg-type]
    assert mostly_wrong_tier(settings.load("two-models", ["llm.fast.model=qwen2.5-0.5b-gguf"]).llm) is None  # type: ignore[arg-type]
