"""Who may call a server: checks of origin, host and token. Pure: headers, tokens and times are arguments.

Any web page open on a machine can reach its local servers, and DNS rebinding lets a page do so under its own host name.
So a page must come from the server's own address or an allowed origin, and a local server answers only to local names.
"""

import hashlib
import hmac
import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from voice.wire.endpoint import TOKEN_VARIABLE

SHORT_LIVED = 60.0
"""Seconds for which a short-lived token can begin a call."""
SHORTEST_TOKEN = 16
"""The length of a token, in characters."""
_SIGNED = "v1"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of a request."""

    status: int
    """The HTTP status."""
    reason: str
    """The reason, a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may call a server."""

    token: str | None = field(default=None, repr=False)
    """The secret that callers must send; None for none."""
    origins: tuple[str, ...] = ()
    """Other origins whose pages may call, such as "https://example.org"; "*" allows all."""
    local: bool = True
    """Whether only programs of this machine can reach the server."""
    behind_proxy: bool = False
    """Whether callers connect through a proxy, which adds TLS and may pass on the host name that they used."""

    def host(self, headers: Mapping[str, str]) -> str:
        """The host that the caller used, perhaps with a port; "" if the request has none.

        `X-Forwarded-Host` counts only behind a proxy. Each proxy appends to it, so the first entry is the caller's.
        """
        return self._forwarded(headers, "host") or headers.get("host", "")

    def is_encrypted(self, headers: Mapping[str, str]) -> bool:
        """Whether the proxy reports an encrypted connection (`X-Forwarded-Proto`)."""
        return self._forwarded(headers, "proto").lower() in ("https", "wss")

    def _forwarded(self, headers: Mapping[str, str], what: str) -> str:
        return headers.get(f"x-forwarded-{what}", "").partition(",")[0].strip() if self.behind_proxy else ""

    def refusal(self, headers: Mapping[str, str], given: str | None, now: float) -> Refusal | None:
        """Why a call is refused; None when it may begin. A short-lived token is enough.

        Args:
            headers: of the request, by lower-case name.
            given: the token in its address.
            now: seconds since 1970.
        """
        return self.refusal_of_page(headers) or self._unknown(headers, given, now)

    def refusal_of_stranger(self, headers: Mapping[str, str]) -> Refusal | None:
        """As `refusal`, for a request that needs the server's own token."""
        return self.refusal_of_page(headers) or self._unknown(headers, None, math.inf)

    def short_lived(self, now: float) -> str | None:
        """A token for one caller, valid for `SHORT_LIVED` seconds; None if none is needed."""
        return None if self.token is None else self._signed(int(now + SHORT_LIVED))

    def refusal_of_page(self, headers: Mapping[str, str]) -> Refusal | None:
        """Why the origin or the host of a request is refused, whatever its token; None if both are allowed."""
        host, origin = self.host(headers), headers.get("origin")
        allowed = {"*", origin} & set(self.origins)
        if self.local and host and not (is_local(host) or any(_host_of(one) == host for one in self.origins)):
            return Refusal(403, f'This server answers to local names such as 127.0.0.1 only, not to "{host[:80]}".')
        if origin is None or allowed or (host and _host_of(origin) == host):
            return None
        return Refusal(403, f'Pages of "{origin[:80]}" may not call; start the server with --allow-origin to let them.')

    def _unknown(self, headers: Mapping[str, str], given: str | None, now: float) -> Refusal | None:
        if self.token is None:
            return None
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        known = given or (sent.strip() if scheme.lower() == "bearer" else "")
        if known and (_same(known, self.token) or self._holds(known, now)):
            return None
        why = "The token is wrong or too old" if known else "A token is needed"
        return Refusal(401, f"{why}: set {TOKEN_VARIABLE}, or send it as Authorization: Bearer TOKEN.")

    def _holds(self, token: str, now: float) -> bool:
        """Whether this is a short-lived token that is still valid."""
        version, _, rest = token.partition(".")
        expiry = rest.partition(".")[0]
        if version != _SIGNED or not (expiry.isascii() and expiry.isdigit() and len(expiry) < 12):
            return False
        return _same(token, self._signed(int(expiry))) and now < int(expiry)

    def _signed(self, expiry: int) -> str:
        assert self.token is not None
        claim = f"{_SIGNED}.{expiry}"
        return f"{claim}.{hmac.new(self.token.encode(), claim.encode(), hashlib.sha256).hexdigest()}"


def is_local(host: str) -> bool:
    """Whether a host, perhaps with a port, is this machine under a name that DNS cannot redirect."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_local_address(address: str) -> bool:
    """Whether a caller's address, without a port, is this machine's own."""
    return is_local(f"[{address}]" if ":" in address else address)


def _host_of(origin: str) -> str:
    """The host and port of an origin."""
    return origin.partition("://")[2]


def _same(one: str, other: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))
