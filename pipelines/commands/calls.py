"""The commands that call an agent or record a caller: `voice replay`, `load`, `talk`, `record` and `devices`."""

import argparse
from pathlib import Path

from latency.command_line import Parser, count, seed
from pipelines.commands.options import add_call_options, add_command, add_pipeline_options, duration
from pipelines.process import loading_code


def add_calls(top: Parser) -> None:
    """Add them to the command line."""
    _add_replay(top)
    _add_load(top)
    _add_talk(top)
    _add_record(top)
    _add_devices(top)


def _add_replay(top: Parser) -> None:
    replay = add_command(top, "replay", _replay, "replay recorded conversations and report their latency")
    replay.add_argument("fixtures", nargs="*", metavar="FIXTURE", help="recordings or folders (default: a tour)")
    replay.add_argument("--all", action="store_true", help="replay every conversation in samples/")
    add_pipeline_options(replay)
    add_call_options(replay)
    # The server at --url has just started: its first turn is a cold one.
    replay.add_argument("--fresh", action="store_true", help=argparse.SUPPRESS)
    replay.add_argument("--repeat", type=count, default=1, metavar="N", help="replay everything N times (1)")
    replay.add_argument(
        "--chaos", type=seed, metavar="SEED", help="break parts as the calls go on; a seed repeats its faults"
    )
    replay.add_argument(
        "--ab",
        nargs=2,
        metavar=("A", "B"),
        help="let two pipelines alternate and compare them; each NAME|FILE, with settings NAME,KEY=VALUE,...",
    )
    replay.add_argument("--listen", action="store_true", help="play both sides aloud")
    replay.add_argument("--open", action="store_true", help="also write the run as a page with its audio, and open it")
    replay.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "turn p95 < 800"; may be repeated',
    )
    replay.add_argument(
        "--baseline", metavar="NAME", help='what "baseline" in a limit means, as in "turn p50 <= 1.05 * baseline"'
    )


def _replay(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.replaying.replay import run_replay

    return run_replay(args)


def _add_load(top: Parser) -> None:
    load = add_command(
        top,
        "load",
        _load,
        "let many callers call at once, and report how they fare",
        "Each caller replays the recordings in real time, one conversation after the other.",
    )
    load.add_argument("fixtures", nargs="*", metavar="FIXTURE", help="recordings or folders (default: a tour)")
    load.add_argument("--callers", type=count, required=True, metavar="N", help="how many call at once")
    load.add_argument(
        "--ramp", type=duration, default=10.0, metavar="S", help="seconds within which the callers begin (10)"
    )
    load.add_argument(
        "--repeat", type=count, default=1, metavar="N", help="let each caller repeat everything N times (1)"
    )
    add_pipeline_options(load)
    add_call_options(load)
    load.add_argument("--json", action="store_true", help="print JSON")
    load.add_argument("--html", type=Path, metavar="FILE", help="also write a page of the tables and a plot")
    load.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "gaps == 0" or "calls refused == 0"; may be repeated',
    )


def _load(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.load.command import run_load

    return run_load(args)


def _add_talk(top: Parser) -> None:
    talk = add_command(top, "talk", _talk, "talk to the agent by microphone and loudspeaker")
    add_pipeline_options(talk)
    add_call_options(talk)
    talk.add_argument("--input", metavar="DEVICE", help="microphone, by number or part of its name")
    talk.add_argument("--output", metavar="DEVICE", help="loudspeaker, by number or part of its name")
    talk.add_argument(
        "--no-echo-cancellation",
        action="store_true",
        help="send the microphone as it is: for headphones, or a device that cancels its own echo",
    )
    talk.add_argument(
        "--push-to-talk",
        action="store_true",
        help="keep the microphone off except between two presses of the space bar",
    )
    talk.add_argument("--record", action="store_true", help="keep the call's audio in the run folder")


def _talk(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.talking.talk import run_talk

    return run_talk(args)


def _add_record(top: Parser) -> None:
    from pipelines.recording import PROMPTS

    record = add_command(
        top,
        "record",
        _record,
        "record your own voice for replays",
        "Shows prompts, records each, measures where the speech is, and writes a conversation that `voice replay` "
        "plays. The same command goes on with the prompts that are left.",
    )
    record.add_argument("folder", type=Path, metavar="FOLDER", help="folder to write to")
    record.add_argument(
        "--prompts",
        type=Path,
        default=PROMPTS,
        metavar="FILE",
        help="text file with a prompt on each line (ten requests)",
    )
    record.add_argument("--speaker", metavar="NAME", help="who speaks, for reports (default: the folder's name)")
    record.add_argument("--input", metavar="DEVICE", help="microphone, by number or part of its name")
    record.add_argument("--output", metavar="DEVICE", help="loudspeaker, by number or part of its name")


def _record(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.recording.record import run_record

    return run_record(args)


def _add_devices(top: Parser) -> None:
    add_command(top, "devices", _devices, "list microphones and loudspeakers")


def _devices(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.listing import list_sound

    print("\n".join(list_sound()))
    return 0
