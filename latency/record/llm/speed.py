"""Names of the speeds at which providers serve a request. Pure."""

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
