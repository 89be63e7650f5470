"""`voice talk`: a call with a microphone and a loudspeaker in place of a recording."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from latency.cli import show
from latency.command_line import RUNS
from latency.record.run_writer import RunWriter, new_folder
from latency.record.server_turn import ServerTurn
from pipelines.replaying.progress import Progress
from pipelines.replaying.replay import check_server, server_for
from pipelines.replaying.run_folder import check_folder, load_between, run_header, save, writing
from pipelines.talking.keys import single_keys
from pipelines.talking.swap_keys import SwapKeys
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.live_turns import with_live_turns
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.echo_canceller import EchoCanceller, webrtc
from voice.client.sound.sound_card import list_devices
from voice.errors import ComponentError
from voice.wire.messages import ClientMessage
from voice.wire.requests import Reply


def run_talk(args: argparse.Namespace) -> int:
    """Carry out the command; returns its exit status."""
    check_server(args)
    if args.record or args.out:
        check_folder(args.out)
        folder, spoken = asyncio.run(_talk(args, Path(args.out) if args.out else None))
        return show(folder, (), spoken_live=True) if spoken else _nothing()
    # The report is made from the recording, which is kept only with --record or --out.
    with tempfile.TemporaryDirectory(prefix="voice-talk-") as temporary:
        folder, spoken = asyncio.run(_talk(args, Path(temporary) / "call"))
        return show(folder, (), spoken_live=True) if spoken else _nothing()


def _nothing() -> int:
    print("Nothing was said, so there is nothing to report.", file=sys.stderr)
    return 0


HEARS_ITSELF = "The agent hears itself: wear headphones, or leave out --no-echo-cancellation."
HEARS_ITSELF_STILL = "The agent still hears itself: turn the loudspeaker down, move it away, or wear headphones."


def is_own_voice(turn: ServerTurn) -> bool:
    """Whether the agent heard itself in this turn: its voice began it, or was heard during its answer."""
    return turn.ended_by == "own_voice" or any(one.because == "own_words" for one in turn.overlaps or ())


class Transcript(CallListener):
    """Shows the conversation in the terminal as it happens.

    Args:
        console: the terminal.
        cancels: whether the loudspeaker's sound is taken out of the microphone's.
    """

    def __init__(self, console: Console, *, cancels: bool) -> None:
        self.swaps: SwapKeys | None = None
        """The keys that choose another language model; set this before the call."""
        self._console = console
        self._cancels = cancels
        self._told_echo = False
        self._status = console.status("")
        self._noted: object = None

    def on_ready(self) -> None:
        """The call has begun: the agent is listening."""
        echo = "Echo cancellation is on." if self._cancels else "Without echo cancellation you need headphones."
        self._console.print(f"[bold]Speak now; Ctrl-C hangs up.[/] {echo}")
        self._status.update("[dim]listening[/]")
        self._status.start()
        if self.swaps:
            self.swaps.open()

    def note(self, text: str, *, label: str = "keys") -> None:
        """Print a line about the call itself."""
        self._console.print(f"[dim]{label:>5}  {escape(text)}[/]")

    def on_answer(self, asked: ClientMessage, reply: Reply) -> None:
        """The server has carried out a request."""
        if self.swaps:
            self.swaps.answered(asked, reply)

    def on_refusal(self, asked: ClientMessage, reason: str) -> None:
        """The server has refused a request."""
        if self.swaps:
            self.swaps.refused(asked, reason)

    def on_turn(self, turn: ServerTurn) -> None:
        """Print the tier that answered, once the turn is over, and once in a call that the agent hears itself."""
        if is_own_voice(turn) and not self._told_echo:
            self._told_echo = True
            self.note(HEARS_ITSELF_STILL if self._cancels else HEARS_ITSELF, label="echo")
        last = turn.responses[-1] if turn.responses else None
        if last is None or last.tier is None or not (self.swaps and self.swaps.several and turn.final):
            return
        # A turn is reported again after each change, and has several answers if a tool is used.
        noted = (turn.turn, len(turn.responses), last.tier)
        if noted != self._noted:
            self._noted = noted
            self.note(f"{last.tier} answered ({last.policy}: {last.reason})", label="llm")

    def on_partial(self, text: str) -> None:
        """Show the recogniser's words so far."""
        self._status.update(f"[dim]you:[/] {escape(text)}…")

    def on_heard(self, text: str) -> None:
        """Print a final transcript."""
        self._console.print(f"[bold cyan]  you[/]  {escape(text)}")
        self._status.update("[dim]…[/]")

    def on_said(self, text: str) -> None:
        """Print a clause of the agent."""
        self._console.print(f"[bold green]agent[/]  {escape(text)}")
        self._status.update("[dim]listening[/]")

    def on_interruption(self) -> None:
        """The user has interrupted the agent."""
        self._status.update("[dim]listening[/]")

    def on_error(self, text: str) -> None:
        """Print a failure that the server reports."""
        self._console.print(f"[red]error[/]  {escape(text)}")

    def close(self) -> None:
        """The call is over."""
        self._status.stop()
        if self.swaps:
            self.swaps.close()


async def _talk(args: argparse.Namespace, out: Path | None) -> tuple[Path, bool]:
    """Returns the run folder and whether anything was said."""
    console = Console(stderr=True, highlight=False)
    progress = Progress(calls=1)
    # Before the models load: a user without a microphone should not have to wait for the message.
    require_sound()
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
        transcript = Transcript(console, cancels=not args.no_echo_cancellation)
        session = CallSession(server.url, line, listener=transcript)
        swaps = transcript.swaps = SwapKeys(session.send, transcript.note)
        before = server.load()
        calling = asyncio.create_task(session.run())
        for hang_up in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(hang_up, calling.cancel)
        try:
            with single_keys(swaps.press) as swaps.active, contextlib.suppress(asyncio.CancelledError):
                await calling
        finally:
            transcript.close()
        load = load_between(before, server.load(), session.result().seconds)
    result, fixture = with_live_turns(session.result(), name="talk")
    with writing(out or RUNS):
        writer = RunWriter(out or new_folder(RUNS, header), header=header)
        save(result, fixture, "talk", writer, cold=True, load=load)
        writer.finish("complete", load_after=os.getloadavg()[0])
    if args.record or args.out:
        progress.saved(writer.folder)
    if result.closed:
        raise ComponentError(f"The call ended: {result.closed}.")
    return writer.folder, bool(result.placed)


def require_sound() -> None:
    """Check that this machine has a microphone and a loudspeaker.

    Raises:
        ComponentError: PortAudio, a microphone or a loudspeaker is missing.
    """
    devices = list_devices()
    for kind, there in (
        ("microphone", any(d.inputs for d in devices)),
        ("loudspeaker", any(d.outputs for d in devices)),
    ):
        if not there:
            raise ComponentError(f"This machine has no {kind}; connect one, or replay a recording with `voice replay`.")
