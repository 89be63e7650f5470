"""Fixtures: recorded conversations with their truth, loaded from scenario files, folders or bare recordings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from latency.onset import estimated_speech
from voice.client.audio_file import AudioFile, read_audio
from voice.client.labels import Label, is_label_file, parse_labels
from voice.client.pcm import RATE, Pcm
from voice.client.scenario import Scenario, ScenarioTurn, SendAfter, read_scenarios
from voice.errors import FixtureError

SCENARIO = "scenario.yaml"
_YAML = (".yaml", ".yml")
_AUDIO = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".aif", ".aiff", ".au")

LONG_SILENCE = 2.0
"""Seconds; a bare recording with a longer silence probably holds several turns."""

Stretch = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixtureTurn:
    """One recording of the user and what should come back; times are seconds from the recording's start."""

    name: str
    """The recording as the scenario names it: `01.wav`."""
    wav: Path
    text: str
    """What the recording says; empty when unknown."""
    samples: Pcm
    """16 kHz mono."""
    speech: tuple[Stretch, ...]
    """True speech, in order; several stretches are pauses inside the turn. Empty for a backchannel or noise."""
    labels: tuple[Label, ...]
    """The other labels: backchannel, noise, echo."""
    send_after: SendAfter | None
    wants_answer: bool
    contains: tuple[str, ...]
    truth: str
    """`labelled`, or `estimated` when `speech` was measured."""
    sha256: str

    @property
    def barge_in(self) -> bool:
        """Whether the turn is meant to interrupt the bot."""
        return bool(self.speech) and self.send_after is not None and self.send_after.event == "bot_started_speaking"

    @property
    def backchannel(self) -> bool:
        """Whether the turn is an "mm-hm" that must not interrupt."""
        return not self.speech and any(label == "backchannel" for _, _, label in self.labels)

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return len(self.samples) / RATE

    @property
    def onset(self) -> float:
        """Where the user's sound begins: speech, else the first label, else the recording."""
        return self.speech[0][0] if self.speech else self.labels[0][0] if self.labels else 0.0

    @property
    def end(self) -> float:
        """Where it ends."""
        return self.speech[-1][1] if self.speech else max((end for _, end, _ in self.labels), default=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fixture:
    """One conversation to replay."""

    name: str
    """`<file's name>/<scenario's name>`; a bare recording's file name without its ending."""
    source: Path
    """The scenario file or the recording."""
    group: str
    """The scenario file's name; empty for a bare recording."""
    turns: tuple[FixtureTurn, ...]
    notices: tuple[str, ...]
    """Sentences the user should see: what was converted, measured or is not judged."""


def load_fixtures(paths: Iterable[Path | str]) -> list[Fixture]:
    """Load everything the paths name, in order.

    Args:
        paths: each a scenario file, a recording, a folder with scenario files, a folder of such folders, or a folder
            of recordings.

    Raises:
        FixtureError: something cannot be used, or two fixtures would have the same name.
    """
    fixtures = [fixture for path in paths for source in _sources(Path(path)) for fixture in _load(source)]
    if not fixtures:
        raise FixtureError("No fixture was named; give a folder with a scenario.yaml, a scenario file or a recording.")
    seen: dict[str, Fixture] = {}
    for fixture in fixtures:
        if (other := seen.setdefault(fixture.name, fixture)) is not fixture:
            if fixture.source.samefile(other.source):
                raise FixtureError(f"{fixture.source} is named twice; use --repeat N to replay it several times.")
            raise FixtureError(f"{fixture.source} and {other.source} are both called {fixture.name}; rename one.")
    return fixtures


def _sources(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise FixtureError(f"{path}: there is no such file or folder.")
    if not path.is_dir():
        yield path
        return
    own = _scenario_files(path)
    below = [file for folder in sorted(path.iterdir()) if folder.is_dir() for file in _scenario_files(folder)]
    bare = [file for file in sorted(path.iterdir()) if file.suffix.lower() in _AUDIO]
    if not (found := own or below or bare):
        raise FixtureError(f"{path}: there is no {SCENARIO} and no recording in this folder or in the ones below it.")
    yield from found


def _scenario_files(folder: Path) -> list[Path]:
    if (folder / SCENARIO).exists():
        return [folder / SCENARIO]
    # A file without a name is a fragment that scenarios include: pipecat's rule.
    return [file for file in sorted(folder.iterdir()) if file.suffix.lower() in _YAML and _has_name(file)]


def _has_name(file: Path) -> bool:
    return any(line.startswith("name:") for line in file.read_text(encoding="utf-8", errors="replace").splitlines())


def _load(source: Path) -> list[Fixture]:
    if source.suffix.lower() not in _YAML:
        return [_bare(source)]
    group, scenarios = read_scenarios(source)
    return [_fixture(scenario, source, group) for scenario in scenarios]


def _fixture(scenario: Scenario, source: Path, group: str) -> Fixture:
    notices = list(scenario.notices)
    turns = tuple(_turn(turn, source.parent / turn.audio, notices) for turn in scenario.turns)
    unique = tuple(dict.fromkeys(notices))
    return Fixture(name=scenario.name, source=source, group=group, turns=turns, notices=unique)


def _bare(path: Path) -> Fixture:
    notices: list[str] = []
    wanted = ScenarioTurn(text="", audio=path.name, send_after=None, wants_answer=True, contains=())
    turn = _turn(wanted, path, notices)
    silences = [after[0] - before[1] for before, after in zip(turn.speech, turn.speech[1:], strict=False)]
    if count := sum(silence > LONG_SILENCE for silence in silences):
        notices.append(
            f"{path.name}: {count + 1} utterances more than {LONG_SILENCE:g} s apart are played as one turn; "
            f"cut the recording and write a {SCENARIO} to time each answer"
        )
    return Fixture(name=path.stem, source=path, group="", turns=(turn,), notices=tuple(notices))


def _turn(turn: ScenarioTurn, wav: Path, notices: list[str]) -> FixtureTurn:
    audio = read_audio(wav)
    if audio.notice:
        notices.append(audio.notice)
    labels, truth = _truth(wav, audio, notices)
    speech = tuple((start, end) for start, end, label in labels if label == "speech")
    others = tuple(label for label in labels if label[2] != "speech")
    # A bare recording has no text and makes no promise: without speech in it, it wants no answer.
    if turn.wants_answer and not speech and turn.text:
        raise FixtureError(f"{wav}: the turn expects an answer, but its label file marks no speech.")
    return FixtureTurn(
        name=turn.audio,
        wav=wav,
        text=turn.text,
        samples=audio.samples,
        speech=speech,
        labels=others,
        send_after=turn.send_after,
        wants_answer=turn.wants_answer and bool(speech),
        contains=turn.contains,
        truth=truth,
        sha256=audio.sha256,
    )


def _truth(wav: Path, audio: AudioFile, notices: list[str]) -> tuple[tuple[Label, ...], str]:
    """The labels beside the recording, or where its energy says the speech is."""
    file = wav.with_suffix(".txt")
    if file.is_file():
        text = file.read_text(encoding="utf-8", errors="replace")
        if is_label_file(text):
            return parse_labels(text, source=str(file), duration=len(audio.samples) / RATE), "labelled"
        notices.append(f"{file.name}: no label file (start<TAB>end<TAB>label); the speech of {wav.name} was measured")
    stretches = estimated_speech(audio.samples, RATE)
    if not stretches:
        raise FixtureError(f"{wav}: no speech was found in it; label it in {file.name} if there is some.")
    return tuple((start, end, "speech") for start, end in stretches), "estimated"
