"""How a page shows one value: texts, times, badges, labelled facts and small tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.html import format_html

from kernel.text import show_invisible
from scopes.contracts import OWNER


def when(moment: datetime | None) -> str:
    """An instant in UTC, readable and with its exact value in the markup."""
    if moment is None:
        return "–"
    return format_html(
        '<time datetime="{}">{}<span class="sb-utc"> UTC</span></time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S}",
    )


def shown(text: object) -> str:
    """Stored text in a cell: escaped, hidden characters written out, cut by the style sheet and whole in the title."""
    clear = show_invisible(str(text))
    return format_html('<bdi class="sb-cell" title="{}">{}</bdi>', clear, clear or "–")


def badge(text: str, tone: str = "plain") -> str:
    """A small label; the text says it, the colour only repeats it."""
    return format_html('<span class="sb-badge sb-{}">{}</span>', tone, text)


@dataclass(frozen=True, slots=True)
class Cell:
    """One value on a page, with a page to go to or none. `kind` is text, word (never broken), code, json or time.
    `whole` is the id of what the value tells in words, shown in full to be copied."""

    value: Any
    link: str = ""
    kind: str = "text"
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled value on the page of a row."""

    label: str
    cell: Cell


def fact(label: str, value: Any, link: str = "", kind: str = "text") -> Fact:
    """A labelled value."""
    return Fact(label, Cell(value, link, kind))


@dataclass(frozen=True, slots=True)
class Table:
    """A small table on the page of a row; `empty` is said where it has no rows."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    empty: str


def place_of(domain_id: str | None, scope: str) -> str:
    """A domain and scope in words."""
    if domain_id is None:
        return "the installation"
    if scope.startswith(f"{OWNER}:"):
        return f"{domain_id} / the actor's own"
    return f"{domain_id} / {scope}" if scope != "*" else domain_id
