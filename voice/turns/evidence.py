"""How finished the words before a silence are: Smart Turn is asked beside the call, the words are read."""

import asyncio
from collections.abc import Awaitable, Callable

from pipecat.utils.asyncio.task_manager import BaseTaskManager

from voice.turns.endpointing import Evidence
from voice.turns.models import Judgement, SmartTurn


def unread(_text: str) -> float | None:
    """How finished words read where there is no model of the language."""
    return None


def unknown(_text: str) -> bool | None:
    """Whether words are a whole request to somebody who cannot tell."""
    return None


class Weighing:
    """The evidence of one silence at a time.

    Args:
        smart_turn: the call's end-of-turn detector.
        reads: how finished words read; see `Evidence.read`.
        whole_request: whether words are a whole request to whoever answers; see `Evidence.whole`.
    """

    def __init__(
        self,
        smart_turn: SmartTurn,
        *,
        reads: Callable[[str], float | None],
        whole_request: Callable[[str], bool | None],
    ) -> None:
        self._smart_turn, self._reads, self._whole_request = smart_turn, reads, whole_request
        self._judging: asyncio.Task[None] | None = None
        self.judgement: Judgement | None = None
        """What Smart Turn made of the turn so far; None before it answered, and when it had no opinion."""
        self.judged = False
        """Whether Smart Turn has answered."""
        self._evidence: tuple[str, Evidence] | None = None

    def judge(self, tasks: BaseTaskManager, on_judged: Callable[[], Awaitable[None]]) -> None:
        """Ask Smart Turn about the turn so far, once a silence; returns at once, and calls `on_judged` later."""
        if self._judging is None and not self.judged:
            work = self._await_judgement(on_judged)
            self._judging = tasks.create_task(work, f"{type(self).__name__}#{id(self)}::judge")

    def forget(self) -> None:
        """The silence is over: so is whatever was made of it."""
        task, self._judging = self._judging, None
        self.judgement, self.judged, self._evidence = None, False, None
        if task is not None:
            # Not awaited: whoever ends a turn must not be interrupted half way through that.
            task.cancel()

    def weigh(self, text: str) -> Evidence:
        """What is known by now, if these are the words."""
        if self._evidence is None or self._evidence[0] != text:
            evidence = Evidence(
                sound=self.judgement.probability if self.judgement else None,
                read=self._reads(text),
                whole=self._whole_request(text) if text else None,
            )
            self._evidence = text, evidence
        return self._evidence[1]

    async def _await_judgement(self, on_judged: Callable[[], Awaitable[None]]) -> None:
        judgement = await self._smart_turn.judge()
        # From here on the task may be committing the turn, and must not be cancelled.
        self._judging = None
        self.judgement, self.judged, self._evidence = judgement, True, None
        await on_judged()
