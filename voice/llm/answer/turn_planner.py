"""Plans each answer of a call: by its policy, within the limits of spending, rate limits and unavailable tiers."""

import itertools
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pipecat.processors.aggregators.llm_context import LLMContext

from latency.record.requests import Cap
from voice.errors import ConfigurationError
from voice.language import Language
from voice.language.by_language import TURN_WORDS
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.conversation import follows_tool, last_assistant_text, last_user_text
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Policy, within_rate_limits
from voice.llm.policy.situation import ANY_TURN, Route, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.spending.spending import Spending
from voice.turns.words.short_replies import is_courtesy


class TurnPlanner:
    """Keeps the state shared by a call's turns: their policy, routing and cost.

    Args:
        tiers: names of the tiers.
        policy: decides which tier is asked, spoken and cancelled, and when; see `voice.llm.policy.make_policy`.
        book: the statistics of the tiers' speed; one for all calls of a process.
        language: that of the call.
        irreversible: names of the tools whose effects cannot be undone.
        large: the only tier that may call these tools; None if every tier may.
        spending: the call's spending limits; None for no limit.
        mostly_wrong: a tier whose answers are mostly wrong, and which answers only when the others fail; None for none.
        numbers: the numbers of the call's answers; shared with any other service that answers.

    Raises:
        ConfigurationError: the policy asks a tier that does not exist, or the book lacks one.
    """

    def __init__(
        self,
        tiers: Collection[str],
        policy: Policy,
        *,
        book: TierStatistics,
        language: Language = "en",
        irreversible: Sequence[str] = (),
        large: str | None = None,
        spending: Spending | None = None,
        mostly_wrong: str | None = None,
        numbers: Iterator[int] | None = None,
    ) -> None:
        if unknown := sorted(set(tiers) - set(book.tiers)):
            raise ConfigurationError(f"The book of tiers does not know {unknown[0]}; give its 95th percentile.")
        self._tiers, self._book, self._language = tiers, book, language
        self._irreversible, self._large, self._mostly_wrong = tuple(irreversible), large, mostly_wrong
        self.spending = spending
        self._numbers = itertools.count() if numbers is None else numbers
        self.use(policy)
        self._turn_policy = policy
        self._turn = ANY_TURN
        self._counted: TurnInfo | None = None
        """The last committed turn."""
        self._route = Route()
        self._cap: Cap | None = None
        """The spending cap reached before the current turn."""
        self._forgotten = 0
        self.words: str | None = None
        """The words that the latest answer responds to; "" if it follows a tool."""

    def use(self, policy: Policy) -> None:
        """Follow another policy from the next turn on.

        The answer after a tool call still follows the policy of the turn that called it.

        Raises:
            ConfigurationError: it asks a tier that does not exist.
        """
        if missing := [tier for tier in policy.tiers if tier not in self._tiers]:
            raise ConfigurationError(
                f"The policy {policy.name} asks the tier {missing[0]}, but there is only {', '.join(self._tiers)}."
            )
        self.policy = policy

    def forget(self, turns: int) -> None:
        """Note for the records that so many turns of the call have been dropped from the context."""
        self._forgotten += turns

    @property
    def thinks(self) -> float:
        """The usual seconds from a request to its first clause, of the fastest of the policy's tiers.

        Until that is measured, it is the assumed 95th percentile.
        """
        usual = ((tier, self._book.quantile(tier, 0.5)) for tier in self.policy.tiers)
        return min(self._book.p95(tier) if median is None else median for tier, median in usual)

    @property
    def may_do_harm(self) -> bool:
        """Whether tools may be called whose effects cannot be undone."""
        return bool(self._irreversible)

    @property
    def overridden(self) -> str | None:
        """Why another tier than the policy's answers the next turn: a spending cap, or None."""
        return self.spending.overriding if self.spending else None

    @property
    def forbidden(self) -> dict[str, frozenset[str]]:
        """The tools that a tier may not call, by tier."""
        return {name: frozenset(self._irreversible) for name in self._tiers if self._large not in (None, name)}

    def next_answer(self, context: LLMContext, *, spoken: bool) -> AnswerState:
        """The next answer of the call, before its first request; one after a tool call belongs to the tool's turn.

        Args:
            context: the conversation to answer.
            spoken: whether the call is spoken, and not written.
        """
        after_tool, self.words = follows_tool(context), last_user_text(context)
        if not after_tool:
            self._turn_policy = self.policy
            self._turn = TurnInfo(
                text=self.words,
                asked=last_assistant_text(context),
                irreversible=self._irreversible,
                route=self._route,
                language=self._language,
            )
            self._cap = self.spending.reached() if self.spending else None
        plan = self._plan(time.monotonic())
        if not after_tool and is_courtesy(self.words or "", TURN_WORDS[self._language]):
            plan = replace(plan, bridge=False)
        if after_tool or not spoken or self._language != "en":
            # An opening begins a turn's spoken answer. Its allowed words are known only for English.
            plan = replace(plan, opener=None)
        return AnswerState(
            number=next(self._numbers),
            plan=plan,
            book=self._book,
            turn=self._turn,
            follows_tool=after_tool,
            judged=self._turn_policy.judged,
            cap=self._cap,
            forgotten=self._forgotten or None,
        )

    def _plan(self, now: float) -> Plan:
        plan = self._turn_policy.plan(self._book, self._turn)
        plan = (plan.failing_over(self._mostly_wrong) if self._mostly_wrong else plan).without(self._book.down(now))
        plan = within_rate_limits(plan, self._book.room(now))
        if self.spending and self._cap:
            plan = self.spending.plan(self._cap, self._book, bridge=plan.bridge)
        return replace(plan, escalation=plan.escalation or self._large)

    def commit(self, answer: AnswerState) -> None:
        """Commit the turn of an answer; it is counted once."""
        if answer.turn is not self._counted:
            self._counted = answer.turn
            self._route = self._route.then(answer.plan.route)

    def escalate(self) -> None:
        """The large tier took over the current turn, and also answers after its tools."""
        self._turn = replace(self._turn, escalated=True)
