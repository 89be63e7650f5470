"""Recordings of people: who speaks, under which licence, how they are labelled, and what an agent makes of them."""

import asyncio
import csv
import runpy
from collections import Counter
from datetime import datetime
from typing import Any

import pytest
import soundfile

from latency.judge.answer import word_errors
from pipelines.calibrating.measuring import utterances
from pipelines.lab.fitted import fitted_speakers
from pipelines.samples import PEOPLE
from tests.pulled import use_pulled
from voice.asr.whisper.decoding import AUTO, WhisperPasses
from voice.asr.whisper.model import load_model
from voice.client.fixtures.fixture import FixtureTurn, load_fixtures
from voice.models.store import find
from voice.responder.dialogue import Responder
from voice.responder.tools import ToolBox

FIXTURES = load_fixtures([PEOPLE])
TURNS = [turn for fixture in FIXTURES for turn in fixture.turns]
CLIPS = list(csv.DictReader((PEOPLE / "clips.csv").read_text(encoding="utf-8").splitlines()))
ORDERS = [turn for turn in TURNS if turn.wav.parent.name in ("coffee", "orders")]
LICENCES = {
    "Apache-2.0": "licences/Apache-2.0.txt",
    "MIT": "licences/MIT.txt",
    "CMU ARCTIC": "licences/CMU-ARCTIC.txt",
    "CC BY 4.0": "licences/CC-BY-4.0.txt",
    "CC BY-SA 3.0": "prompts/LICENCE",
    "public domain; package BSD-2-Clause": "licences/BSD-2-Clause.txt",
    "Open Speech Repository": "LICENCES.md",
}
"""The file with each licence's text. The Open Speech Repository only wants to be named."""


def name(turn: FixtureTurn) -> str:
    return turn.wav.stem


def test_every_recording_has_a_row_with_its_speaker_its_source_and_its_licence() -> None:
    rows = {(row["folder"], row["clip"]): row for row in CLIPS}
    assert len(rows) == len(CLIPS)
    assert rows.keys() == {(path.parent.name, path.stem) for path in PEOPLE.glob("*/*.flac")}
    assert rows.keys() == {(turn.wav.parent.name, name(turn)) for turn in TURNS}, "each is in a conversation"
    assert len(TURNS) == len(CLIPS), "and in one only"
    for turn in TURNS:
        row = rows[turn.wav.parent.name, name(turn)]
        assert row["speaker"] == turn.speaker
        assert all(row[column] for column in ("source", "version", "path"))


def test_every_licence_is_there_and_every_source_is_named() -> None:
    assert {row["licence"] for row in CLIPS} == LICENCES.keys()
    for file in LICENCES.values():
        assert len((PEOPLE / file).read_text(encoding="utf-8")) > 1000
    named = (PEOPLE / "LICENCES.md").read_text(encoding="utf-8")
    for row in CLIPS:
        assert row["source"].removeprefix("Debian: ") in named
        assert row["version"] in named
    assert all(one in named for one in ("CSTR VCTK", "Open Speech Repository", "Allison Smith", "LibriVox"))


def test_what_must_be_shared_alike_has_a_folder_of_its_own() -> None:
    assert {row["licence"] for row in CLIPS if row["folder"] == "prompts"} == {"CC BY-SA 3.0"}
    assert {row["folder"] for row in CLIPS if row["licence"] == "CC BY-SA 3.0"} == {"prompts"}


def test_thirty_people_speak_and_the_recordings_stay_small() -> None:
    assert len({turn.speaker for turn in TURNS}) >= 30
    assert not any(turn.synthetic for turn in TURNS)
    assert sum(path.stat().st_size for path in PEOPLE.rglob("*") if path.is_file()) <= 12_000_000


def test_the_fit_has_not_seen_half_of_them() -> None:
    speakers = {turn.speaker for turn in TURNS}
    assert len(speakers - fitted_speakers()) == len(speakers & fitted_speakers()) == 24


@pytest.mark.parametrize("turn", TURNS, ids=name)
def test_recording_is_16_khz_mono_and_its_labels_fit_it(turn: FixtureTurn) -> None:
    about = soundfile.info(turn.wav)
    assert (about.samplerate, about.channels, about.subtype, about.format) == (16000, 1, "PCM_16", "FLAC")
    assert turn.truth == "labelled"
    assert turn.wants_answer
    assert turn.text
    assert not turn.labels, "speech and nothing else"
    assert turn.onset <= 0.35
    assert turn.seconds - turn.end <= 0.35
    spoken = sum(end - start for start, end in turn.speech)
    assert 1 < len(turn.text.split()) / spoken < 7, "words a second"


def test_customers_order_two_drinks_or_more() -> None:
    assert min(Counter(turn.speaker for turn in ORDERS).values()) >= 2
    counter = [turn for turn in ORDERS if turn.wav.parent.name == "coffee"]
    assert len({turn.speaker for turn in counter}) == len(counter) == 10


@pytest.fixture
def example() -> dict[str, Any]:
    """What docs/examples/coffee.py defines, with no orders yet."""
    return runpy.run_path(str(PEOPLE.parents[1] / "docs" / "examples" / "coffee.py"))


@pytest.mark.parametrize("turn", ORDERS, ids=name)
def test_the_example_takes_the_order_as_the_conversation_says(turn: FixtureTurn, example: dict[str, Any]) -> None:
    call = ToolBox([example["add_to_order"], example["open_orders"]]).find(turn.text)
    assert call is not None
    assert [asyncio.run(call.run())] == list(turn.contains)


def test_the_example_reads_out_what_was_ordered(example: dict[str, Any]) -> None:
    responder = Responder(tools=[example["add_to_order"], example["open_orders"]])

    def answer(text: str) -> str:
        return responder.reply(text, datetime(2026, 11, 25, 9, 0)).text

    assert answer("What are the open orders?") == "There are no orders."
    assert answer("Can I get a 16-ounce latte with milk, sugar and a bit of cream?") == (
        "One sixteen ounce latte with milk and sugar and a bit of cream. Anything else?"
    )
    assert answer("a latte or a mocha") != "One latte. Anything else?", "it does not guess"
    assert answer("What are the open orders?") == "one sixteen ounce latte with milk and sugar and a bit of cream."


def test_whisper_mishears_at_most_a_tenth_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """All 121 recordings, decoded as a call decodes them; samples/README.md says 7.2 %."""
    use_pulled(monkeypatch, "tiny.en")
    weights = find("tiny.en")
    assert weights is not None
    model = load_model(weights, name="tiny.en", device="cpu", compute_type="int8", threads=1)
    passes = WhisperPasses(model, name="tiny.en", language="en", decoding=AUTO)
    heard = [(one, word_errors(one.text, passes.transcribe(one.samples))[0]) for one in utterances(FIXTURES)]
    errors, words = sum(wrong for _, wrong in heard), sum(one.words for one, _ in heard)
    assert words > 1300
    assert errors / words <= 0.1, sorted(heard, key=lambda pair: -pair[1])[:10]
