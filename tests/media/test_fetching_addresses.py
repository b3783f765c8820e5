"""Files are fetched from public hosts that the operator opened, and from nowhere else (cases 107 and 110)."""

from __future__ import annotations

import pytest

from kernel.errors import ForbiddenError, InvalidInputError
from media.fetching import FetchLimits, fetch, limits
from media.fetching.addresses import is_public, read_address
from media.fetching.network import look_up
from tests.media.sites import OTHER, PLAIN, PUBLIC, certificate, leads_to, page, serving, site

__all__ = ["certificate", "site"]


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


def test_a_host_without_addresses_has_none():
    assert look_up("no-such-host.invalid", 80) == []
    assert look_up("a" * 70, 80) == []
