"""Asking a host at an address that was checked: its name is looked up once, and the connection goes where that led."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPConnection, HTTPResponse
from threading import Timer

import httpx

from kernel.errors import UnavailableError
from media.fetching.addresses import Address, require_public

_CONNECT_SECONDS = 10.0
_HEADERS = {"User-Agent": "SmartBrain", "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}


def look_up(host: str, port: int) -> Sequence[str]:
    """Every address of a host; none where it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(each[4][0]) for each in found]


def connect(address: str, port: int, timeout: float) -> socket.socket:
    """A connection to an IP address."""
    return socket.create_connection((address, port), timeout)


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


@dataclass(frozen=True, slots=True)
class Network:
    """How names are looked up, connections made and servers trusted; tests put a network of their own here."""

    look_up: Callable[[str, int], Sequence[str]] = look_up
    connect: Callable[[str, int, float], socket.socket] = connect
    trusted: Callable[[], ssl.SSLContext] = _trusted

    @contextmanager
    def ask(self, address: Address, deadline: float) -> Iterator[HTTPResponse]:
        """The answer to a GET. The connection is cut at the deadline (of `time.monotonic`), however it drips.

        Raises InvalidInputError where the host is not a public one, UnavailableError where it does not answer.
        """
        pinned = require_public(self.look_up(address.host, address.port))
        with _Line(self._reached(pinned, address.port, deadline), deadline) as line:
            if address.scheme == "https":
                line.encrypt(self.trusted(), address.host)
            asked = HTTPConnection(address.host, address.port)
            asked.sock = line.end
            asked.putrequest("GET", address.target, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": address.host_header, **_HEADERS}.items():
                asked.putheader(name, value)
            asked.endheaders()
            yield asked.getresponse()

    def _reached(self, pinned: Sequence[str], port: int, deadline: float) -> socket.socket:
        for each in pinned:
            with suppress(OSError):
                return self.connect(each, port, min(_CONNECT_SECONDS, _left(deadline)))
        raise UnavailableError("The host cannot be reached.")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Line:
    """A connection that another thread shuts at the deadline: a timeout on each read begins anew with every byte."""

    def __init__(self, end: socket.socket, deadline: float) -> None:
        self.end = end
        self._timer = Timer(max(0.0, deadline - time.monotonic()), self._shut)
        self._timer.daemon = True

    def __enter__(self) -> _Line:
        self._timer.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._timer.cancel()
        self.end.close()

    def encrypt(self, trusted: ssl.SSLContext, host: str) -> None:
        """Speak TLS from here on, with the host that was named and not the address that it led to."""
        encrypted = trusted.wrap_socket(self.end, server_hostname=host, do_handshake_on_connect=False)
        self.end = encrypted
        encrypted.do_handshake()

    def _shut(self) -> None:
        with suppress(OSError):
            socket.socket.shutdown(self.end, socket.SHUT_RDWR)  # below TLS, which would wait for its peer
