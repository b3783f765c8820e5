"""Markdown of agents: shown as meant, and never as interface."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from governance.adminbase.markdown import MOST, render


class Tags(HTMLParser):
    """Which tags and attributes a page holds."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_it_works():
    page = render("# Port\n\n- **5432** is *used*\n\n`x`\n\n|a|b|\n|-|-|\n|1|2|")
    assert page is not None
    for part in ("<strong>Port</strong>", "<li><strong>5432</strong>", "<code>x</code>", "<td>1</td>"):
        assert part in page
    assert "<h1" not in page


@pytest.mark.parametrize(
    "nasty",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](http://example.org/?q=%22%3E)",
        "![a](http://example.org/x.png)",
        "<http://example.org>",
        '[a](http://example.org "onmouseover=x")',
        "[a]\n\n[a]: http://example.org",
        '"><form action=x>',
    ],
)
def test_no_markup_and_no_address_is_live(nasty):
    page = str(render(nasty))
    read = Tags()
    read.feed(page)
    assert read.names <= {"p", "span", "code"}
    assert read.attributes <= {"class"}
    if "example.org" in nasty:
        assert "example.org" in page


def test_hidden_characters_show():
    assert "⟦U+202E⟧" in str(render("a\u202eb"))


def test_a_text_that_is_too_long_is_not_rendered():
    assert render("x" * (MOST + 1)) is None
