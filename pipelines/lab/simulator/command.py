"""`voice simulate`: a language model server on loopback with the latencies and faults of real servers."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence

from latency.command_line import folded
from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import MODEL_PREFIX, Simulator
from pipelines.lab.simulator.timetable import Fault, parse_fault
from voice.errors import ConfigurationError
from voice.server.listening import stdin_closed


def parse_faults(settings: Sequence[str]) -> dict[str, Fault]:
    """Parse the faults of models from texts such as "sonnet=silent".

    Raises:
        ConfigurationError: a text does not have this form, or names an unknown fault.
    """
    faults = {}
    for setting in settings:
        model, equals, fault = setting.rpartition("=")
        if not equals or not model:
            raise ConfigurationError(
                f"--fault takes MODEL=FAULT, such as sonnet=silent, not {setting}; the faults are {', '.join(Fault)}."
            )
        faults[model] = parse_fault(fault)
    return faults


def run_simulate(args: argparse.Namespace) -> int:
    """`voice simulate`."""
    if not args.until_stdin_closes:
        # Requests are logged for a user, especially cancelled ones; a parent process writes its own report.
        logging.getLogger("pipelines.lab.simulator").setLevel(logging.INFO)
    simulator = Simulator(
        preset=args.preset,
        seed=args.seed,
        faults=parse_faults(args.fault),
        socket_life=args.socket_life,
        answer=args.answer,
        fast_needs_header=not args.no_fast_header,
    )
    asyncio.run(_serve(simulator, args))
    return 0


async def _serve(simulator: Simulator, args: argparse.Namespace) -> None:
    """Announce the addresses, the preset and the models, and serve until SIGINT or SIGTERM.

    A child process also stops when its standard input closes, so that it never outlives its parent.
    """
    async with serving(simulator, port=args.port) as endpoint:
        print(f"Listening on {endpoint.base_url} (Chat Completions)")
        print(f"         and {endpoint.ws_url} (Responses)")
        print(f"         and {endpoint.root_url} (Messages)")
        print(f"Preset {simulator.preset}, seed {simulator.seed}; simulated; time to first token, p50/p95 in ms:")
        for profile in {profile.name: profile for profile in simulator.profiles.values()}.values():
            times = f"{profile.p50 * 1000:.0f}/{profile.p95 * 1000:.0f}"
            print(folded(profile.stands_for, first=f"  {MODEL_PREFIX + profile.name:31}{times:>10}  ", indent=45))
        sys.stdout.flush()
        if not args.until_stdin_closes:
            await endpoint.stopped
            return
        watching = asyncio.create_task(stdin_closed())
        await asyncio.wait({endpoint.stopped, watching}, return_when=asyncio.FIRST_COMPLETED)
        watching.cancel()
