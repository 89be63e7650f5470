"""A tier on a server that may need a key: its model, its address and its key."""

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, field_validator

from pipelines.providers.provider import TierModel
from pipelines.providers.resources import Resources
from pipelines.providers.wires import NO_KEY, Wire, WireModel, WireTable
from pipelines.settings_table import VariableName
from voice.environment import read_key
from voice.errors import ComponentError, ConfigurationError
from voice.redaction import hide

if TYPE_CHECKING:
    from pipelines.providers.server_check import ServerState
    from pipelines.tiers.table import Tiers


CONNECTION_HEADERS = {"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "te"}
"""Headers that the HTTP client sets, in lower case."""


class RemoteTierTable(WireTable, ABC):
    """The common base of tiers that name a model on a server."""

    whose: ClassVar[str]
    """The provider of the server unless `base_url` is set."""
    home: ClassVar[str]
    """The URL of the provider's API."""
    usual_key: ClassVar[str]
    """The environment variable that usually holds the provider's key."""

    model: str
    """The model's name on the server."""
    base_url: str | None = None
    """The server's URL; the provider's own unless set."""
    api_key_env: VariableName | None = None
    """The environment variable that holds the API key."""
    headers: dict[str, str] = Field({}, repr=False, exclude=True)
    """Further HTTP headers of every request: `headers = { X-Team = "voice", X-Gateway-Key = "$GATEWAY_KEY" }`. A value
    that begins with $ is read from that environment variable."""

    @property
    def label(self) -> str:
        """The model's name on the server."""
        return self.model

    @property
    def where(self) -> str:
        """The server's name for people."""
        return self.base_url or self.whose

    @property
    def key(self) -> str | None:
        """The key; None if none is named or set.

        Raises:
            ConfigurationError: the variable's value cannot be a key.
        """
        return read_key(self.api_key_env) if self.api_key_env else None

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        user, at, _ = (url or "").partition("://")[2].partition("/")[0].rpartition("@")
        if url is not None and not re.match(r"https?://[^/\s]", url):
            raise ValueError("must be an address such as http://127.0.0.1:11434/v1")
        if at:
            hide(user)
            hide(user.partition(":")[2])
            raise ValueError("must hold no user and password, which reports would show; use api_key_env")
        if marks := re.search(r"[?#].*", url or ""):
            for part in re.split(r"[?#&=]", marks.group()):
                hide(part)
            raise ValueError("must end before any ? or #; a key belongs in the variable that api_key_env names")
        return url

    @field_validator("headers", mode="before")
    @classmethod
    def _are_headers(cls, headers: object) -> object:
        """Hide every value before anything can show it, then refuse what cannot be sent."""
        for value in headers.values() if isinstance(headers, dict) else [headers]:
            hide(str(value))
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise ValueError("must be a table of HTTP headers, each with a text as its value")
        for name, value in headers.items():
            if not re.fullmatch(r"[\w-]+", name, re.ASCII):
                raise ValueError(f"{name!r} is no name of a header: letters, digits and hyphens")
            if name.lower() in CONNECTION_HEADERS:
                raise ValueError(f"{name} belongs to the connection and cannot be set")
            if not re.fullmatch(r"[!-~](?:[ -~]*[!-~])?", value):
                raise ValueError(f"{name} needs a value of printable ASCII characters without spaces around it")
            if value.startswith("$") and not re.fullmatch(r"\$[A-Za-z_]\w*", value, re.ASCII):
                raise ValueError(f"{name} needs the name of an environment variable after $")
        return headers

    @property
    def extra_headers(self) -> dict[str, str]:
        """The values of `headers`.

        Raises:
            ConfigurationError: a variable is not set, or no header can carry its value.
        """
        return {name: _value(name, value) for name, value in self.headers.items()}

    @property
    @abstractmethod
    def api_url(self) -> str:
        """The base URL of the server's API; it usually ends in /v1."""

    @property
    @abstractmethod
    def protocol(self) -> Wire:
        """The protocol of its requests."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The arguments of the protocol's service: speed and effort."""

    def describe(self, llm: "Tiers") -> str:
        """Model, server, wire and speed."""
        return f"{self.model} at {self.where} ({', '.join(filter(None, (self.protocol, self.options['speed'])))})"

    @property
    def key_headers(self) -> dict[str, str]:
        """The headers that carry the key to its server."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def lacks_key(self) -> bool:
        """Whether the key that requests need is missing."""
        return self.key is None if self.api_key_env else self.base_url is None

    @property
    def summary(self) -> str:
        """The model."""
        return self.model

    def needs(self) -> list[str]:
        """A key, and the values of headers."""
        needs = [_missing(header, variable) for header, variable in self._unset.items()]
        if not self.lacks_key:
            return needs
        if self.api_key_env:
            return [f"the environment variable {self.api_key_env} is not set; it should hold the API key", *needs]
        return [f'no API key is named: name its environment variable, such as api_key_env = "{self.usual_key}"', *needs]

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse a missing key or header; the message names its variable, and pipelines that work without a key."""
        for header, variable in self._unset.items():
            raise ConfigurationError(f"llm.{name}: {_missing(header, variable)}.")
        if not self.lacks_key:
            return
        if self.api_key_env is None:
            raise ComponentError(
                f"llm.{name}: {self.model} at {self.where} needs a key; say which environment variable holds it, such "
                f'as api_key_env = "{self.usual_key}", or give the base_url of a server that wants none.'
            )
        keyless = [other for other, tier in llm.tiers.items() if other != name and not tier.lacks_key]
        without = "".join(f'[llm.{other}] works without it (policy = "single"), and ' for other in keyless)
        raise ComponentError(
            f"llm.{name}: {self.model} needs a key in the environment variable {self.api_key_env}, which is not set; "
            f"{without}the pipelines embedded and local work without one."
        )

    async def try_server(self, *, ask: bool) -> "ServerState | None":
        """Whether the server is reachable, accepts the key, has the model and answers; None while a header is unset."""
        if self._unset:
            return None
        from pipelines.providers.server_check import check_server

        return await check_server(self, ask=ask)

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model on its server."""
        return WireModel(
            self,
            wire=self.protocol,
            model=self.model,
            where=self.where,
            api_key=(self.key or "") if self.api_key_env else NO_KEY,
            headers=self.extra_headers,
            find=self._find,
            **self.options,
        )

    @property
    def _unset(self) -> dict[str, str]:
        """The headers whose variables are not set, with these variables."""
        variables = {header: value[1:] for header, value in self.headers.items() if value.startswith("$")}
        return {header: name for header, name in variables.items() if read_key(name, spaces=True) is None}

    async def _find(self) -> str | None:
        return self.base_url


def _value(header: str, value: str) -> str:
    """The value of a header, read from its environment variable if it begins with $."""
    if not value.startswith("$"):
        return value
    if (read := read_key(value[1:], spaces=True)) is None:
        raise ConfigurationError(f"T{_missing(header, value[1:])[1:]}.")
    return read


def _missing(header: str, variable: str) -> str:
    return f"the header {header} needs the environment variable {variable}, which is not set"
