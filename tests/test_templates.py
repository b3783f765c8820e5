"""Stored text in templates: what marks hidden characters gives HTML, which is neither cut nor put where no markup can stand."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytestmark = pytest.mark.once  # it reads the source

ROOT = Path(__file__).parents[1]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MARKING = r"\|(?:visible|pretty|brief)\b"
EXPRESSION = re.compile(r"{{.*?}}|{%.*?%}", re.DOTALL)
CUT_AFTERWARDS = re.compile(MARKING + r"[^|}%]*\|(?!default:)")
TEXTAREA = re.compile(r"<textarea\b(?:{{.*?}}|{%.*?%}|[^>])*+>(?!\n|</textarea>)", re.DOTALL)


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


class Unmarkable(HTMLParser):
    """Finds the numbers of marked expressions in attributes and in elements that hold text alone."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += re.findall(r"marked\d+", " ".join(f"{name} {value}" for name, value in attrs))
        self.within = tag if tag in ("textarea", "title", "script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.within = "" if tag == self.within else self.within

    def handle_data(self, data: str) -> None:
        if self.within:
            self.found += re.findall(r"marked\d+", data)


def unmarkable(source: str) -> list[str]:
    """The expressions of a template that mark hidden characters where a browser takes no markup."""
    told: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        if not found[0].startswith("{{") or not re.search(MARKING, found[0]):
            return ""
        told.append(found[0])
        return f"marked{len(told) - 1}"

    parser = Unmarkable()
    parser.feed(EXPRESSION.sub(stand_in, source))
    parser.close()
    return [told[int(name.removeprefix("marked"))] for name in parser.found]


def cut(source: str) -> list[str]:
    """The expressions in which something follows what marks hidden characters."""
    return [found for found in EXPRESSION.findall(source) if CUT_AFTERWARDS.search(found)]


def test_it_works():
    assert len(TEMPLATES) > 40
    assert unmarkable('<p>{{ a|visible }}</p><a {% if b > c %}title="{{ a|visible }}"{% endif %}>') == [
        "{{ a|visible }}"
    ]
    assert unmarkable("<textarea>{{ a|pretty }}</textarea>") == ["{{ a|pretty }}"]
    assert cut('{{ a|visible|default:"x" }}{{ a|truncatechars:3|visible }}{{ a|visible|truncatechars:3 }}') == [
        "{{ a|visible|truncatechars:3 }}"
    ]
    assert TEXTAREA.search('<textarea {% if a > b %}x{% endif %} name="y">{{ a }}</textarea>')
    assert not TEXTAREA.search('<textarea {% if a > b %}x{% endif %} name="y">\n{{ a }}</textarea>')


@pytest.mark.parametrize("path", TEMPLATES, ids=names(TEMPLATES))
def test_marked_text_is_whole_and_stands_where_markup_may(path):
    source = path.read_text()
    assert unmarkable(source) == []
    assert cut(source) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=names(TEMPLATES))
def test_the_newline_that_a_browser_drops_is_none_of_the_stored_text(path):
    assert TEXTAREA.findall(path.read_text()) == []
