"""`latency measure`: calls an agent in its own protocol and judges it by the recording alone."""

import argparse
import asyncio
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points

from latency.cli import show
from latency.command_line import FINE, did_you_mean
from latency.render.numbers import plural
from pipelines.process import has_consent
from pipelines.replaying.replay import chosen_fixtures, parse_checks, progress_of, record
from pipelines.replaying.run_folder import check_folder
from pipelines.server_process import Server
from voice.client.call.agent_call import PROTOCOLS, AgentCall
from voice.client.fixtures.fixture import Fixture
from voice.errors import ConfigurationError
from voice.redaction import redacted


def run_measure(args: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    thresholds = parse_checks(args.check)
    check_folder(args.out)
    call = protocol(args.protocol)
    # Before anything runs: a wrong address and a missing key are refused.
    probe = call(args.url)
    fixtures = chosen_fixtures(args.fixtures, everything=False)
    if not _is_agreed(probe, fixtures, repeat=args.repeat, agreed=args.yes):
        print("Nothing was measured.")
        return FINE
    status = {
        "pipeline": {"name": "measure"},
        "components": {"agent": f"{redacted(args.url)} ({args.protocol}), judged by the recording alone"},
    }
    args.chaos = None
    progress = progress_of(fixtures, args.repeat)
    servers = [Server(args.url, status)]
    (folder,) = asyncio.run(record(args, fixtures, servers, progress, program="latency", agent=lambda: call(args.url)))
    return show(folder, thresholds, as_json=args.json, refused_is_no_data=True)


def protocol(name: str) -> Callable[[str], AgentCall]:
    """The class of a protocol.

    Raises:
        ConfigurationError: there is none of that name, or it cannot be loaded.
    """
    known = {entry.name: entry for entry in entry_points(group=PROTOCOLS)}
    if name not in known:
        meant = did_you_mean(name, known) or f"; the protocols are {', '.join(sorted(known))}."
        raise ConfigurationError(f'There is no protocol "{name}"{meant}')
    try:
        found: Callable[[str], AgentCall] = known[name].load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"The protocol {name} cannot be loaded: {error}.") from error
    return found


def _is_agreed(call: AgentCall, fixtures: Sequence[Fixture], *, repeat: int, agreed: bool) -> bool:
    """Show the expected price and ask whether the user agrees to it; free calls need no consent."""
    prices = [
        call.cost(
            seconds=sum(end - start for turn in fixture.turns for start, end in turn.speech),
            turns=sum(turn.wants_answer for turn in fixture.turns),
        )
        for fixture in fixtures
    ]
    if prices == [0.0] * len(fixtures):
        return True
    known = [price for price in prices if price is not None]
    price = f"about ${repeat * sum(known):.2f}" if len(known) == len(prices) else "an unknown price"
    print(f"{plural(repeat * len(fixtures), 'call')}, billed by the agent's provider: {price}", flush=True)
    return has_consent("Call?", agreed=agreed)
