"""The command lines of `latency analyse` and `latency measure`; what does the work is imported when it is needed."""

from collections.abc import Sequence
from pathlib import Path

from latency.command_line import Parser, count, one_of
from pipelines.process import prepare_process, run

STATUSES = "0 fine, 1 a check failed, 2 bad usage or configuration, 3 no data"


def analyse(argv: Sequence[str]) -> int:
    """Judge recordings of calls with any agent.

    Returns:
        0 fine, 1 a check failed, 2 bad usage or a recording that cannot be judged, 3 no data, 4 the run cannot be
        written, 130 interrupted.

    Raises:
        SystemExit: For `--help` (0) and for invalid arguments (2).
    """
    parser = Parser(
        prog="latency analyse",
        description="Judge recordings of calls with any agent, the caller on one channel and the agent on the other, "
        "by the rules of `voice replay`. They become a run that `latency report` prints again.",
        epilog=f"exit status: {STATUSES}, 4 the run cannot be written, 130 interrupted",
    )
    parser.add_argument("calls", nargs="+", type=Path, metavar="CALL", help="stereo recordings: WAV, FLAC, MP3, ...")
    parser.add_argument(
        "--caller",
        type=one_of("left", "right"),
        default="left",
        metavar="SIDE",
        help="the caller's channel: left, right (left)",
    )
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="the caller's true speech, in lines of start, end and label, as in Audacity (otherwise it is measured)",
    )
    _add_run_options(parser)
    args = parser.parse_args(argv)

    def work() -> int:
        prepare_process(verbose=args.verbose)
        from pipelines.measuring.analyse import run_analyse

        return run_analyse(args)

    return run(work)


def measure(argv: Sequence[str]) -> int:
    """Call any agent with recordings and judge its latency by what is heard.

    Returns:
        0 fine, 1 a check failed, 2 bad usage or configuration, 3 no data, 4 the agent is missing or failed, 130
        interrupted.

    Raises:
        SystemExit: For `--help` (0) and for invalid arguments (2).
    """
    parser = Parser(
        prog="latency measure",
        description="Call any agent with recorded conversations in real time, as `voice replay` calls ours, and judge "
        "it by the recording of the call alone.",
        epilog=f"exit status: {STATUSES}, 4 the agent is missing or failed, 130 interrupted",
    )
    parser.add_argument("url", metavar="URL", help="the agent's WebSocket, ws:// or wss://")
    parser.add_argument("fixtures", nargs="*", metavar="FIXTURE", help="recordings or folders (default: a tour)")
    parser.add_argument(
        "--protocol",
        default="pipecat",
        metavar="NAME",
        help="the agent's protocol: pipecat (protobuf and RTVI), twilio (Media Streams), realtime (OpenAI's), or one "
        "that a package adds (pipecat)",
    )
    parser.add_argument("--repeat", type=count, default=1, metavar="N", help="call with everything N times (1)")
    parser.add_argument("--listen", action="store_true", help="play both sides aloud")
    parser.add_argument("--yes", action="store_true", help="do not ask for consent to the price")
    _add_run_options(parser)
    args = parser.parse_args(argv)

    def work() -> int:
        prepare_process(verbose=args.verbose)
        from pipelines.measuring.measure import run_measure

        return run_measure(args)

    return run(work)


def _add_run_options(parser: Parser) -> None:
    parser.add_argument("--out", metavar="DIR", help="run folder (default: a new one in runs/)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "turn p95 < 800"; may be repeated',
    )
