"""The address that an agent is served on, and the access to it."""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from voice.environment import read_key
from voice.errors import ConfigurationError
from voice.server.authentication import SHORTEST_TOKEN, Access, is_local
from voice.server.limits import DRAIN_WITHIN, IDLE, LONGEST_CALL, MOST_CALLS, MOST_FROM_ONE, RESUME_WITHIN
from voice.wire.endpoint import TOKEN_VARIABLE

MOST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address that an agent is served on, and the access to it. The token is the variable `VOICE_TOKEN`.

    An address that other machines can reach needs a token, and either a certificate or a proxy with one.
    """

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 8765
    """0 chooses a free one."""
    calls: int = MOST_CALLS
    """The most calls at once."""
    calls_from_one: int | None = None
    """The most calls at once from one other machine; None: 8, or any number behind a proxy."""
    longest: float = LONGEST_CALL
    """Seconds after which a call is closed."""
    idle: float = IDLE
    """Seconds without a message from the client after which a call is closed; 0 never closes it."""
    drain: float = DRAIN_WITHIN
    """Seconds that the calls under way may take after SIGTERM."""
    resume: float = RESUME_WITHIN
    """Seconds that a call waits for its client to reconnect; 0 ends it at once."""
    allow_origins: tuple[str, ...] = ()
    """Origins of other web pages that may call, such as "https://example.org"; "*" for all."""
    tls_cert: str | None = None
    """File of the certificate with its chain, in PEM."""
    tls_key: str | None = None
    """File of its key, in PEM."""
    behind_proxy: bool = False
    """Whether a proxy in front of the server encrypts the calls."""

    @property
    def tls(self) -> bool:
        """Whether the server itself encrypts the calls."""
        return self.tls_cert is not None

    @property
    def most_from_one(self) -> int | None:
        """The most calls at once from one other machine; None for any number."""
        return self.calls_from_one or (None if self.behind_proxy else MOST_FROM_ONE)

    def access(self) -> Access:
        """The authentication of callers.

        Raises:
            ConfigurationError: the port, an origin or the certificate is invalid, or callers on other machines could
                call without a token, or be overheard.
        """
        if not 0 <= self.port <= MOST_PORT:
            raise ConfigurationError(
                f"There is no port {self.port}; choose one up to {MOST_PORT}, or 0 for a free one."
            )
        for origin in self.allow_origins:
            _check_origin(origin)
        if self.tls_cert or self.tls_key:
            _check_certificate(self.tls_cert, self.tls_key)
        local = is_local(f"[{self.host}]" if ":" in self.host else self.host) and not self.behind_proxy
        token = read_key(TOKEN_VARIABLE, spaces=True) if os.environ.get(TOKEN_VARIABLE) else None
        if token is not None and len(token) < SHORTEST_TOKEN:
            raise ConfigurationError(f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} characters.")
        if not local and token is None:
            raise ConfigurationError(
                f"Anybody who reaches {self.host} could call: set {TOKEN_VARIABLE} to a secret that callers must send, "
                "or listen on 127.0.0.1."
            )
        if not local and not (self.tls or self.behind_proxy):
            raise ConfigurationError(
                f"Calls to {self.host} could be overheard: give --tls-cert and --tls-key, or say --behind-proxy if a "
                "proxy encrypts them."
            )
        return Access(token=token, origins=self.allow_origins, local=local, behind_proxy=self.behind_proxy)


def _check_origin(origin: str) -> None:
    try:
        parts = urlsplit(origin)
        is_origin = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.path or parts.query)
    except ValueError:
        is_origin = False
    if not (is_origin or origin == "*"):
        raise ConfigurationError(f'"{origin}" is no origin; write it as browsers do, such as https://example.org.')


def _check_certificate(cert: str | None, key: str | None) -> None:
    if cert is None or key is None:
        raise ConfigurationError("--tls-cert and --tls-key belong together: give both.")
    for file in (cert, key):
        if not Path(file).is_file():
            raise ConfigurationError(f'There is no file "{file}"; --tls-cert and --tls-key name files in PEM.')
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key)
    except (ssl.SSLError, OSError) as error:
        raise ConfigurationError(f'"{cert}" and "{key}" are no certificate with its key ({error}).') from error
