"""A file is fetched over real connections: how much, how long, over TLS, and what it is called (cases 107 and 110)."""

from __future__ import annotations

import socket
import time
from http.server import BaseHTTPRequestHandler

import pytest

from kernel.errors import DomainError, InvalidInputError, TooLargeError, UnavailableError
from media.fetching import FetchLimits, Network, fetch
from tests.media.sites import OTHER, PLAIN, PUBLIC, certificate, page, serving, site

__all__ = ["certificate", "site"]


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
