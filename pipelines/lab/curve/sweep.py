"""Sweeps three rules over recorded silences: our rule, Smart Turn alone and silence alone.

The grids of the last two are those of livekit/eot-bench (`eot_harness/metrics.py`): Smart Turn is asked once, after
0.2 s of silence, and has three settings (the probability it must exceed, the silence before which no turn ends, and the
silence that ends every turn); silence alone has one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from pipelines.lab.curve.recorded import Clip, Silence
from pipelines.lab.curve.rules import TurnOutcome, calls, judge_call, our_rule
from voice.turns.endpointing import Endpointing

SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds; shorter and longer pauses do not count, as in eot-bench."""
RISKS = tuple(float(risk) for risk in np.round(np.geomspace(0.0005, 0.9, 48), 5))
SCORED_AFTER = 0.2
THRESHOLDS = tuple(float(one) for one in np.round(np.arange(0.0, 1.01, 0.01), 2))
ACTION_DELAYS = tuple(float(one) for one in np.round(np.arange(0.2, 1.01, 0.1), 2))
TIMEOUTS = tuple(float(one) for one in np.round(np.arange(1.0, 3.51, 0.5), 2))
SILENCES = tuple(float(one) for one in np.round(np.arange(0.2, 5.005, 0.01), 2))

Floats = npt.NDArray[np.float64]
Settings = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The outcomes of one rule at many settings. Shapes: (settings, recordings)."""

    settings: tuple[Settings, ...]
    """Each setting, its values by name."""
    cut: Floats
    """The number of pauses cut off in each recording."""
    inside: npt.NDArray[np.bool_]
    """Whether the turn was ended inside a labelled stretch of speech."""
    delay: Floats
    """Seconds from the end of speech to the end of the turn; NaN if it never ended."""

    def only(self, number: int) -> "Sweep":
        """The outcomes at one setting."""
        one = slice(number, number + 1)
        return Sweep(self.settings[one], self.cut[one], self.inside[one], self.delay[one])

    def with_others(self, others: "Sweep") -> "Sweep":
        """These outcomes and those at other settings."""
        return Sweep(
            (*self.settings, *others.settings),
            np.concatenate([self.cut, others.cut]),
            np.concatenate([self.inside, others.inside]),
            np.concatenate([self.delay, others.delay]),
        )


def counted_pauses(clip: Clip) -> set[int]:
    """The labelled pauses that count."""
    return {index for index, pause in enumerate(clip.pauses) if SHORTEST_PAUSE - 1e-6 <= pause <= LONGEST_PAUSE}


def with_each_risk(rule: Endpointing) -> list[Endpointing]:
    """The rule with each of `RISKS` and with its own, the smallest first."""
    return [replace(rule, risk=risk) for risk in sorted({*RISKS, rule.risk})]


def with_each_timeout(rule: Endpointing) -> list[Endpointing]:
    """The rule with every other of `RISKS` and each of `TIMEOUTS` as its longest wait."""
    return [replace(rule, risk=risk, longest=timeout) for timeout in TIMEOUTS for risk in RISKS[::2]]


def sweep_ours(clips: Sequence[Clip], rules: Sequence[Endpointing], seed: int) -> Sweep:
    """Our rule as it is set in each of `rules`, with calls in an order drawn by `seed`."""
    counted = [counted_pauses(clip) for clip in clips]
    order = list(calls(clips, seed))
    outcomes: list[list[TurnOutcome]] = []
    for rule in rules:
        needed = our_rule(rule)
        row = [TurnOutcome() for _ in clips]
        for call in order:
            for index, outcome in zip(call, judge_call([clips[one] for one in call], needed), strict=True):
                row[index] = outcome
        outcomes.append(row)
    return Sweep(
        settings=tuple((("risk", rule.risk), ("longest", rule.longest)) for rule in rules),
        cut=np.array([[len(one.cut & pauses) for one, pauses in zip(row, counted, strict=True)] for row in outcomes]),
        inside=np.array([[one.inside for one in row] for row in outcomes]),
        delay=np.array([[np.nan if one.delay is None else one.delay for one in row] for row in outcomes]),
    )


def sweep_silence(clips: Sequence[Clip]) -> Sweep:
    """Every turn ends after the same silence."""
    settings = tuple((("silence", silence),) for silence in SILENCES)
    table = _Table(clips, SILENCES)
    return table.swept(settings, (table.at[:, number] for number in range(len(SILENCES))))


def sweep_smart_turn(clips: Sequence[Clip]) -> Sweep:
    """Smart Turn alone, with a silence that ends the turns it does not end."""
    columns = sorted({*ACTION_DELAYS, *TIMEOUTS})
    table = _Table(clips, columns)
    sure = np.array([silence.sound(SCORED_AFTER) or 0.0 for silence in table.silences])
    policies = list(product(THRESHOLDS, ACTION_DELAYS, TIMEOUTS))

    def ends() -> Iterator[Floats]:
        for threshold, delay, timeout in policies:
            first, last = table.at[:, columns.index(delay)], table.at[:, columns.index(timeout)]
            yield np.where(sure > threshold, first, last)

    names = ("threshold", "action_delay", "timeout")
    return table.swept(tuple(tuple(zip(names, policy, strict=True)) for policy in policies), ends())


class _Table:
    """When each silence would end its turn, for each length in `columns`: infinity for never."""

    def __init__(self, clips: Sequence[Clip], columns: Sequence[float]) -> None:
        pairs = [(index, one) for index, clip in enumerate(clips) for one in clip.silences if one.stopped is not None]
        self.silences: list[Silence] = [one for _, one in pairs]
        self.at = np.array([[_or_never(one.reached(length)) for length in columns] for one in self.silences])
        """When each silence would end its turn: (silences, columns)."""
        self._ends = np.array([clip.end for clip in clips])
        self._of = np.array([index for index, _ in pairs], np.intp)
        self._end = np.array([one.kind == "end" for one in self.silences])
        self._inside = np.array([one.kind == "inside" for one in self.silences])
        # A breath may divide a pause into two silences.
        pauses = [(index, pause) for index, clip in enumerate(clips) for pause in counted_pauses(clip)]
        numbers: dict[tuple[int, int | None], int] = {pause: number for number, pause in enumerate(pauses)}
        self._pause = np.array([numbers.get((index, one.pause), -1) for index, one in pairs], np.intp)
        self._of_pause = np.array([index for index, _ in pauses], np.intp)

    def swept(self, settings: tuple[Settings, ...], ends: Iterator[Floats]) -> Sweep:
        """The outcomes for each array of the instants at which the silences end their turns."""
        rows = [self._outcome(at) for at in ends]
        return Sweep(settings, *(np.array([row[part] for row in rows]) for part in range(3)))

    def _outcome(self, at: Floats) -> tuple[Floats, npt.NDArray[np.bool_], Floats]:
        ended, count = np.isfinite(at), len(self._ends)
        cut_off = np.unique(self._pause[ended & (self._pause >= 0)])
        cut = np.bincount(self._of_pause[cut_off], minlength=count).astype(float)
        inside = np.bincount(self._of[ended & self._inside], minlength=count) > 0
        end = np.full(count, np.inf)
        np.minimum.at(end, self._of[self._end], at[self._end])
        delay = end - self._ends
        return cut, inside, np.where(np.isfinite(delay), delay, np.nan)


def _or_never(at: float | None) -> float:
    return np.inf if at is None else at
