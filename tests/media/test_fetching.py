"""Files are fetched from public hosts that the operator opened, and from nowhere else (cases 107 and 110).

The servers are real and on this machine; the tests decide what a name resolves to and where an address leads.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kernel.errors import DomainError, ForbiddenError, InvalidInputError, TooLargeError, UnavailableError
from media.fetching import FetchLimits, Network, fetch, limits
from media.fetching.addresses import is_public, read_address
from media.fetching.network import look_up

PUBLIC, OTHER = "93.184.216.34", "2606:2800:220:1::1"
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
        given = FetchLimits(**{"hosts": ANY, "seconds": 5, **fields})
        with fetch(url, given, self.network) as found:
            return found.path.read_bytes(), found.final_url, found.mime, found.name


def page(body: bytes = b"hello", status: int = 200, **headers: str) -> Page:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def leads_to(place: str, status: int = 302) -> Page:
    return page(b"", status, Location=place)


@contextmanager
def serving(certificate_file=None) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append((self.headers["Host"], self.path))
            try:
                made.pages.get(self.path.partition("?")[0], page(b"none", 404))(self)
            except OSError:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: object) -> None:
            """Who breaks off means to."""

    server = Server(("127.0.0.1", 0), Handler)
    made = Site(server.server_port)
    made.pages["/a.txt"] = page(Content_Type="text/plain; charset=utf-8")
    if certificate_file:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_file)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        made.trusted.load_verify_locations(certificate_file)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
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


PLAIN = "http://docs.example.org"


def test_it_works(site):
    found = site.bring(f"{PLAIN}/a.txt")
    assert found == (b"hello", f"{PLAIN}/a.txt", "text/plain", "a.txt")
    assert site.asked == [("docs.example.org", "/a.txt")]
    assert site.reached == [(PUBLIC, 80)]


def test_the_file_is_gone_after_the_block(site):
    with fetch(f"{PLAIN}/a.txt", FetchLimits(("*",)), site.network) as found:
        path = found.path
    assert not path.exists()


def test_tls_is_spoken_with_the_host_and_not_with_its_address(certificate):
    with serving(certificate) as site:
        assert site.bring()[0] == b"hello"
        assert site.reached == [(PUBLIC, 443)]


def test_a_host_that_cannot_prove_its_name_is_refused(certificate):
    with serving(certificate) as site, pytest.raises(InvalidInputError, match="cannot prove"):
        site.bring("https://other.example.org/a.txt")


def test_a_host_that_speaks_no_tls_is_unavailable(site):
    with pytest.raises(UnavailableError):
        site.bring("https://docs.example.org/a.txt")


# Which addresses


@pytest.mark.parametrize(
    "url",
    [
        *["", "docs.example.org/a.txt", "/etc/passwd", "file:///etc/passwd", "file://docs.example.org/../../x"],
        *[
            "ftp://docs.example.org/a",
            "gopher://docs.example.org",
            "s3://bucket/key",
            "data:text/plain,a",
            "javascript:1",
        ],
        *["http://", "http:///a", "http://:80/a", "https://docs.example.org:99999/", "http://docs.example.org:x/"],
        *["http://a..b/", "http://[::1", "http://[fe80::1%25eth0]/", "http://docs.example.org/ a", "http://d\\@e/"],
        *["http://docs.example.org/\r\nX: y", "http://docs.example.org/\x00", f"http://docs.example.org/{'a' * 2000}"],
        *["http://user@docs.example.org/", "http://user:pw@docs.example.org/", "http://@docs.example.org/"],
        *["http://docs.example.org@evil.example.org/", f"http://{'a' * 64}.org/", "local:aa/bb/" + "0" * 64],
    ],
)
def test_what_is_no_plain_http_address_is_refused(site, url):
    with pytest.raises(InvalidInputError):
        site.bring(url)
    assert site.looked_up == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Docs.Example.ORG./A?b=c#d", "http://docs.example.org/A?b=c"),
        ("https://例え.jp/文?字=1", "https://xn--r8jz45g.jp/%E6%96%87?%E5%AD%97=1"),
        ("http://h:80", "http://h/"),
        ("http://h:81/a%20b", "http://h:81/a%20b"),
        ("http://[2606:2800::1]:8080/", "http://[2606:2800::1]:8080/"),
    ],
)
def test_an_address_is_read_into_its_plain_form(url, expected):
    assert str(read_address(url)) == expected


@pytest.mark.parametrize(
    ("hosts", "url", "allowed"),
    [
        ((), f"{PLAIN}/a.txt", False),
        (("*",), f"{PLAIN}/a.txt", True),
        (("*",), f"{PLAIN}:8443/a.txt", False),
        (("docs.example.org",), f"{PLAIN}/a.txt", True),
        (("DOCS.example.org",), "http://Docs.Example.Org./a.txt", True),
        (("docs.example.org",), f"{PLAIN}:8443/a.txt", False),
        (("docs.example.org:8443",), f"{PLAIN}:8443/a.txt", True),
        (("docs.example.org:8443",), f"{PLAIN}/a.txt", False),
        (("*.example.org",), f"{PLAIN}/a.txt", True),
        (("*.example.org",), "http://example.org/a.txt", False),
        (("*.example.org",), "http://evilexample.org/a.txt", False),
        (("example.org",), f"{PLAIN}/a.txt", False),
        (("docs.example.org",), "http://docs.example.org.evil.org/a.txt", False),
    ],
)
def test_only_hosts_that_the_operator_opened_are_asked(site, hosts, url, allowed):
    if allowed:
        assert site.bring(url, hosts=hosts)[0] == b"hello"
    else:
        with pytest.raises(ForbiddenError):
            site.bring(url, hosts=hosts)
        assert site.looked_up == []


def test_nothing_is_fetched_until_hosts_are_named(site, set_conf):
    with pytest.raises(ForbiddenError, match="SMARTBRAIN_MEDIA_ALLOWED_HOSTS"), fetch(f"{PLAIN}/a", limits()):
        pass
    set_conf(media_allowed_hosts=" a.example.org, *.b.example.org ,", media_max_bytes=7, media_fetch_seconds=3.5)
    assert limits() == FetchLimits(("a.example.org", "*.b.example.org"), 7, 3.5)


NOT_PUBLIC = [
    *["127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254"],
    *[
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
    ],
    *["::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1"],
    *["3fff::1", "3fff:fff:ffff::1", "5f00::1", "64:ff9b:1::7f00:1"],
    *["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::a00:1", "64:ff9b::7f00:1"],
    *["2002:7f00:1::", "2002:a00:1::1", "2001:0:53aa:64c:0:0:80ff:fffe", "", "localhost", "1.2.3", "1.2.3.4.5"],
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_never_connected_to(site, address):
    site.names["docs.example.org"] = [[address]]
    assert not is_public(address)
    with pytest.raises(InvalidInputError, match="no address that may be reached"):
        site.bring(f"{PLAIN}/a.txt")
    assert site.reached == []


@pytest.mark.parametrize(
    "address", [PUBLIC, OTHER, "8.8.8.8", "2a00:1450:4001::200e", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_an_address_of_the_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize("answers", [[PUBLIC, "127.0.0.1"], ["10.0.0.1", OTHER], []])
def test_one_address_that_is_not_public_is_one_too_many(site, answers):
    site.names["docs.example.org"] = [answers]
    with pytest.raises(InvalidInputError):
        site.bring(f"{PLAIN}/a.txt")
    assert site.reached == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "localhost"]
)
def test_no_way_to_write_this_machine_leads_to_it(host):
    """With the machine's own look-up, and a server that would answer."""
    with serving() as site:
        given = FetchLimits(("*", f"{host}:{site.port}"))
        with (
            pytest.raises((InvalidInputError, ForbiddenError)),
            fetch(f"http://{host}:{site.port}/a.txt", given) as found,
        ):
            pytest.fail(f"fetched {found.final_url}")
    assert site.asked == []


def test_a_name_is_looked_up_once_and_what_it_led_to_is_connected_to(site):
    """Rebinding: a name that leads somewhere else the second time gains nothing."""
    site.names["docs.example.org"] = [[PUBLIC], ["127.0.0.1"]]
    assert site.bring(f"{PLAIN}/a.txt")[0] == b"hello"
    assert (site.looked_up, site.reached) == (["docs.example.org"], [(PUBLIC, 80)])


def test_each_redirect_is_looked_up_and_checked_anew(site):
    site.names["docs.example.org"] = [[PUBLIC], ["127.0.0.1"]]
    site.pages["/a.txt"] = leads_to("/b.txt")
    with pytest.raises(InvalidInputError, match="no address that may be reached"):
        site.bring(f"{PLAIN}/a.txt")
    assert [path for _, path in site.asked] == ["/a.txt"]


@pytest.mark.parametrize(
    "place",
    [
        *["http://127.0.0.1/", "http://[::1]/", "http://metadata.internal/", "file:///etc/passwd", "ftp://d.org/a"],
        *["http://user:pw@docs.example.org/", "//169.254.169.254/latest/meta-data", "http://docs.example.org:22/"],
    ],
)
def test_a_redirect_to_what_may_not_be_asked_is_refused(site, place):
    site.names |= {name: [[name]] for name in ("127.0.0.1", "::1", "169.254.169.254")}
    site.names["metadata.internal"] = [["10.0.0.1"]]
    site.pages["/a.txt"] = leads_to(place)
    with pytest.raises((InvalidInputError, ForbiddenError)):
        site.bring(f"{PLAIN}/a.txt")
    assert len(site.reached) == 1


def test_a_redirect_to_a_host_that_is_not_open_is_refused(site):
    site.pages["/a.txt"] = leads_to("http://other.example.org/b.txt")
    with pytest.raises(ForbiddenError, match=r"other\.example\.org"):
        site.bring(f"{PLAIN}/a.txt", hosts=("docs.example.org",))


def test_a_redirect_from_https_to_http_is_refused(certificate):
    with serving(certificate) as site:
        site.pages["/a.txt"] = leads_to("http://docs.example.org/b.txt")
        with pytest.raises(InvalidInputError, match="from https to http"):
            site.bring()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(site, status):
    site.pages |= {"/1": leads_to("../a.txt", status), "/0": leads_to("http://www.example.org/1", status)}
    assert site.bring(f"{PLAIN}/0")[1] == "http://www.example.org/a.txt"


def test_more_than_five_redirects_are_too_many(site):
    site.pages |= {f"/{number}": leads_to(f"/{number + 1}") for number in range(6)}
    site.pages["/6"] = page()
    assert site.bring(f"{PLAIN}/1")[0] == b"hello"
    with pytest.raises(InvalidInputError, match="more than 5 times"):
        site.bring(f"{PLAIN}/0")


def test_a_redirect_without_a_place_is_refused(site):
    site.pages["/a.txt"] = page(b"", 302)
    with pytest.raises(InvalidInputError, match="without saying where"):
        site.bring(f"{PLAIN}/a.txt")


# How much and how long


def drip(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.05)


def drip_headers(handler: BaseHTTPRequestHandler) -> None:
    while True:
        handler.wfile.write(b"H")
        time.sleep(0.05)


def silence(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(3)


@pytest.mark.parametrize("slow", [drip, drip_headers, silence])
def test_who_drips_is_cut_off_in_time(site, slow):
    site.pages["/a.txt"] = slow
    with pytest.raises(UnavailableError, match="takes longer"):
        site.bring(f"{PLAIN}/a.txt", seconds=0.5)


def test_a_file_over_the_limit_is_refused_before_it_is_read(site):
    site.pages["/a.txt"] = page(b"", Content_Length="52428801")
    with pytest.raises(TooLargeError, match="52428801 bytes"):
        site.bring(f"{PLAIN}/a.txt")


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x" * 10_000)


def test_a_file_that_does_not_say_its_size_is_cut_at_the_limit(site):
    site.pages["/a.txt"] = endless
    with pytest.raises(TooLargeError, match="more than 30000 bytes"):
        site.bring(f"{PLAIN}/a.txt", max_bytes=30_000)


def test_a_file_of_just_the_limit_is_taken(site):
    assert site.bring(f"{PLAIN}/a.txt", max_bytes=5)[0] == b"hello"
    with pytest.raises(TooLargeError):
        site.bring(f"{PLAIN}/a.txt", max_bytes=4)


def test_a_file_that_breaks_off_is_no_file(site):
    site.pages["/a.txt"] = page(b"half", Content_Length="9")
    with pytest.raises(UnavailableError, match="in the middle"):
        site.bring(f"{PLAIN}/a.txt")


def test_a_compressed_answer_is_refused(site):
    site.pages["/a.txt"] = page(b"\x1f\x8b", Content_Encoding="gzip")
    with pytest.raises(InvalidInputError, match="compressed"):
        site.bring(f"{PLAIN}/a.txt")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *[(404, InvalidInputError), (401, InvalidInputError), (403, InvalidInputError), (206, InvalidInputError)],
        *[(500, UnavailableError), (503, UnavailableError), (429, UnavailableError)],
    ],
)
def test_an_answer_without_a_file_says_whether_to_try_again(site, status, error):
    site.pages["/a.txt"] = page(b"no", status)
    with pytest.raises(error, match=str(status)):
        site.bring(f"{PLAIN}/a.txt")


def nonsense(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\x01\x02 nonsense\r\n\r\n")


def many_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    for number in range(300):
        handler.send_header(f"X-{number}", "y")
    handler.end_headers()


@pytest.mark.parametrize("bad", [nonsense, many_headers])
def test_a_server_that_speaks_no_http_is_refused(site, bad):
    site.pages["/a.txt"] = bad
    with pytest.raises(DomainError):
        site.bring(f"{PLAIN}/a.txt")


def test_a_host_that_nobody_answers_at_is_unavailable(site):
    nobody = Network(site.look_up, _refuse)
    with pytest.raises(UnavailableError, match="cannot be reached"), fetch(f"{PLAIN}/a", FetchLimits(("*",)), nobody):
        pass


def _refuse(address: str, port: int, timeout: float) -> socket.socket:
    raise ConnectionRefusedError


def test_the_next_address_of_a_host_is_tried(site):
    site.names["docs.example.org"] = [[OTHER, PUBLIC]]
    tried = []

    def connect(address: str, port: int, timeout: float) -> socket.socket:
        tried.append(address)
        return _refuse(address, port, timeout) if address == OTHER else site.connect(address, port, timeout)

    with fetch(f"{PLAIN}/a.txt", FetchLimits(("*",)), Network(site.look_up, connect)) as found:
        assert found.path.read_bytes() == b"hello"
    assert tried == [OTHER, PUBLIC]


# What it is called


@pytest.mark.parametrize(
    ("path", "header", "expected"),
    [
        ("/files/a.txt?b=/c.md", "", "a.txt"),
        ("/a%20b.txt", "", "a b.txt"),
        ("/", "", ""),
        ("/a.txt", 'attachment; filename="report.pdf"', "report.pdf"),
        ("/a.txt", "attachment; filename*=UTF-8''%E6%8A%A5.pdf", "报.pdf"),
        ("/a.txt", 'attachment; filename="../../etc/passwd"', "passwd"),
        ("/a.txt", 'attachment; filename="..\\\\..\\\\boot.ini"', "boot.ini"),
        ("/..%2f..%2fetc%2fpasswd", "", "passwd"),
        ("/" + "a" * 400 + ".txt", "", "a" * 196 + ".txt"),
        ("/a.txt", "attachment", "a.txt"),
        ("/%00%0aa.txt", "", "a.txt"),
    ],
)
def test_a_file_is_called_by_its_last_part_alone(site, path, header, expected):
    site.pages[path.partition("?")[0]] = page(Content_Disposition=header) if header else page()
    assert site.bring(f"{PLAIN}{path}")[3] == expected


@pytest.mark.parametrize(
    ("said", "expected"), [("", ""), ("Text/HTML; x=y", "text/html"), ("<script>", ""), ("a", "")]
)
def test_a_type_is_taken_over_only_where_it_is_one(site, said, expected):
    site.pages["/a.txt"] = page(Content_Type=said)
    assert site.bring(f"{PLAIN}/a.txt")[2] == expected


def test_a_host_without_addresses_has_none():
    assert look_up("no-such-host.invalid", 80) == []
    assert look_up("a" * 70, 80) == []
