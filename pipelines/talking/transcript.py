"""The conversation of a live call in the terminal: permanent lines, and below them the current state."""

import asyncio
from typing import Literal

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from latency.budget import CARD_DRIFT_ALLOWED
from latency.record.marks import Mark
from latency.record.turn import ServerTurn
from pipelines.talking.keys import SwapKeys
from pipelines.talking.lines import AnswerLine, answered_by, turn_line
from pipelines.talking.turns import BadTurns, Latencies
from voice.client.call.listener import CallListener
from voice.client.sound.device_line import DeviceLine
from voice.wire.messages import ClientMessage
from voice.wire.requests import Reply

EVERY = 0.125
"""Seconds between two updates."""
LONG_ENOUGH = 10.0
"""Seconds of sound after which the pace of a sound card is judged."""
METER = " ▁▂▃▄▅▆▇█"
HEARS_ITSELF = "The agent hears itself: wear headphones, or leave out --no-echo-cancellation."
HEARS_ITSELF_STILL = "The agent still hears itself: turn the loudspeaker down, move it away, or wear headphones."


def is_own_voice(turn: ServerTurn) -> bool:
    """Whether the agent heard itself in this turn: its voice began it, or was heard during its answer."""
    return turn.ended_by == "own_voice" or any(one.because == "own_words" for one in turn.overlaps or ())


class Transcript(CallListener):
    """Shows the conversation as it happens; moving lines are left out if the output is not a terminal.

    Args:
        console: the terminal.
        line: the microphone, whose level is shown.
        cancels: whether the loudspeaker's sound is removed from the microphone's.
        keeps: whether the call's recording will be kept.
    """

    def __init__(self, console: Console, line: DeviceLine, *, cancels: bool, keeps: bool = False) -> None:
        self.bad = BadTurns()
        """The turns that the caller marks as bad."""
        self.swaps: SwapKeys | None = None
        """The keys that choose another language model; set this before the call."""
        self.latencies = Latencies(lambda _turn: None)
        """The turns' latencies; set this before the call."""
        self.help = ""
        """The help for the keys; empty without keys."""
        self._console, self._line = console, line
        self._cancels, self._keeps = cancels, keeps
        self._told_echo = self._told_pace = False
        self._now = Text("connecting", "dim")
        self._answer = AnswerLine()
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._noted: object = None
        self._cut_off = -1

    async def follow(self) -> None:
        """Print new facts and keep the moving lines up to date, until cancelled."""
        while True:
            for turn, latency in self.latencies.news():
                self._console.print(Text("       ").append_text(turn_line(turn, latency, room=self._console.width - 7)))
            self._watch_card()
            if self._live:
                self._live.update(self._panel(), refresh=self._live.is_started)
            await asyncio.sleep(EVERY)

    def _watch_card(self) -> None:
        ratio = self._line.pacing.clock_ratio
        if ratio is None or self._told_pace or self._line.pacing.seconds < LONG_ENOUGH:
            return
        if abs(ratio - 1) > CARD_DRIFT_ALLOWED:
            self._told_pace = True
            late = "answers come late" if ratio > 1 else "words are lost"
            pace = f"{100 / ratio:.0f} % of real time"
            self.note(f"the sound card runs at {pace}: {late}; try another one", label="sound")

    def _panel(self) -> Group:
        level = min(len(METER) - 1, round(self._line.level**0.5 * (len(METER) - 1)))
        microphone = Text(" off ", "reverse red") if self._line.muted else Text(f"  {METER[level]}  ", "green")
        figures = self.latencies.summary()
        lines = [self._answer.line()] if self._answer else []
        lines += [microphone + Text("  ") + self._now]
        lines += [Text(f"       {text}", "dim") for text in (figures, self.help) if text]
        return Group(*lines)

    def on_ready(self) -> None:
        """Show that the agent is listening."""
        echo = "Echo cancellation is on." if self._cancels else "Without echo cancellation you need headphones."
        self._console.print(f"[bold]Speak now; Ctrl-C hangs up.[/] {echo}")
        kept = "The call is recorded." if self._keeps else "Nothing is kept, unless you mark a turn as bad."
        self._console.print(f"[dim]{kept}[/]")
        self._show("listening")
        if self._live:
            self._live.start()
        if self.swaps:
            self.swaps.open()

    def note(self, text: str, *, label: str = "keys") -> None:
        """Print a line about the call itself."""
        self._console.print(f"[dim]{label:>5}  {escape(text)}[/]")

    def on_answer(self, asked: ClientMessage, reply: Reply) -> None:
        """Show the result of a request."""
        if self.swaps:
            self.swaps.answered(asked, reply)

    def on_refusal(self, asked: ClientMessage, reason: str) -> None:
        """Show that the server refused a request."""
        if self.swaps:
            self.swaps.refused(asked, reason)

    def on_turn(self, turn: ServerTurn) -> None:
        """Note the latency; at the end of the turn, print its tier and the heard part of an interrupted answer."""
        self.latencies.reported(turn)
        self.bad.reported(turn)
        if is_own_voice(turn) and not self._told_echo:
            self._told_echo = True
            self.note(HEARS_ITSELF_STILL if self._cancels else HEARS_ITSELF, label="echo")
        # The words that were heard come after the interruption.
        is_told = bool(turn.played) or Mark.FIRST_SENT not in turn.marks
        if turn.final and turn.interrupted and is_told and turn.turn > self._cut_off:
            self._cut_off = turn.turn
            heard = f"you heard “{turn.played}” of it" if turn.played else "you heard nothing of it"
            self.note(f"interrupted: {heard}", label="")
        if turn.final and self.swaps and (line := answered_by(turn, several=self.swaps.several)):
            # A turn is reported again after each change, and has several answers if a tool is used.
            noted = (turn.turn, len(turn.responses), turn.responses[-1].tier)
            if noted != self._noted:
                self._noted = noted
                self.note(line, label="llm")

    def on_partial(self, text: str) -> None:
        """Show the recogniser's words so far."""
        self._show(f"you: {text}…")

    def on_heard(self, text: str) -> None:
        """Print a final transcript."""
        self._finish_answer()
        self._console.print(f"[bold cyan]  you[/]  {escape(text)}")
        self._show("…")

    def on_said(self, text: str) -> None:
        """Print a clause of the agent without moving lines; with them, `on_spoken` shows it as it is heard."""
        if not self._live:
            self._console.print(f"[bold green]agent[/]  {escape(text)}")
        self._show("listening")

    def on_spoken(self, segment: object, heard: str, left: str) -> None:
        """Show how much of the answer has been heard."""
        if self._live:
            self._answer.spoken(segment, heard, left)

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        """Print the answer when it is over, because a model may be slow between two clauses."""
        if who == "bot" and not speaking and self._answer.is_heard:
            self._finish_answer()

    def on_interruption(self) -> None:
        """Strike out the rest of an interrupted answer, which will not be played."""
        self._finish_answer()
        self._show("listening")

    def on_lost(self) -> None:
        """The connection broke."""
        self.note("the connection broke; connecting again, the call waits", label="line")

    def on_resumed(self, seconds: float) -> None:
        """Show that the call goes on."""
        self.note(f"connected again after {seconds:.1f} s; the call goes on", label="line")

    def on_card_away(self) -> None:
        """Show that the sound card is gone."""
        self.note("the sound card is gone; plug it in again, the call goes on in silence", label="sound")

    def on_card_back(self, seconds: float) -> None:
        """It is back."""
        self.note(f"there is a sound card again after {seconds:.1f} s", label="sound")

    def on_error(self, text: str) -> None:
        """Print a failure that the server reports."""
        self._console.print(f"[red]error[/]  {escape(text)}")

    def close(self) -> None:
        """End the display."""
        self._finish_answer()
        if self._live:
            self._live.stop()
        if self.swaps:
            self.swaps.close()

    def _finish_answer(self) -> None:
        if self._answer:
            self._console.print(self._answer.line(over=True))
            self._answer = AnswerLine()

    def _show(self, text: str) -> None:
        self._now = Text(text, "dim")
