"""The settings for connections from the process's environment: keys and proxies.

Each is checked once, when it is read, so that an unusable value gives one sentence instead of a library's error, which
would quote it.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from voice.errors import ComponentError, ConfigurationError
from voice.redaction import hide

SCHEMES = ("http", "https", "socks5", "socks5h")
"""URL schemes of supported proxies."""
_BRACKETED = re.compile(r"\[(?P<address>[^\]]*)\](?P<length>/\d+)?(:(?P<port>\d+))?")


def read_key(variable: str, environment: Mapping[str, str] = os.environ, *, spaces: bool = False) -> str | None:
    """The key in a variable, stripped of white space; None if the variable is not set.

    Args:
        variable: its name.
        environment: where it is looked up.
        spaces: whether the key may contain spaces, as a passphrase does.

    Raises:
        ConfigurationError: it is empty, or no request header can carry it.
    """
    value = environment.get(variable)
    return None if value is None else checked_key(value, f"the environment variable {variable}", spaces=spaces)


def checked_key(value: str, where: str, *, spaces: bool = False) -> str:
    """Strip a key of white space, and hide it from now on.

    Args:
        value: as it was read.
        where: the name of its place in error messages.
        spaces: see `read_key`.

    Raises:
        ConfigurationError: it is empty, or no request header can carry it.
    """
    key = value.strip()
    hide(key)
    place = f"{where[0].upper()}{where[1:]}"
    if not key:
        raise ConfigurationError(f"{place} is empty; it should hold a key.")
    if not key.isascii():
        raise ConfigurationError(f"{place} holds no key: keys have ASCII characters alone; copy the key again.")
    if not (key if not spaces else key.replace(" ", "")).isprintable() or (" " in key and not spaces):
        raise ConfigurationError(
            f"{place} holds no key: there is white space or a control character inside it; copy the key again, alone."
        )
    return key


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def proxy_for(url: str) -> str | None:
    """The environment's proxy for a server, as http://host:port; None for a direct connection.

    It comes from HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, unless NO_PROXY matches the server: by name, with its
    subdomains, by address or network (10.0.0.0/8, ::1/128), or by "*". A server on this machine is never behind a
    proxy. Entries of NO_PROXY without a host are ignored, as in curl.

    Raises:
        ConfigurationError: the value is not a proxy's address.
        ComponentError: a package that SOCKS needs is missing.
    """
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme in ("https", "wss")
    proxies = getproxies()
    kinds = [parts.scheme, "https" if secure else "http", "all"]
    kind = next((kind for kind in kinds if (proxies.get(kind) or "").strip()), None)
    port = parts.port or (443 if secure else 80)
    if kind is None or is_loopback(host) or _is_exempt(host, port, proxies.get("no", "")) or proxy_bypass(host):
        return None
    return _checked_proxy(proxies[kind].strip(), _variable(kind))


def _variable(kind: str) -> str:
    lower = f"{kind}_proxy"
    return lower if os.environ.get(lower) else lower.upper()


def _checked_proxy(value: str, variable: str) -> str:
    wrong = f"{variable} is not a proxy's address: write it as http://host:port, or unset it"
    user, at, rest = value.partition("://")[2].rpartition("@") if "://" in value else ("", "", value)
    for secret in (user, user.partition(":")[2]):
        hide(secret)
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigurationError(f"{wrong}.") from None
    if parts.scheme not in SCHEMES:
        raise ConfigurationError(f"{wrong} (of these kinds: {', '.join(SCHEMES)}).")
    if not host or port == 0 or not host.isprintable() or set(host) & set(' "<>\\^`{|}') or not rest.isprintable():
        raise ConfigurationError(f"{wrong}.")
    try:
        name = host if ":" in host else host.encode("idna").decode()
    except UnicodeError:
        raise ConfigurationError(f"{wrong}.") from None
    if parts.scheme.startswith("socks"):
        # httpx needs the first, websockets the second.
        for module, package in (("socksio", "socksio"), ("python_socks", "python-socks[asyncio]")):
            if find_spec(module) is None:
                raise ComponentError(
                    f"{variable} names a SOCKS proxy, which needs a package that is not here: pip install {package}, "
                    "or name an HTTP proxy."
                )
    login = ""
    if at:
        name_, _, password = user.partition(":")
        login = f"{quote(unquote(name_), safe='')}:{quote(unquote(password), safe='')}@"
    default = 443 if parts.scheme == "https" else 1080 if parts.scheme.startswith("socks") else 80
    return f"{parts.scheme}://{login}{f'[{name}]' if ':' in name else name}:{port or default}"


def _is_exempt(host: str, port: int, listed: str) -> bool:
    """Whether NO_PROXY matches a host."""
    return any(_names(entry.lower(), host.lower(), port) for entry in listed.replace(",", " ").split())


def _names(entry: str, host: str, port: int) -> bool:
    entry = entry.partition("://")[2] or entry
    if entry == "*":
        return True
    if found := _BRACKETED.fullmatch(entry):
        if found["port"] and int(found["port"]) != port:
            return False
        entry = f"{found['address']}{found['length'] or ''}"
    try:
        network = ipaddress.ip_network(entry, strict=False)
    except ValueError:
        pass
    else:
        try:
            return ipaddress.ip_address(host) in network
        except ValueError:
            return False
    name, colon, digits = entry.rpartition(":")
    if colon and digits.isdecimal():
        return int(digits) == port and _names(name, host, port)
    name = entry.rstrip("/").removeprefix("*").lstrip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))
