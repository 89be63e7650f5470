import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from latency.audio.recording import RATE
from pipelines.lab.scripted import model as scripted
from pipelines.lab.scripted.model import KNOWN, UNKNOWN_WORDS, ScriptedWhisperModel, build_for_fixtures, recordings
from pipelines.lab.scripted.model_folder import build
from pipelines.lab.scripted.spoken_words import Pcm, Recording, SpokenWords, Word, spread
from voice.asr.whisper.decoding import AUTO, WhisperPasses
from voice.asr.whisper.model import SharedWhisper
from voice.client.fixtures.fixture import FixtureTurn, load_fixtures

SAMPLES = Path(__file__).parents[4] / "samples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_for_fixtures(tmp_path_factory.mktemp("scripted"), [SAMPLES / "arithmetic"], size="quick")


@pytest.fixture(scope="module")
def model(folder: Path) -> ScriptedWhisperModel:
    return ScriptedWhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)


@pytest.fixture(scope="module")
def turns() -> tuple[FixtureTurn, ...]:
    return load_fixtures([SAMPLES / "arithmetic"])[0].turns


def floats(pcm: Pcm) -> NDArray[np.float32]:
    return pcm.astype(np.float32) / 32768


def text(model: ScriptedWhisperModel, pcm: Pcm, **options: object) -> str:
    segments, _ = model.transcribe(floats(pcm), beam_size=1, temperature=0.0, **options)
    return "".join(segment.text for segment in segments).strip()


def noise(samples: int, seed: int = 0) -> Pcm:
    return (np.random.default_rng(seed).standard_normal(samples) * 3000).astype(np.int16)


def test_words_are_spread_over_the_speech_and_leave_its_pauses_empty() -> None:
    words = spread("one two three", [(1.0, 2.0), (5.0, 5.4)])
    assert [word.text for word in words] == ["one", "two", "three"]
    assert [round(word.start, 3) for word in words] == [1.0, 1.4, 5.0]
    assert [round(word.end, 3) for word in words] == [1.4, 1.8, 5.4]


def test_a_word_does_not_reach_into_the_pause_beside_it() -> None:
    first, second = spread("aaa bbb", [(1.0, 2.0), (3.0, 4.0)])
    assert (first.end, second.start) == (2.0, 3.0)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_cut_anywhere_hold_each_word_once(seed: int) -> None:
    chance = random.Random(seed)
    pcm = np.concatenate([np.zeros(8000, np.int16), noise(RATE * 3), np.zeros(4000, np.int16)])
    spoken = SpokenWords([Recording(pcm, spread("a few words to be cut", [(0.5, 3.5)])), Recording(noise(RATE, 9), ())])
    cut = chance.randrange(len(pcm))
    before = np.zeros(chance.randrange(5000), np.int16)
    pieces = [np.concatenate([before, pcm[:cut]]), pcm[cut:]]
    heard = [word for piece in pieces for word in spoken.heard_in(piece)]
    assert [word.text for word in heard] == ["a", "few", "words", "to", "be", "cut"]


def test_two_recordings_one_after_the_other_are_both_heard_at_their_times() -> None:
    first, second = noise(RATE, 1), noise(RATE, 2)
    spoken = SpokenWords([Recording(first, (Word("yes", 0.2, 0.6),)), Recording(second, (Word("no", 0.1, 0.5),))])
    heard = spoken.heard_in(np.concatenate([second, np.zeros(RATE, np.int16), first]))
    assert [(word.text, word.start, word.end) for word in heard] == [("no", 0.1, 0.5), ("yes", 2.2, 2.6)]


def test_silence_and_unknown_audio_hold_no_words(model: ScriptedWhisperModel) -> None:
    assert text(model, np.zeros(RATE, np.int16)) == ""
    assert text(model, noise(RATE)) == ""


def test_the_words_of_every_recording_of_the_samples_are_found() -> None:
    known = recordings([str(SAMPLES)])
    spoken = SpokenWords(known)
    for recording in known:
        assert [word.text for word in spoken.heard_in(recording.pcm)] == [word.text for word in recording.words]


def test_speech_without_a_text_holds_a_request_that_lasts_as_long(tmp_path: Path) -> None:
    bare = tmp_path / "bare.wav"
    shutil.copy(SAMPLES / "long_sentences" / "01.wav", bare)
    (known,) = recordings([str(bare)])
    assert " ".join(word.text for word in known.words).startswith(UNKNOWN_WORDS)
    assert 2 <= len(known.words) / (known.words[-1].end - known.words[0].start) <= 4, "words a second"


def test_the_text_of_a_recording_comes_out_of_faster_whisper(
    model: ScriptedWhisperModel, turns: tuple[FixtureTurn, ...]
) -> None:
    assert [text(model, turn.samples) for turn in turns] == [turn.text for turn in turns]


def test_each_window_of_a_long_recording_has_its_own_words(
    model: ScriptedWhisperModel, turns: tuple[FixtureTurn, ...]
) -> None:
    gap = np.zeros(31 * RATE, np.int16)
    pcm = np.concatenate([turns[0].samples, gap, turns[1].samples])
    assert text(model, pcm, without_timestamps=True) == f"{turns[0].text} {turns[1].text}"


def test_what_the_text_is_told_to_begin_with_stays(model: ScriptedWhisperModel, turns: tuple[FixtureTurn, ...]) -> None:
    turn = turns[0]
    words = turn.text.split()
    heard = text(model, turn.samples, prefix="what fifty", without_timestamps=True)
    assert heard.split() == ["what", "fifty", *words[2:]]


def test_a_pass_costs_as_many_tokens_as_its_words(
    model: ScriptedWhisperModel, turns: tuple[FixtureTurn, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    engine = model.model

    class Counting:
        def __getattr__(self, name: str) -> object:
            return getattr(engine, name)

        def generate(self, *args: object, **options: object) -> object:
            results = engine.generate(*args, **options)
            counts.append(len(results[0].sequences_ids[0]))
            return results

    monkeypatch.setattr(model, "model", Counting())
    for turn in turns:
        text(model, turn.samples, without_timestamps=True)
    assert counts == [round(1.3 * len(turn.text.split())) for turn in turns]


def test_marks_and_figures_cost_a_token_each_and_not_one_for_each_letter(tmp_path: Path) -> None:
    folder = build(tmp_path, text="What's 20% of 1,500?", vocabulary=["Wednesday,"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text, tokens in ((" What's 20% of 1,500?", 9), (" Wednesday,", 2)):
        assert len(tokenizer.encode(text).ids) == tokens


def test_a_script_with_more_words_than_can_be_said_is_heard_as_far_as_they_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would look wrong as a runaway text does, and every pass would be made twice."""
    words = [f"word{number}" for number in range(40)]
    monkeypatch.setattr(scripted, "recordings", lambda _: [Recording(speech, spread(" ".join(words), [(0.0, 1.0)]))])
    speech = noise(RATE)
    folder = build_for_fixtures(tmp_path, [SAMPLES / "arithmetic"], size="quick", misheard=0)
    model = ScriptedWhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)
    whisper = WhisperPasses(model, name="scripted:whisper", language="en", decoding=AUTO)
    encoded: list[int] = []
    encode = model.encode
    monkeypatch.setattr(model, "encode", lambda features: encoded.append(features.shape[-1]) or encode(features))
    heard = whisper.transcribe(floats(speech)).split()
    assert heard == words[: len(heard)]
    assert 10 < len(heard) < 24
    assert encoded == [600]


def test_unfinished_words_are_misheard_at_the_stated_rate_and_settled_ones_never(
    model: ScriptedWhisperModel, turns: tuple[FixtureTurn, ...]
) -> None:
    wrong: dict[bool, list[bool]] = {True: [], False: []}
    for turn in turns:
        for end in range(RATE // 2, len(turn.samples), 160):
            truth = model._spoken.heard_in(turn.samples[:end])
            heard = model._mishear(truth, end)
            assert heard[:-1] == truth[:-1]
            if truth and truth[-1].end > end / RATE - 0.05:
                share = (end / RATE - truth[-1].start) / (truth[-1].end - truth[-1].start)
                wrong[share < KNOWN].append(heard != truth)
            else:
                assert heard == truth
    assert len(wrong[True]) > 100 < len(wrong[False])
    assert 0.12 < sum(wrong[False]) / len(wrong[False]) < 0.28
    # A word of which little more than half has been spoken is heard right in less than half the passes.
    assert 0.35 < sum(wrong[True]) / len(wrong[True]) < 0.7


def test_with_a_rate_of_zero_nothing_is_misheard(tmp_path: Path, turns: tuple[FixtureTurn, ...]) -> None:
    never = ScriptedWhisperModel(str(build_for_fixtures(tmp_path, [SAMPLES / "arithmetic"], size="quick", misheard=0)))
    words = turns[0].text.split()
    for end in range(RATE // 2, len(turns[0].samples), 3200):
        heard = text(never, turns[0].samples[:end]).split()
        assert heard == words[: len(heard)]


def test_the_shared_model_runs_a_scripted_folder_under_its_own_name(
    folder: Path, turns: tuple[FixtureTurn, ...]
) -> None:
    whisper = SharedWhisper.load(folder, model_class=ScriptedWhisperModel)
    assert whisper.name == "scripted:whisper-quick"
    assert whisper.transcribe(floats(turns[2].samples)) == turns[2].text
    whisper.close()


def test_a_rate_above_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="misheard is 2"):
        build_for_fixtures(tmp_path, [SAMPLES / "arithmetic"], misheard=2)
