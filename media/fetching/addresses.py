"""Which addresses may be asked: the operator's hosts, at addresses of the public internet."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urlsplit

from kernel.errors import ForbiddenError, InvalidInputError

PORTS = {"http": 80, "https": 443}
_MAX_CHARS = 2000
_UNWANTED = re.compile(r"[\x00-\x20\x7f\\]")
_SAFE = "%/:=&?~#+!$,;'@()*[]"
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
# Not of the public internet, though not every version of Python knows it: documentation, segment routing, local NAT64.
_SET_ASIDE = tuple(IPv6Network(each) for each in ("3fff::/20", "5f00::/16", "64:ff9b:1::/48"))
SWITCHED_OFF = (
    "Addresses are not fetched here: send the file itself, or have the operator name hosts in "
    "SMARTBRAIN_MEDIA_ALLOWED_HOSTS."
)


@dataclass(frozen=True, slots=True)
class Address:
    """An http(s) address in its parts. `host` is in ASCII and lower case; `target` is what follows host and port."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def host_header(self) -> str:
        """The host as it is told to the server: with its port unless that is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}{self.target}"


def read_address(url: str) -> Address:
    """The parts of an address. Raises InvalidInputError for what is no http(s) address without user and password."""
    if len(url) > _MAX_CHARS or _UNWANTED.search(url):
        raise InvalidInputError(f"The address has spaces or control characters, or over {_MAX_CHARS} characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as exc:
        raise InvalidInputError("This is no address: it should look like https://example.org/report.pdf.") from exc
    if parts.scheme not in PORTS:
        raise InvalidInputError("Only http and https addresses are fetched.")
    if "@" in parts.netloc:
        raise InvalidInputError("An address with a user or password in it is not fetched: take them out.")
    if not host or "%" in host:
        raise InvalidInputError("The address names no host.")
    target = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
    return Address(parts.scheme, host.lower().rstrip("."), port or PORTS[parts.scheme], target)


def require_allowed(address: Address, hosts: Collection[str]) -> None:
    """Raise ForbiddenError unless the operator opened this host: `host`, `*.host` for all below it, or `*` for every
    public one, at the usual ports; another port only where it is named, as in `host:8443`."""
    if not hosts:
        raise ForbiddenError(SWITCHED_OFF)
    if not any(_covers(pattern.lower(), address) for pattern in hosts):
        raise ForbiddenError(f"The host {address.host_header[:200]!r} is not among those that the operator opened.")


def host_refused(url: str, hosts: Collection[str]) -> str:
    """The host of an http(s) address, with its port unless that is the usual one, where the operator did not open it; empty
    where it is open, or the text is no such address."""
    try:
        address = read_address(url)
        require_allowed(address, hosts)
    except InvalidInputError:
        return ""
    except ForbiddenError:
        return address.host_header
    return ""


def _covers(pattern: str, address: Address) -> bool:
    name, _, port = pattern.rpartition(":") if re.search(r":\d+$", pattern) else (pattern, "", "")
    if str(address.port) != port and (port or address.port not in PORTS.values()):
        return False
    if name.startswith("*."):
        return address.host.endswith(name[1:])
    return name in ("*", address.host)


def require_public(addresses: Sequence[str]) -> list[str]:
    """The addresses of a host again. Raises InvalidInputError where there are none or any of them is not public: which
    names resolve inside our network is nothing to tell."""
    if not addresses or not all(is_public(each) for each in addresses):
        raise InvalidInputError("The host has no address that may be reached from here.")
    return list(dict.fromkeys(addresses))


def is_public(written: str) -> bool:
    """Whether this is an address of the public internet, also in what it carries: an IPv6 address may stand for an IPv4
    one, which then decides."""
    try:
        address = ip_address(written)
    except ValueError:
        return False
    inner = _carried(address) if isinstance(address, IPv6Address) else None
    if inner is not None:
        return is_public(str(inner))
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or address.is_loopback
        or address.is_link_local
        or (isinstance(address, IPv6Address) and _is_set_aside(address))
    )


def _is_set_aside(address: IPv6Address) -> bool:
    return address.is_site_local or address.scope_id is not None or any(address in each for each in _SET_ASIDE)


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour
