"""Figures of recordings by speaker, with bootstrap intervals that draw speakers with all their recordings. Pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from latency.budget import INTERVAL_NEEDS
from latency.report.stats import INTERVAL, RESAMPLES, percentile
from pipelines.lab.curve.figures import (
    BUDGET,
    BUDGETS,
    MOST_DELAY,
    ROUNDING,
    Estimate,
    InForce,
    Point,
    RuleCurve,
    SpeakerLine,
)
from pipelines.lab.curve.recorded import Clip
from pipelines.lab.curve.sweep import Floats, Sweep, counted_pauses

_SEED = 800


class BySpeaker:
    """Figures of recordings by speaker, and their resamples."""

    def __init__(self, clips: Sequence[Clip]) -> None:
        self._clips = clips
        names = sorted({clip.speaker for clip in clips})
        self.names = names
        self._of = np.array([names.index(clip.speaker) for clip in clips], np.intp)
        self._member = np.zeros((len(clips), len(names)))
        self._member[np.arange(len(clips)), self._of] = 1
        self._pauses = np.array([float(len(counted_pauses(clip))) for clip in clips])
        drawn = np.random.default_rng(_SEED).multinomial(len(names), [1 / len(names)] * len(names), RESAMPLES)
        self._weights: Floats = drawn.astype(float)

    def curve(self, rule: str, sweep: Sweep, *, protocol: Sweep) -> RuleCurve:
        """The rule at its best settings.

        Args:
            rule: its name.
            sweep: the settings among which the best are chosen for each share of pauses cut off.
            protocol: those among which eot-bench's two points are chosen, with intervals.
        """
        once = np.ones((1, len(self.names)))
        means, shares = self._means(sweep, once), self._shares(sweep, once)
        best = [_best(means, shares <= budget + ROUNDING)[1][0] for budget in BUDGETS]
        delay, share = self._protocol(protocol, once)
        delays, least = self._protocol(protocol, self._weights)
        return RuleCurve(
            rule=rule,
            points=tuple(None if number < 0 else self.point(sweep, int(number)) for number in best),
            delay_at_budget=self._estimate(delay, delays),
            share_at_delay=self._estimate(share, least),
        )

    def _protocol(self, sweep: Sweep, weights: Floats) -> tuple[Floats, Floats]:
        """In each resample, the least mean delay at `BUDGET` and the least share cut off at `MOST_DELAY`."""
        means, shares = self._means(sweep, weights), self._shares(sweep, weights)
        return (
            _best(means, shares <= BUDGET + ROUNDING)[0],
            _best(shares, means <= MOST_DELAY + ROUNDING)[0],
        )

    def point(self, sweep: Sweep, number: int) -> Point:
        """The rule at one setting."""
        delays = _known(sweep.delay[number])
        pauses = self._pauses.sum()
        return Point(
            settings=dict(sweep.settings[number]),
            share=float(sweep.cut[number].sum() / pauses) if pauses else None,
            mean=float(np.mean(delays)),
            p95=percentile(delays, 95) or 0.0,
        )

    def in_force(self, sweep: Sweep, number: int) -> InForce:
        """Our rule as it is set, with intervals."""
        one = sweep.only(number)
        point = self.point(one, 0)
        share = np.array([np.nan if point.share is None else point.share])
        tails = np.array([np.percentile(np.concatenate(parts), 95) for parts in self._drawn(one.delay[0]) if parts])
        return InForce(
            point=point,
            share=self._at_most(self._estimate(share, self._shares(one, self._weights)[:, 0])),
            mean=self._estimate(np.array([point.mean]), self._means(one, self._weights)[:, 0]),
            p95=self._estimate(np.array([point.p95]), tails),
            inside=int((one.inside[0] & (self._pauses == 0)).sum()),
            without_pause=int((self._pauses == 0).sum()),
            never_ended=int(np.isnan(one.delay[0]).sum()),
        )

    def lines(self, sweep: Sweep, number: int) -> tuple[SpeakerLine, ...]:
        """Our rule as it is set, speaker by speaker."""
        found = []
        for index, name in enumerate(self.names):
            theirs = self._of == index
            delays = _known(sweep.delay[number, theirs])
            found.append(
                SpeakerLine(
                    speaker=name,
                    turns=int(theirs.sum()),
                    pauses=int(self._pauses[theirs].sum()),
                    cut=int(sweep.cut[number, theirs].sum()),
                    inside=int(sweep.inside[number, theirs].sum()),
                    mean=float(np.mean(delays)) if delays else None,
                    p95=percentile(delays, 95),
                )
            )
        return tuple(found)

    def _shares(self, sweep: Sweep, weights: Floats) -> Floats:
        """Shares of pauses cut off: (resamples, settings); not a number where a resample has no pause."""
        cut, pauses = weights @ (sweep.cut @ self._member).T, weights @ (self._pauses @ self._member)
        with np.errstate(invalid="ignore"):
            return np.asarray(cut / pauses[:, None])

    def _means(self, sweep: Sweep, weights: Floats) -> Floats:
        """Mean delays: (resamples, settings)."""
        total = weights @ (np.nan_to_num(sweep.delay) @ self._member).T
        counted = weights @ (np.isfinite(sweep.delay).astype(float) @ self._member).T
        with np.errstate(invalid="ignore"):
            return np.asarray(total / counted)

    def _drawn(self, delays: Floats) -> list[list[Floats]]:
        """The delays of each resample, speaker by speaker."""
        by_speaker = [np.array(_known(delays[self._of == index])) for index in range(len(self.names))]
        return [
            [np.repeat(part, int(times)) for part, times in zip(by_speaker, row, strict=True) if times]
            for row in self._weights
        ]

    def _at_most(self, share: Estimate) -> Estimate:
        """The share with an upper bound if no pause was cut off, because resamples then show no spread."""
        if share.value != 0 or share.interval is None:
            return share
        highest = 1 - ((100 - INTERVAL) / 200) ** (1 / self._pauses.sum())
        return Estimate(value=0.0, interval=(0.0, float(highest)))

    def _estimate(self, value: Floats, resampled: Floats) -> Estimate:
        known = None if np.isnan(value[0]) else float(value[0])
        if len(self.names) < INTERVAL_NEEDS or known is None:
            return Estimate(value=known, interval=None)
        beyond = (100 - INTERVAL) / 2
        # A resample in which no setting is good enough lies beyond the others.
        ordered = np.sort(np.where(np.isnan(resampled), np.inf, resampled))
        low, high = (float(ordered[round((len(ordered) - 1) * share / 100)]) for share in (beyond, 100 - beyond))
        return Estimate(value=known, interval=(low, high if np.isfinite(high) else None))


def _best(wanted: Floats, allowed: npt.NDArray[np.bool_]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """In each row, the least allowed value (NaN if none is allowed) and its index (-1)."""
    values = np.where(allowed & np.isfinite(wanted), wanted, np.inf)
    places = values.argmin(axis=1)
    least = values[np.arange(len(values)), places]
    return np.where(np.isfinite(least), least, np.nan), np.where(np.isfinite(least), places, -1)


def _known(delays: Floats) -> list[float]:
    return [float(delay) for delay in delays if not np.isnan(delay)]
