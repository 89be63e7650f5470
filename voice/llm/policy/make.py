"""The policies by name, over the tiers of a pipeline."""

from collections.abc import Callable, Sequence

from voice.errors import ConfigurationError
from voice.llm.policy import policies
from voice.llm.policy.policies import USUAL_CANDIDATES, BestOf, Policy

_PAIRS: dict[str, Callable[..., Policy]] = {
    "fallback": policies.Fallback,
    "race": policies.Race,
    "routed": policies.Routed,
    "relay": policies.Relay,
    "adaptive": policies.Adaptive,
    "best_of": policies.FastFirst,
    "draft_verify": policies.DraftVerify,
}
_LONE: dict[str, Callable[..., Policy]] = {"single": policies.Single, "hedged": policies.Hedged}
POLICIES = (*_LONE, *_PAIRS)
"""Names of the policies."""
DRAFTED = ("single", "routed", "adaptive", "best_of")
"""Policies in which only one tier is asked first, so that it can be asked for candidates."""


def make_policy(
    name: str,
    *,
    large: str | None,
    fast: str | None,
    tiers: Sequence[str] = (),
    bridge: bool = True,
    best_of: int | None = None,
) -> Policy:
    """The policy of that name over the tiers in its two roles.

    `single` and `hedged` use the large tier, or the fast one when it is the only one.

    Args:
        name: one of `POLICIES`.
        large: the name of the tier with the best answers; None without one.
        fast: the name of the fastest tier; None without one.
        tiers: all tiers, with or without a role; errors suggest tiers from this list.
        bridge: whether phrases are said while no answer is ready.
        best_of: the number of candidates from the fast tier, or from a lone one; None for one, or for
            `USUAL_CANDIDATES` with the policy `best_of`.

    Raises:
        ConfigurationError: no such policy, no tier for a required role, the same tier for both roles, or candidates
            with a policy that cannot use them.
    """
    policy = _made(name, large=large, fast=fast, tiers=tiers, bridge=bridge)
    if best_of is None and name != "best_of":
        return policy
    if name not in DRAFTED:
        raise ConfigurationError(
            f"llm.best_of has no use with the policy {name}, which does not leave turns to the fast tier alone; "
            f"choose one of {', '.join(DRAFTED)}."
        )
    tier = policy.tiers[0] if name == "single" or fast is None else fast
    return BestOf(inner=policy, tier=tier, candidates=best_of or USUAL_CANDIDATES)


def _made(name: str, *, large: str | None, fast: str | None, tiers: Sequence[str], bridge: bool) -> Policy:
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
