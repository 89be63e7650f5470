"""The `voice` command. It only parses; what a command does is imported when it is called."""

import argparse
import sys
from collections.abc import Callable, Sequence

from latency.command_line import INTERRUPTED, USAGE, Parser, complain, count, one_of, printing, seed
from pipelines.process import leave, loading_code, prepare_process
from voice.errors import ConfigurationError, SaidBefore, VoiceError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 fine, 1 a threshold failed, 2 bad usage or configuration, 3 no data, 4 a component is missing or failed,
        130 interrupted.

    Raises:
        SystemExit: For `--help` and `--version` (0) and for arguments that are refused (2).
    """
    try:
        with printing("voice"):
            args = parser().parse_args(argv)
            if args.command is None:
                parser().print_help(sys.stderr)
                return USAGE
            prepare_process(verbose=args.verbose)
            return int(args.run(args))
    except SaidBefore as error:
        return error.exit_code
    except VoiceError as error:
        complain("voice", str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("voice", "interrupted")
        return INTERRUPTED
    return 0


def parser() -> Parser:
    """The command line."""
    top = Parser(
        prog="voice",
        description="A real-time voice agent whose latency is a contract.",
        epilog="exit status: 0 fine, 1 a check failed, 2 bad usage or configuration, 3 no data, 4 a component is "
        "missing or failed, 130 interrupted",
    )
    top.add_version()

    replay = _command(top, "replay", _replay, "replay recorded conversations and report their latency")
    replay.add_argument("fixtures", nargs="*", metavar="FIXTURE", help="recordings or folders (default: a tour)")
    replay.add_argument("--all", action="store_true", help="replay every conversation in samples/")
    _pipeline_options(replay)
    _call_options(replay)
    # The server at --url has just started: its first turn is a cold one.
    replay.add_argument("--fresh", action="store_true", help=argparse.SUPPRESS)
    replay.add_argument("--repeat", type=count, default=1, metavar="N", help="replay everything N times (1)")
    replay.add_argument(
        "--chaos", type=seed, metavar="SEED", help="break parts as the calls go on; a seed repeats its faults"
    )
    replay.add_argument("--listen", action="store_true", help="play both sides aloud")
    replay.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "turn p95 < 800"; may be repeated',
    )

    load = _command(
        top,
        "load",
        _load,
        "let many callers call at once, and report how they fare",
        "Each caller replays the recordings in real time, one conversation after the other.",
    )
    load.add_argument("fixtures", nargs="*", metavar="FIXTURE", help="recordings or folders (default: a tour)")
    load.add_argument("--callers", type=count, required=True, metavar="N", help="how many call at once")
    load.add_argument(
        "--ramp", type=_duration, default=10.0, metavar="S", help="seconds within which the callers begin (10)"
    )
    load.add_argument(
        "--repeat", type=count, default=1, metavar="N", help="let each caller repeat everything N times (1)"
    )
    _pipeline_options(load)
    _call_options(load)
    load.add_argument("--json", action="store_true", help="print JSON")
    load.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "gaps == 0" or "calls refused == 0"; may be repeated',
    )

    talk = _command(top, "talk", _talk, "talk to the agent by microphone and loudspeaker")
    _pipeline_options(talk)
    _call_options(talk)
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

    _command(top, "devices", _devices, "list microphones and loudspeakers")

    serve = _command(top, "serve", _serve, "serve calls on a WebSocket")
    serve.add_argument("--host", default="127.0.0.1", help="address of this machine to listen on (127.0.0.1)")
    serve.add_argument("--port", type=_port, default=8765, help="0 takes a free one (8765)")
    serve.add_argument("--calls", type=count, default=32, metavar="N", help="the most calls at once (32)")
    serve.add_argument(
        "--calls-from-one",
        type=count,
        metavar="N",
        help="the most calls at once from one other machine (8; any number behind a proxy)",
    )
    serve.add_argument(
        "--longest-call", type=_seconds, default=60.0, metavar="MIN", help="minutes after which a call is closed (60)"
    )
    serve.add_argument(
        "--idle",
        type=_duration,
        default=60.0,
        metavar="S",
        help="close a call whose client sends nothing; 0 never (60)",
    )
    serve.add_argument(
        "--drain",
        type=_seconds,
        default=30.0,
        metavar="S",
        help="seconds that calls may take to end after SIGTERM (30)",
    )
    serve.add_argument(
        "--resume",
        type=_duration,
        default=30.0,
        metavar="S",
        help="seconds for which a call waits for a client whose connection broke; 0 ends it at once (30)",
    )
    serve.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let pages of this origin call, such as https://example.org; may be repeated",
    )
    serve.add_argument("--tls-cert", metavar="FILE", help="certificate in PEM, for callers on other machines")
    serve.add_argument("--tls-key", metavar="FILE", help="its key in PEM")
    serve.add_argument("--behind-proxy", action="store_true", help="a proxy encrypts the calls")
    serve.add_argument("--until-stdin-closes", action="store_true", help=argparse.SUPPRESS)
    _pipeline_options(serve)

    simulate = _command(top, "simulate", _simulate, "serve simulated language models on loopback")
    simulate.add_argument("--port", type=_port, default=8900, help="0 takes a free one (8900)")
    simulate.add_argument(
        "--preset",
        type=one_of("field", "optimistic"),
        default="field",
        metavar="PRESET",
        help="latencies as measured in the field, or optimistic ones: field or optimistic (field)",
    )
    simulate.add_argument(
        "--seed", type=seed, metavar="N", help="draw the same latencies each time (default: different ones)"
    )
    simulate.add_argument(
        "--fault", action="append", default=[], metavar="MODEL=FAULT", help="such as sonnet=silent; may be repeated"
    )
    simulate.add_argument(
        "--socket-life",
        type=_seconds,
        default=3600.0,
        metavar="SECONDS",
        help="how long a Responses socket stays open (3600)",
    )
    simulate.add_argument(
        "--no-fast-header",
        action="store_true",
        help="serve Anthropic's fast speed without its beta header, too",
    )
    simulate.add_argument("--answer", metavar="TEXT", help="what every model says to every request")
    simulate.add_argument("--until-stdin-closes", action="store_true", help=argparse.SUPPRESS)

    _command(top, "pipelines", _pipelines, "list the pipelines and what each still needs")

    models = _command(
        top,
        "models",
        _models,
        "list the models that are here, or download one",
        "`voice models` lists Whisper weights, voices and language models, with size, licence and checksum, without "
        "the network. `voice models pull NAME` downloads a language model that runs in this process, goes on where "
        "an earlier attempt stopped, and verifies it.",
    )
    models.add_argument(
        "action", nargs="?", type=one_of("pull"), metavar="ACTION", help="pull: download the model NAME"
    )
    models.add_argument("name", nargs="?", metavar="NAME", help="a language model that is listed")

    tiers = _command(
        top,
        "tiers",
        _tiers,
        "list the language models that a pipeline can name, with figures and prices",
        "Servers on this machine are asked for their models; nothing is billed.",
    )
    tiers.add_argument("--json", action="store_true", help="print one JSON object")
    tiers.add_argument(
        "--catalog", metavar="FILE", help="your own catalogue (default: the one in ~/.config/turnaround)"
    )

    calibrate = _command(
        top,
        "calibrate",
        _calibrate,
        "find how Whisper decodes fastest here without more wrong words",
        "It takes about a minute with tiny.en or base.en on two cores; the result is kept for these weights on this "
        'machine, and used where asr.context is "measured".',
        epilog="exit status: 0 fine, 2 bad usage or scripted weights, 3 too few words to decide, 4 the weights are "
        "missing or do not run",
    )
    calibrate.add_argument(
        "recordings",
        nargs="*",
        metavar="RECORDING",
        help="scenario files or folders with the words of each recording (default: our samples)",
    )
    _pipeline_options(calibrate)

    check = _command(
        top,
        "check",
        _check,
        "check a pipeline's settings, files, keys and servers",
        "Nothing is downloaded. Each server is asked for its models, and a free one for one token, which may load its "
        "model. A tier with an API key counts as paid.",
        epilog="exit status: 0 fine, 2 a setting is wrong, 4 something is missing or does not answer",
    )
    check.add_argument("pipeline", nargs="?", default="auto", metavar="NAME|FILE", help="see `voice pipelines` (auto)")
    _setting_option(check)
    check.add_argument("--ask", action="store_true", help="ask paid models for one token, too, which is billed")
    return top


def _command(
    top: Parser, name: str, run: Callable[[argparse.Namespace], int], summary: str, details: str = "", **options: str
) -> Parser:
    command = top.add_command(name, summary, details, **options)
    command.set_defaults(run=run)
    return command


def _pipeline_options(command: Parser) -> None:
    command.add_argument("--pipeline", default="auto", metavar="NAME|FILE", help="see `voice pipelines` (auto)")
    _setting_option(command)


def _setting_option(command: Parser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="KEY=VALUE",
        help="change a setting, such as turns.fallback_ms=600; may be repeated",
    )


def _call_options(command: Parser) -> None:
    command.add_argument("--url", help="call this server (ws://host:port/ws) instead of starting one")
    command.add_argument("--out", metavar="DIR", help="run folder (default: a new one in runs/)")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f'takes a port from 0 to 65535, not "{text}"')
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f'takes a number above 0, not "{text}"')
    return number


def _duration(text: str) -> float:
    return 0.0 if text == "0" else _seconds(text)


def _replay(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.replaying.replay import run_replay

    return run_replay(args)


def _load(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.load.command import run_load

    return run_load(args)


def _talk(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.talking.talk import run_talk

    return run_talk(args)


def _devices(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.listing import list_sound

    print("\n".join(list_sound()))
    return 0


def _serve(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.serving.serve import run_serve

    try:
        code = run_serve(args)
    except KeyboardInterrupt:
        code = INTERRUPTED
    leave(code)


def _simulate(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.serving.simulate import run_simulate

    return run_simulate(args)


def _pipelines(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.listing import list_pipelines

    print("\n".join(list_pipelines()))
    return 0


def _models(args: argparse.Namespace) -> int:
    if args.action == "pull" and args.name is None:
        raise ConfigurationError("`voice models pull` takes the name of a model; `voice models` lists them.")
    with loading_code():
        from pipelines.checking.model_files import list_models, pull_model

    if args.action == "pull":
        pull_model(args.name)
    else:
        print("\n".join(list_models()))
    return 0


def _tiers(args: argparse.Namespace) -> int:
    with loading_code():
        from pathlib import Path

        from pipelines.catalog.listing import run_tiers

    return run_tiers(Path(args.catalog) if args.catalog else None, as_json=args.json, sources=args.verbose)


def _calibrate(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.calibrating.command import run_calibrate

    return run_calibrate(args.recordings, args.pipeline, args.overrides)


def _check(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.check import run_check

    return run_check(args.pipeline, args.overrides, ask=args.ask)


if __name__ == "__main__":
    sys.exit(main())
