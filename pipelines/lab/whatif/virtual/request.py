"""One request on a virtual clock: the simulator's own timetable of it, applied to the state that a real request has."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from latency.record.requests import Tokens
from pipelines.lab.whatif.virtual.wording import Wording
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy.situation import RequestState
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

    Only the streaming differs from an `LLMRequest`: the tokens of a text are counted, not parsed again for each
    request.

    Args:
        state: the request as it was made.
        wording: what it answers.
        timetable: the simulator's actions for it, with times after the request.
        prompt_tokens: tokens of its prompt.
    """

    def __init__(
        self, state: RequestState, *, wording: Wording, timetable: Iterator[Action], prompt_tokens: int = 0
    ) -> None:
        super().__init__(state)
        self._wording, self._prompt = wording, prompt_tokens
        self._sent: list[tuple[float, int]] = []
        self._coming = self._progress(timetable)
        self.upcoming = next(self._coming, None)
        """What it brings next; None when nothing more will come."""

    def deliver(self, now: float) -> None:
        """Apply everything that has arrived by `now`."""
        state = self.state
        while state.drafted is None and state.running and (event := self.upcoming) and event.at <= now:
            self.upcoming = next(self._coming, None)
            if event.failed is not None:
                self.fail(event.failed, event.at)
                continue
            if state.first_token is None:
                state.first_token = event.at
            for clause in self._wording.clauses[state.clauses : state.clauses + event.clauses]:
                self.streamed.add_clause(clause.text, event.at)
            if event.ends:
                self.complete(event.at)

    @property
    def _tokens(self) -> Tokens:
        """Those that the server had sent when it ended; all that are known of while it runs."""
        state = self.state
        refused = state.failed is not None and state.first_token is None
        end = float("inf") if state.end is None else state.end
        position = bisect_right(self._sent, end, key=lambda sent: sent[0])
        sent = self._sent[position - 1][1] if position else 0
        return Tokens(prompt=0 if refused else self._prompt, completion=sent, estimated=False)

    def _progress(self, timetable: Iterator[Action]) -> Iterator[Progress]:
        sent, given, at = 0, 0, self.state.request
        for action in timetable:
            at = self.state.request + action.at
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
