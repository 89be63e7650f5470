"""Requests to language models, their answers and their cost, as a server reports them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from latency.budget import Limit, Stage
from latency.record.marks import Count, Instant, Number

USUAL_SPEEDS = frozenset({"standard", "standard_only", "default", "auto", "on_demand"})
"""Providers' names for the default speed."""
_RENAMED = {"priority": "fast"}
"""OpenAI's guide: the service tier "fast" was once named "priority", and some models still report that name."""


def same_name(speed: str) -> str:
    """One name for a speed that has two."""
    return _RENAMED.get(speed, speed)


def is_fast(speed: str | None) -> bool:
    """Whether it is the provider's fast speed, by either name."""
    return speed is not None and same_name(speed) == "fast"


def is_same(speed: str, other: str) -> bool:
    """Whether two names mean the same speed."""
    return same_name(speed) == same_name(other) or {speed, other} <= USUAL_SPEEDS


RequestOutcome = Literal[
    "spoken", "called", "cancelled", "failed", "silent", "withdrawn", "opened", "rejected", "verdict"
]
"""The outcome of a request: its text was spoken; only its tools were run; another request was used, or the user spoke;
it failed; it ended without text; its speculative answer was discarded ("withdrawn"); its words were said as the
answer's opening ("opened"), or were not allowed in an opening ("rejected"); it gave the requested verdict on another
request's draft."""

SHORTENED = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "refusal"}
)
"""Reasons why a provider ended an answer before its model did, in the words of OpenAI's and Anthropic's interfaces."""


# A struct instead of a dataclass, because a key in JSON is "in", which is a reserved word in Python.
class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a request; None where unknown."""

    prompt: Count | None = msgspec.field(name="in", default=None)
    completion: Count | None = msgspec.field(name="out", default=None)
    cached: Count | None = None
    """Tokens of the request that the provider had cached, included in `prompt`; None if not reported."""
    cache_written: Count | None = None
    """Tokens of the request that the provider wrote to its cache, included in `prompt`; None if not reported."""
    estimated: bool = False
    """Whether the counts are estimates, because the provider reported no usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """A request; None is unknown, or has not happened."""

    response: Count | None = None
    """The number of its answer in the call; None for a language model without a budget."""
    model: str | None = None
    tier: str | None = None
    request: Instant | None = None
    alive: Instant | None = None
    """The first sign of life from its server."""
    first_token: Instant | None = None
    first_clause: Instant | None = None
    """When its first speakable clause was complete."""
    introduction: Number | None = None
    """Seconds that this clause lasts, less the synthesis of the rest, if it is an introduction ("Sure,") spoken before
    the rest was known."""
    continued: Instant | None = None
    """When the clause after such an introduction was complete."""
    end: Instant | None = None
    outcome: RequestOutcome | None = None
    """None while it runs."""
    failed: str | None = None
    """Why it failed, in one sentence."""
    opens: bool = False
    """Whether it asked for an opening only, and is no answer."""
    verifies: Count | None = None
    """The position, among the answer's attempts, of the one whose draft it verifies; it is no answer either."""
    continues: Count | None = None
    """The position, among the answer's attempts, of the one whose unfinished text it continues."""
    calls: tuple[str, ...] = ()
    """Names of the tools that the model asked for."""
    tokens: Tokens | None = None
    speed: str | None = None
    """The requested speed, such as "fast" or a service tier; None for the provider's usual one."""
    served: str | None = None
    """The speed that the provider reports and bills; None if not reported."""
    slowed: str | None = None
    """Why the speed differs from the tier's settings, as one clause, only at the change."""
    finish: str | None = None
    """The provider's reason for the end of its text, such as "stop" or "length"."""
    queued: Number | None = None
    """Seconds that the request waited before its prompt was read, by the provider's report."""
    simulated: bool = False
    """Whether the provider reports a simulated answer, whatever the model's name."""
    usd: Number | None = None
    """Its cost, in US dollars, at the price of the served speed; None without a price."""

    @property
    def sooner(self) -> float | None:
        """Seconds by which its introduction was ready before the rest of the clause; None without such a beginning."""
        if self.introduction is None or self.first_clause is None or self.continued is None:
            return None
        return self.continued - self.first_clause

    @property
    def ran_dry(self) -> bool:
        """Whether the rest came too late to follow its introduction, and the pause after it, at once."""
        return self.sooner is not None and self.introduction is not None and self.sooner > self.introduction

    @property
    def is_answer(self) -> bool:
        """Whether it asked for an answer, not for an opening or a verdict."""
        return not self.opens and self.verifies is None

    @property
    def is_shortened(self) -> bool:
        """Whether the provider ended its text before the model did, by a limit or a filter."""
        return self.finish in SHORTENED

    @property
    def is_usd_estimated(self) -> bool:
        """Whether its cost is an estimate: the provider did not report the tokens or the served speed."""
        unknown_speed = self.speed is not None and self.served is None
        return bool(self.usd) and (unknown_speed or (self.tokens is not None and self.tokens.estimated))

    @property
    def is_served_otherwise(self) -> bool:
        """Whether the provider served another speed than requested."""
        if self.speed is None or self.speed == "auto" or self.served is None:
            return False
        return not is_same(self.speed, self.served)


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens, at the provider's usual speed."""

    input: Number
    """Tokens of the request that were not cached."""
    output: Number
    """Tokens of the answer, thoughts included."""
    cached_input: Number | None = None
    """Tokens of the request that the provider had cached; None: the price of other tokens."""
    cache_write: Number | None = None
    """Tokens of the request that the provider wrote to its cache; None: the price of other tokens."""
    speeds: Mapping[str, Number] = field(default_factory=dict)
    """The prices of other speeds, as multiples of this one, by the provider's name of the speed."""

    def at(self, speed: str | None) -> "Price | None":
        """The price at a speed, such as "fast"; None for the usual one. The result is None for an unknown speed."""
        if speed is None or speed in USUAL_SPEEDS:
            return self
        times = {same_name(name): factor for name, factor in self.speeds.items()}
        factor = self.speeds.get(speed, times.get(same_name(speed)))
        if factor is None:
            return None
        return Price(
            input=self.input * factor,
            output=self.output * factor,
            cached_input=None if self.cached_input is None else self.cached_input * factor,
            cache_write=None if self.cache_write is None else self.cache_write * factor,
        )

    def usd(self, tokens: Tokens) -> float | None:
        """The cost of a request, in US dollars; None when its tokens are unknown."""
        if tokens.prompt is None or tokens.completion is None:
            return None
        cached = min(tokens.cached or 0, tokens.prompt)
        written = min(tokens.cache_written or 0, tokens.prompt - cached)
        cheap = self.input if self.cached_input is None else self.cached_input
        dear = self.input if self.cache_write is None else self.cache_write
        rest = tokens.prompt - cached - written
        return (rest * self.input + cached * cheap + written * dear + tokens.completion * self.output) / _MILLION


def bill(attempt: RequestRecord, price: Price | None) -> float | None:
    """The cost of a request so far, in US dollars, whatever its outcome; None if unknown.

    It is billed at the served speed or, if the provider does not report that, at the requested one. A request that the
    provider refused costs nothing.

    Args:
        price: the price of its tier; None if unknown.
    """
    if attempt.tokens is None:
        return None
    if attempt.tokens.prompt == 0 and attempt.tokens.completion == 0:
        return 0.0
    at_speed = price.at(attempt.served or attempt.speed) if price else None
    return at_speed.usd(attempt.tokens) if at_speed else None


VerificationOutcome = Literal["verified", "replaced", "corrected", "unverified"]
"""The verifier agreed; a fault was found before any of the draft was spoken; a fault was found while its first sentence
was spoken, and the answer went on from there; the draft was spoken without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The review of a draft when it ended."""

    outcome: VerificationOutcome
    why: str = ""
    """The reason for it; one clause."""
    fault: str | None = None
    """The fault in the draft, in the words of the verifier or of the rule; None if none was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The candidates at the instant of the pick."""

    candidates: Count
    """The number of requested candidates."""
    there: Count
    """The number of complete candidates that passed the checks."""
    agreeing: Count
    """The number of these that agree with the picked one in numbers, days, yes or no, and tool calls, itself included;
    0 when another answer, or an incomplete one, was spoken."""
    dismissed: tuple[str, ...] = ()
    """Why other candidates were not usable, one clause each."""
    why: str = ""
    """Why this one was picked; one clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """The part of a longer answer that a turn spoke."""

    number: Count = 1
    """The number of the part, from 1; a later part was already written, and no model was asked for it."""
    asks: bool = False
    """Whether it ended with the question whether to go on; False for the last part."""


PhraseKind = Literal["hold", "delay", "opening", "progress"]
"""The kind of a phrase: said because the budget was spent, because the answer took unusually long, as the answer's
opening (a sentence that claims nothing, spoken while the answer is written), or while a tool ran."""
Cap = Literal["call", "day"]
"""A limit of what a call, or the calls of a day, may cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Words that bridged the wait for an answer; they never count as an answer."""

    at: Instant | None = None
    """When they were handed to synthesis."""
    kind: PhraseKind = "hold"
    text: str = ""
    tier: str | None = None
    """The tier that worded it; None for a phrase that is always true."""
    rejected: str | None = None
    """Why it replaced a tier's own opening."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer and its origin; a turn with tool calls has several."""

    response: Count | None = None
    """Its number in the call, from 0."""
    policy: str | None = None
    """Name of the policy."""
    reason: str | None = None
    """Why the policy asked in this order; one clause."""
    commit: Instant | None = None
    """When the user's turn was committed; None while the requests are speculative, and if they were discarded."""
    deadline: Instant | None = None
    """When the first speakable clause was due; None before the commit."""
    limit: Limit | None = None
    """The limit that set the deadline."""
    charged: Stage | None = None
    """The stage that overspent, when the deadline is a floor."""
    said: tuple[Phrase, ...] = ()
    """Phrases that bridged the wait, in order."""
    gave_up: str | None = None
    """Why no answer came, or only part of it; one sentence."""
    tier: str | None = None
    """The tier that spoke first."""
    cap: Cap | None = None
    """The spending cap that had been reached, so that the cheapest tier was asked; None if there was none."""
    repaired: str | None = None
    """The words that openly took back its opening, or the first sentence of its draft."""
    vote: Vote | None = None
    """The pick from several candidates; None for an answer without one."""
    verification: Verification | None = None
    """The verification of its draft; None for an answer without one."""
    forgotten: Count | None = None
    """The number of earlier turns of the call that its requests no longer contained; None if none was forgotten."""

    @property
    def is_committed(self) -> bool:
        """Whether the answer was for a committed turn; a discarded speculative answer was not.

        Without aligned clocks the instants are unknown, but not the limit that set the deadline.
        """
        return self.commit is not None or self.limit is not None
