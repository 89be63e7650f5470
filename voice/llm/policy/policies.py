"""The policies: small frozen objects that make a turn's plan from what is known of the tiers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from voice.errors import ConfigurationError
from voice.llm.policy.plan import Plan
from voice.llm.policy.tier_stats import TierBook


class Policy(Protocol):
    """Makes a fresh plan for every turn; holds no state of its own."""

    @property
    def name(self) -> str:
        """As in a pipeline file."""
        ...

    @property
    def tiers(self) -> tuple[str, ...]:
        """Every tier it may ask."""
        ...

    @property
    def judged(self) -> str | None:
        """The tier whose being in time decides whether it goes on being asked first; None when that is fixed."""
        ...

    def plan(self, book: TierBook) -> Plan:
        """The plan of a turn that begins now; the book stays as it is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One tier answers, however long it takes; phrases bridge."""

    tier: str
    bridge: bool = True
    name: str = "single"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Its only one."""
        return (self.tier,)

    def plan(self, book: TierBook) -> Plan:
        """Ask the tier, and once more when that failed."""
        return Plan(
            policy=self.name,
            reason="no other tier is asked",
            first=(self.tier,),
            bridge=self.bridge,
            leads=book.leads(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The large tier answers; the fast one is asked as late as it can still make the deadline.

    It is asked its measured tail and a guard before the deadline; see `TierBook.lead`. If the fast tier is then later
    than its 95th percentile, or fails, it is asked once more: two requests are rarely both slow. The hedging allowance
    limits such requests, so that an outage of the fast tier does not double its load. `Race` and `Adaptive` do so too.
    """

    large: str
    fast: str
    bridge: bool = True
    name: str = "fallback"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierBook) -> Plan:
        """Ask the large tier, and the fast one its tail and a guard before the deadline."""
        return _fallback(self.name, self.large, self.fast, book, bridge=self.bridge, reason=f"{self.large} first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hedged:
    """One tier, and a hedge request to it when the first request is later than nearly all earlier ones.

    The delay is the tier's own quantile, so that few requests are doubled. An allowance limits them, so that an outage,
    in which every request is late, does not double the load.
    """

    tier: str
    share: float = 0.95
    """The share of requests that should not be doubled, 0 to 1."""
    bridge: bool = True
    name: str = "hedged"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Its only one."""
        return (self.tier,)

    def plan(self, book: TierBook) -> Plan:
        """Ask the tier; again after its quantile, if the allowance has a token."""
        if not book.hedges.allows:
            return Plan(
                policy=self.name, reason="the hedging allowance is used up", first=(self.tier,), retries=0,
                bridge=self.bridge, leads=book.leads(),
            )  # fmt: skip
        measured = book.quantile(self.tier, self.share)
        return Plan(
            policy=self.name, reason="hedged", first=(self.tier,), rescue=self.tier, hedge=True, retries=0,
            rescue_delay=book.p95(self.tier) if measured is None else measured, bridge=self.bridge, leads=book.leads(),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Both tiers are asked at once; the large one is preferred until just before the deadline."""

    large: str
    fast: str
    bridge: bool = True
    name: str = "race"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierBook) -> Plan:
        """Ask both."""
        return Plan(
            policy=self.name,
            reason="both at once",
            first=self.tiers,
            fast=self.fast,
            fast_p95=book.p95(self.fast),
            second_delay=_second_delay(self.fast, book),
            bridge=self.bridge,
            leads=book.leads(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """As `Fallback`, but does not wait for a large tier that is rarely in time.

    The fast tier then answers at once instead of just before the deadline, and the large one is tried now and then.
    """

    large: str
    fast: str
    bridge: bool = True
    name: str = "adaptive"

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    @property
    def judged(self) -> str | None:
        """The large tier."""
        return self.large

    def plan(self, book: TierBook) -> Plan:
        """Ask the large tier first unless it is demoted and not on trial."""
        standing = book.standing[self.large]
        if not standing.demoted or standing.probe_due:
            reason = f"{self.large} is on trial" if standing.demoted else f"{self.large} first"
            return _fallback(self.name, self.large, self.fast, book, bridge=self.bridge, reason=reason)
        return Plan(
            policy=self.name,
            reason=f"{self.large} is too slow these days",
            first=(self.fast,),
            rescue=self.large,
            rescue_delay=book.lead(self.fast),
            fast=self.fast,
            fast_p95=book.p95(self.fast),
            second_delay=_second_delay(self.fast, book),
            bridge=self.bridge,
            leads=book.leads(),
        )


def _fallback(name: str, large: str, fast: str, book: TierBook, *, bridge: bool, reason: str) -> Plan:
    return Plan(
        policy=name, reason=reason, first=(large,), rescue=fast, fast=fast, fast_p95=book.p95(fast),
        second_delay=_second_delay(fast, book), bridge=bridge, leads=book.leads(),
    )  # fmt: skip


def _second_delay(fast: str, book: TierBook) -> float | None:
    """How late the fast tier must be to be asked once more; None when the allowance is used up."""
    return book.p95(fast) if book.hedges.allows else None


_PAIRS: dict[str, Callable[..., Policy]] = {"fallback": Fallback, "race": Race, "adaptive": Adaptive}
_LONE: dict[str, Callable[..., Policy]] = {"single": Single, "hedged": Hedged}
POLICIES = (*_LONE, *_PAIRS)
"""Names of the policies."""


def make_policy(
    name: str, *, large: str | None, fast: str | None, tiers: Sequence[str] = (), bridge: bool = True
) -> Policy:
    """The policy of that name over the tiers in its two roles.

    `single` and `hedged` use the large tier, or the fast one when it is the only one.

    Args:
        name: one of `POLICIES`.
        large: the name of the tier that answers best; None when there is none.
        fast: the name of the tier that answers soonest; None when there is none.
        tiers: all tiers, in a role or not; an error names those that could take one.
        bridge: whether phrases are said while no answer is there.

    Raises:
        ConfigurationError: no such policy, no tier for a role that it needs, or the same tier for both.
    """
    if name not in POLICIES:
        raise ConfigurationError(f'There is no policy "{name}"; use one of {", ".join(POLICIES)}.')
    if name in _LONE:
        tier = large or fast
        if tier is None and tiers:
            raise ConfigurationError(
                f'The policy {name} needs a tier with a role: add roles = {{ large = "{tiers[0]}" }} to [llm].'
            )
        if tier is None:
            raise ConfigurationError(f"The policy {name} needs a tier: give [llm.large] or [llm.fast].")
        return _LONE[name](tier=tier, bridge=bridge)
    free = [tier for tier in tiers if tier not in (large, fast)]
    if 0 < (large, fast).count(None) <= len(free):
        large, fast = large or free.pop(0), fast or free.pop(0)
        raise ConfigurationError(
            f"The policy {name} needs two tiers with roles: add, for example, "
            f'roles = {{ large = "{large}", fast = "{fast}" }} to [llm].'
        )
    if large is None or fast is None:
        missing = "llm.large" if large is None else "llm.fast"
        raise ConfigurationError(f"The policy {name} needs two tiers: give [{missing}], or choose single or hedged.")
    if large == fast:
        raise ConfigurationError(
            f'The policy {name} needs two tiers, but "{large}" has both roles; give one to another tier, or choose '
            "single or hedged."
        )
    return _PAIRS[name](large=large, fast=fast, bridge=bridge)
