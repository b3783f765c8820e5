"""A web server of this machine that stands for every public host: its pages, its names and its certificate.

A test decides what a name resolves to and where an address leads.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from media.fetching import FetchLimits, Network, fetch
from tests.serving import Quiet, Server, running, send

PUBLIC, OTHER = "93.184.216.34", "2606:2800:220:1::1"
PLAIN = "http://docs.example.org"
ANY = ("*", "docs.example.org:8443")
Page = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A server that answers by path, what it was asked, and a network in which every public address leads to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, str]] = []
        self.names: dict[str, list[list[str]]] = {}
        self.looked_up: list[str] = []
        self.reached: list[tuple[str, int]] = []
        self.trusted = ssl.create_default_context()

    def look_up(self, host: str, port: int) -> list[str]:
        self.looked_up.append(host)
        answers = self.names.get(host, [[PUBLIC]])
        return answers[min(self.looked_up.count(host), len(answers)) - 1]

    def connect(self, address: str, port: int, timeout: float) -> socket.socket:
        self.reached.append((address, port))
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    @property
    def network(self) -> Network:
        return Network(self.look_up, self.connect, lambda: self.trusted)

    def bring(self, url: str = "https://docs.example.org/a.txt", **fields) -> tuple[bytes, str, str, str]:
        given = FetchLimits(**{"hosts": ANY, "seconds": 60, **fields})
        with fetch(url, given, self.network) as found:
            return found.path.read_bytes(), found.final_url, found.mime, found.name


def page(body: bytes = b"hello", status: int = 200, **headers: str) -> Page:
    """A page of that body, status and headers."""
    return lambda handler: send(handler, body, status, **headers)


def leads_to(place: str, status: int = 302) -> Page:
    """A page that leads to another place."""
    return page(b"", status, Location=place)


@contextmanager
def serving(certificate_file=None) -> Iterator[Site]:
    """The server, over TLS where it has a certificate."""

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append((self.headers["Host"], self.path))
            try:
                made.pages.get(self.path.partition("?")[0], page(b"none", 404))(self)
            except OSError:
                self.close_connection = True

    class Patient(Server):
        def handle_error(self, *args: object) -> None:
            """Who breaks off means to."""

    server = Patient(Handler)
    made = Site(server.server_port)
    made.pages["/a.txt"] = page(Content_Type="text/plain; charset=utf-8")
    if certificate_file:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_file)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        made.trusted.load_verify_locations(certificate_file)
    with running(server):
        yield made


@pytest.fixture
def site() -> Iterator[Site]:
    """The server, over plain HTTP."""
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A key and a certificate of docs.example.org, which only these tests trust."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now, host = datetime.now(UTC), x509.SubjectAlternativeName([x509.DNSName("docs.example.org")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(host, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem = serialization.Encoding.PEM
    path.write_bytes(key.private_bytes(pem, form, plain) + made.public_bytes(pem))
    return path
