"""Writes a call's transcript to a text file, if the pipeline asks for it, and deletes old files."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from loguru import logger
from pipecat.frames.frames import Frame, LLMMessagesAppendFrame
from pipecat.processors.aggregators.llm_context import LLMSpecificMessage, standard_message_text
from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    LLMAssistantAggregator,
    LLMUserAggregator,
    UserTurnMessageAddedMessage,
)

from voice.errors import ConfigurationError
from voice.llm.interruption import BROKEN_OFF

_NAME = re.compile(r"(\d{8}-\d{6})(?:-\d+)?\.txt")
TYPED = " (typed)"
"""The suffix of words that were typed, not spoken."""


def delete_expired(folder: Path, *, days: int, now: datetime) -> None:
    """Delete the transcripts of calls that began more than `days` days ago; other files stay.

    Files that cannot be deleted are logged.

    Args:
        folder: of the transcripts.
        days: how long they are kept.
        now: local time.
    """
    for path in folder.iterdir():
        began = _began(path.name)
        if began is None or began > now - timedelta(days=days):
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning(f"The transcript {path} is too old, and cannot be deleted: {error.strerror}.")


def _began(name: str) -> datetime | None:
    """The beginning of a transcript's call, by the file's name; None for another file."""
    named = _NAME.fullmatch(name)
    if named is None:
        return None
    try:
        return datetime.strptime(named[1], "%Y%m%d-%H%M%S")
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Entry:
    """An utterance: the local time of its end, the speaker, and the words (the agent's only as far as heard)."""

    at: datetime
    who: Literal["caller", "agent"]
    text: str


def with_entry(entries: tuple[Entry, ...], new: Entry) -> tuple[Entry, ...]:
    """The entries with a new one. A caller's words that contain their previous ones replace them: the turn went on.

    The heard part of the answer in between stays before them.
    """
    callers = [index for index, entry in enumerate(entries) if entry.who == "caller"]
    if new.who == "caller" and callers:
        last = callers[-1]
        between = entries[last + 1 :]
        went_on = new.text.startswith(f"{entries[last].text.rstrip('.?!')}") and new.text != entries[last].text
        if went_on and all(entry.text.endswith(BROKEN_OFF) for entry in between):
            return (*entries[:last], *between, new)
    return (*entries, new)


def as_text(entries: tuple[Entry, ...]) -> str:
    """One line for each entry: "11:30:02 caller: what time is it"."""
    return "".join(f"{entry.at:%H:%M:%S} {entry.who}: {entry.text}\n" for entry in entries)


def check_folder(name: str) -> None:
    """Make the folder for transcripts; "~" is the home folder.

    Raises:
        ConfigurationError: it cannot be made or written to.
    """
    folder = Path(name).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / ".writable"
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise ConfigurationError(
            f"call.transcripts: {folder} cannot be written to ({error.strerror}); name another folder."
        ) from error


class Transcript:
    """A call's transcript, rewritten after each utterance, so that none is lost with the process.

    Args:
        folder: its folder, created if missing; the file is named after the call's start.
        days: how long transcripts are kept; older ones are deleted when this one begins. None keeps all.
        clock: returns local time.
    """

    def __init__(self, folder: Path, *, days: int | None = None, clock: Callable[[], datetime] = datetime.now) -> None:
        self._days = days
        self._clock = clock
        self._folder = folder
        self._began = clock()
        self._path: Path | None = None
        self._entries: tuple[Entry, ...] = ()
        self._writing = asyncio.Lock()

    def follow(self, user: LLMUserAggregator, assistant: LLMAssistantAggregator) -> None:
        """Record the words that a call's aggregators add to its conversation."""

        @user.event_handler("on_user_turn_message_added")  # type: ignore[untyped-decorator]
        async def caller(_user: LLMUserAggregator, message: UserTurnMessageAddedMessage) -> None:
            await self.add("caller", message.content or "")

        @user.event_handler("on_user_turn_message_corrected")  # type: ignore[untyped-decorator]
        async def corrected(_user: LLMUserAggregator, message: UserTurnMessageAddedMessage) -> None:
            await self.correct(message.content or "")

        @user.event_handler("on_before_process_frame")  # type: ignore[untyped-decorator]
        async def typed(_user: LLMUserAggregator, frame: Frame) -> None:
            if isinstance(frame, LLMMessagesAppendFrame):
                for text in typed_texts(frame):
                    await self.add("caller", f"{text}{TYPED}")

        @assistant.event_handler("on_assistant_turn_stopped")  # type: ignore[untyped-decorator]
        async def agent(_assistant: LLMAssistantAggregator, message: AssistantTurnStoppedMessage) -> None:
            await self.add("agent", message.content + (BROKEN_OFF if message.interrupted and message.content else ""))

    async def add(self, who: Literal["caller", "agent"], text: str) -> None:
        """Record and write an utterance; a file that cannot be written is logged, and the call goes on."""
        text = " ".join(text.split())
        if not text:
            return
        await self._rewrite(with_entry(self._entries, Entry(self._clock(), who, text)))

    async def correct(self, text: str) -> None:
        """Replace the caller's latest words."""
        text = " ".join(text.split())
        last = max((index for index, entry in enumerate(self._entries) if entry.who == "caller"), default=None)
        if text and last is not None:
            entries = self._entries
            await self._rewrite((*entries[:last], replace(entries[last], text=text), *entries[last + 1 :]))

    async def _rewrite(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        async with self._writing:
            try:
                await asyncio.to_thread(self._write, as_text(self._entries))
            except OSError as error:
                logger.warning(f"The transcript in {self._folder} cannot be written: {error.strerror}.")

    def _write(self, text: str) -> None:
        path = self._path or self._new_path()
        path.write_text(text, encoding="utf-8")

    def _new_path(self) -> Path:
        """A unique name: several calls may begin in the same second."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._days is not None:
            delete_expired(self._folder, days=self._days, now=self._began)
        for number in range(1, 10_000):
            ending = "" if number == 1 else f"-{number}"
            path = self._folder / f"{self._began:%Y%m%d-%H%M%S}{ending}.txt"
            try:
                path.touch(mode=0o600, exist_ok=False)
            except FileExistsError:
                continue
            self._path = path
            return path
        raise FileExistsError(0, "there are too many transcripts of this second")


def typed_texts(frame: LLMMessagesAppendFrame) -> Iterator[str]:
    """Texts that the client sent as the caller's words."""
    for message in frame.messages:
        if not isinstance(message, LLMSpecificMessage) and message.get("role") == "user":
            yield standard_message_text(message) or ""
