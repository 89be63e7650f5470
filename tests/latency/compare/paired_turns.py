"""Pairs of turns with latencies as recorded, with effects of the call, and with a planted change."""

import numpy as np
import numpy.typing as npt

from latency.compare.pairing import Pair, Place
from latency.judge.turn import Outcome
from latency.record.turn import TurnRecord

Floats = npt.NDArray[np.float64]
RECORDED = np.array(
    [
        [430, 325, 336, 638, 405, 462],
        [577, 430, 599, 445, 359, 470],
        [471, 488, 1277, 622, 462, 549],
        [314, 477, 478, 320, 384, 560],
        [342, 342, 542, 430, 594, 415],
        [269, 296, 538, 367, 272, 479],
        [599, 424, 1199, 288, 523, 695],
        [696, 666, 1996, 708, 1626, 1092],
        [265, 278, 695, 324, 283, 516],
    ]
)
"""Milliseconds of nine turns of samples/tour in six calls on a machine of two cores; only the first two had it to
themselves."""
USUAL = np.median(RECORDED, axis=1)
BUSY = (RECORDED - USUAL[:, np.newaxis]).ravel()
QUIET = ((RECORDED[:, 0] - RECORDED[:, 1]) / np.sqrt(2)).repeat(2) * np.tile([1, -1], len(RECORDED))
"""What chance adds to a turn: on the busy machine, and in the two quiet calls, whose difference is twice by chance."""
CALL_EFFECT = 25
"""Milliseconds; the standard deviation of the speed of a call."""


def outcome(ms: float | None, *, session: str = "call", turn: int = 0, **values: object) -> Outcome:
    start = 1.0 + 6 * turn
    spoken = {"speech": ((start, start + 1),), "wants_answer": True, "fixture": f"tour/{turn}.wav"} | values
    record = TurnRecord(session=session, turn=turn, **spoken)  # type: ignore[arg-type]
    return Outcome(turn=record, latency=None if ms is None else ms / 1000, answered=ms is not None)


def pairs(calls: int, turns: int, seed: int, *, slower: float = 0.0, chance: Floats = QUIET) -> list[Pair]:
    """Each turn in both runs: its usual latency, the effect of its call, and chance; B is `slower` by some ms."""
    random = np.random.default_rng(seed)
    found = []
    for call in range(calls):
        usual = random.choice(USUAL, turns)
        effects = random.normal(0, CALL_EFFECT, 2)
        for turn in range(turns):
            a, b = (max(100.0, usual[turn] + effect + random.choice(chance)) for effect in effects)
            sides = [outcome(ms, turn=turn) for ms in (a, b + slower)]
            found.append(Pair(Place(f"talk {call}", 1, turn), *sides))
    return found


def seconds(found: list[Pair]) -> list[tuple[float, float]]:
    return [(one.a.latency or 0.0, one.b.latency or 0.0) for one in found]
