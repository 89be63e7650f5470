"""How much each pass encodes, when it is repeated, and what it makes of silence."""

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from pipelines.lab.scripted import model_folder
from pipelines.lab.scripted.model import ScriptedWhisperModel, build_for_fixtures
from voice.asr.whisper.decoding import SAMPLE_RATE, TEMPERATURES, Context, Decoding, WhisperPasses
from voice.client.fixtures.fixture import load_fixtures

SAMPLES = Path(__file__).parents[4] / "samples" / "arithmetic"
Load = Callable[..., WhisperModel]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a model of the text that it is given."""
    return lambda text, **options: WhisperModel(
        str(model_folder.build(tmp_path / "model", text=text, **options)), compute_type="int8", cpu_threads=1
    )


def noise(seconds: float) -> NDArray[np.float32]:
    return (np.random.default_rng(0).standard_normal(round(seconds * SAMPLE_RATE)) * 0.1).astype(np.float32)


class Spy:
    """A model with what its passes encoded, in frames of features, and the prefixes they were given."""

    def __init__(self, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.encoded: list[int] = []
        """Without the silent window that is encoded once."""
        self.prefixes: list[str | None] = []
        encode, get_prompt = model.encode, model.get_prompt

        def noting_encode(features: NDArray[np.float32]) -> Any:
            if features.shape[-1] < 3000 or features.max() > features.min():
                self.encoded.append(features.shape[-1])
            return encode(features)

        def noting_prompt(*args: Any, prefix: str | None, **options: Any) -> Any:
            self.prefixes.append(prefix)
            return get_prompt(*args, prefix=prefix, **options)

        monkeypatch.setattr(model, "encode", noting_encode)
        monkeypatch.setattr(model, "get_prompt", noting_prompt)


def passes(model: WhisperModel, context: Context, **options: Any) -> WhisperPasses:
    decoding = Decoding(context=context, **options)
    return WhisperPasses(model, name="scripted:whisper", language="en", decoding=decoding)


@pytest.mark.parametrize(
    ("seconds", "frames"), [(0.0, 600), (3.5, 600), (4.0, 650), (27.4, 2990), (27.5, 3000), (30.0, 3000)]
)
def test_auto_encodes_the_audio_and_a_margin(
    load: Load, monkeypatch: pytest.MonkeyPatch, seconds: float, frames: int
) -> None:
    model = load("Yes.")
    spy = Spy(model, monkeypatch)
    assert passes(model, "auto").transcribe(noise(seconds)) == "Yes."
    assert spy.encoded == [frames]


@pytest.mark.parametrize(("least", "frames"), [(1.0, 450), (5.0, 500), (10.0, 1000), (30.0, 3000)])
def test_auto_encodes_at_least_what_it_is_told(
    load: Load, monkeypatch: pytest.MonkeyPatch, least: float, frames: int
) -> None:
    model = load("Yes.")
    spy = Spy(model, monkeypatch)
    assert passes(model, "auto", least_context=least).transcribe(noise(2.0)) == "Yes."
    assert spy.encoded == [frames]


@pytest.mark.parametrize(
    ("seconds", "positions"), [(2.0, 300 + 200), (10.0, 625 + 200), (24.5, 1350 + 150), (30, 1500)]
)
def test_a_short_context_is_followed_by_the_silent_end_of_a_window(load: Load, seconds: float, positions: int) -> None:
    """Positions of 20 ms, never more than a window has; without the silence, real weights repeat themselves."""
    model = load("Yes.")
    silent_window = np.full((80, 3000), -1.5, np.float32)
    silence = np.array(model.encode(silent_window))[:, -200:]
    asked = Asked(model)
    assert passes(model, "auto").transcribe(noise(seconds)) == "Yes."
    (given,) = asked.encoded
    assert given.shape[1] == positions
    if positions < 1500:
        after = positions - (math.ceil(max(6.0, seconds + 2.5) * 100) + 1) // 2
        # int8 weights round differently in windows of different lengths.
        np.testing.assert_allclose(given[:, -after:], silence[:, :after], atol=0.05)
    asked.encoded.clear()
    assert passes(model, "full").transcribe(noise(seconds)) == "Yes."
    assert asked.encoded[0].shape[1] == 1500


class Asked:
    """What CTranslate2 is asked: what it decodes, beam sizes and temperatures, in order."""

    def __init__(self, model: WhisperModel) -> None:
        self.encoded: list[NDArray[np.float32]] = []
        self.beams: list[int] = []
        self.temperatures: list[float] = []
        self._genuine = model.model
        model.model = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._genuine, name)

    def generate(self, *args: Any, **options: Any) -> Any:
        self.encoded.append(np.array(args[0]))
        self.beams.append(options["beam_size"])
        self.temperatures.append(options.get("sampling_temperature", 0.0))
        return self._genuine.generate(*args, **options)


@pytest.mark.parametrize("beam_size", [1, 5])
def test_the_beam_is_as_wide_as_set(load: Load, beam_size: int) -> None:
    model = load("Yes.")
    asked = Asked(model)
    assert passes(model, "auto", beam_size=beam_size).transcribe(noise(2.0)) == "Yes."
    assert asked.beams == [beam_size]


def test_with_temperature_fallback_the_last_pass_draws_a_text_that_looks_wrong_again(load: Load) -> None:
    model = load("no " * 25)
    asked = Asked(model)
    passes(model, "auto").transcribe(noise(2.0))
    assert asked.temperatures == [0.0, 0.0]
    asked.temperatures.clear()
    hot = passes(model, "auto", temperature_fallback=True)
    hot.transcribe(noise(2.0))
    assert asked.temperatures == [0.0, *TEMPERATURES]
    asked.temperatures.clear()
    hot.listen(noise(2.0))
    assert asked.temperatures == [0.0]


@pytest.mark.parametrize(
    ("decoding", "shown"),
    [
        (Decoding(), "full"),
        (Decoding(context="auto", least_context=5.0), "auto of at least 5 s"),
        (Decoding(beam_size=5, temperature_fallback=True, threads=2), "full, beam 5, temperature fallback, 2 threads"),
    ],
)
def test_a_decoding_is_shown_by_what_differs_from_the_simplest(decoding: Decoding, shown: str) -> None:
    assert str(decoding) == shown


@pytest.mark.parametrize("seconds", [0.1, 4.0, 30.0])
def test_full_encodes_the_whole_window(load: Load, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    model = load("Yes.")
    spy = Spy(model, monkeypatch)
    assert passes(model, "full").transcribe(noise(seconds)) == "Yes."
    assert spy.encoded == [3000]


def test_a_long_utterance_is_decoded_window_by_window_without_a_prefix(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load("Yes.")
    spy = Spy(model, monkeypatch)
    assert passes(model, "auto").transcribe(noise(33.0), prefix="no") == "Yes. Yes."
    assert spy.encoded == [3000, 600]
    assert spy.prefixes == [None, None]


@pytest.mark.parametrize(
    "wrong",
    [" ".join(str(i) for i in range(460)), "no " * 25],
    ids=["more words than can be said", "a loop"],
)
def test_only_a_final_text_that_looks_wrong_is_decoded_again_with_the_whole_window(
    load: Load, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    model = load(wrong)
    spy = Spy(model, monkeypatch)
    auto = passes(model, "auto")
    assert auto.listen(noise(2.0)).is_broken
    assert spy.encoded == [600]
    auto.transcribe(noise(2.0))
    assert spy.encoded == [600, 600, 3000]
    spy.encoded.clear()
    passes(model, "full").transcribe(noise(2.0))
    assert spy.encoded == [3000]


def test_an_improbable_text_is_decoded_again_unless_it_is_silence(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load("Thank you for watching.", unsure=True)
    spy = Spy(model, monkeypatch)
    auto = passes(model, "auto")
    assert auto.transcribe(noise(2.0)) == ""
    assert auto.listen(noise(2.0)).text == ""
    assert auto.listen(noise(2.0), prefix="Thank").text == "Thank"
    assert spy.encoded == [600, 600, 600]
    genuine = model.generate_with_fallback

    def sure_of_speech(*args: Any) -> Any:
        result, *rest = genuine(*args)
        return SimpleNamespace(sequences_ids=result.sequences_ids, no_speech_prob=0.1), *rest

    monkeypatch.setattr(model, "generate_with_fallback", sure_of_speech)
    assert auto.transcribe(noise(2.0)) == "Thank you for watching."
    assert spy.encoded[3:] == [600, 3000]


@pytest.mark.parametrize(("no_speech", "heard"), [(0.7, "Thank you."), (0.9, "")])
def test_a_probable_text_is_dropped_only_where_there_is_surely_no_speech(
    load: Load, monkeypatch: pytest.MonkeyPatch, no_speech: float, heard: str
) -> None:
    model = load("Thank you.")
    genuine = model.generate_with_fallback

    def doubting(*args: Any) -> Any:
        result, *rest = genuine(*args)
        return SimpleNamespace(sequences_ids=result.sequences_ids, no_speech_prob=no_speech), *rest

    monkeypatch.setattr(model, "generate_with_fallback", doubting)
    assert passes(model, "auto").transcribe(noise(2.0)) == heard


def test_a_prefix_is_part_of_the_text_and_is_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedWhisperModel(str(build_for_fixtures(tmp_path, [SAMPLES], size="quick", misheard=0)))
    turn = load_fixtures([SAMPLES])[0].turns[0]
    audio, text = turn.samples.astype(np.float32) / 32768, turn.text
    spy = Spy(model, monkeypatch)
    auto = passes(model, "auto")
    beginning = " ".join(text.split()[:4])
    assert auto.transcribe(audio, prefix=beginning) == text
    assert auto.transcribe(audio, prefix=text) == text
    assert auto.listen(audio, prefix=text).text == text
    assert spy.prefixes == [beginning, text, text]


def test_text_that_looks_wrong_after_a_prefix_is_decoded_without_it(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load("no " * 25)
    spy = Spy(model, monkeypatch)
    passes(model, "full").transcribe(noise(2.0), prefix="no no")
    assert spy.prefixes == ["no no", None]
    assert spy.encoded == [3000, 3000]
