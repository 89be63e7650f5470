"""Adding commands, their common options, and the types of option values."""

import argparse
from collections.abc import Callable

from latency.command_line import Parser


def add_command(
    top: Parser, name: str, run: Callable[[argparse.Namespace], int], summary: str, details: str = "", **options: str
) -> Parser:
    """Add a command that calls `run`; its `--help` begins with the summary and the details."""
    command = top.add_command(name, summary, details, **options)
    command.set_defaults(run=run)
    return command


def add_pipeline_options(command: Parser) -> None:
    """`--pipeline` and `--set`."""
    command.add_argument("--pipeline", default="auto", metavar="NAME|FILE", help="see `voice pipelines` (auto)")
    add_setting_option(command)


def add_setting_option(command: Parser) -> None:
    """`--set`."""
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="KEY=VALUE",
        help="change a setting, such as turns.fallback_ms=600; may be repeated",
    )


def add_call_options(command: Parser) -> None:
    """`--url` and `--out`."""
    command.add_argument("--url", help="call this server (ws://host:port/ws) instead of starting one")
    command.add_argument("--out", metavar="DIR", help="run folder (default: a new one in runs/)")


def port(text: str) -> int:
    """A port; 0 chooses a free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f'takes a port from 0 to 65535, not "{text}"')
    return int(text)


def seconds(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f'takes a number above 0, not "{text}"')
    return number


def duration(text: str) -> float:
    """A number above 0, or 0 for never."""
    return 0.0 if text == "0" else seconds(text)
