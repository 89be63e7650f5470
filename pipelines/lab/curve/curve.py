"""The delay at the end of a turn against the share of pauses cut off, with intervals over speakers. Pure.

The protocol is that of livekit/eot-bench. The share is one of pauses, not of turns, and each pause is judged as if the
turn had not been cut off before. The delay is that of all turns, including those cut off in a pause, and includes the
silence of a timeout. The best setting is chosen on the recordings that it is reported for; for an interval it is chosen
again in each resample.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from latency.render.numbers import percent
from pipelines.lab.curve.by_speaker import BySpeaker
from pipelines.lab.curve.figures import BUDGET, ROUNDING, InForce, Point, RuleCurve, SpeakerLine
from pipelines.lab.curve.recorded import Clip
from pipelines.lab.curve.sweep import (
    counted_pauses,
    sweep_ours,
    sweep_silence,
    sweep_smart_turn,
    with_each_risk,
    with_each_timeout,
)
from pipelines.lab.fitted import fitted_speakers
from voice.turns.endpointing import Endpointing

ENOUGH_PAUSES = 40
"""Fewer pauses are too few for advice: one of them is more than half of `BUDGET`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The rules on a group of recordings."""

    group: str
    turns: int
    missed: int
    """Turns whose speech the voice detector never noticed; they count nowhere else."""
    estimated: int
    """Turns whose speech was measured instead of labelled."""
    unnamed: int
    """Turns without a speaker's name: their conversation counts as one speaker."""
    inserted: int
    """Turns whose pauses were inserted."""
    words: dict[str, int]
    """The number of transcripts by kind of alignment."""
    pauses: int
    pause_lengths: tuple[float, float, float] | None
    """The shortest, the median and the longest, seconds."""
    rules: tuple[RuleCurve, ...]
    in_force: InForce
    speakers: tuple[SpeakerLine, ...]
    sweep: tuple[Point, ...]
    """Our rule at every risk."""
    advice: str


def make_curve(group: str, clips: Sequence[Clip], rule: Endpointing, *, seed: int) -> Curve:
    """Compare the rules on a group of recordings.

    Args:
        group: the name of the group.
        clips: at least one must be heard.
        rule: ours, as it is set.
        seed: draws the order of the turns in the calls.
    """
    heard = [clip for clip in clips if is_heard(clip)]
    lengths = sorted(clip.pauses[index] for clip in heard for index in counted_pauses(clip))
    figures = BySpeaker(heard)
    risks = with_each_risk(rule)
    ours, number = sweep_ours(heard, risks, seed), risks.index(rule)
    smart_turn, silence = sweep_smart_turn(heard), sweep_silence(heard)
    rules = (
        figures.curve("our rule", ours, protocol=ours.with_others(sweep_ours(heard, with_each_timeout(rule), seed))),
        figures.curve("Smart Turn alone", smart_turn, protocol=smart_turn),
        figures.curve("silence alone", silence, protocol=silence),
    )
    points = tuple(figures.point(ours, each) for each in range(len(ours.settings)))
    in_force = figures.in_force(ours, number)
    return Curve(
        group=group,
        turns=len(heard),
        missed=len(clips) - len(heard),
        estimated=sum(clip.truth == "estimated" for clip in heard),
        unnamed=sum(clip.speaker == clip.name.rpartition("/")[0] for clip in heard),
        inserted=sum(clip.inserted for clip in heard),
        words=dict(Counter(clip.alignment for clip in heard)),
        pauses=len(lengths),
        pause_lengths=(lengths[0], median(lengths), lengths[-1]) if lengths else None,
        rules=rules,
        in_force=in_force,
        speakers=figures.lines(ours, number),
        sweep=points,
        advice=advice(points, in_force, pauses=len(lengths)),
    )


def is_heard(clip: Clip) -> bool:
    """Whether the voice detector noticed the end of its speech."""
    return any(one.kind == "end" and one.stopped is not None for one in clip.silences)


def groups(clips: Sequence[Clip]) -> dict[str, list[Clip]]:
    """The recordings by group: people and synthesisers, each outside the fit and in it."""
    found: dict[str, list[Clip]] = {}
    for clip in sorted(clips, key=lambda clip: (clip.synthetic, clip.speaker in fitted_speakers())):
        kind = "Synthesisers" if clip.synthetic else "People"
        where = "in" if clip.speaker in fitted_speakers() else "outside"
        found.setdefault(f"{kind} {where} the fit", []).append(clip)
    return found


def advice(points: Sequence[Point], in_force: InForce, *, pauses: int) -> str:
    """The advice on `turns.risk`, in one sentence."""
    risk, share = in_force.point.settings["risk"], in_force.share
    if pauses < ENOUGH_PAUSES or share.value is None:
        return f"{pauses} pauses are too few for advice: add recordings with pauses, or insert some with --pauses 4."
    fitting = [one for one in points if one.share is not None and one.share <= BUDGET + ROUNDING]
    if not fitting:
        return f"No turns.risk cuts off as few as {percent(BUDGET)} of the pauses: try a longer turns.longest_ms."
    best = min(fitting, key=lambda one: one.mean)
    wanted, gained = f"turns.risk = {best.settings['risk']:.3g} would", (in_force.point.mean - best.mean) * 1000
    if share.interval and share.interval[0] <= BUDGET <= (share.interval[1] or 1.0):
        return f"Keep turns.risk at {risk:g}: its share of pauses cut off may well be {percent(BUDGET)}."
    if share.value <= BUDGET:
        return f"{wanted} end turns {gained:.0f} ms sooner on average, with {percent(BUDGET)} of the pauses cut off."
    return f"{wanted} cut off {percent(BUDGET)} of the pauses, at {-gained:.0f} ms more delay on average."
