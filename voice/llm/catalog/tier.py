"""A tier of the catalogue: a model at a speed and an effort, with its published figures."""

from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from latency.record.requests import Price

Preset = Literal["field", "optimistic"]
Wire = Literal["chat", "responses", "messages", "rules"]
Positive = Annotated[float, Meta(gt=0, le=1e9)]
Amount = Annotated[float, Meta(ge=0, le=1_000_000)]
Text = Annotated[str, Meta(min_length=1)]


class FirstToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times to the first answer token: network, queue, reading and thinking included. Milliseconds."""

    p50_ms: Positive
    p95_ms: Positive
    max_ms: Positive
    """The longest one published, and the limit of the simulator."""
    source: Text

    def __post_init__(self) -> None:
        if not self.p50_ms <= self.p95_ms <= self.max_ms:
            raise ValueError("p50_ms, p95_ms and max_ms must not fall")


class Rate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The token rate after the first token."""

    tokens_per_second: Positive
    source: Text


class TokenPrice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens at the model's default speed, and the factors for other speeds."""

    input: Amount
    output: Amount
    cached_input: Amount | None = None
    cache_write: Amount | None = None
    speeds: dict[str, Amount] = {}
    source: Text

    @property
    def price(self) -> Price:
        """The price of requests."""
        figures = {field: getattr(self, field) for field in self.__struct_fields__ if field != "source"}
        return Price(**figures)


class Quality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of right answers in a benchmark."""

    share: Annotated[float, Meta(ge=0, le=1)]
    benchmark: Text
    source: Text


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The withdrawal of a tier, past or announced."""

    since: Text
    """A date such as "2026-11-30", perhaps in the future, or words such as "summer 2026"."""
    successor: str | None = None
    """The tier to take instead."""
    note: str | None = None
    """The fate of requests to it."""

    def is_over(self, today: date) -> bool:
        """Whether it has already been withdrawn."""
        try:
            return date.fromisoformat(self.since) <= today
        except ValueError:
            return True


class CatalogTier(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model at a speed and an effort. Unknown values are None."""

    name: str
    """Such as "claude-opus-4-6@fast"."""
    provider: Text
    """The provider; simulated requests to one provider stall together."""
    model: Text
    """Its name on the server."""
    wire: Wire
    """The protocol; "rules": answers by rules in this process."""
    speed: str | None = None
    """The speed that requests ask for."""
    effort: str | None = None
    """The thinking effort, also of its measured figures."""
    base_url: str | None = None
    """The server's URL; the provider's own unless set."""
    key_env: str | None = None
    """The environment variable that holds the API key."""
    same_as: str | None = None
    """The tier that differs only in speed or effort."""
    about: str | None = None
    rate: Rate | None = None
    field: FirstToken | None = None
    """In voice dialogues."""
    optimistic: FirstToken | None = None
    """With short prompts, at gateways."""
    price: TokenPrice | None = None
    quality: Quality | None = None
    withdrawn: Withdrawn | None = None
    closed: str | None = None
    """Why it is not available by API."""
    fallback: str | None = None
    """The tier that can be asked when this one refuses."""
    sim: str | None = None
    """A shorter name of its simulated twin."""

    @property
    def title(self) -> str:
        """The model and its settings in a few words."""
        return self.about or ", ".join(filter(None, (self.model, self.speed, self.effort and f"effort {self.effort}")))

    def first_token(self, preset: Preset) -> FirstToken | None:
        """Its times to the first token, or those measured in the field."""
        return self.optimistic or self.field if preset == "optimistic" else self.field

    @property
    def own_price(self) -> Price | None:
        """Its price at its own speed; None if unknown."""
        return self.price.price.at(self.speed) if self.price else None
