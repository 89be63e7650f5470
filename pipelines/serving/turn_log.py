"""What the server knows of each turn: instants and texts, collected in order. Pure: times are passed in.

A turn opens when the user starts to speak and holds everything up to the next one. Times are seconds on the server's
monotonic clock; the names are those of `latency.record.marks`.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from pipelines.serving.server_turn import ServerTurn, Stalls, first_spoken
from voice.turns.turn_frames import TurnEndFrame


class TurnLog:
    """The turns of one call. Every method takes the instant; those that return a turn want it reported.

    Args:
        tier: name of what answers, for attempts that nobody else records.
        models: the model of each tier.
        synthesised: told how many seconds the first clause of an answer took to its first sample.
        stalls: what is known of the event loop's stalls.
        speculates: answers are begun ahead of commits.
    """

    def __init__(
        self,
        *,
        tier: str,
        models: Mapping[str, str] | None = None,
        synthesised: Callable[[float], None] = lambda _seconds: None,
        stalls: Stalls | None = None,
        speculates: bool = False,
    ) -> None:
        self.tier = tier
        self._speculates = speculates
        self.models = models or {}
        self._synthesised = synthesised
        self._stalls = stalls
        self._finished = -math.inf
        self._answered: dict[int, ServerTurn] = {}
        self.turn: ServerTurn | None = None
        self._count = 0

    def user_started(self, now: float) -> ServerTurn | None:
        """A user turn opens; the one before it is over (interrupted when the bot was still at it)."""
        before = self.turn if self.turn and not self.turn.final else None
        if before:
            before.interrupted = "llm_request" in before.marks
            before.final = True
            self._finished = now
        if self.turn:
            self.turn.until = self._finished
        self.turn = ServerTurn(
            self._count, tier=self.tier, models=self.models, stalls=self._stalls, since=self._finished
        )
        if self._speculates:
            self.turn.speculation = {
                "hints": 0, "started": 0, "discarded": 0, "used": False, "request": None, "spoken_ahead": False
            }  # fmt: skip
        self._count += 1
        return before

    def mark_last(self, name: str, now: float) -> None:
        """Note an instant whose last occurrence before the commit counts (`vad_stop`, `transcript_final`)."""
        if self.turn and "turn_commit" not in self.turn.marks:
            self.turn.marks[name] = now

    def mark_first(self, name: str, now: float) -> None:
        """Note an instant whose first occurrence counts."""
        if self.turn and not self.turn.final:
            self.turn.marks.setdefault(name, now)

    def heard(self, text: str, now: float) -> None:
        """A final transcript of (part of) the turn."""
        if self.turn and "turn_commit" not in self.turn.marks:
            self.turn.heard.append(text)
            self.turn.marks["transcript_final"] = now

    def hinted(self, now: float) -> None:
        """A short silence hinted that speech may have ended."""
        self.mark_last("eager_hint", now)
        if self.turn and self.turn.speculation and "turn_commit" not in self.turn.marks:
            self.turn.speculation["hints"] += 1

    def asked_ahead(self, now: float) -> None:
        """The turn went to the language model before it was over."""
        if self.turn:
            self.turn.ahead_since = now

    def withdrawn(self) -> None:
        """What the language model was asked ahead is not wanted."""
        if self.turn:
            self.turn.ahead_since = None
            if self.turn.speculation:
                self.turn.speculation["spoken_ahead"] = False

    def committed(self, now: float) -> None:
        """The turn is over; what was asked ahead and not withdrawn is its answer."""
        turn = self.turn
        self.mark_last("turn_commit", now)
        if turn and turn.ahead_since is not None:
            self.requested(now)
            turn.marks["llm_request"] = turn.ahead_since
            if turn.speculation:
                turn.speculation |= {"used": True, "request": turn.ahead_since}
            turn.ahead_since = None

    def spoken_ahead(self) -> None:
        """The first clause of an answer that is held back went to synthesis."""
        if self.turn and self.turn.speculation:
            self.turn.speculation["spoken_ahead"] = True

    def requested(self, now: float) -> None:
        """The turn went to the language model, and goes again with what a tool returned.

        pipecat announces the commit right behind the first request.
        """
        self.mark_last("turn_commit", now)
        if self.turn:
            self.turn.marks.setdefault("llm_request", now)
            # Words that came before the tool ("Let me see.") may have been spoken to their end.
            self.turn.final = False
            self.turn.awaits_context = True

    def asked(self, number: int, response: Mapping[str, Any]) -> ServerTurn | None:
        """What became of the requests for an answer so far; belongs to the turn in which it was first told.

        Args:
            number: of the answer in this call.
            response: the fields of an `AttemptsFrame`.
        """
        turn = self._answered.get(number, self.turn)
        if turn is None:
            return None
        if response["final"]:
            self._answered.pop(number, None)
        else:
            self._answered[number] = turn
        turn.responses[number] = response
        spoken = next(filter(None, map(first_spoken, turn.responses.values())), None)
        if spoken is None:
            # One that was chosen ahead of the turn's end has been withdrawn since.
            turn.marks.pop("llm_first_token", None)
            turn.marks.pop("clause_ready", None)
        elif spoken["first_token"] is not None:
            # Its text was there before it was chosen.
            turn.marks["llm_first_token"] = spoken["first_token"]
        if spoken and spoken["first_clause"] is not None:
            turn.marks["clause_ready"] = spoken["first_clause"]
        return turn

    def ended(self, end: TurnEndFrame) -> ServerTurn | None:
        """What decided that the turn is over; comes right behind its commit."""
        turn = self.turn
        if turn is None:
            return None
        turn.ended_by, turn.failed = end.ended_by, end.failed
        if end.probability is not None and end.inference is not None:
            turn.smart_turn = {"probability": round(end.probability, 4), "ms": round(end.inference * 1000, 1)}
            if end.finished is not None:
                turn.smart_turn["finished"] = round(end.finished, 4)
            if end.silence is not None:
                turn.smart_turn["silence_ms"] = round(end.silence * 1000)
        if turn.speculation:
            turn.speculation |= {"started": end.speculated, "discarded": end.discarded}
        return turn

    def llm_failed(self, reason: str, now: float) -> ServerTurn | None:
        """The language model gave no answer, or not all of it; an apology follows."""
        turn = self.turn
        if not turn or "llm_request" not in turn.marks:
            return None
        turn.failed = reason
        turn.llm_end = now
        turn.apologises = "llm_first_token" not in turn.marks
        return turn

    def llm_ended(self, now: float) -> None:
        """The language model's answer is complete; the last one, when it called tools before."""
        if self.turn and "llm_request" in self.turn.marks:
            self.turn.llm_end = now

    def bridged(self, context: str | None, text: str, now: float) -> None:
        """A phrase that is no answer was handed to TTS."""
        turn = self.turn
        if turn and context is not None and "llm_first_clause" not in turn.marks:
            turn.opening.append(text)
            turn.opening_contexts.add(context)
            self.mark_first("clause_to_tts", now)

    def clause(self, context: str | None, text: str, now: float) -> None:
        """A clause was handed to TTS.

        Only the first context after a request is the answer: speech of another one (a timer) is nobody's turn.
        """
        turn = self.turn
        if not turn or context is None:
            return
        if turn.awaits_context and context not in turn.contexts:
            turn.contexts.add(context)
            turn.awaits_context = False
            self.mark_first("clause_to_tts", now)
            if not turn.apologises:
                self.mark_first("llm_first_clause", now)
        if context in turn.contexts:
            turn.said.append(text)

    def audio(self, context: str | None, seconds: float, now: float) -> None:
        """TTS produced so many seconds of samples for a context."""
        turn = self.turn
        if turn and context in turn.opening_contexts:
            turn.opening_seconds += seconds
            self.mark_first("tts_first_sample", now)
        elif turn and context in turn.contexts:
            self.mark_first("tts_first_sample", now)
            if not turn.answer_sampled and not turn.opening and "llm_first_clause" in turn.marks:
                self._synthesised(now - turn.marks["llm_first_clause"])
            turn.answer_sampled = True

    def sent(self, now: float) -> ServerTurn | None:
        """The first audio of an utterance is about to be written to the socket."""
        turn = self.turn
        if turn and "tts_first_sample" in turn.marks and "first_sent" not in turn.marks:
            turn.marks["first_sent"] = now
            return turn
        return None

    def bot_stopped(self, now: float) -> ServerTurn | None:
        """The bot's utterance was sent in full, or was interrupted."""
        turn = self.turn
        if turn and "first_sent" in turn.marks and not turn.final and not turn.awaits_answer:
            turn.final = True
            self._finished = now
            return turn
        return None
