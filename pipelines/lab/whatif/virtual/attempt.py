"""One request on a virtual clock: the simulator's own timetable of it, applied to the state that a real request has."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from latency.record.requests import RequestRecord, Tokens
from pipelines.lab.whatif.virtual.wording import Wording
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.streamed.clause_queue import ends_sentence
from voice.simulator.timing.timetable import Action, Failure, ResetConnection, SendText


@dataclass(frozen=True, slots=True)
class Progress:
    """What a request brings at an instant: its first token, whole clauses, or its end."""

    at: float
    clauses: int = 0
    ends: bool = False
    failed: str | None = None


class VirtualRequest(LLMRequest):
    """A request whose answer comes from a timetable instead of a socket.

    What is ready, how it ended and what the statistics learn from it are `LLMRequest`'s; only the streaming differs:
    the tokens of a text are counted, not parsed again for each request.

    Args:
        number: position among the turn's attempts.
        tier: the tier that is asked.
        request: when the request is made, seconds on the virtual clock.
        wording: what it answers.
        timetable: the simulator's actions for it, with times after the request.
        continues: the attempt whose unfinished answer it continues.
        heard: how many clauses of that attempt the request contained.
        prompt_tokens: tokens of its prompt.
        opens: it asks for an opening only.
        follows: the attempt whose opening the request contained.
        candidate: its number among the candidates for one answer.
        verifies: the attempt whose draft it is asked to verify.
        reviewed: whether it is a draft, which is verified.
    """

    def __init__(
        self,
        *,
        number: int,
        tier: str,
        request: float,
        wording: Wording,
        timetable: Iterator[Action],
        continues: int | None = None,
        heard: int = 0,
        prompt_tokens: int = 0,
        opens: bool = False,
        follows: int | None = None,
        candidate: int | None = None,
        verifies: int | None = None,
        reviewed: bool = False,
    ) -> None:
        super().__init__(
            number=number, tier=tier, request=request, continues=continues, heard=heard, opens=opens, follows=follows,
            candidate=candidate, verifies=verifies, reviewed=reviewed,
        )  # fmt: skip
        self._wording, self._prompt = wording, prompt_tokens
        self._sent: list[tuple[float, int]] = []
        self._coming = self._progress(timetable)
        self.upcoming = next(self._coming, None)
        """What it brings next; None when nothing more will come."""

    def deliver(self, now: float) -> None:
        """Apply everything that has arrived by `now`."""
        while self.drafted is None and self.outcome is None and (event := self.upcoming) and event.at <= now:
            self.upcoming = next(self._coming, None)
            if event.failed is not None:
                self.fail(event.failed, event.at)
                continue
            if self.first_token is None:
                self.first_token = event.at
            self.clauses += event.clauses
            if event.clauses and self.first_clause is None:
                self.first_clause = event.at
            if event.ends:
                self.complete(event.at)

    def clauses_from(self, position: int) -> list[str]:
        """The texts of its clauses that may be spoken, from a position on; see `LLMRequest.take`."""
        texts = [clause.text for clause in self._wording.clauses[: self.clauses]]
        until = len(texts)
        if self.reviewed and self.outcome is None:
            until = next((at for at in range(1, len(texts)) if ends_sentence(texts[at - 1])), until)
        return texts[position:until]

    @property
    def text(self) -> str:
        """The clauses that have arrived."""
        return " ".join(clause.text for clause in self._wording.clauses[: self.clauses])

    def record(self, *, response: int) -> RequestRecord:
        """As a real request's, with the tokens that the server had sent when it ended."""
        record = super().record(response=response)
        refused = self.failed is not None and self.first_token is None
        spent = 0 if refused else self._prompt
        return replace(record, tokens=Tokens(prompt=spent, completion=self._tokens_sent(), estimated=False))

    def _tokens_sent(self) -> int:
        """Tokens that had been sent when it ended; all that are known of while it runs."""
        end = float("inf") if self.end is None else self.end
        position = bisect_right(self._sent, end, key=lambda sent: sent[0])
        return self._sent[position - 1][1] if position else 0

    def _progress(self, timetable: Iterator[Action]) -> Iterator[Progress]:
        sent, given, at = 0, 0, self.request
        for action in timetable:
            at = self.request + action.at
            match action:
                case Failure(status=status):
                    yield Progress(at, failed=f"HTTP {status}")
                    return
                case ResetConnection():
                    yield Progress(at, failed="the connection was reset")
                    return
                case SendText():
                    sent += action.tokens
                    self._sent.append((at, sent))
                    whole = sum(clause.until <= sent for clause in self._wording.clauses)
                    if whole > given or len(self._sent) == 1:
                        yield Progress(at, clauses=whole - given)
                    given = whole
                case _:
                    # A server that hangs, or sends only signs of life, brings nothing any more.
                    return
        yield Progress(at, clauses=len(self._wording.clauses) - given, ends=True)
