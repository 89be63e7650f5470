"""Which policies are tried over which tiers, from what was typed. Pure."""

from collections.abc import Mapping, Sequence

from latency.command_line import did_you_mean
from pipelines.lab.whatif.contestant import SIMULATED, Cell, Contestant
from voice.errors import ConfigurationError
from voice.llm.policy.make import POLICIES, make_policy

PAIR = "+"
"""Stands between the large and the fast tier of a pair."""
EXAMPLE = f"sonnet{PAIR}groq-fast"


def usual_policies(entries: Sequence[str]) -> tuple[str, ...]:
    """The policies that are tried over these tiers unless others are named."""
    # With two tiers, hedging one of them adds little.
    return (
        ("single", "fallback", "routed", "relay", "adaptive")
        if any(PAIR in entry for entry in entries)
        else ("single", "hedged")
    )


def cells(entries: Sequence[str], policies: Sequence[str], known: Mapping[str, Contestant]) -> list[Cell]:
    """Every policy over every tier or pair that it fits; a lone tier's policy uses the large tier of a pair.

    Args:
        entries: tiers and pairs, as `--tiers` takes them: "opus" or "opus+groq-fast".
        policies: names of policies.
        known: the tiers there are, by name.

    Raises:
        ConfigurationError: an unknown tier or policy, or one that nothing fits.
    """
    for policy in policies:
        if policy not in POLICIES:
            meant = did_you_mean(policy, POLICIES) or f"; use one of {', '.join(POLICIES)}."
            raise ConfigurationError(f'there is no policy "{policy}"{meant}')
    found: dict[tuple[str, str | None, str], Cell] = {}
    pairs = [_pair(entry, known) for entry in entries]
    for policy in policies:
        fitting = [cell for large, fast in pairs if (cell := _cell(policy, large, fast)) is not None]
        if not fitting:
            raise ConfigurationError(
                f"the policy {policy} needs two tiers: write a pair such as {EXAMPLE}, or leave it out."
            )
        for cell in fitting:
            key = (cell.large.name, cell.fast.name if cell.fast else None, cell.policy)
            found.setdefault(key, cell)
    order = {cell.name: place for place, cell in reversed(list(enumerate(found.values())))}
    chosen = sorted(found.values(), key=lambda cell: (order[cell.name], list(policies).index(cell.policy)))
    for large, fast in pairs:
        if not any(cell.large is large and (fast is None or cell.fast is fast) for cell in chosen):
            asked = large.name if fast is None else f"{large.name}{PAIR}{fast.name}"
            raise ConfigurationError(f"no policy of {', '.join(policies)} fits {asked}; add single or hedged.")
    return chosen


def _cell(policy: str, large: Contestant, fast: Contestant | None) -> Cell | None:
    """The policy over these tiers; None when it needs two and there is one."""
    try:
        make_policy(policy, large="large", fast=None)
    except ConfigurationError:
        return None if fast is None else Cell(policy=policy, large=large, fast=fast)
    return Cell(policy=policy, large=large)


def _pair(entry: str, known: Mapping[str, Contestant]) -> tuple[Contestant, Contestant | None]:
    names = [name.strip().removeprefix(SIMULATED) for name in entry.split(PAIR)]
    if len(names) > 2 or not all(names):
        raise ConfigurationError(f'--tiers takes a tier or a pair such as {EXAMPLE}, not "{entry}".')
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known) or f"; choose one of {', '.join(known)}."
            raise ConfigurationError(f'there is no tier "{name}"{meant}')
    return known[names[0]], known[names[1]] if len(names) == 2 else None
