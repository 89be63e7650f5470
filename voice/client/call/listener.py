"""Callbacks about a call while it is under way, for a live display."""

from typing import Literal

from latency.record.turn import ServerTurn
from voice.client.caller.scripted_caller import PlacedTurn
from voice.wire.framing import Incoming, Interruption
from voice.wire.messages import BotOutput, ClientMessage, ServerFailure, Speaking, SpokenText, Transcription
from voice.wire.requests import Reply


class CallListener:
    """Override the callbacks of interest. They run on the call's event loop and must return quickly: audio waits."""

    def on_ready(self) -> None:
        """The bot is ready and the recording begins."""

    def on_placed(self, turn: PlacedTurn) -> None:
        """A scripted turn has started to play."""

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        """The server detected that someone started or stopped speaking."""

    def on_partial(self, text: str) -> None:
        """The recogniser's words of the turn so far."""

    def on_heard(self, text: str) -> None:
        """A final transcript of (part of) the turn."""

    def on_said(self, text: str) -> None:
        """The bot speaks this text."""

    def on_spoken(self, segment: object, heard: str, left: str) -> None:
        """The progress of a piece of the bot's words: `heard` has been played, `left` not yet.

        Called first when the words are known, and then as they are played; for servers that do not report progress,
        once, as if all had been played.
        """

    def on_interruption(self) -> None:
        """The bot was interrupted; its remaining audio is dropped."""

    def on_turn(self, turn: ServerTurn) -> None:
        """The server's report of a turn, repeated after each change."""

    def on_lost(self) -> None:
        """The connection broke, and is being restored."""

    def on_resumed(self, seconds: float) -> None:
        """The connection has been restored after so many seconds; the call goes on."""

    def on_error(self, text: str) -> None:
        """The server reports a failure."""

    def on_answer(self, asked: ClientMessage, reply: Reply) -> None:
        """The server's answer to a request from `CallSession.send`."""

    def on_refusal(self, asked: ClientMessage, reason: str) -> None:
        """The server refused a request from `CallSession.send`; `reason` is a sentence."""


class LiveEvents:
    """Calls a listener back about messages."""

    def __init__(self, listener: CallListener) -> None:
        self._listener = listener
        self._shown: set[object] = set()
        self._has_output = False

    def handle(self, incoming: Incoming) -> None:
        """Call the listener back about a message, if it is of interest."""
        match incoming:
            case Interruption():
                self._listener.on_interruption()
            case Speaking():
                self._listener.on_speaking(incoming.who, incoming.started)
            case Transcription(final=True):
                self._listener.on_heard(incoming.text)
            case Transcription():
                self._listener.on_partial(incoming.text)
            case BotOutput():
                self._output(incoming)
            case SpokenText() if not self._has_output:
                self._listener.on_said(incoming.text)
                self._listener.on_spoken(object(), incoming.text, "")
            case ServerFailure():
                self._listener.on_error(incoming.reason)
            case _:
                pass

    def _output(self, output: BotOutput) -> None:
        """The bot's text comes before it is spoken and again afterwards; only the first is shown."""
        self._has_output = True
        is_known = output.segment is not None and output.segment in self._shown
        if output.will_be_spoken and not is_known:
            self._shown.add(output.segment)
            self._listener.on_said(output.text)
        if output.will_be_spoken and output.left is not None:
            self._listener.on_spoken(output.segment, output.heard, output.left)
        elif output.will_be_spoken and not is_known:
            self._listener.on_spoken(object(), output.text, "")
