"""Fixtures: what loads, what is converted and told, and what is refused with which sentence."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voice.client.fixture import load_fixtures
from voice.errors import FixtureError

RATE = 16000


def clip(*parts: float, rate: int = RATE) -> np.ndarray:
    """Seconds of silence and of tone in turns, beginning with silence; over a whisper of noise."""
    pieces = []
    for index, seconds in enumerate(parts):
        times = np.arange(round(seconds * rate)) / rate
        pieces.append(0.3 * np.sin(2 * np.pi * 300 * times) if index % 2 else np.zeros(len(times)))
    samples = np.concatenate(pieces)
    return samples + np.random.default_rng(0).normal(0, 1e-4, len(samples))


def write(path: Path, samples: np.ndarray, rate: int = RATE, **how: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, **how)
    return path


SCENARIO = """
name: commands
user: {modality: audio}
scenarios:
- name: short
  turns:
  - user: what time is it
    audio: 01.wav
    expect:
    - event: response
      text_contains: it is
    - event: response
      text_contains: afternoon
  - user: mm-hm
    audio: 02.wav
    send_after: {event: bot_started_speaking, delay_ms: 800}
- name: interrupted
  turns:
  - user: count to ten
    audio: 01.wav
    expect: [{event: bot_started_speaking}]
  - user: stop
    audio: 01.wav
    send_after: {event: bot_started_speaking, delay_ms: 500}
    expect: [{event: response}]
  - user: and quickly
    audio: 01.wav
    send_after: {delay_ms: 1200}
    expect: [{event: response, absent: true}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fixture folder with two recordings, one a backchannel."""
    home = tmp_path / "commands"
    write(home / "01.wav", clip(0.2, 0.5, 0.4, 0.6, 0.3))
    (home / "01.txt").write_text("0.2\t0.7\tspeech\n1.1\t1.7\tspeech\n0\t2\tnoise\n")
    write(home / "02.wav", clip(0.1, 0.3, 0.1))
    (home / "02.txt").write_text("0.100000\t0.400000\tbackchannel\n")
    (home / "scenario.yaml").write_text(SCENARIO)
    return home


def test_a_scenario_gives_turns_with_truth_expectations_and_timing(folder):
    short, interrupted = load_fixtures([folder])
    assert (short.name, short.group) == ("commands/short", "commands")
    first, second = short.turns
    assert (first.name, first.text, first.truth) == ("01.wav", "what time is it", "labelled")
    assert first.speech == ((0.2, 0.7), (1.1, 1.7))
    assert first.labels == ((0.0, 2.0, "noise"),)
    assert (first.onset, first.end) == (0.2, 1.7)
    assert first.wants_answer
    assert first.contains == ("it is", "afternoon")
    assert first.sha256 == hashlib.sha256((folder / "01.wav").read_bytes()).hexdigest()
    assert second.backchannel
    assert not second.barge_in
    assert not second.wants_answer
    assert (second.onset, second.end) == (0.1, 0.4)
    story, stop, resumed = interrupted.turns
    assert story.wants_answer
    assert story.contains == ()
    assert stop.barge_in
    assert (stop.send_after.event, stop.send_after.delay) == ("bot_started_speaking", 0.5)
    assert (resumed.send_after.event, resumed.send_after.delay) == (None, 1.2)
    assert not resumed.wants_answer
    assert not resumed.barge_in


def test_16_bit_16_khz_mono_comes_through_bit_for_bit_and_untold(folder):
    short, _ = load_fixtures([folder / "scenario.yaml"])
    samples, _ = soundfile.read(folder / "01.wav", dtype="int16")
    assert np.array_equal(short.turns[0].samples, samples)
    assert short.notices == ()


def test_our_scenarios_mean_the_same_to_pipecat(folder):
    from pipecat.evals.scenario import EvalScenarioFile

    theirs = EvalScenarioFile.load(folder / "scenario.yaml")
    ours = load_fixtures([folder])
    assert [scenario.name for scenario in theirs] == [fixture.name for fixture in ours]
    for scenario, fixture in zip(theirs, ours, strict=True):
        for their, our in zip(scenario.turns, fixture.turns, strict=True):
            assert their.user == our.text
            assert their.audio == str(our.wav.resolve())
            assert (their.send_after is None) == (our.send_after is None)
            if our.send_after:
                assert (their.send_after.event, their.send_after.delay_ms / 1000) == (
                    our.send_after.event,
                    our.send_after.delay,
                )
            assert tuple(e.text_contains for e in their.expect if e.text_contains) == our.contains


def test_a_root_of_fixture_folders_and_a_folder_of_recordings_load(folder, tmp_path):
    renamed = tmp_path / "renamed"
    renamed.mkdir()
    for file in folder.iterdir():
        (renamed / file.name.replace("scenario", "all")).write_bytes(file.read_bytes())
    (renamed / "all.yaml").write_text(SCENARIO.replace("name: commands", "name: renamed"))
    (renamed / "included_part.yaml").write_text("modality: audio\n")
    write(tmp_path / "recordings" / "a.flac", clip(0.2, 1, 0.2))
    names = [fixture.name for fixture in load_fixtures([tmp_path])]
    assert names == ["commands/short", "commands/interrupted", "renamed/short", "renamed/interrupted"]
    assert [fixture.name for fixture in load_fixtures([tmp_path / "recordings"])] == ["a"]


def test_shared_blocks_can_be_included(folder):
    (folder / "user.yaml").write_text("modality: audio\n")
    (folder / "scenario.yaml").write_text(SCENARIO.replace("{modality: audio}", "!include user.yaml"))
    assert len(load_fixtures([folder])) == 2


def test_a_bare_recording_is_one_turn_that_wants_an_answer_with_measured_speech(tmp_path):
    path = write(tmp_path / "hello.wav", clip(0.5, 1.2, 0.8))
    (fixture,) = load_fixtures([str(path)])
    (turn,) = fixture.turns
    assert (fixture.name, turn.name, turn.truth) == ("hello", "hello.wav", "estimated")
    assert turn.wants_answer
    assert turn.contains == ()
    assert turn.speech == (pytest.approx((0.5, 1.7), abs=0.011),)
    assert fixture.notices == ()


def test_a_bare_recording_uses_the_labels_beside_it(tmp_path):
    path = write(tmp_path / "hello.wav", clip(0.5, 1.2, 0.8))
    (tmp_path / "hello.txt").write_text("0.512\t1.689\tspeech\n\\\t100\t200\n")
    turn = load_fixtures([path])[0].turns[0]
    assert (turn.speech, turn.truth) == (((0.512, 1.689),), "labelled")


def test_a_transcript_beside_a_recording_is_no_label_file_and_this_is_told(tmp_path):
    path = write(tmp_path / "hello.wav", clip(0.5, 1.2, 0.8))
    (tmp_path / "hello.txt").write_text("HELLO WORLD\n")
    (fixture,) = load_fixtures([path])
    assert fixture.turns[0].truth == "estimated"
    assert fixture.notices == (
        "hello.txt: no label file (start<TAB>end<TAB>label); the speech of hello.wav was measured",
    )


def test_several_utterances_in_a_bare_recording_are_one_turn_and_this_is_told(tmp_path):
    path = write(tmp_path / "talk.wav", clip(0.3, 1, 2.5, 1, 3.0, 1, 0.5))
    (fixture,) = load_fixtures([path])
    assert len(fixture.turns[0].speech) == 3
    assert "3 utterances more than 2 s apart" in fixture.notices[0]


@pytest.mark.parametrize(
    ("rate", "channels", "how", "told"),
    [
        (44100, 2, {}, "44.1 kHz stereo converted to 16 kHz mono"),
        (8000, 1, {}, "8 kHz mono converted to 16 kHz mono"),
        (48000, 1, {"subtype": "FLOAT"}, "48 kHz mono converted to 16 kHz mono"),
        (48000, 6, {}, "48 kHz 6 channels converted to 16 kHz mono"),
        (16000, 2, {}, "16 kHz stereo converted to 16 kHz mono"),
        (16000, 1, {"subtype": "PCM_24"}, None),
        (16000, 1, {"subtype": "ULAW"}, None),
    ],
)
def test_other_formats_are_converted_and_the_user_is_told(tmp_path, rate, channels, how, told):
    mono = clip(0.4, 1.0, 0.6, rate=rate)
    path = write(tmp_path / "x.wav", np.repeat(mono[:, None], channels, axis=1), rate, **how)
    (fixture,) = load_fixtures([path])
    turn = fixture.turns[0]
    assert turn.samples.dtype == np.int16
    assert turn.seconds == pytest.approx(2.0, abs=0.001)
    assert turn.speech == (pytest.approx((0.4, 1.4), abs=0.025),)
    assert 9000 < np.abs(turn.samples.astype(int)).max() < 11000
    assert fixture.notices == (() if told is None else (f"x.wav: {told}",))


@pytest.mark.parametrize("ending", ["flac", "ogg", "mp3", "aiff"])
def test_other_containers_load(tmp_path, ending):
    path = write(tmp_path / f"x.{ending}", clip(0.4, 1.0, 0.6))
    assert load_fixtures([path])[0].turns[0].seconds == pytest.approx(2.0, abs=0.15)


def scenario_with(turn: str) -> str:
    return f"name: s\nuser: {{modality: audio}}\nscenarios:\n- name: one\n  turns:\n  - {turn}\n"


TURN = "user: hi, audio: 01.wav"


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        ("name: [", "line 1: not valid YAML"),
        ("- a\n", "is a mapping with 'name:' and 'scenarios:'"),
        ("user: {modality: audio}\n", "'name:' is missing"),
        ("name: s\nscenarios: []\n", "list of at least one scenario"),
        ("name: s\nscenarios: [{turns: []}]\n", "scenario #0 needs a 'name:'"),
        ("name: s\nscenarios: [{name: a, persona: x}]\n", "has no recordings to replay"),
        ("name: s\nscenarios: [{name: a, user: {modality: audio}}]\n", "'turns:' must be a list"),
        ("name: s\nscenarios: [{name: a, turns: [{" + TURN + "}]}]\n", "only recorded turns can be replayed"),
        (scenario_with("{" + TURN + "}") + "- name: one\n  turns: [{" + TURN + "}]\n", "the same name: s/one"),
        (scenario_with("{user: hi}"), "turn #0: 'audio:' is missing"),
        (scenario_with("{audio: 01.wav}"), "'user:' must be the text"),
        (scenario_with("{dtmf: '1'}"), "presses keys"),
        (scenario_with("{" + TURN + ", send_afer: {delay_ms: 1}}"), "unknown key 'send_afer:'"),
        (scenario_with("{" + TURN + ", send_after: {event: llm_started}}"), "not for 'llm_started'"),
        (scenario_with("{" + TURN + ", send_after: {}}"), "needs an 'event:' or a positive"),
        (scenario_with("{" + TURN + ", send_after: {delay_ms: 0.5}}"), "whole number of milliseconds"),
        (scenario_with("{" + TURN + ", send_after: 5}"), "mapping of 'event:' and 'delay_ms:'"),
        (scenario_with("{" + TURN + ", expect: response}"), "list of mappings"),
        (scenario_with("{" + TURN + ", expect: [{event: response, text_contains: [a, b]}]}"), "must be one text"),
        (scenario_with("{user: hi, audio: nowhere.wav}"), "nowhere.wav: there is no such recording"),
        (scenario_with("{user: hi, audio: notes.wav}"), "notes.wav: not audio"),
        (scenario_with("{user: hi, audio: empty.wav}"), "empty.wav: the recording is empty"),
        (scenario_with("{user: hi, audio: silence.wav}"), "silence.wav: no speech was found"),
        (scenario_with("{user: hi, audio: hiss.wav}"), "hiss.wav: no speech was found"),
        (scenario_with("{user: hi, audio: nan.wav}"), "nan.wav: the recording holds samples that are not numbers"),
        (scenario_with("{user: hi, audio: 02.wav, expect: [{event: response}]}"), "its label file marks no speech"),
    ],
)
def test_a_bad_scenario_is_refused_with_one_sentence(folder, scenario, sentence):
    (folder / "notes.wav").write_text("not a recording")
    write(folder / "empty.wav", np.zeros(0))
    write(folder / "silence.wav", np.zeros(RATE))
    write(folder / "hiss.wav", np.random.default_rng(0).normal(0, 0.05, 2 * RATE))
    write(folder / "nan.wav", np.full(RATE, np.nan), subtype="FLOAT")
    (folder / "scenario.yaml").write_text(scenario)
    with pytest.raises(FixtureError) as refused:
        load_fixtures([folder])
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(str(folder))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("0.1\tspeech\n", "line 1: '0.1\\tspeech' is not start<TAB>end<TAB>label"),
        ("a\tb\tspeech\n", "is not start<TAB>end<TAB>label"),
        ("0.1\t0.5\tspeech\n0.6\t1.0\ttalk\n", "line 2: unknown label 'talk'"),
        ("0.5\t0.1\tspeech\n", "0.5 to 0.1 is no stretch"),
        ("-1\t0.1\tspeech\n", "-1 to 0.1 is no stretch"),
        ("0.1\t9.5\tspeech\n", "ends at 9.5 s, outside the recording of 2 s"),
        ("1.1\t1.7\tspeech\n0.2\t0.7\tspeech\n", "unsorted or overlap at 0.2 s"),
        ("0.1\t0.9\tspeech\n0.5\t1.2\tspeech\n", "unsorted or overlap at 0.5 s"),
    ],
)
def test_a_bad_label_file_is_refused_with_one_sentence(folder, labels, sentence):
    (folder / "01.txt").write_text(labels)
    with pytest.raises(FixtureError) as refused:
        load_fixtures([folder])
    assert sentence in str(refused.value)
    assert "01.txt" in str(refused.value)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FixtureError, match=r"nowhere: there is no such file or folder"):
        load_fixtures([tmp_path / "nowhere"])
    with pytest.raises(FixtureError, match=r"there is no scenario.yaml and no recording"):
        load_fixtures([tmp_path])
    with pytest.raises(FixtureError, match="No fixture was named"):
        load_fixtures([])


def test_two_fixtures_of_one_name_are_refused_because_their_recordings_would_overwrite_each_other(tmp_path):
    for place in ("a", "b"):
        write(tmp_path / place / "hello.wav", clip(0.2, 1, 0.2))
    with pytest.raises(FixtureError, match="both called hello"):
        load_fixtures([tmp_path / "a", tmp_path / "b"])


def test_expectations_that_only_pipecat_judges_are_told(folder):
    judged = SCENARIO.replace("text_contains: afternoon", "eval: tells the time")
    (folder / "scenario.yaml").write_text(judged)
    short, interrupted = load_fixtures([folder])
    assert len(short.notices) == 1
    assert "'eval:' is judged by pipecat eval" in short.notices[0]
    assert interrupted.notices == ()
