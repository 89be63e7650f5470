"""The commands that serve: `voice serve` and `simulate`."""

import argparse
import importlib

from latency.command_line import INTERRUPTED, Parser, count, one_of, seed
from pipelines.commands.options import add_command, add_pipeline_options, duration, port, seconds
from pipelines.process import leave, loading_code
from voice.server.limits import DRAIN_WITHIN, IDLE, LONGEST_CALL, MOST_CALLS, MOST_FROM_ONE, RESUME_WITHIN

SIMULATOR = "pipelines.lab.simulator.command"
"""The module of `voice simulate`: a part of the lab, which is loaded only when the command runs."""


def add_servers(top: Parser) -> None:
    """Add them to the command line."""
    _add_serve(top)
    _add_simulate(top)


def _add_serve(top: Parser) -> None:
    serve = add_command(top, "serve", _serve, "serve calls on a WebSocket")
    serve.add_argument("--host", default="127.0.0.1", help="address of this machine to listen on (127.0.0.1)")
    serve.add_argument("--port", type=port, default=8765, help="port; 0 chooses a free one (8765)")
    serve.add_argument(
        "--calls", type=count, default=MOST_CALLS, metavar="N", help=f"the most calls at once ({MOST_CALLS})"
    )
    serve.add_argument(
        "--calls-from-one",
        type=count,
        metavar="N",
        help=f"the most calls at once from one other machine ({MOST_FROM_ONE}; any number behind a proxy)",
    )
    serve.add_argument(
        "--longest-call",
        type=seconds,
        default=LONGEST_CALL / 60,
        metavar="MIN",
        help=f"minutes after which a call is closed ({LONGEST_CALL / 60:g})",
    )
    serve.add_argument(
        "--idle",
        type=duration,
        default=IDLE,
        metavar="S",
        help=f"close a call whose client sends nothing; 0 never ({IDLE:g})",
    )
    serve.add_argument(
        "--drain",
        type=seconds,
        default=DRAIN_WITHIN,
        metavar="S",
        help=f"seconds that calls may take to end after SIGTERM ({DRAIN_WITHIN:g})",
    )
    serve.add_argument(
        "--resume",
        type=duration,
        default=RESUME_WITHIN,
        metavar="S",
        help=f"seconds that a call waits for a client to reconnect; 0 ends it at once ({RESUME_WITHIN:g})",
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
    add_pipeline_options(serve)


def _serve(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.serving.serve import run_serve

    try:
        code = run_serve(args)
    except KeyboardInterrupt:
        code = INTERRUPTED
    leave(code)


def _add_simulate(top: Parser) -> None:
    simulate = add_command(top, "simulate", _simulate, "serve simulated language models on loopback")
    simulate.add_argument("--port", type=port, default=8900, help="port; 0 chooses a free one (8900)")
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
        type=seconds,
        default=3600.0,
        metavar="SECONDS",
        help="how long a Responses socket stays open (3600)",
    )
    simulate.add_argument(
        "--no-fast-header",
        action="store_true",
        help="also serve Anthropic's fast speed without its beta header",
    )
    simulate.add_argument("--answer", metavar="TEXT", help="every model's answer to every request")
    simulate.add_argument("--until-stdin-closes", action="store_true", help=argparse.SUPPRESS)


def _simulate(args: argparse.Namespace) -> int:
    with loading_code():
        command = importlib.import_module(SIMULATOR)
    return int(command.run_simulate(args))
