"""What happens in a call while it happens, for a live display."""

from collections.abc import Mapping
from typing import Any, Literal

from voice.client.caller.scripted_caller import PlacedTurn
from voice.wire.client_wire import ClientMessage, Incoming, Interruption, Message


class CallListener:
    """Override what is of interest; called on the call's event loop, so return quickly: the audio waits meanwhile."""

    def on_ready(self) -> None:
        """The bot is ready and the recording begins."""

    def on_placed(self, turn: PlacedTurn) -> None:
        """A scripted turn has started to play."""

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        """The server noticed that someone began or stopped to speak."""

    def on_partial(self, text: str) -> None:
        """What the recogniser has heard so far of the turn."""

    def on_heard(self, text: str) -> None:
        """A final transcript of (part of) the turn."""

    def on_said(self, text: str) -> None:
        """The bot speaks this text."""

    def on_interruption(self) -> None:
        """The bot was interrupted; its remaining audio is dropped."""

    def on_turn(self, report: Mapping[str, Any]) -> None:
        """The server's report of a turn, again whenever it changes."""

    def on_error(self, text: str) -> None:
        """The server reports a failure."""

    def on_answer(self, asked: ClientMessage, data: Any) -> None:
        """The server's answer to a message of `CallSession.send_message`."""

    def on_refusal(self, asked: ClientMessage, reason: str) -> None:
        """The server refused a message of `CallSession.send_message`; `reason` is a sentence."""


class LiveEvents:
    """Turns messages into calls of a listener."""

    def __init__(self, listener: CallListener) -> None:
        self._listener = listener
        self._shown: set[object] = set()
        self._has_output = False

    def handle(self, incoming: Incoming) -> None:
        """Tell the listener about a message, if it is of interest."""
        if isinstance(incoming, Interruption):
            self._listener.on_interruption()
        elif isinstance(incoming, Message):
            self._message(incoming)

    def _message(self, message: Message) -> None:
        kind, data = message.type, message.data
        text = data.get("text")
        if kind in ("user-started-speaking", "user-stopped-speaking"):
            self._listener.on_speaking("user", "started" in kind)
        elif kind in ("bot-started-speaking", "bot-stopped-speaking"):
            self._listener.on_speaking("bot", "started" in kind)
        elif kind == "error":
            self._listener.on_error(str(data.get("error") or data.get("message") or data))
        elif not isinstance(text, str) or not text.strip():
            return
        elif kind == "user-transcription":
            self._transcript(text, final=bool(data.get("final")))
        elif kind == "bot-output":
            self._output(text, data)
        elif kind == "bot-tts-text" and not self._has_output:
            self._listener.on_said(text)

    def _transcript(self, text: str, *, final: bool) -> None:
        if final:
            self._listener.on_heard(text)
        else:
            self._listener.on_partial(text)

    def _output(self, text: str, data: Mapping[str, Any]) -> None:
        """Text of the bot comes once as it is about to be spoken and again as it has been; the first one is shown."""
        self._has_output = True
        segment = data.get("segment_id")
        will_be_spoken = data.get("will_be_spoken", data.get("spoken", True))
        if not will_be_spoken or (segment is not None and segment in self._shown):
            return
        self._shown.add(segment)
        self._listener.on_said(text)
