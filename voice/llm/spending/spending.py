"""Follows a call's cost; once a cap is reached, the cheapest tier answers from the next turn on."""

import logging
from dataclasses import replace

from latency.record.requests import Cap
from voice.frames import RequestsFrame
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Single
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.spending.day_spending import DaySpending
from voice.llm.spending.ledger import CallLedger, Caps

CAPPED = "capped"
"""The policy's name in the record of a turn after a cap."""
log = logging.getLogger(__name__)


class Spending:
    """The spending of one call.

    Args:
        caps: the spending limits.
        cheapest: the tier that answers when a cap is reached.
        is_cheaper: whether the policy would otherwise also ask more expensive tiers.
        day: the day's spending; None without a cap on it.
    """

    def __init__(self, caps: Caps, *, cheapest: str, is_cheaper: bool, day: DaySpending | None) -> None:
        self._caps, self._cheapest, self._is_cheaper, self._day = caps, cheapest, is_cheaper, day
        self._call = CallLedger()
        self._said: set[str] = set()

    def note(self, frame: RequestsFrame) -> None:
        """Note the cost so far of the requests for an answer."""
        if frame.answer.response is None:
            return
        new = self._call.note(frame.answer.response, sum(attempt.usd or 0.0 for attempt in frame.attempts))
        if self._day is not None and new:
            self._day.add(new)
        for attempt in frame.attempts:
            if attempt.usd is None:
                self._say_once(f"the cost of a request to {attempt.tier} is not known, so no cap counts it")

    def reached(self) -> Cap | None:
        """The cap reached before the turn that begins now; logged once."""
        cap = self._reached
        if cap is not None:
            self._say_once(f"{self._why(cap)}: from this turn on {self._cheapest} alone answers{self._remark}")
        return cap

    @property
    def overriding(self) -> str | None:
        """One clause on the tier that answers because of a cap; None while none is reached."""
        cap = self._reached
        return None if cap is None else f"{self._why(cap)}, so {self._cheapest} alone answers{self._remark}"

    @property
    def _reached(self) -> Cap | None:
        return self._caps.reached(call=self._call.usd, day=self._day.usd if self._day else 0.0)

    def plan(self, cap: Cap, book: TierStatistics, *, bridge: bool) -> Plan:
        """The plan of a turn after a cap was reached."""
        alone = Single(tier=self._cheapest, bridge=bridge).plan(book)
        return replace(alone, policy=CAPPED, reason=f"{self._why(cap)}{self._remark}")

    def _why(self, cap: Cap) -> str:
        return f"the {cap}'s cap of ${self._caps.limit(cap):g} is reached"

    @property
    def _remark(self) -> str:
        return "" if self._is_cheaper else ", and no tier is cheaper"

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            log.warning("%s", text)
