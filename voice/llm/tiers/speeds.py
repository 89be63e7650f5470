"""Services that can be asked for another speed while a call goes on, and which speed that is."""

from typing import Protocol, runtime_checkable

from latency.record.requests import Price, is_fast


@runtime_checkable
class HasSpeed(Protocol):
    """A service whose requests name a speed."""

    @property
    def speed(self) -> str | None:
        """The speed of the next request; None for the provider's usual one."""

    def use_speed(self, speed: str | None) -> None:
        """Ask for it from the next request on."""


def fast_speed(service: object, price: Price | None) -> str | None:
    """What the provider calls its fast speed for this model; None when it is not known to have one.

    It has one if the settings ask for it, or if its price is known.
    """
    if not isinstance(service, HasSpeed):
        return None
    known = (service.speed, *(price.speeds if price else ()))
    return next((name for name in known if is_fast(name)), None)
