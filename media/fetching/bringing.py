"""Bringing one file from an http(s) address, redirect by redirect, within limits."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO
from urllib.parse import unquote, urljoin

from kernel.errors import DomainError, InvalidInputError, TooLargeError, UnavailableError
from media.fetching.addresses import Address, read_address, require_allowed
from media.fetching.network import Network

_CHUNK = 65_536
_OK = 200
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LATER = frozenset({408, 425, 429, *range(500, 600)})
_MIME = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")
_NO_NAME = re.compile(r"[\x00-\x1f\x7f/\\]")
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Which hosts may be asked, and for how much and how long: bytes of the file, seconds for all of it."""

    hosts: tuple[str, ...] = ()
    max_bytes: int = 52_428_800
    seconds: float = 60.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was brought. `mime` is what its server says, empty where it says nothing of use; `name` is the file's
    name by its server or its address, and may be empty."""

    path: Path
    final_url: str
    mime: str
    name: str


@contextmanager
def fetch(url: str, limits: FetchLimits, network: Network | None = None) -> Iterator[Fetched]:
    """The file at an address, for as long as the block lasts.

    Raises InvalidInputError for what is no address of the public internet or has no file, ForbiddenError for a host
    that the operator did not open, TooLargeError over the limit, UnavailableError where trying later may help.
    """
    deadline = time.monotonic() + limits.seconds
    with NamedTemporaryFile(prefix="smartbrain-") as file:
        told = _follow(read_address(url), file, limits, network or Network(), deadline)
        yield Fetched(Path(file.name), *told)


def _follow(
    address: Address, file: IO[bytes], limits: FetchLimits, network: Network, deadline: float
) -> tuple[str, str, str]:
    """Write the file that the address leads to; its address, type and name. Every step is checked like the first."""
    for _ in range(limits.redirects + 1):
        require_allowed(address, limits.hosts)
        try:
            with network.ask(address, deadline) as answer:
                if answer.status not in _REDIRECTS:
                    _save(answer, file, limits.max_bytes)
                    _in_time(deadline)
                    return str(address), _mime(answer), _name(answer, address)
                address = _next(address, answer)
        except ssl.SSLCertVerificationError as exc:
            raise InvalidInputError(f"The host {address.host[:200]!r} cannot prove that it is who it says.") from exc
        except (OSError, HTTPException, DomainError) as exc:
            _in_time(deadline)
            if isinstance(exc, DomainError):
                raise
            raise UnavailableError(f"The host broke off ({type(exc).__name__}).") from exc
    raise InvalidInputError(f"The address leads on more than {limits.redirects} times.")


def _in_time(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise UnavailableError("The host takes longer than a file may take to come.")


def _next(address: Address, answer: HTTPResponse) -> Address:
    place = answer.headers.get("Location")
    if not place:
        raise InvalidInputError("The address leads on without saying where.")
    following = read_address(urljoin(str(address), place))
    if address.scheme == "https" and following.scheme == "http":
        raise InvalidInputError("The address leads from https to http, where anyone could change the file.")
    return following


def _save(answer: HTTPResponse, file: IO[bytes], most: int) -> None:
    if answer.status in _LATER:
        raise UnavailableError(f"The host answered {answer.status}.")
    if answer.status != _OK:
        raise InvalidInputError(f"The host answered {answer.status}: there is no file at this address.")
    if answer.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise InvalidInputError("The host sent the file compressed though nobody asked for it.")
    said = answer.length  # what Content-Length says; None where the end shows it
    if said is not None and said > most:
        raise TooLargeError(f"The file has {said} bytes; {most} at most.")
    got = 0
    while chunk := answer.read(_CHUNK):
        got += len(chunk)
        if got > most:
            raise TooLargeError(f"The file has more than {most} bytes.")
        file.write(chunk)
    if said is not None and got != said:
        raise UnavailableError("The host broke off in the middle of the file.")
    file.flush()


def _mime(answer: HTTPResponse) -> str:
    said = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return said if _MIME.fullmatch(said) else ""


def _name(answer: HTTPResponse, address: Address) -> str:
    """The name by the server, else the last part of the address; without what no file's name holds."""
    header = Message()
    header["Content-Disposition"] = answer.headers.get("Content-Disposition", "")
    said = header.get_filename() or unquote(address.target.partition("?")[0].rpartition("/")[2])
    plain = _NO_NAME.sub(" ", said.replace("\\", "/").rpartition("/")[2]).strip()
    return plain if len(plain) <= _MAX_NAME else plain[-_MAX_NAME:]
