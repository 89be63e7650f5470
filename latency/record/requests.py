"""Requests to language models, the answers they were made for, and what they cost: as a server reports them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from latency.budget import Limit, Stage
from latency.record.marks import Count, Instant, Number

USUAL_SPEEDS = frozenset({"standard", "standard_only", "default", "auto", "on_demand"})
"""How providers call the speed that they serve, and bill, unless another one is asked for."""
_RENAMED = {"priority": "fast"}
"""OpenAI's guide: the service tier "fast" is the one that was named "priority", and some models still report it so."""


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
"""What became of a request: its text was spoken; only its tools were run; another one was used, or the user spoke; it
failed; it ended without text; it belongs to a speculative answer that was discarded ("withdrawn"); its words were said
as the answer's opening ("opened"), or were not, because an opening may not say them ("rejected"); it gave the
verdict on another one's draft that it was asked for."""

SHORTENED = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "refusal"}
)
"""Why an answer ended before its model had ended it, in the words of OpenAI's and Anthropic's interfaces."""


# A struct instead of a dataclass, because a key in JSON is "in", which is a reserved word in Python.
class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """What a request cost, in tokens; None where unknown."""

    prompt: Count | None = msgspec.field(name="in", default=None)
    completion: Count | None = msgspec.field(name="out", default=None)
    cached: Count | None = None
    """Tokens of the request that the provider had cached, and counted in `prompt`; None where it does not say."""
    cache_written: Count | None = None
    """Tokens of the request that it has put into its cache, and counted in `prompt`; None where it does not say."""
    estimated: bool = False
    """Whether the counts are estimates, because the provider reported no usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """A request; None is unknown, or has not happened."""

    response: Count | None = None
    """Number in the call of the answer that it was made for; None for a language model without a budget."""
    model: str | None = None
    tier: str | None = None
    request: Instant | None = None
    alive: Instant | None = None
    """The first sign of life from its server."""
    first_token: Instant | None = None
    first_clause: Instant | None = None
    """Its first speakable clause was complete."""
    end: Instant | None = None
    outcome: RequestOutcome | None = None
    """None while it runs."""
    failed: str | None = None
    """Why it failed, in one sentence."""
    opens: bool = False
    """It asked for an opening only, and is no answer."""
    verifies: Count | None = None
    """Position of the attempt whose draft it was asked to verify, among those of the answer; it is no answer either."""
    continues: Count | None = None
    """Position of the attempt whose unfinished answer it continues, among those of the answer."""
    calls: tuple[str, ...] = ()
    """Names of the tools that the model asked for."""
    tokens: Tokens | None = None
    speed: str | None = None
    """The speed that was asked for, such as "fast" or a service tier; None for the provider's usual one."""
    served: str | None = None
    """The speed at which the provider says it answered, and bills; None where it does not say."""
    slowed: str | None = None
    """Why another speed was asked for, or used, than the tier's settings name; one clause, at the change only."""
    finish: str | None = None
    """Why the provider says that its text ended there, in its own word, such as "stop" or "length"."""
    queued: Number | None = None
    """Seconds that the provider says the request waited before it read the prompt."""
    simulated: bool = False
    """Whether the provider says that its answer is simulated, whatever the model is called."""
    usd: Number | None = None
    """What it cost, in US dollars, at the price of what was served; None without a price."""

    @property
    def is_answer(self) -> bool:
        """Whether it asked for an answer, and not for an opening or a verdict."""
        return not self.opens and self.verifies is None

    @property
    def is_shortened(self) -> bool:
        """Whether the provider ended its text before the model did, by a limit or a filter."""
        return self.finish in SHORTENED

    @property
    def is_usd_estimated(self) -> bool:
        """Whether its cost is an estimate: the provider did not report its tokens, or the speed that it served."""
        unknown_speed = self.speed is not None and self.served is None
        return bool(self.usd) and (unknown_speed or (self.tokens is not None and self.tokens.estimated))

    @property
    def is_served_otherwise(self) -> bool:
        """Whether the provider served another speed than was asked for."""
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
    """Tokens of the request that the provider had cached; None: no cheaper than others."""
    cache_write: Number | None = None
    """Tokens of the request that the provider has put into its cache; None: no dearer than others."""
    speeds: Mapping[str, Number] = field(default_factory=dict)
    """What other speeds cost, as multiples of this price, by the provider's name of the speed."""

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
        """What a request costs, in US dollars; None when its tokens are unknown."""
        if tokens.prompt is None or tokens.completion is None:
            return None
        cached = min(tokens.cached or 0, tokens.prompt)
        written = min(tokens.cache_written or 0, tokens.prompt - cached)
        cheap = self.input if self.cached_input is None else self.cached_input
        dear = self.input if self.cache_write is None else self.cache_write
        rest = tokens.prompt - cached - written
        return (rest * self.input + cached * cheap + written * dear + tokens.completion * self.output) / _MILLION


def bill(attempt: RequestRecord, price: Price | None) -> float | None:
    """What a request has cost so far, in US dollars, whatever became of it; None when that is unknown.

    It is billed at the speed that was served; where the provider does not name that, at the one that was asked for. A
    request that the provider refused costs nothing.

    Args:
        price: that of its tier; None when it is not known.
    """
    if attempt.tokens is None:
        return None
    if attempt.tokens.prompt == 0 and attempt.tokens.completion == 0:
        return 0.0
    at_speed = price.at(attempt.served or attempt.speed) if price else None
    return at_speed.usd(attempt.tokens) if at_speed else None


VerificationOutcome = Literal["verified", "replaced", "corrected", "unverified"]
"""The verifier agreed; a fault was found before any of the draft was spoken; one was found when its first sentence was
being spoken, and the answer went on from there; the draft was spoken without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The review of a draft when it ended."""

    outcome: VerificationOutcome
    why: str = ""
    """What decided it; one clause."""
    fault: str | None = None
    """What is wrong with the draft, in the words of the verifier or of the rule; None when nothing was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The candidates at the instant of the pick."""

    candidates: Count
    """How many were asked for."""
    there: Count
    """How many were whole and passed the checks."""
    agreeing: Count
    """How many of these agree in numbers, days, yes or no, and tool calls with the one that was picked, that one
    included; 0 when another answer was spoken, or one that was not whole yet."""
    dismissed: tuple[str, ...] = ()
    """Why others were not to be used, one clause each."""
    why: str = ""
    """Why this one was picked; one clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """What a turn's answer was of a longer one."""

    number: Count = 1
    """Which part of it was spoken, from 1; a later one was there already, and no model was asked for it."""
    asks: bool = False
    """Whether it ended with the question whether to go on; False for the last part."""


PhraseKind = Literal["hold", "delay", "opening", "progress"]
"""A phrase that was said because the budget was spent, because the answer took unusually long, as the answer's opening
(a sentence that claims nothing, spoken while the answer is made), or while a tool ran."""
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
    """The tier that worded it; None for one of the phrases that are always true."""
    rejected: str | None = None
    """Why a tier's own opening was not said, and this was instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer and how it came about; a turn in which tools were called has several."""

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
    """What set the deadline."""
    charged: Stage | None = None
    """The stage that overspent, when the deadline is a floor."""
    said: tuple[Phrase, ...] = ()
    """Phrases that bridged the wait, in order."""
    gave_up: str | None = None
    """Why no answer came, or not all of it; one sentence."""
    tier: str | None = None
    """The tier that spoke first."""
    cap: Cap | None = None
    """The spending cap that was reached before it, so that the cheapest tier was asked; None for none."""
    repaired: str | None = None
    """The words with which the answer openly took its opening, or the first sentence of its draft, back."""
    vote: Vote | None = None
    """How it was picked from several candidates; None for an answer without."""
    verification: Verification | None = None
    """How its draft was verified; None for an answer without."""
    forgotten: Count | None = None
    """How many earlier turns of the call its requests no longer contained; None where none was forgotten."""

    @property
    def is_committed(self) -> bool:
        """Whether the answer was for a committed turn; a discarded speculative answer was not.

        Without aligned clocks the instants are unknown, but not what set the deadline.
        """
        return self.commit is not None or self.limit is not None
