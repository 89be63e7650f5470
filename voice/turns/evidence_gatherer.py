"""Gathers the evidence of one silence: from the words, and in the background from Smart Turn and the reader."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pipecat.utils.asyncio.task_manager import BaseTaskManager

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords
from voice.turns.evidence import Evidence
from voice.turns.smart_turn import SmartTurn, SmartTurnVerdict
from voice.turns.words.agent_question import Asked, asked, last_sentence
from voice.turns.words.end_reader import EndReader
from voice.turns.words.short_replies import answering

_WORD = re.compile(r"[a-z'äöüß]+|\d")
FADE_COUNTS = 0.35
"""Seconds for which Smart Turn's verdict on a fade counts; the words arrive sooner."""
SENTENCE_MARKS = ".?!… "


def symbols_at_end(text: str, language: TurnWords = ENGLISH) -> int:
    """The number of digits and letters, said one by one, at the end of `text`; each digit of a written figure counts.

    Args:
        text: the words.
        language: those of the spoken language.
    """
    words = _WORD.findall(language.as_in.sub(r"\1", text.lower()))
    count = 0
    for word in reversed(words):
        if word in language.digits or len(word) == 1:
            count += 1
        elif not language.in_numbers.fullmatch(word):
            break
    return count


class EvidenceGatherer:
    """The evidence of one silence at a time.

    Args:
        smart_turn: the call's end-of-turn detector.
        reads: how finished words read (see `Evidence.read`); None without a trigram model of the language.
        reader: a language model that judges the same (see `Evidence.ends`); None without one.
        whole_request: whether words are a whole request for the agent (see `Evidence.whole`); None if it cannot tell.
        language: the words of the spoken language.
    """

    def __init__(
        self,
        smart_turn: SmartTurn,
        *,
        reads: Callable[[str], float | None] | None,
        whole_request: Callable[[str], bool | None] | None,
        reader: EndReader | None = None,
        language: TurnWords = ENGLISH,
    ) -> None:
        self._smart_turn, self._reads, self._whole_request = smart_turn, reads, whole_request
        self._reader, self._language = reader, language
        self._said = ""
        self._ends: dict[str, float | None] = {}
        """The reader's answers on this turn's words so far."""
        self._reading: asyncio.Task[None] | None = None
        self._read_text: str | None = None
        """The words that the reader is reading."""
        self._judging: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._faded: SmartTurnVerdict | None = None
        self._faded_at = 0.0
        self.verdict: SmartTurnVerdict | None = None
        """Smart Turn's verdict on the turn so far; None before it comes, and when Smart Turn gives none."""
        self.judged = False
        """Whether Smart Turn has answered."""
        self.asked: Asked | None = None
        """The kind of answer that the agent's last audible words asked for."""
        self.committed = ""
        """The words at which the turn was wrongly committed, before the caller went on; empty if it was not."""
        self._evidence: tuple[str, float | None, Evidence] | None = None

    def agent_said(self, text: str) -> None:
        """The agent's last audible words, to which the caller may be replying."""
        self.asked = asked(text, self._language)
        self._said = last_sentence(text)
        if self._reader:
            self._reader.prepare(self._said)

    def read(self, text: str, tasks: BaseTaskManager, on_read: Callable[[], Awaitable[None]]) -> None:
        """Have the reader read new words, in place of earlier ones; returns at once and calls `on_read` later."""
        if self._reader is None or not text or text in self._ends or text == self._read_text:
            return
        self._stop_reading()
        self._read_text = text
        work = self._await_reading(self._reader, text, on_read)
        self._reading = tasks.create_task(work, f"{type(self).__name__}#{id(self)}::read")

    def awaits_reading(self, text: str) -> bool:
        """Whether the reader will soon answer for these words."""
        return text == self._read_text

    def judge(self, tasks: BaseTaskManager, on_judged: Callable[[], Awaitable[None]]) -> None:
        """Have Smart Turn judge the turn so far, once per silence; returns at once and calls `on_judged` later."""
        if self._judging is None and not self.judged:
            work = self._await_verdict(on_judged)
            self._judging = tasks.create_task(work, f"{type(self).__name__}#{id(self)}::judge")

    def forget(self) -> None:
        """Forget the evidence: the silence has ended."""
        self.stop_listening()
        self._stop_reading()
        self._ends.clear()
        task, self._judging = self._judging, None
        self.verdict, self.judged, self._evidence = None, False, None
        if task is not None:
            # Not awaited, so that the end of a turn is not interrupted halfway.
            task.cancel()

    def weigh(self, text: str, spoken: float | None) -> Evidence:
        """The evidence so far for a turn with the words `text` that has lasted `spoken` seconds."""
        if self._evidence is None or self._evidence[:2] != (text, spoken):
            evidence = Evidence(
                sound=self.verdict.probability if self.verdict else None,
                ends=self._ends.get(text),
                read=self._reads(text) if self._reads else None,
                spoken=spoken,
                whole=self._whole(text),
                lead_in=answering(text, self.asked, self._language),
                asked=self.asked,
                symbols=symbols_at_end(text, self._language),
            )
            self._evidence = text, spoken, evidence
        return self._evidence[2]

    def _whole(self, text: str) -> bool | None:
        """Whether the words, or only those after the wrong commit, are a whole request."""
        if not self._whole_request or not text:
            return None
        before = self.committed.rstrip(SENTENCE_MARKS)
        added = text[len(before) :].lstrip(SENTENCE_MARKS) if before and text.startswith(before) else ""
        return bool(added and self._whole_request(added)) or self._whole_request(text)

    def listen(self, tasks: BaseTaskManager, spoken: float, on_heard: Callable[[], Awaitable[None]]) -> None:
        """Have Smart Turn judge the turn as if it ended at this fade of the voice; calls `on_heard` later.

        Args:
            tasks: of the call.
            spoken: seconds that the turn has lasted.
            on_heard: called when Smart Turn has answered.
        """
        self.stop_listening()
        self._faded_at = spoken
        self._listening = tasks.create_task(self._listen(on_heard), f"{type(self).__name__}#{id(self)}::listen")

    def stop_listening(self) -> None:
        """Forget the latest fade: the voice has risen since."""
        task, self._listening, self._faded = self._listening, None, None
        if task is not None:
            task.cancel()

    def foresee(self, text: str, spoken: float) -> Evidence:
        """The evidence if `text` were all of the turn's words, with Smart Turn's verdict on its latest fade."""
        sound = self.verdict or (self._faded if spoken - self._faded_at < FADE_COUNTS else None)
        return replace(self.weigh(text, spoken), sound=sound.probability if sound else None)

    async def _await_verdict(self, on_judged: Callable[[], Awaitable[None]]) -> None:
        verdict = await self._smart_turn.judge()
        # From here on, the task may commit the turn and must not be cancelled.
        self._judging = None
        self.verdict, self.judged, self._evidence = verdict, True, None
        await on_judged()

    async def _await_reading(self, reader: EndReader, text: str, on_read: Callable[[], Awaitable[None]]) -> None:
        ends = await reader.probability(text, said=self._said)
        # From here on, the task may commit the turn and must not be cancelled.
        self._reading = self._read_text = None
        self._ends[text], self._evidence = ends, None
        await on_read()

    def _stop_reading(self) -> None:
        task, self._reading, self._read_text = self._reading, None, None
        if task is not None:
            task.cancel()

    async def _listen(self, on_heard: Callable[[], Awaitable[None]]) -> None:
        self._faded = await self._smart_turn.judge()
        self._listening = None
        await on_heard()
