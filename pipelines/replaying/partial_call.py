"""Saves a call under way in the run folder, so that a killed replay loses no finished turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from latency.record.run_writer import RunWriter
from pipelines.replaying.call_records import session_record, turn_records
from pipelines.replaying.run_folder import writing
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import Fixture


class PartialCallWriter:
    """Writes the finished turns of one call, with the recording so far, whenever the next turn begins.

    Args:
        session: the call.
        fixture: the recordings played in it.
        name: the session's name in the run.
        writer: writes the run folder.
        cold: whether the server had no call before.
    """

    def __init__(self, session: CallSession, fixture: Fixture, name: str, writer: RunWriter, *, cold: bool) -> None:
        self._session, self._fixture, self._name = session, fixture, name
        self._writer, self._cold = writer, cold
        self._writing: list[asyncio.Task[None]] = []
        self._one_by_one = asyncio.Lock()

    def placed(self, turn: PlacedTurn) -> None:
        """Start a turn; the ones before it are over."""
        if turn.index:
            self._writing.append(asyncio.create_task(self._write()))

    @asynccontextmanager
    async def during(self) -> AsyncIterator[None]:
        """The context of the call, which ends when everything is written.

        Raises:
            ComponentError: the disk is full, or the folder has gone.
        """
        try:
            yield
        finally:
            done = await asyncio.gather(*self._writing, return_exceptions=True)
        for error in done:
            if isinstance(error, BaseException):
                raise error

    async def _write(self) -> None:
        result = self._session.result()
        turns = turn_records(result, self._fixture, self._name, cold=self._cold)
        wav = self._writer.wav_of(self._name)
        session = session_record(result, self._fixture, name=self._name, wav=wav, cold=self._cold)
        async with self._one_by_one:
            with writing(self._writer.folder):
                # Writing must not delay the audio.
                await asyncio.to_thread(lambda: self._writer.keep(session, turns, result.stereo()))
