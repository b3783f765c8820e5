"""How admin pages show stored text: escaped, never as interface, with hidden characters made visible."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from django import template
from django.contrib.admin import ListFilter
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from governance import adminbase
from governance.adminbase.diff import FieldDiff, Kind, Passage, compare_values
from governance.adminbase.markdown import render
from governance.contracts import RelatedText, SnapshotChange
from governance.selectors import preferences_of
from kernel.context import Right
from kernel.text import has_invisible, is_invisible, show_invisible

register = template.Library()


@register.filter
def when(moment: datetime | None) -> str:
    """An instant in UTC."""
    return adminbase.when(moment)


@register.filter
def visible(text: object) -> SafeString:
    """Escaped text in which each hidden character stands as its marked code point."""
    raw = str(text)
    if not has_invisible(raw):
        return escape(raw)
    parts = []
    for hidden, chars in groupby(raw, is_invisible):
        run = "".join(chars)
        parts.append(
            (SafeString('<mark class="sb-hidden">'), show_invisible(run), SafeString("</mark>"))
            if hidden
            else ("", run, "")
        )
    return format_html_join("", "{}{}{}", parts)


@register.filter
def legible(text: object) -> str:
    """Text for an attribute, where there is no markup: hidden characters as their code points; escaped by Django."""
    return show_invisible(str(text))


@register.filter
def pretty(value: Any) -> SafeString:
    """JSON with its own language kept, escaped as above."""
    return visible(text_of(value))


@register.filter
def brief(value: Any) -> SafeString:
    """A value of a table's cell: text as it is, anything else as JSON on one line; a dash where there is none."""
    if value is None:
        return SafeString("–")
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


@register.inclusion_tag("smartbrain/diff.html")
def field_diffs(
    fields: Sequence[FieldDiff], mode: str = "side", old: str = "Before", new: str = "After", rendered: str = ""
) -> dict[str, Any]:
    """What differs, field by field: `mode` is `side` or `unified`; `old` and `new` head the two sides; with any
    `rendered` texts are shown as the Markdown they are, without marks."""
    return {
        "changed": [field for field in fields if field.kind is not Kind.SAME],
        "same": [field for field in fields if field.kind is Kind.SAME],
        "unified": mode == "unified" and not rendered,
        "rendered": bool(rendered),
        "old": old,
        "new": new,
    }


@register.inclusion_tag("smartbrain/passages.html")
def passages(found: Sequence[Passage]) -> dict[str, Any]:
    """Passages of a comparison: what was removed and added is marked up as such and said to screen readers."""
    return {"passages": found}


@register.inclusion_tag("smartbrain/diff.html")
def line_diff(change: SnapshotChange) -> dict[str, Any]:
    """How something that is read line by line would read differently."""
    field = compare_values(change.kind, "\n".join(change.before), "\n".join(change.after))
    return field_diffs([field], "unified")


@register.simple_tag
def as_markdown(text: str | None) -> SafeString:
    """Markdown as HTML that is ours alone; the escaped source where it is too long."""
    return render(text or "") or visible(text)


@register.simple_tag
def undo_of(message: Message) -> dict[str, Any] | None:
    """How the act that a message tells of is taken back; None where it is not offered."""
    offer: dict[str, Any] | None = json.loads(message.extra_tags) if message.extra_tags else None
    return offer


@register.simple_tag
def shortcuts_of(request: HttpRequest) -> bool:
    """Whether single keys act for the signed-in person."""
    return preferences_of(adminbase.ctx_of(request)).shortcuts


@register.simple_tag(takes_context=True)
def sight(context: Mapping[str, Any], right: str, per: adminbase.Per = "scope") -> adminbase.Sight:
    """Where the signed-in person sees rows that a right shows."""
    return adminbase.sight_of(adminbase.ctx_of(context["request"]), Right(right), per)


@register.filter
def spaced(text: object) -> str:
    """A name of the code as words."""
    return str(text).replace("_", " ")


@register.filter
def percent(share: float | None) -> str:
    """A share as a percentage; a dash where there is none."""
    return "–" if share is None else f"{share:.0%}"


@register.filter
def span(seconds: float | None) -> str:
    """A span of time in its largest fitting unit; a dash where there is none."""
    if seconds is None:
        return "–"
    seconds = round(seconds)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return _so_many(f"{seconds / size:.1f}".removesuffix(".0"), unit)
    return _so_many(str(seconds), "second")


def _so_many(number: str, unit: str) -> str:
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


@register.simple_tag
def span_of(text: RelatedText) -> SafeString:
    """A text in which the characters that were read are marked, with some of what stands around them."""
    start, end = text.span or (0, len(text.text))
    around = 600
    before, after = text.text[max(0, start - around) : start], text.text[end : end + around]
    parts = ("…" if start > around else "", visible(before), visible(text.text[start:end]), visible(after))
    return format_html("{}{}<mark>{}</mark>{}{}", *parts, "…" if end + around < len(text.text) else "")


@register.filter
def hides(text: object) -> bool:
    """Whether a text holds characters that a reader cannot see."""
    return has_invisible(str(text))


@register.simple_tag
def text_of(value: Any) -> str:
    """JSON laid out for reading."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


@register.simple_tag
def filter_choices(cl: Any, spec: ListFilter) -> list[Mapping[str, object]]:
    """The choices of a list filter."""
    return list(spec.choices(cl))


@register.simple_tag
def page_address(cl: Any, number: int) -> str:
    """The address of another page of the list, with everything else kept."""
    address: str = cl.get_query_string({"p": number})
    return address


@register.simple_tag
def without(cl: Any, name: str) -> str:
    """The address of the list without one narrowing."""
    address: str = cl.get_query_string(remove=[name])
    return address
