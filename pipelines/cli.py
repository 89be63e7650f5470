"""The `voice` command. It only parses; what a command does is imported when it is called."""

import argparse
import atexit
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from pipelines.threads import limit_threads
from voice.errors import SaidBefore, VoiceError

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 fine, 1 a threshold failed, 2 bad usage or configuration, 3 no data, 4 a component is missing or failed,
        130 interrupted.
    """
    try:
        args = parser().parse_args(argv)
        prepare_process(verbose=args.verbose)
        return int(args.run(args))
    except SaidBefore as error:
        return error.exit_code
    except VoiceError as error:
        print(f"voice: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="voice", description="A real-time voice agent whose latency is a contract.")
    top.add_argument("-v", "--verbose", action="store_true", help="log what happens to standard error")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    replay = _command(commands, "replay", _replay, "replay recorded conversations and report their latency")
    replay.add_argument("fixtures", nargs="*", metavar="FIXTURE", help="recordings or folders (default: a tour)")
    replay.add_argument("--all", action="store_true", help="every conversation in samples/")
    _pipeline_options(replay)
    replay.add_argument("--url", help="call this server (ws://host:port/ws) instead of starting one")
    replay.add_argument("--out", metavar="DIR", help="run folder (default: a new one in runs/)")
    replay.add_argument("--repeat", type=_positive, default=1, metavar="N", help="replay everything N times")
    replay.add_argument("--listen", action="store_true", help="play both sides aloud")
    replay.add_argument("--check", action="append", default=[], metavar="EXPR", help='such as "turn p95 < 800"')

    talk = _command(commands, "talk", _talk, "talk to the agent by microphone (headphones, please)")
    _pipeline_options(talk)
    talk.add_argument("--url", help="call this server instead of starting one")
    talk.add_argument("--input", metavar="DEVICE", help="microphone, by number or part of its name")
    talk.add_argument("--output", metavar="DEVICE", help="loudspeaker, by number or part of its name")
    talk.add_argument("--record", action="store_true", help="keep the call's audio in the run folder")
    talk.add_argument("--out", metavar="DIR", help="run folder (default: a new one in runs/)")

    _command(commands, "devices", _devices, "list microphones and loudspeakers")

    serve = _command(commands, "serve", _serve, "serve calls on a WebSocket")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=_port, default=8765, help="0 takes a free one")
    serve.add_argument("--until-stdin-closes", action="store_true", help=argparse.SUPPRESS)
    _pipeline_options(serve)

    simulate = _command(commands, "simulate", _simulate, "serve simulated language models on loopback")
    simulate.add_argument("--port", type=_port, default=8900, help="0 takes a free one (8900)")
    simulate.add_argument("--preset", choices=("field", "optimistic"), default="field", help="whose latencies (field)")
    simulate.add_argument("--seed", type=int, metavar="N", help="repeat the same latencies (default: by chance)")
    simulate.add_argument(
        "--fault", action="append", default=[], metavar="MODEL=FAULT", help="such as sonnet=silent; may be repeated"
    )
    simulate.add_argument(
        "--socket-life", type=_seconds, default=3600.0, metavar="SECONDS", help="of a Responses socket (3600)"
    )
    simulate.add_argument("--answer", metavar="TEXT", help="what every model says, whatever it is asked")
    simulate.add_argument("--until-stdin-closes", action="store_true", help=argparse.SUPPRESS)

    _command(commands, "pipelines", _pipelines, "list the pipelines and what each still needs")
    return top


def prepare_process(*, verbose: bool) -> None:
    """Settings that must be in place before the heavy imports: thread counts and logging."""
    limit_threads()
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.WARNING,
        stream=sys.stderr,
        format="%(levelname)s %(name)s: %(message)s",
    )
    # pipecat logs through loguru, which would print debug lines and a banner.
    from loguru import logger

    logger.remove()
    log_pipecat(level="DEBUG" if verbose else "WARNING")


def log_pipecat(*, level: str) -> None:
    """Show what pipecat logs from `level` on, on standard error."""
    from loguru import logger

    def is_news(record: Any) -> bool:
        # The failure of a tier's request is told by the turn, with what came of it.
        tier = sys.modules.get("voice.llm.answer.tier")
        return level == "DEBUG" or tier is None or not tier.is_in_request()

    logger.add(sys.stderr, level=level, format="{level} {name}: {message}", filter=is_news)


@contextmanager
def loading_code() -> Iterator[None]:
    """While libraries are imported: Ctrl-C ends the process at once, and no garbage is looked for.

    Where Ctrl-C is an exception, an extension module that is being initialised makes an ImportError of it. Libraries
    stay for good: walking them again and again as they come takes a tenth of the start, and later 0.1 s at a time.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    command.set_defaults(run=run)
    return command


def _pipeline_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--pipeline", default="auto", metavar="NAME|FILE", help="see `voice pipelines` (auto)")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="KEY=VALUE",
        help="such as turns.fallback_ms=600",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a count of 1 or more')
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f'"{text}" is not a port from 0 to 65535')
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of seconds above 0')
    return number


def _replay(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.replaying.replay import run_replay

    return run_replay(args)


def _talk(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.talking.talk import run_talk

    return run_talk(args)


def _devices(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.listing import list_sound

    print("\n".join(list_sound()))
    return 0


def _serve(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.serving.serve import run_serve

    try:
        code = run_serve(args)
    except KeyboardInterrupt:
        code = INTERRUPTED
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process, in which everything has been closed; what was registered to run at its end runs.

    Python would first wait for every thread: 2 s of a busy machine for a Whisper pass whose text nobody wants any more.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _simulate(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.serving.simulate import run_simulate

    return run_simulate(args)


def _pipelines(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.listing import list_pipelines

    print("\n".join(list_pipelines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
