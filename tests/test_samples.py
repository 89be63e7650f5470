import hashlib
import json
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from loguru import logger
from pipecat.evals.scenario import EvalScenarioFile
from pipecat.evals.script import EvalScriptScenario, EvalScriptTurn

from tests import make_samples

SAMPLES = Path(__file__).parents[1] / "samples"
FOLDERS = sorted(path.parent for path in SAMPLES.glob("*/scenario.yaml"))
RECORDINGS = sorted(SAMPLES.glob("*/*.wav"))
NOISY = {"noise_20db": 20.0, "noise_10db": 10.0}
ANSWER = "llm_response"
"""What pipecat calls the event `response` once a scenario without an audio judge is loaded."""

Label = tuple[float, float, str]


@pytest.fixture(scope="module")
def program() -> ModuleType:
    return make_samples


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What pipecat logs as a warning or worse."""
    logged: list[str] = []
    sink = logger.add(logged.append, level="WARNING", format="{message}")
    yield logged
    logger.remove(sink)


def load(folder: Path) -> EvalScriptScenario:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [scenario] = EvalScenarioFile.load(folder / "scenario.yaml")
    assert isinstance(scenario, EvalScriptScenario)
    return scenario


def turns() -> list[tuple[str, EvalScriptTurn]]:
    return [(folder.name, turn) for folder in FOLDERS for turn in load(folder).turns]


def answers(turn: EvalScriptTurn) -> list[str | None]:
    return [one.text_contains for one in turn.expect if one.event == ANSWER]


def labels(recording: Path) -> list[Label]:
    lines = recording.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    return [(float(start), float(end), label) for start, end, label in (line.split("\t") for line in lines)]


def voiced(recording: Path) -> list[Label]:
    return [one for one in labels(recording) if one[2] != "noise"]


def read(recording: Path) -> npt.NDArray[np.float64]:
    samples: npt.NDArray[np.int16] = soundfile.read(recording, dtype="int16")[0]
    return samples.astype(np.float64)


def outside(recording: Path, length: int) -> npt.NDArray[np.bool_]:
    """Which samples are not covered by a label of a voice."""
    free = np.ones(length, bool)
    for start, end, _ in voiced(recording):
        free[round(start * 16000) : round(end * 16000)] = False
    return free


def name(path: Path) -> str:
    return path.relative_to(SAMPLES).as_posix()


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_scenario_loads_in_pipecat_without_a_warning(folder: Path, complaints: list[str]) -> None:
    scenario = load(folder)
    assert scenario.name == f"{folder.name}/call"
    assert scenario.user_audio
    assert complaints == []


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_scenario_uses_every_file_of_its_folder(folder: Path) -> None:
    used = {Path(str(turn.audio)) for turn in load(folder).turns}
    assert {path.resolve() for path in folder.glob("*.wav")} == used
    assert {path.resolve() for path in folder.glob("*.txt")} == {path.with_suffix(".txt") for path in used}


def test_there_are_enough_conversations_and_they_stay_small() -> None:
    assert len(FOLDERS) >= 8
    assert len(turns()) >= 34
    assert sum(path.stat().st_size for folder in FOLDERS for path in folder.iterdir()) < 8_000_000


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_recording_is_16_khz_mono_s16_with_its_peak_at_minus_3_dbfs(recording: Path) -> None:
    about = soundfile.info(recording)
    assert (about.samplerate, about.channels, about.subtype, about.format) == (16000, 1, "PCM_16", "WAV")
    peak = -3 - make_samples.FAR_DB if labels(recording)[0][2] == "far" else -3
    assert 20 * np.log10(np.abs(read(recording)).max() / 32767) == pytest.approx(peak, abs=0.1)


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_labels_are_in_order_with_room_before_and_after(recording: Path) -> None:
    length = len(read(recording)) / 16000
    stretches = voiced(recording)
    assert {label for _, _, label in labels(recording)} <= {"speech", "noise", *make_samples.NO_TURNS}
    assert all(0 <= start < end <= length for start, end, _ in labels(recording))
    assert all(before[1] < after[0] for before, after in zip(stretches, stretches[1:], strict=False))
    assert 0.2 <= stretches[0][0] <= 0.4
    assert length - stretches[-1][1] == pytest.approx(0.3, abs=1e-4)


@pytest.mark.parametrize("recording", [path for path in RECORDINGS if path.parent.name not in NOISY], ids=name)
def test_sound_reaches_the_edges_of_its_label_and_all_else_is_digital_silence(recording: Path) -> None:
    samples = read(recording)
    assert not samples[outside(recording, len(samples))].any()
    for start, end, _ in voiced(recording):
        stretch = samples[round(start * 16000) : round(end * 16000)]
        for edge in (stretch[:80], stretch[-80:]):
            faint = make_samples.FAR_DB if labels(recording)[0][2] == "far" else 0
            assert 20 * np.log10(np.sqrt((edge**2).mean()) / 32767) > -50 - faint


@pytest.mark.parametrize(("conversation", "stated"), NOISY.items())
def test_noise_has_the_stated_level_and_the_speech_under_it_is_where_the_labels_are(
    program: ModuleType, conversation: str, stated: float
) -> None:
    [made] = [one for one in program.read_conversations() if one.name == conversation]
    for number in range(1, len(made.turns) + 1):
        recording = SAMPLES / conversation / f"{number:02d}.wav"
        mixed = read(recording)
        start, end, label = labels(recording)[0]
        assert (start, label) == (0.0, "noise")
        assert end == pytest.approx(len(mixed) / 16000)
        seed = program.noise_seed(conversation, number)
        noise = program.pink_noise(len(mixed), seed=seed, murmur=made.noise == "murmur")
        free = outside(recording, len(mixed))
        noise *= (mixed[free] @ noise[free]) / (noise[free] @ noise[free])
        speech = mixed - noise
        # Only rounding errors remain.
        assert np.abs(speech[free]).max() < 2
        snr = 10 * np.log10((speech[~free] ** 2).mean() / (noise**2).mean())
        assert snr == pytest.approx(stated, abs=1)


def test_the_generated_noise_is_pink(program: ModuleType) -> None:
    noise = program.pink_noise(1 << 18, seed=1, murmur=False)
    power = np.abs(np.fft.rfft(noise)) ** 2
    hertz = np.fft.rfftfreq(len(noise), 1 / 16000)
    octaves = [power[(hertz >= low) & (hertz < 2 * low)].sum() for low in (125, 250, 500, 1000, 2000)]
    assert max(octaves) < 2 * min(octaves)


def test_every_expected_answer_says_what_a_right_one_contains() -> None:
    for folder, turn in turns():
        assert all(answers(turn)), f"{folder}: {turn.user}"
        recording = Path(str(turn.audio))
        kinds = {label for _, _, label in voiced(recording)}
        # Speech expects an answer; other sounds do not.
        assert kinds == {"speech"} if answers(turn) else len(kinds) == 1 and kinds <= {*make_samples.NO_TURNS}


def test_pauses_inside_a_sentence_last_600_to_1200_ms() -> None:
    pauses = [
        after[0] - before[1]
        for recording in RECORDINGS
        for before, after in zip(voiced(recording), voiced(recording)[1:], strict=False)
    ]
    assert len(pauses) >= 8
    assert min(pauses) == pytest.approx(0.1, abs=0.005), "between the words of a backchannel"
    assert sorted(pauses)[1] == pytest.approx(0.6, abs=0.005)
    assert max(pauses) == pytest.approx(1.2, abs=0.005)


def test_callers_interrupt_hum_and_ask_a_question_that_needs_a_language_model() -> None:
    over_the_bot = [turn for _, turn in turns() if turn.send_after and turn.send_after.event == "bot_started_speaking"]
    assert sum(bool(answers(turn)) for turn in over_the_bot) >= 3
    assert sum(not answers(turn) for turn in over_the_bot) >= 2
    assert any("language model" in answers(turn) for _, turn in turns())


def test_long_sentences_are_long() -> None:
    recordings = [path for path in RECORDINGS if path.parent.name == "long_sentences"]
    spoken = [sum(end - start for start, end, _ in voiced(recording)) for recording in recordings]
    assert sum(seconds > 3 for seconds in spoken) >= 3


def test_two_callers_have_two_voices_and_all_four_occur(program: ModuleType) -> None:
    voices = {one.name: {turn.voice for turn in one.turns} for one in program.read_conversations()}
    assert voices["two_callers"] == {"rms", "slt"}
    assert set().union(*voices.values()) == set(program.VOICES)


def test_the_tour_has_a_pause_an_interruption_and_a_fact_to_remember() -> None:
    names = (SAMPLES / "tour.txt").read_text(encoding="utf-8").split()
    assert {SAMPLES / one for one in names} <= set(FOLDERS)
    tour = [turn for folder, turn in turns() if folder in names]
    assert any(len(voiced(Path(str(turn.audio)))) > 1 for turn in tour)
    assert any(turn.send_after for turn in tour)
    assert any("remember" in str(turn.user) for turn in tour)


def test_scenarios_are_as_the_program_writes_them(program: ModuleType) -> None:
    conversations = program.read_conversations()
    assert {one.name for one in conversations} == {folder.name for folder in FOLDERS}
    for one in conversations:
        assert (SAMPLES / one.name / "scenario.yaml").read_text(encoding="utf-8") == program.scenario(one)


def test_checksums_fit_the_files(program: ModuleType) -> None:
    lines = (SAMPLES / program.CHECKSUMS).read_text(encoding="utf-8").splitlines()
    recorded = {file: digest for digest, file in (line.split("  ") for line in lines if not line.startswith("#"))}
    files = [path for path in SAMPLES.rglob("*") if path.is_file() and path.parent != SAMPLES]
    assert recorded == {name(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_making_the_samples_again_gives_the_same_bytes(program: ModuleType, tmp_path: Path) -> None:
    if shutil.which("flite") is None:
        pytest.skip("flite is not installed: apt-get install flite")
    if program.flite_fingerprint() not in (SAMPLES / program.CHECKSUMS).read_text(encoding="utf-8"):
        pytest.skip("this build of flite gives other samples than the build that made the recordings")
    remade = ["pauses", "backchannel", "overlaps", *NOISY]
    assert program.main(["--out", str(tmp_path), "--only", *remade]) == 0
    made = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.glob("*/*")}
    assert made == {name(path): path.read_bytes() for one in remade for path in (SAMPLES / one).iterdir()}


def test_texts_with_quotes_are_unchanged_in_the_scenario(program: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "conversations.yaml"
    text = 'say "hello: # there"'
    entry = {"about": "A.", "voice": "rms", "turns": [{"say": text, "contains": "hello"}]}
    source.write_text(json.dumps({"quotes": entry}), encoding="utf-8")
    [conversation] = program.read_conversations(source)
    (tmp_path / "scenario.yaml").write_text(program.scenario(conversation), encoding="utf-8")
    assert load(tmp_path).turns[0].user == text
