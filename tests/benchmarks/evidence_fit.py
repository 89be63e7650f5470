"""Fits the weights of `voice.turns.evidence`: `python -m tests.benchmarks.evidence_fit FILE.jsonl…`.

The files are those of `latency curve --save`, of recordings and of the same recordings with `--pauses`. The fit tells
ends of turns from pauses: the caller's own, and those inserted between two words. A source is a corpus, the part of its
speakers' names before the "_". Every fit is judged on a source or a speaker that it has not seen.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.lab.curve.recorded import Clip, load
from pipelines.lab.curve.recorder import current_detectors
from pipelines.lab.fitted import fitted_speakers
from voice.turns.evidence import (
    LEAST_ENDS,
    LEAST_PROBABILITY,
    LEAST_READ,
    LEAST_SPOKEN,
    MOST_READ,
    MOST_SPOKEN,
    log_odds,
)
from voice.turns.words.trigram_reader import TrigramReader

JUDGED_AFTER = 0.1
"""Seconds of silence after which Smart Turn's verdict counts."""
SHORTEST_PAUSE = 0.2
"""Seconds; the voice detector hears no shorter one."""
REAL_PAUSE_WEIGHT = 3.0
"""The weight of a caller's own pause, relative to an inserted one."""
SYNTHETIC_WEIGHT = 0.1
"""The weight of a synthesiser's silence, relative to a person's: its requests are as short as those of an agent's
callers, but Smart Turn judges their ends badly."""
RIDGE = 3.0
"""The weight, in observations, of the assumption that nothing is evidence; keeps weights of few sources small."""
ITERATIONS = 50

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Observation:
    """A silence: its features, and whether it was an end or a pause."""

    speaker: str
    is_end: bool
    synthetic: bool
    """Whether a speech synthesiser spoke."""
    inserted: bool
    sound: float
    """Logit of Smart Turn's probability."""
    read: float
    ends: float | None
    """Log odds of `Evidence.ends`."""
    spoken: float
    """Natural logarithm of the seconds spoken."""

    @property
    def source(self) -> str:
        """The corpus."""
        return self.speaker.split("_")[0]


FEATURES: dict[str, Callable[[Observation], list[float]]] = {
    "sound, ends, spoken": lambda one: [one.sound, one.ends or 0.0, one.spoken],
    "sound, read, spoken": lambda one: [one.sound, one.read, one.spoken],
    "sound, spoken": lambda one: [one.sound, one.spoken],
    "sound": lambda one: [one.sound],
}


def bounded_logarithm(spoken: float) -> float:
    """The natural logarithm of the seconds spoken, in the bounds of `Evidence`."""
    return math.log(min(max(spoken, LEAST_SPOKEN), MOST_SPOKEN))


def observations(clip: Clip) -> list[Observation]:
    """The silences of a recording to learn from; of a recording with an inserted pause, only the pause."""
    reads, found = TrigramReader.shared().log_probability, []
    last = len(clip.silences) - 1
    for number, silence in enumerate(clip.silences):
        is_end = silence.kind == "end" and number == last
        length = clip.pauses[silence.pause] if silence.pause is not None else 0.0
        sound, read, spoken = silence.sound(JUDGED_AFTER), reads(silence.read), silence.spoken
        if (is_end and clip.inserted) or not (is_end or length >= SHORTEST_PAUSE):
            continue
        if sound is None or read is None or spoken is None:
            continue
        found.append(
            Observation(
                speaker=clip.speaker,
                is_end=is_end,
                synthetic=clip.synthetic,
                inserted=clip.inserted,
                sound=log_odds(sound, LEAST_PROBABILITY),
                read=min(max(read, LEAST_READ), MOST_READ),
                ends=None if silence.ends is None else log_odds(silence.ends, LEAST_ENDS),
                spoken=bounded_logarithm(spoken),
            )
        )
    return found


def observation_weights(seen: Sequence[Observation]) -> Floats:
    """Weights that make ends and pauses equal in sum, and sources proportional to the square root of their size."""
    found = np.array([1.0 if one.is_end or one.inserted else REAL_PAUSE_WEIGHT for one in seen])
    ends, sources = np.array([one.is_end for one in seen]), np.array([one.source for one in seen])
    synthetic = np.array([one.synthetic for one in seen])
    for kind in (ends, ~ends):
        for source in set(sources):
            chosen = kind & (sources == source)
            found[chosen] /= math.sqrt(found[chosen].sum()) if chosen.any() else 1.0
        found[kind & synthetic] *= SYNTHETIC_WEIGHT
        found[kind] *= len(seen) / 2 / found[kind].sum()
    return found


def fit(features: Floats, ends: Flags, weight: Floats) -> Floats:
    """Logistic regression by Newton's method; returns the bias, then a weight for each column of `features`."""
    columns = np.column_stack([np.ones(len(features)), features])
    ridge = RIDGE * np.eye(columns.shape[1])
    ridge[0, 0] = 1e-9
    found = np.zeros(columns.shape[1])
    for _ in range(ITERATIONS):
        probability = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weight * (probability - ends)) + ridge @ found
        curvature = (columns * (weight * probability * (1 - probability))[:, None]).T @ columns + ridge
        found -= np.linalg.solve(curvature, slope)
    return found


def unseen(seen: Sequence[Observation], features: Floats, groups: Sequence[str]) -> Floats:
    """The logit of each observation by a fit to those of all other groups."""
    ends, weight, group = np.array([one.is_end for one in seen]), observation_weights(seen), np.array(groups)
    logits = np.zeros(len(seen))
    for one in set(groups):
        left_out = group == one
        found = fit(features[~left_out], ends[~left_out], weight[~left_out])
        logits[left_out] = found[0] + features[left_out] @ found[1:]
    return logits


def ranked(logits: Floats, ends: Flags, pauses: Flags) -> float | None:
    """The share of pairs in which the end has the higher logit; None without a pair."""
    if not (ends.any() and pauses.any()):
        return None
    above = logits[ends][:, None] - logits[pauses][None]
    return float((above > 0).mean() + (above == 0).mean() / 2)


def main() -> None:
    """Print the weights, and how well they tell ends from pauses on unseen data."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.evidence_fit", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="files written by latency curve --save")
    args = parser.parse_args()
    detectors = current_detectors()
    everything = [one for file in args.files for clip in load(file, detectors)[0].clips for one in observations(clip)]
    seen = [one for one in everything if one.speaker in fitted_speakers()]
    others = [one for one in everything if one.speaker not in fitted_speakers()]
    print(f"{len({one.speaker for one in seen})} speakers, {_counts(seen)}")
    for name, feature in FEATURES.items():
        if "ends" in name and any(one.ends is None for one in (*seen, *others)):
            print(f"{name}: recorded without a language model that reads the ends")
            continue
        columns = np.array([feature(one) for one in seen])
        found = fit(columns, np.array([one.is_end for one in seen]), observation_weights(seen))
        print(f"{name}: bias {found[0]:.2f}, weights {', '.join(f'{weight:.2f}' for weight in found[1:])}")
        print(f"  each source left out: {_judged(seen, unseen(seen, columns, [one.source for one in seen]))}")
        print(f"  each speaker left out: {_judged(seen, unseen(seen, columns, [one.speaker for one in seen]))}")
        if others:
            logits = found[0] + np.array([feature(one) for one in others]) @ found[1:]
            print(f"  {len({one.speaker for one in others})} other speakers, {_counts(others)}:")
            print(f"    {_judged(others, logits)}")


def _counts(seen: Sequence[Observation]) -> str:
    ends = sum(one.is_end for one in seen)
    inserted = sum(one.inserted for one in seen)
    return f"{ends} ends, {len(seen) - ends - inserted} pauses, {inserted} inserted pauses"


def _judged(seen: Sequence[Observation], logits: Floats) -> str:
    people = np.array([not one.synthetic for one in seen])
    seen, logits = [one for one in seen if not one.synthetic], logits[people]
    ends, inserted = (np.array([getattr(one, name) for one in seen]) for name in ("is_end", "inserted"))
    shares = {"pauses": ranked(logits, ends, ~ends & ~inserted), "inserted pauses": ranked(logits, ends, inserted)}
    known = (f"{share:.1%} of pairs with {name}" for name, share in shares.items() if share is not None)
    return f"a person's end ranks above a pause in {' and '.join(known)}"


if __name__ == "__main__":
    main()
