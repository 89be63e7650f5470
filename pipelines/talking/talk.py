"""`voice talk`: a call by microphone and loudspeaker."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from latency.cli import show
from latency.command_line import FINE, RUNS
from latency.fixtures_command import FOLDER, WHOLE
from latency.record.run_writer import RunWriter, new_folder
from pipelines.replaying.progress import Progress
from pipelines.replaying.replay import check_server, server_for
from pipelines.replaying.run_folder import check_folder, load_between, run_header, save, writing
from pipelines.talking.keys import SwapKeys, TalkKeys
from pipelines.talking.terminal import own_stderr, single_keys
from pipelines.talking.transcript import Transcript
from pipelines.talking.turns import Latencies, latency_of
from voice.client.call.connection import AGENT_ENDED
from voice.client.call.session import CallSession
from voice.client.caller.live_turns import with_live_turns
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.echo_canceller import EchoCanceller, webrtc
from voice.client.sound.sound_card import Device, choose, list_devices
from voice.errors import ComponentError, ConfigurationError
from voice.wire.requests import InterruptRequest


def run_talk(args: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    check_server(args)
    if args.record or args.out:
        check_folder(args.out)
    # The report needs the recording, which is kept only on request.
    with tempfile.TemporaryDirectory(prefix="voice-talk-") as temporary:
        call = asyncio.run(_talk(args, Path(temporary) / "call"))
        if not call.spoken:
            print("Nothing was said, so there is nothing to report.", file=sys.stderr)
            return FINE
        status = show(call.folder, (), spoken_live=True)
    print(call.closing, file=sys.stderr)
    return status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call that is over."""

    folder: Path
    kept: bool
    """Whether the folder is kept."""
    spoken: bool
    """Whether the caller spoke."""
    marked: int
    """Turns that the caller marked as bad."""

    @property
    def closing(self) -> str:
        """The commands for the call, one line each."""
        if not self.kept:
            return "Nothing of this call was kept; `voice talk --record` keeps it."
        lines = [
            f"The call is kept in {self.folder}. To replay it:",
            f"  latency fixtures --all {self.folder}",
            f"  voice replay {self.folder}/{WHOLE}",
        ]
        if self.marked:
            lines += [
                f"To replay the {'turns' if self.marked > 1 else 'turn'} that you marked as bad:",
                f"  latency fixtures {self.folder}",
                f"  voice replay {self.folder}/{FOLDER}",
            ]
        return "\n".join(lines)


async def _talk(args: argparse.Namespace, scratch: Path) -> _Call:
    """Make the call; `scratch` is a folder for a call that is not kept."""
    console = Console(stderr=True, highlight=False)
    keeps = bool(args.record or args.out)
    progress = Progress(calls=1)
    # Before the models load: a user without a microphone should not have to wait for the message.
    require_sound(args.input, args.output)
    if not args.no_echo_cancellation:
        webrtc()
    line = DeviceLine(
        input=args.input,
        output=args.output,
        canceller=None if args.no_echo_cancellation else lambda latency: EchoCanceller(latency=latency),
    )
    async with server_for(args, progress) as server:
        progress.serving(server.status)
        header = run_header(server, ["voice", *sys.argv[1:]])
        transcript = Transcript(console, line, cancels=not args.no_echo_cancellation, keeps=keeps)
        session = CallSession(server.url, line, listener=transcript)
        line.on_away, line.on_back = transcript.on_card_away, transcript.on_card_back
        bad = transcript.bad
        swaps = transcript.swaps = SwapKeys(session.send, transcript.note)
        transcript.latencies = Latencies(lambda turn: latency_of(turn, session.heard_after))
        keys = TalkKeys(
            line,
            say=transcript.note,
            interrupt=lambda: session.send(InterruptRequest()),
            mark=lambda: transcript.note(bad.press(session.seconds), label="bad"),
            others=swaps.press,
            push_to_talk=args.push_to_talk,
        )
        before = server.load()
        # PortAudio and ALSA would write into the display; with -v they may.
        with own_stderr() if console.is_terminal and not args.verbose else contextlib.nullcontext():
            await _converse(session, transcript, swaps, keys, push_to_talk=args.push_to_talk)
        load = load_between(before, server.load(), session.result().seconds)
    result, fixture = with_live_turns(session.result(), name="talk")
    # A marked turn must be kept.
    keeps = keeps or bool(bad.marked)
    out = (Path(args.out) if args.out else None) if keeps else scratch
    with writing(out or RUNS):
        writer = RunWriter(out or new_folder(RUNS, header), header=header)
        save(result, fixture, "talk", writer, cold=True, load=load, marked=bad.marked)
        writer.finish("complete", load_after=os.getloadavg()[0])
    if result.closed == AGENT_ENDED:
        print("The agent ended the call.", file=sys.stderr)
    elif result.closed:
        raise ComponentError(f"The call ended: {result.closed}.")
    return _Call(folder=writer.folder, kept=keeps, spoken=bool(result.placed), marked=len(bad.marked))


async def _converse(
    session: CallSession, transcript: Transcript, swaps: SwapKeys, keys: TalkKeys, *, push_to_talk: bool
) -> None:
    """Hold the call until either side hangs up; signals also hang up."""
    calling = asyncio.create_task(session.run())
    for hang_up in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(hang_up, calling.cancel)
    showing = asyncio.create_task(transcript.follow())
    try:
        with single_keys(keys.press) as swaps.active, contextlib.suppress(asyncio.CancelledError):
            if push_to_talk and not swaps.active:
                raise ConfigurationError("--push-to-talk needs a terminal, where the space bar can be pressed.")
            transcript.help = keys.help if swaps.active else ""
            await calling
    finally:
        calling.cancel()
        showing.cancel()
        await asyncio.gather(calling, showing, return_exceptions=True)
        transcript.close()


def require_sound(input: Device, output: Device) -> None:
    """Check that this machine has a microphone and a loudspeaker, including requested ones.

    Raises:
        ComponentError: PortAudio, a microphone or a loudspeaker is missing.
        ConfigurationError: no device, or more than one, matches a name.
    """
    devices = list_devices()
    for kind, there in (
        ("microphone", any(d.inputs for d in devices)),
        ("loudspeaker", any(d.outputs for d in devices)),
    ):
        if not there:
            raise ComponentError(f"This machine has no {kind}; connect one, or replay a recording with `voice replay`.")
    choose(devices, input, "microphone")
    choose(devices, output, "loudspeaker")
