"""The responder: one object per call, which turns what the user said into what to say and do.

Pure but for the tools it is given: time and chance come in, timers to start and stop go out.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from voice.llm.responder import smalltalk, timers
from voice.llm.responder.skill import Answer, Request, State, Timer
from voice.llm.responder.tools import Tool, ToolBox, ToolCall
from voice.llm.responder.understanding import Grammar, Match, grammar, last_grammar, parses
from voice.llm.responder.utterance import normalise

FALLBACK = "no language model"
"""Intent of answers to what no skill and no tool understands."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Parameters:
        text: complete sentences; empty while `call` is still to be run.
        intent: name of the skill, `FALLBACK`, "tool" or "unheard".
        complete: the text was a whole request; see `understanding.parses`.
        timer: a timer to start.
        cancelled: timers to stop.
        ends_call: the user has said goodbye.
        call: the tool whose result is the answer.
    """

    text: str
    intent: str
    complete: bool
    timer: Timer | None = None
    cancelled: tuple[Timer, ...] = ()
    ends_call: bool = False
    call: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A reply that has not been given yet, and the state that follows once it is."""

    reply: Reply
    state: State


class Responder:
    """Answers one call.

    Args:
        tools: functions called by their names when no skill knows an answer; see `tools.ToolBox`.
        rng: source of chance (coins, dice, jokes); seed it for repeatable answers.

    Raises:
        ConfigurationError: a tool cannot be called by name.
    """

    def __init__(self, *, tools: Sequence[Tool] = (), rng: random.Random | None = None) -> None:
        self._tools = ToolBox(tools)
        self._rng = rng or random.Random()
        self._state = State()
        self._grammar, self._last_grammar = grammar(), last_grammar()

    @property
    def state(self) -> State:
        """What is remembered and running."""
        return self._state

    def reply(self, text: str, now: datetime) -> Reply:
        """Answer `text`, run the tool it asks for, and remember what follows.

        Args:
            text: what the user said; any spelling a recogniser uses.
            now: local time; only differences and the calendar are used.

        Raises:
            ConfigurationError: it asks for an asynchronous tool.
        """
        proposal = self.propose(text, now)
        if proposal.reply.call is not None:
            proposal = with_result(proposal, proposal.reply.call.run())
        return self.accept(proposal)

    def propose(self, text: str, now: datetime) -> Proposal:
        """What the reply would be; changes nothing and runs no tool (`reply.call` names it)."""
        heard = normalise(text)
        if not heard.strip():
            return Proposal(Reply(smalltalk.UNHEARD, "unheard", complete=False), self._state)
        found = self._answer(self._grammar, heard, now)
        if found is None:
            call = self._tools.find(text)
            if call is not None:
                reply = Reply("", "tool", complete=True, call=call)
                return Proposal(reply, self._settled)
            found = self._answer(self._last_grammar, heard, now)
        if found is None:
            first = self._state.refusals == 0
            state = self._settled.but(refusals=self._state.refusals + 1)
            reply = Reply(smalltalk.FIRST_REFUSAL if first else smalltalk.REFUSAL, FALLBACK, complete=False)
            return Proposal(reply, state.but(last_answer=reply.text))
        match, answer = found
        state = self._settled if answer.state is None else answer.state
        reply = Reply(
            answer.text,
            match.skill.intent,
            complete=match.whole or parses(text),
            timer=answer.timer,
            cancelled=answer.cancelled,
            ends_call=answer.ends_call,
        )
        return Proposal(reply, state.but(last_answer=answer.text))

    def greeting(self) -> Proposal:
        """What to say when the call asks for words before the user has spoken."""
        reply = Reply(smalltalk.GREETING, "hello", complete=False)
        return Proposal(reply, self._settled.but(last_answer=reply.text))

    def accept(self, proposal: Proposal) -> Reply:
        """Make a proposal of this responder's current state the reply: from now on, what it says has happened."""
        self._state = proposal.state
        return proposal.reply

    def finish(self, timer: Timer) -> str | None:
        """A timer has run out: what to announce, or None if it was cancelled meanwhile."""
        if timer not in self._state.timers:
            return None
        text = timers.announcement(timer)
        self._state = timers.without(self._state, (timer,)).but(last_answer=text)
        return text

    @property
    def _settled(self) -> State:
        """The state without what the last answer asked for: whatever is said next settles that."""
        return self._state.but(awaiting=None)

    def _answer(self, among: Grammar, heard: str, now: datetime) -> tuple[Match, Answer] | None:
        for match in among.matches(heard, self._state.awaiting):
            answer = match.skill.answer(Request(match.slots, self._settled, now, self._rng))
            if answer is not None:
                return match, answer
        return None


def with_result(proposal: Proposal, text: str) -> Proposal:
    """The proposal with its tool's result as the text."""
    return Proposal(replace(proposal.reply, text=text), proposal.state.but(last_answer=text))
