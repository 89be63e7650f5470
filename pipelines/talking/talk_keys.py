"""The keys of `voice talk`: the microphone's, and those that choose another language model."""

from collections.abc import Callable

from voice.client.sound.device_line import DeviceLine

INTERRUPT = "i"
MARK = "x"
MUTE = "m"
TALK = " "


class TalkKeys:
    """Handles keys while a call is under way.

    Args:
        line: the microphone and the loudspeaker.
        say: shows one line.
        interrupt: makes the agent stop speaking.
        mark: marks the latest turn as a bad one, or takes that back.
        others: handles the other keys.
        push_to_talk: whether the microphone is off until the space bar is pressed, and again after the next press: a
            terminal does not say when a key is released.
    """

    def __init__(
        self,
        line: DeviceLine,
        *,
        say: Callable[[str], None],
        interrupt: Callable[[], object],
        mark: Callable[[], None],
        others: Callable[[str], None],
        push_to_talk: bool = False,
    ) -> None:
        self._line, self._say, self._push_to_talk = line, say, push_to_talk
        self._interrupt, self._mark, self._others = interrupt, mark, others
        line.muted = push_to_talk

    @property
    def help(self) -> str:
        """What the keys do that every call has."""
        microphone = "space talk / stop talking" if self._push_to_talk else f"{MUTE} mute"
        return f"{microphone} · {INTERRUPT} interrupt · {MARK} mark a bad turn"

    def press(self, key: str) -> None:
        """A key was typed."""
        if key.lower() == MUTE or (key == TALK and self._push_to_talk):
            self._line.muted = not self._line.muted
            self._say("the microphone is off" if self._line.muted else "the microphone is on")
        elif key.lower() == INTERRUPT:
            self._interrupt()
        elif key.lower() == MARK:
            self._mark()
        else:
            self._others(key)
