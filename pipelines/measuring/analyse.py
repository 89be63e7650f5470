"""`latency analyse`: writes a run of recorded calls and prints its report."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from latency.audio.onset import utterances
from latency.audio.recording import RATE
from latency.cli import show
from latency.command_line import NO_DATA, RUNS
from latency.record.run import RunError, Status
from latency.record.run_writer import RunWriter, new_folder
from latency.record.session import Session
from pipelines.measuring.recorded_call import caller_turns
from pipelines.replaying.replay import parse_checks
from pipelines.replaying.run_folder import check_folder, run_header, writing
from pipelines.server_process import Server
from voice.client.fixtures.audio_file import read_call
from voice.client.fixtures.fixture import read_labels
from voice.errors import ConfigurationError, FixtureError

ONE_SOUND = 0.9
"""Correlation of the channels from which both hold the same sound."""
LEAKS = 12.0
"""Height of the peak of the channels' cross-correlation, in standard deviations, from which one is heard on the other.
Two voices that have nothing in common stay below 7."""
LOUDEST_PART, LEAK_REACH = 20, 0.3
"""Seconds of the recording that are searched for a leak, and the longest delay of one."""
LEAST_MET = 0.5
"""Share of a voice's energy that must meet sound on the other channel at the delay of a leak."""
LEVEL_OVER, LEAST_LEVEL = 0.02, 0.1
"""Seconds over which a level is taken, and the level of silence, in steps of 16 bits."""
MOST_CLIPPED = 0.001
"""Share of samples at full scale."""

Samples = npt.NDArray[np.float64]


def run_analyse(args: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    thresholds = parse_checks(args.check)
    check_folder(args.out)
    names = [path.stem for path in args.calls]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigurationError(f'Two of the calls are called "{twice}"; rename one, because each is a session.')
    if args.labels and len(args.calls) > 1:
        raise ConfigurationError("--labels belongs to one recording; analyse the calls one by one.")
    status = {"pipeline": {"name": "analyse"}, "components": {"agent": "in a recording of others"}}
    header = run_header(Server("", status), ["latency", *sys.argv[1:]])
    with writing(Path(args.out) if args.out else RUNS):
        writer = RunWriter(Path(args.out) if args.out else new_folder(RUNS, header), header=header)
        ended: Status = "interrupted"
        try:
            for path in args.calls:
                _add(path, writer, caller=args.caller, labels=args.labels)
            ended = "complete"
        finally:
            if writer.is_empty:
                writer.discard()
            else:
                writer.finish(ended)
                if ended != "complete":
                    print(f"note: the calls before are kept in {writer.folder}", file=sys.stderr)
    return show(writer.folder, thresholds, as_json=args.json)


def _add(path: Path, writer: RunWriter, *, caller: str, labels: Path | None) -> None:
    """Write one call into the run.

    Raises:
        FixtureError: the recording or its labels cannot be used.
        RunError: one side is silent.
    """
    call = read_call(path)
    stereo, clipped = call.stereo, call.clipped
    if caller == "right":
        stereo, clipped = np.ascontiguousarray(stereo[:, ::-1]), clipped[::-1]
    for notice in (*call.notices, *_doubts(path, stereo, clipped)):
        print(f"note: {notice}", file=sys.stderr)
    seconds = len(stereo) / RATE
    known = None if labels is None else read_labels(labels, duration=seconds)
    if known is not None and all(kind != "speech" for _, _, kind in known):
        raise FixtureError(f"{labels}: the labels hold no speech; label the caller's words.")
    turns = caller_turns(stereo, path.stem, known)
    if not turns:
        other = "right" if caller == "left" else "left"
        raise RunError(
            f"{path}: no voice was found on the {caller} channel; if the caller is on the other, add --caller {other}",
            exit_code=NO_DATA,
        )
    wav = writer.write_session_wav(path.stem, stereo)
    writer.add_turns(turns)
    session = Session(name=path.stem, scenario=path.stem, wav=wav, seconds=round(seconds, 3), never_sent=0)
    writer.add_session(session)


def _doubts(path: Path, stereo: npt.NDArray[np.int16], clipped: Sequence[float]) -> Iterator[str]:
    """Faults of the recording that the reader of its figures should know.

    Raises:
        FixtureError: both channels hold the same sound.
        RunError: nothing of the agent is heard.
    """
    if _correlation(stereo) >= ONE_SOUND:
        raise FixtureError(
            f"{path}: both channels hold the same sound, so it is a mono recording, which cannot tell who spoke when; "
            "record the caller and the agent on a channel each."
        )
    if not utterances(np.ascontiguousarray(stereo[:, 1]), RATE):
        raise RunError(f"{path}: no voice was found on the agent's channel", exit_code=NO_DATA)
    if _leak(stereo) >= LEAKS:
        yield (
            f"{path.name}: one side is also heard on the other's channel, so its words may be taken for the other's: "
            "cut-offs and ends may be wrong"
        )
    for side, share in zip(("caller", "agent"), clipped, strict=True):
        if share > MOST_CLIPPED:
            yield f"{path.name}: {share:.1%} of the {side}'s samples are clipped; its levels are too low by that"


def _correlation(stereo: npt.NDArray[np.int16]) -> float:
    """How alike the channels are, 0 to 1."""
    left, right = np.diff(stereo.astype(np.float32), axis=0).T
    powers = float(np.dot(left, left)) * float(np.dot(right, right))
    return abs(float(np.dot(left, right))) / powers**0.5 if powers else 0.0


def _leak(stereo: npt.NDArray[np.int16]) -> float:
    """How clearly one side is found, with some delay, on the other's channel."""
    caller, agent = np.diff(stereo.astype(np.float64), axis=0).T
    return max(_found(caller, agent), _found(agent, caller))


def _found(voice: Samples, other: Samples) -> float:
    """The peak of the cross-correlation of a voice's loudest part and the other channel, in standard deviations.

    The other channel is brought to one level, so that its own voice counts no more than a soft copy. Where it holds
    nothing at most of the voice, as at a delay at which an answer only just meets the question, no peak counts.
    """
    size = min(len(voice), LOUDEST_PART * RATE)
    power = _summed(voice**2)
    first = int((power[size:] - power[: len(power) - size]).argmax())
    part, level = voice[first : first + size], _levelled(other)[first : first + size]
    met = _crossed(part**2, level**2)
    counts = met > LEAST_MET * float(np.dot(part, part))
    if not counts.any():
        return 0.0
    peaks = np.abs(_crossed(part, level)[counts]) / np.sqrt(met[counts])
    deviation = float(np.sqrt(np.mean(peaks**2)))
    return float(peaks.max()) / deviation if deviation else 0.0


def _levelled(samples: Samples) -> Samples:
    """The samples, each divided by the level around it."""
    power = _summed(samples**2)
    at, half = np.arange(len(samples)), round(LEVEL_OVER * RATE / 2)
    start, end = np.maximum(at - half, 0), np.minimum(at + half + 1, len(samples))
    level = np.sqrt((power[end] - power[start]) / (end - start))
    levelled: Samples = np.where(level > LEAST_LEVEL, samples / np.maximum(level, LEAST_LEVEL), 0.0)
    return levelled


def _summed(samples: Samples) -> Samples:
    """The sums of the samples before each, and of all."""
    summed: Samples = np.cumsum(np.pad(samples, (1, 0)))
    return summed


def _crossed(one: Samples, other: Samples) -> Samples:
    """The cross-correlation at the delays of a leak."""
    length, reach = 1 << (2 * len(one)).bit_length(), round(LEAK_REACH * RATE)
    crossed = np.fft.irfft(np.fft.rfft(other, length) * np.fft.rfft(one, length).conj())
    return np.concatenate([crossed[-reach:], crossed[:reach]])
