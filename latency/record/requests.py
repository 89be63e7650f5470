"""One request to a language model, as the server reports it and a run folder keeps it."""

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct, field

from latency.record.llm.speed import is_same
from latency.record.units import Count, Instant, Number

AttemptOutcome = Literal[
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
class Tokens(Struct, frozen=True, kw_only=True):
    """What a request cost, in tokens; None where unknown."""

    prompt: Count | None = field(name="in", default=None)
    completion: Count | None = field(name="out", default=None)
    cached: Count | None = None
    """Tokens of the request that the provider had cached, and counted in `prompt`; None where it does not say."""
    cache_written: Count | None = None
    """Tokens of the request that it has put into its cache, and counted in `prompt`; None where it does not say."""
    estimated: bool = False
    """Whether the counts are estimates, because the provider reported no usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
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
    outcome: AttemptOutcome | None = None
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
