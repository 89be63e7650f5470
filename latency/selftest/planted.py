"""Synthetic calls with known figures, which the self-test hides.

Each call is one session of a run: a few turns of a user, each answered after a gap drawn at random.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from latency.audio.onset import estimated_speech
from latency.audio.recording import RATE
from latency.record.turn import TurnRecord
from latency.selftest import synthetic
from latency.selftest.synthetic import Random, Signal

TURNS = 3
GAP = (0.16, 1.9)
"""Seconds that the bot takes, drawn uniformly, so that gaps are not whole frames."""
USER_DB, BOT_DB, QUIET_DB = -20.0, -18.0, -50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenFigure:
    """One figure that is hidden in a turn."""

    turn: int
    figure: str
    """The field of an `Outcome` that must show it, or "gap": the length of a drop-out."""
    seconds: float


@dataclass(slots=True, kw_only=True)
class Call:
    """A recording under construction, and its known figures."""

    name: str
    random: Random
    stereo: Signal = field(default_factory=lambda: np.zeros((0, 2)))
    turns: list[TurnRecord] = field(default_factory=list)
    hidden: list[HiddenFigure] = field(default_factory=list)
    flushes: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Its length so far."""
        return len(self.stereo) / RATE

    @property
    def samples(self) -> npt.NDArray[np.int16]:
        """The recording in the format of a run."""
        return np.round(self.stereo * 32767).clip(-32768, 32767).astype(np.int16)

    def put(self, channel: int, at: float, sound: Signal) -> float:
        """Add a sound to a channel and return when it ends, seconds; the recording grows as needed."""
        first = round(at * RATE)
        if missing := max(0, first + len(sound) - len(self.stereo)):
            self.stereo = np.concatenate([self.stereo, np.zeros((missing, 2))])
        self.stereo[first : first + len(sound), channel] += sound
        return (first + len(sound)) / RATE

    def hide(self, turn: int, figure: str, seconds: float) -> None:
        """Remember a figure that must be found."""
        self.hidden.append(HiddenFigure(turn=turn, figure=figure, seconds=seconds))

    def user_turn(self, start: float, end: float, **values: Any) -> int:
        """Record a turn whose speech is labelled; returns its number."""
        number = len(self.turns)
        turn = {"session": self.name, "turn": number, "speech": [[start, end]], "wants_answer": True, **values}
        self.turns.append(TurnRecord.from_json(turn))
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The sound of a call; levels in dBFS."""

    rate: int = RATE
    """Sample rate of both voices, Hz, before they are resampled to the run's rate."""
    user: float = USER_DB
    bot: float = BOT_DB
    noise: float | None = None
    """Pink noise under the user."""
    music: float | None = None
    """Music under the user."""
    comfort: float | None = None
    """White noise on the bot's channel during the whole call."""
    before: Callable[[Call, float], None] | None = None
    """Adds a sound that is not speech before an answer; takes the call and the answer's start, seconds."""
    labelled: bool = True
    """If False, the user's speech is estimated as for a recording without labels."""


def calls(seed: int) -> Iterator[Call]:
    """All planted calls; the same seed gives the same ones."""
    for number, (name, line) in enumerate(LINES.items()):
        yield _plain(Call(name=name, random=np.random.default_rng((seed, number))), line)
    for number, plant in enumerate((_hold_phrase, _cut_off, _barge_in, _drop_out)):
        name = plant.__name__[1:].replace("_", " ")
        yield plant(Call(name=name, random=np.random.default_rng((seed, len(LINES) + number))))


def _plain(call: Call, line: Line) -> Call:
    at = 0.7
    for _ in range(TURNS):
        end = call.put(0, at, _voice(call, call.random.uniform(1.0, 2.2), line.rate, line.user, pitch=190))
        gap = call.random.uniform(*GAP)
        turn = call.user_turn(at, end)
        call.hide(turn, "latency", round((end + gap) * RATE) / RATE - end)
        if line.before:
            line.before(call, end + gap)
        at = call.put(1, end + gap, _voice(call, call.random.uniform(1.0, 2.0), line.rate, line.bot, pitch=110)) + 1.0
    call.put(0, at - 0.2, np.zeros(round(0.5 * RATE)))
    pink = partial(synthetic.noise, pink=True)
    for channel, level, make in (
        (0, line.noise, pink),
        (0, line.music, synthetic.music),
        (1, line.comfort, synthetic.noise),
    ):
        if level is not None:
            call.stereo[:, channel] += make(call.seconds, RATE, call.random, level=level)
    if not line.labelled:
        _estimate(call)
    return call


def _estimate(call: Call) -> None:
    """Replace labels by estimated speech: each turn gets the stretches that overlap its true speech."""
    found = estimated_speech(call.samples[:, 0], RATE)
    for number, turn in enumerate(call.turns):
        first, last = turn.speech[0][0], turn.speech[-1][1]
        speech = [list(one) for one in found if one.start < last and one.end > first]
        estimate = {**turn.to_json(), "speech": speech, "truth": "estimated", "wants_answer": bool(speech)}
        call.turns[number] = TurnRecord.from_json(estimate)


def _voice(call: Call, seconds: float, rate: int, level: float, *, pitch: float) -> Signal:
    sound = synthetic.voice(seconds, rate, call.random, pitch=pitch, level=level)
    return sound if rate == RATE else synthetic.resampled(sound, rate, RATE)


def _click(call: Call, onset: float) -> None:
    call.put(1, onset - 0.12, synthetic.click(RATE))


def _breath(call: Call, onset: float) -> None:
    call.put(1, onset - 0.13 - 0.25, synthetic.breath(0.25, RATE, call.random, level=-32))


def _leading_silence(call: Call, onset: float) -> None:
    """Noise that a synthesiser sends before the first sound: not digital silence, but inaudible."""
    call.put(1, onset - 0.15, synthetic.noise(0.15, RATE, call.random, level=-58))


def _hold_phrase(call: Call) -> Call:
    """The first audio is a hold phrase; the answer follows after a pause, or almost at once."""
    at = 0.7
    for pause in (0.9, 0.11, call.random.uniform(0.12, 0.28)):
        end = call.put(0, at, _voice(call, 1.4, RATE, USER_DB, pitch=190))
        begun = end + call.random.uniform(0.3, 0.6)
        over = call.put(1, begun, _voice(call, 0.7, RATE, BOT_DB, pitch=110)) + 0.1
        answer = over - 0.1 + pause
        last = call.put(1, answer, _voice(call, 1.5, RATE, BOT_DB, pitch=110))
        said = {"at": begun - 0.05, "kind": "hold", "text": "One moment."}
        report = {
            "turn": len(call.turns),
            "marks": {"turn_commit": end + 0.2, "llm_first_clause": answer - 0.1},
            "opening": "One moment.",
            "opening_seconds": over - begun,
            "attempts": [{"tier": "large", "outcome": "spoken", "response": 0}],
            "responses": [{"response": 0, "commit": end + 0.2, "said": [said]}],
        }
        values = {"server_turns": [report], "attempts": report["attempts"], "responses": report["responses"]}
        turn = call.user_turn(at, end, **values, heard="hello")
        call.hide(turn, "latency", round(begun * RATE) / RATE - end)
        call.hide(turn, "answer", round(answer * RATE) / RATE - end)
        at = last + 1.0
    return call


def _cut_off(call: Call) -> Call:
    """The bot begins while the user speaks, stops, and answers afterwards."""
    end = call.put(0, 0.7, _voice(call, 3.0, RATE, USER_DB, pitch=190))
    over = call.put(1, 1.9, _voice(call, 0.6, RATE, BOT_DB, pitch=110))
    gap = call.random.uniform(*GAP)
    call.put(1, end + gap, _voice(call, 1.5, RATE, BOT_DB, pitch=110))
    turn = call.user_turn(0.7, end)
    call.hide(turn, "latency", round((end + gap) * RATE) / RATE - end)
    call.hide(turn, "cut_off", 1.0)
    call.hide(turn, "talk_over", over - 1.9)
    return call


def _barge_in(call: Call) -> Call:
    """The user interrupts twice: the first time the bot is cut off, the second time it ends by itself."""
    at = 0.7
    for stopped in (True, False):
        end = call.put(0, at, _voice(call, 1.2, RATE, USER_DB, pitch=190))
        call.user_turn(at, end)
        begun, onset = end + 0.5, end + 2.5
        stop = call.random.uniform(0.15, 0.6)
        spoken = _voice(call, 3.0 if stopped else 2.0 + stop, RATE, BOT_DB, pitch=110)
        spoken = spoken[: round((2.0 + stop) * RATE)] if stopped else synthetic.dying(spoken, RATE)
        silent = call.put(1, begun, spoken)
        end = call.put(0, onset, _voice(call, 1.2, RATE, USER_DB, pitch=190))
        turn = call.user_turn(onset, end, barge_in=True)
        if stopped:
            call.hide(turn, "barge_in_stop", silent - onset)
        gap = call.random.uniform(*GAP)
        call.hide(turn, "latency", round((end + gap) * RATE) / RATE - end)
        at = call.put(1, end + gap, _voice(call, 1.2, RATE, BOT_DB, pitch=110)) + 1.0
    return call


def _drop_out(call: Call) -> Call:
    """A drop-out in the middle of the bot's speech."""
    end = call.put(0, 0.7, _voice(call, 1.5, RATE, USER_DB, pitch=190))
    call.put(1, end + 0.5, _voice(call, 3.0, RATE, BOT_DB, pitch=110))
    first, length = round((end + 1.6) * RATE), round(call.random.uniform(0.06, 0.25) * RATE)
    call.stereo[first : first + length, 1] = 0
    call.hide(call.user_turn(0.7, end), "gap", length / RATE)
    return call


LINES: dict[str, Line] = {
    "clean": Line(),
    "noise 20 dB": Line(noise=USER_DB - 20),
    "noise 10 dB": Line(noise=USER_DB - 10),
    "music": Line(music=USER_DB - 12),
    "quiet voices": Line(user=QUIET_DB, bot=QUIET_DB),
    "8 kHz": Line(rate=8000),
    "48 kHz": Line(rate=48000),
    "comfort noise": Line(comfort=-52.0),
    "bot in noise 20 dB": Line(comfort=BOT_DB - 20),
    "click first": Line(before=_click),
    "breath first": Line(before=_breath),
    "leading silence": Line(before=_leading_silence),
    "no labels": Line(labelled=False),
    "no labels, noise 20 dB": Line(labelled=False, noise=USER_DB - 20),
    "no labels, noise 10 dB": Line(labelled=False, noise=USER_DB - 10),
    "no labels, quiet": Line(labelled=False, user=QUIET_DB),
}
"""The plain calls by name."""
