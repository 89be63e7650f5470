"""The responder: one object per call that decides what to say and do in response to the user.

Pure except for the tools it calls: the time is passed in; timers to start and stop are returned.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from voice.language.english.transcripts import normalise
from voice.llm.tools.tool import Tool
from voice.responder.matching import Match, is_whole_request, matches
from voice.responder.skills import courtesies, timers
from voice.responder.skills.skill import Request, SkillAnswer
from voice.responder.state import State, Timer
from voice.responder.tools import ToolBox, ToolCall

NOT_UNDERSTOOD = "no language model"
"""Intent of the answer when no skill and no tool understands the user."""
RESUMED_WITHIN = timedelta(seconds=6)
"""The longest time between two parts of one request, split by a pause for breath."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Parameters:
        text: complete sentences; empty until `call` has run.
        intent: intent of the skill, `NOT_UNDERSTOOD`, "tool" or "unheard".
        complete: the user's text was a whole request; see `matching.is_whole_request`.
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
    """A reply that has not been given yet, and the state after it.

    Parameters:
        reply: what to say and do.
        state: the state after the reply.
        text: the user's text; two texts joined if the user went on after a pause.
        before: the state in which `text` was answered.
        at: when it was proposed, local time.
    """

    reply: Reply
    state: State
    text: str
    before: State
    at: datetime


class Responder:
    """Answers one call.

    Args:
        tools: functions that are called by name when no skill has an answer; see `tools.ToolBox`.
        is_alone: whether nothing else answers, so that it also admits what it does not know or understand.

    Raises:
        ConfigurationError: a tool cannot be called by name.
    """

    def __init__(self, *, tools: Sequence[Tool] = (), is_alone: bool = True) -> None:
        self._is_alone = is_alone
        self._tools = ToolBox(tools)
        self._state = State()
        self._last: Proposal | None = None
        self._cut_short = False
        self._taken_back: Proposal | None = None

    @property
    def state(self) -> State:
        """The current state of the call."""
        return self._state

    def reply(self, text: str, now: datetime) -> Reply:
        """Answer `text`, run the tool that it asks for, and update the state, where no event loop runs.

        Args:
            text: what the user said, in any recogniser's spelling.
            now: local time; only differences and the calendar are used.
        """
        proposal = self.propose(text, now)
        if proposal.reply.call is not None:
            proposal = with_result(proposal, asyncio.run(proposal.reply.call.run()))
        return self.accept(proposal)

    def propose(self, text: str, now: datetime) -> Proposal:
        """The reply to `text`, without changing the state or running a tool (`reply.call` names the tool).

        If `text` means nothing by itself, but completes the text whose answer it interrupted ("what is", then "seven
        times eight"), both are answered together, as if the first had not been answered. The same holds for a `text`
        that contains the previous one (see `goes_on`).
        """
        if self._taken_back is not None and _rest(text, self._taken_back.text) is not None:
            return self._propose_again(text, self._taken_back, now)
        proposal = self._propose(text, self._state, now)
        last = self._last
        if proposal.reply.intent != NOT_UNDERSTOOD or last is None:
            return proposal
        if not self._cut_short or now - last.at > RESUMED_WITHIN:
            return proposal
        if last.reply.timer or last.reply.cancelled or last.reply.call:
            # An effect outside the conversation cannot be undone.
            return proposal
        whole = self._propose(f"{last.text} {text}", last.before, now)
        return proposal if whole.reply.intent == NOT_UNDERSTOOD else whole

    def interrupted(self) -> None:
        """The user interrupted the last answer, so the next text may be the rest of the same request."""
        self._cut_short = True

    def goes_on(self, text: str) -> None:
        """The user continues `text`, which was answered too early: the next text contains it, and answers both."""
        if self._last is not None and self._last.text.split() == text.split():
            self._taken_back = self._last

    def _propose_again(self, text: str, last: Proposal, now: datetime) -> Proposal:
        """The reply to a text that continues the last one, as if that had not been answered.

        A timer of the last answer is stopped if the whole text asks for the same kind of thing. A tool's effects stay:
        the same call is not repeated, and its result is the answer. The continuation is answered by itself if it is a
        whole request ("stop").
        """
        whole, rest = self._propose(text, last.before, now), _rest(text, last.text)
        if rest and is_whole_request(rest):
            # The turn may go on once more, and its text is then this one and more.
            return replace(self._propose(rest, self._state, now), text=text)
        outside = last.reply.timer or last.reply.cancelled or last.reply.call
        if whole.reply.call is not None and whole.reply.call == last.reply.call:
            return with_result(replace(whole, reply=replace(whole.reply, call=None)), last.reply.text)
        if outside and whole.reply.intent != last.reply.intent:
            # Another request follows, or none that is understood: the effects of the first one stay.
            return self._propose(rest or text, self._state, now)
        if last.reply.timer is None:
            return whole
        cancelled = (*whole.reply.cancelled, last.reply.timer)
        return replace(whole, reply=replace(whole.reply, cancelled=cancelled))

    def _propose(self, text: str, before: State, now: datetime) -> Proposal:
        settled = before.but(awaiting=None)

        def proposal(reply: Reply, after: State) -> Proposal:
            return Proposal(reply, after, text, before, now)

        heard = normalise(text)
        if not heard.strip():
            return proposal(Reply(courtesies.NOT_CAUGHT, "unheard", complete=False), before)
        found = _answer(heard, before, now)
        if found is None:
            call = self._tools.find(text)
            if call is not None:
                return proposal(Reply("", "tool", complete=True, call=call), settled)
            if not self._is_alone:
                return proposal(Reply("", NOT_UNDERSTOOD, complete=False), settled)
            found = _answer(heard, before, now, last=True)
        if found is None:
            refusal = courtesies.NEEDS_A_MODEL if before.refusals else courtesies.FIRST_REFUSAL
            after = settled.but(refusals=before.refusals + 1, last_answer=refusal)
            return proposal(Reply(refusal, NOT_UNDERSTOOD, complete=False), after)
        match, answer = found
        reply = Reply(
            answer.text,
            match.skill.intent,
            complete=match.whole or is_whole_request(text),
            timer=answer.timer,
            cancelled=answer.cancelled,
            ends_call=answer.ends_call,
        )
        after = settled if answer.state is None else answer.state
        return proposal(reply, after.but(last_answer=answer.text))

    def greeting(self, now: datetime) -> Proposal:
        """The reply when an answer is wanted before the user has spoken."""
        reply = Reply(courtesies.GREETING, "hello", complete=False)
        after = self._state.but(awaiting=None, last_answer=reply.text)
        return Proposal(reply, after, "", self._state, now)

    def accept(self, proposal: Proposal) -> Reply:
        """Give the proposed reply: its state becomes the current one. The proposal must be for the current state."""
        self._state, self._last, self._cut_short = proposal.state, proposal, False
        self._taken_back = None
        return proposal.reply

    def finish(self, timer: Timer) -> str | None:
        """Remove a timer that has run out; returns the announcement, or None if the timer was cancelled."""
        if timer not in self._state.timers:
            return None
        text = timers.announcement(timer)
        self._state = timers.without(self._state, (timer,)).but(last_answer=text)
        return text


def _answer(heard: str, state: State, now: datetime, *, last: bool = False) -> tuple[Match, SkillAnswer] | None:
    """The answer of the first skill with one, among those tried last or among all others."""
    for match in matches(heard, state.awaiting):
        if match.skill.last == last:
            answer = match.skill.answer(Request(match.slots, state.but(awaiting=None), now))
            if answer is not None:
                return match, answer
    return None


def _rest(text: str, beginning: str) -> str | None:
    """The words of `text` after those of `beginning`; None if it begins differently."""
    words, first = text.split(), beginning.split()
    return " ".join(words[len(first) :]) if words[: len(first)] == first else None


def with_result(proposal: Proposal, text: str) -> Proposal:
    """The proposal with `text`, its tool's result, as the reply."""
    return replace(proposal, reply=replace(proposal.reply, text=text), state=proposal.state.but(last_answer=text))
