"""Our rule on speakers to whom its evidence was not fitted: `python -m tests.benchmarks.evidence_left_out`.

Each speaker's calls are judged by evidence that `tests.benchmarks.evidence_fit` fits to all other speakers' recordings.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.lab.curve.recorded import Clip, Silence, load
from pipelines.lab.curve.recorder import current_detectors
from pipelines.lab.curve.rules import TurnOutcome, calls, evidence, judge_call
from pipelines.lab.curve.sweep import counted_pauses
from pipelines.lab.fitted import fitted_speakers
from tests.benchmarks.evidence_fit import FEATURES, Observation, fit, observation_weights, observations
from voice.turns.endpointing import Endpointing, Pauses
from voice.turns.evidence import Evidence, Weights

SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RefittedEvidence(Evidence):
    """Evidence with other weights than in calls."""

    weights: Weights

    @property
    def _weights(self) -> Weights:
        return self.weights


def refitted(seen: Sequence[Observation]) -> Weights:
    """The weights that fit these observations best, for the language model if it has read all, else for trigrams."""
    name = "sound, read, spoken" if any(one.ends is None for one in seen) else "sound, ends, spoken"
    columns = np.array([FEATURES[name](one) for one in seen])
    bias, sound, words, spoken = fit(columns, np.array([one.is_end for one in seen]), observation_weights(seen))
    return Weights(bias=bias, sound=sound, words=words, spoken=spoken)


def outcomes(clips: Sequence[Clip], found: Weights, rule: Endpointing) -> list[TurnOutcome]:
    """The rule's outcomes on one speaker's recordings, in calls, with these weights."""

    def needed(silence: Silence, pauses: Pauses) -> float:
        known = evidence(silence)
        same = {field.name: getattr(known, field.name) for field in fields(Evidence)}
        return rule.judge(RefittedEvidence(**same, weights=found), pauses).needed

    results: dict[int, TurnOutcome] = {}
    for call in calls(clips, SEED):
        judged = judge_call([clips[index] for index in call], needed)
        results |= dict(zip(call, judged, strict=True))
    return [results[index] for index in range(len(clips))]


def judged_left_out(clips: Sequence[Clip], judged: Sequence[Clip], rule: Endpointing) -> list[TurnOutcome]:
    """The rule's outcomes on each recording of `judged`, by a fit to the recordings of `clips` by other speakers."""
    seen = [one for clip in clips for one in observations(clip)]
    results: dict[str, list[TurnOutcome]] = {}
    for speaker in {clip.speaker for clip in judged}:
        found = refitted([one for one in seen if one.speaker != speaker])
        results[speaker] = outcomes([clip for clip in judged if clip.speaker == speaker], found, rule)
    return [results[clip.speaker].pop(0) for clip in judged]


def main() -> None:
    """Print the share of pauses cut off and the delays: for each file, then in calls that mix the files' turns."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.evidence_left_out", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="files written by latency curve --save, to fit to")
    args = parser.parse_args()
    detectors = current_detectors()
    recorded = {
        file: [clip for clip in load(file, detectors)[0].clips if clip.speaker in fitted_speakers()]
        for file in args.files
    }
    everything = [clip for clips in recorded.values() for clip in clips]
    rule = Endpointing(stop=detectors.stop, fallback=0.7)
    named = {file.name: clips for file, clips in recorded.items()}
    for name, clips in (named | {"together": everything}).items():
        people = [clip for clip in clips if not clip.synthetic]
        if people:
            print(f"{name}: {_summary(people, judged_left_out(everything, people, rule))}")


def _summary(clips: Sequence[Clip], found: Sequence[TurnOutcome]) -> str:
    pauses = sum(len(counted_pauses(clip)) for clip in clips)
    cut = sum(len(one.cut & counted_pauses(clip)) for clip, one in zip(clips, found, strict=True))
    inside = sum(one.inside for clip, one in zip(clips, found, strict=True) if not counted_pauses(clip))
    delays: npt.NDArray[np.float64] = 1000 * np.array([one.delay for one in found if one.delay is not None])
    mean, p50, p95 = delays.mean(), np.median(delays), np.percentile(delays, 95)
    return (
        f"{len(clips)} turns, {len({clip.speaker for clip in clips})} speakers, each left out; {cut} of {pauses} "
        f"pauses cut off, {inside} turns inside speech; delay mean {mean:.0f}, p50 {p50:.0f}, p95 {p95:.0f} ms"
    )


if __name__ == "__main__":
    main()
