"""The dialogue of `voice record` with a scripted card, and the fixture that it writes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from latency.audio.recording import RATE
from pipelines.cli import main
from pipelines.recording import PROMPTS
from pipelines.recording.record import MARGIN, Dialogue, RecordedFixture, read_prompts, take_of
from voice.client.fixtures.fixture import load_fixtures
from voice.client.sound.pcm import Pcm
from voice.errors import ConfigurationError, FixtureError

SPEECH = load_fixtures([Path("samples/people/requests")])[0].turns[0]


def sound(*, before: float = 1.0, level: float = 1.0) -> Pcm:
    """A person's request, with faint noise before and after."""
    chance = np.random.default_rng(1)
    around = (chance.standard_normal(round(before * RATE)) * 3).astype(np.int16)
    spoken = SPEECH.samples[round(SPEECH.onset * RATE) : round(SPEECH.end * RATE)]
    return np.concatenate([around, (spoken * level).astype(np.int16), around])


class ScriptedMicrophone:
    """Hears one sound after the other."""

    def __init__(self, *sounds: Pcm) -> None:
        self._sounds = iter(sounds)
        self.played: list[Pcm] = []
        self.dropouts = 0

    def start(self) -> None:
        pass

    def stop(self) -> Pcm:
        return next(self._sounds)

    def play(self, samples: Pcm) -> None:
        self.played.append(samples)


def talk(folder: Path, prompts: Sequence[str], microphone: ScriptedMicrophone, *typed: str) -> list[str]:
    """Hold the dialogue with these lines; what it showed and asked."""
    lines: Iterator[str] = iter(typed)
    seen: list[str] = []

    def ask(text: str) -> str:
        seen.append(text)
        if (line := next(lines, None)) is None:
            raise EOFError
        return line

    Dialogue(microphone, RecordedFixture(folder, None), ask=ask, show=seen.append).run(prompts)
    return seen


def test_a_kept_recording_is_a_fixture_with_its_measured_speech(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    talk(folder, ['How "old" is it?'], ScriptedMicrophone(sound()), "", "", "")
    (fixture,) = load_fixtures([folder])
    (turn,) = fixture.turns
    assert (turn.text, turn.speaker, turn.truth, turn.wants_answer) == ('How "old" is it?', "ada", "estimated", True)
    assert turn.speech[0][0] == pytest.approx(MARGIN, abs=0.05)
    assert turn.end - turn.onset == pytest.approx(SPEECH.end - SPEECH.onset, abs=0.15)


def test_checked_labels_are_kept_as_they_are_typed(tmp_path: Path) -> None:
    seen = talk(tmp_path / "ada", ["a"], ScriptedMicrophone(sound()), "", "", "0.5", "0.4 90", "0.4 0.9 1.2 1.5", "")
    (turn,) = load_fixtures([tmp_path / "ada"])[0].turns
    assert turn.speech == ((0.4, 0.9), (1.2, 1.5))
    assert turn.truth == "labelled"
    assert any("Give a start and an end" in line for line in seen)
    assert any("outside the recording" in line for line in seen)


def test_a_recording_can_be_played_and_made_again(tmp_path: Path) -> None:
    microphone = ScriptedMicrophone(sound(), sound(before=2.0))
    talk(tmp_path / "ada", ["a"], microphone, "", "", "p", "r", "", "", "")
    assert len(microphone.played) == 1
    assert len(load_fixtures([tmp_path / "ada"])[0].turns) == 1


def test_a_silent_and_a_clipped_recording_are_made_again(tmp_path: Path) -> None:
    quiet, loud = np.zeros(RATE, np.int16), np.clip(sound().astype(np.int32) * 30, -32768, 32767).astype(np.int16)
    seen = talk(tmp_path / "ada", ["a"], ScriptedMicrophone(quiet, loud, sound()), "", "", "", "", "", "", "")
    assert any("No speech was heard" in line for line in seen)
    assert any("is clipped" in line for line in seen)
    assert len(load_fixtures([tmp_path / "ada"])[0].turns) == 1


def test_nothing_that_was_kept_is_lost_and_the_next_call_goes_on(tmp_path: Path) -> None:
    talk(tmp_path / "ada", ["a", "b", "c"], ScriptedMicrophone(sound(), sound()), "", "", "", "")
    assert [turn.text for turn in load_fixtures([tmp_path / "ada"])[0].turns] == ["a"], "the input ended at b"
    seen = talk(tmp_path / "ada", ["a", "b", "c"], ScriptedMicrophone(sound()), "s", "", "", "")
    assert "1 of 2  b" in seen[0]
    assert [turn.text for turn in load_fixtures([tmp_path / "ada"])[0].turns] == ["a", "c"]


def test_nothing_is_recorded_after_q(tmp_path: Path) -> None:
    talk(tmp_path / "ada", ["a", "b"], ScriptedMicrophone(), "q")
    assert not list((tmp_path / "ada").iterdir())


def test_edits_of_the_scenario_and_recordings_without_a_turn_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    talk(folder, ["a", "b"], ScriptedMicrophone(sound(), sound()), "", "", "", "", "", "")
    scenario = folder / "scenario.yaml"
    text = scenario.read_text(encoding="utf-8")
    first, second = text.index('      - user: "a"'), text.index('      - user: "b"')
    scenario.write_text(text[:first] + "      # Mine.\n" + text[second:] + '            text_contains: "yes"\n')
    before = (folder / "01.wav").read_bytes(), (folder / "02.wav").read_bytes()
    talk(folder, ["b", "c"], ScriptedMicrophone(sound(before=2.0)), "", "", "")
    assert ((folder / "01.wav").read_bytes(), (folder / "02.wav").read_bytes()) == before
    (fixture,) = load_fixtures([folder])
    assert [(turn.text, turn.wav.name) for turn in fixture.turns] == [("b", "02.wav"), ("c", "03.wav")]
    assert fixture.turns[0].contains == ("yes",)
    assert "# Mine." in scenario.read_text(encoding="utf-8")


def test_an_edit_that_lets_nothing_be_added_loses_no_recording(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    talk(folder, ["a"], ScriptedMicrophone(sound()), "", "", "")
    with (folder / "scenario.yaml").open("a") as file:
        file.write("notes: mine\n")
    with pytest.raises(FixtureError, match=r"No turn can be added to .* \(02.wav is kept\)"):
        talk(folder, ["b"], ScriptedMicrophone(sound()), "", "", "")
    assert (folder / "02.wav").exists()
    assert "notes: mine" in (folder / "scenario.yaml").read_text()


def test_a_recording_from_before_an_interruption_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "01.wav").write_bytes(b"before")
    talk(tmp_path, ["a"], ScriptedMicrophone(sound()), "", "", "")
    assert (tmp_path / "01.wav").read_bytes() == b"before"
    assert load_fixtures([tmp_path])[0].turns[0].wav.name == "02.wav"


def test_a_scenario_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_bytes(b"# \xff\xfe\xfa")
    with pytest.raises(FixtureError, match="scenario.yaml"):
        RecordedFixture(tmp_path, None)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FixtureError, match="was not made by voice record"):
        RecordedFixture(tmp_path, None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n\n", "holds no prompts"),
        ("a\nb\na\n", 'the prompt "a" twice'),
        ("a\x7fb", "with control characters"),
        (None, r"cannot be read \(No such file or directory\)"),
    ],
)
def test_unusable_prompts_are_refused(tmp_path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "prompts.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=sentence):
        read_prompts(tmp_path / "prompts.txt")


def test_the_shipped_prompts_can_be_read() -> None:
    assert len(read_prompts(PROMPTS)) == 10


def test_a_recording_without_the_keys_alone_is_refused() -> None:
    with pytest.raises(FixtureError, match="No speech"):
        take_of(np.zeros(100, np.int16))


def test_without_a_microphone_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipelines.talking.talk.list_devices", list)
    assert main(["record", str(tmp_path / "ada")]) == 4
    assert "no microphone" in capsys.readouterr().err
