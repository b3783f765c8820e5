"""What a proposal would change, in one line and in fields, from the changes that are kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from governance.adminbase.diff import FieldDiff, Kind, Passage, as_texts, brief, compare_values, differ
from governance.contracts import RowChange
from governance.hooks import Words, known_words, words_of

TELLING = ("statement", "text", "value", "description", "document", "content", "title", "name")
MOST_ROWS = 50
_ONE = {
    "index lines": "index line",
    "principals gain": "principal gains",
    "principals lose": "principal loses",
    "recorded contexts": "recorded context",
    "sections": "section",
}


@dataclass(frozen=True, slots=True)
class RowDiff:
    """One row that would change: what happens to it and its fields. `called` is what people call such a row; `title` says
    which it is, where no field in sight does."""

    kind: Kind
    table: str
    id: str
    fields: Sequence[FieldDiff]
    title: str = ""
    called: str = ""
    link: str = ""

    @property
    def tells(self) -> bool:
        """Whether it holds something that people read, and does not only hold such rows together."""
        return any(field.name in TELLING for field in self.fields)

    @property
    def proposed(self) -> str:
        """The text that it would hold; empty where it has none."""
        texts = {field.name: field.after for field in self.fields if field.after}
        return next((texts[name] or "" for name in TELLING if name in texts), "")


def rows_of(changes: Sequence[Mapping[str, Any]]) -> list[RowDiff]:
    """The rows of some changes, fifty at most, with every field compared."""
    found = []
    for change in changes[:MOST_ROWS]:
        before, after, table = change.get("before"), change.get("after"), str(change.get("table"))
        old, new, words = before or {}, after or {}, words_of(table)
        fields = [_field(name, old.get(name), new.get(name), words) for name in sorted({*old, *new})]
        found.append(RowDiff(_kind(before, after), table, str(change.get("id")), fields, called=words.row))
    return found


def row_of(row: RowChange) -> RowDiff:
    """One row as an app presents it, compared field by field in the app's order."""
    words = words_of(row.table)
    fields = _once([_field(each.name, each.before, each.after, words) for each in row.fields])
    title = "" if _says(fields, row.title) else row.title
    return RowDiff(Kind(row.kind), row.table, row.id, fields, title, words.row, row.link)


def legible(value: Any, *, instant: bool = False) -> Any:
    """A value as people read it: yes or no, instants in UTC, a list line by line, a dash for what is empty."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in ("", [], {}):
        return "–"
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return "\n".join(str(legible(each)) for each in value)
    return _in_utc(value) if instant and isinstance(value, str) else value


def _in_utc(text: str) -> str:
    try:
        at = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    return f"{at:%Y-%m-%d %H:%M:%S}{f'.{at.microsecond:06}' if at.microsecond else ''} UTC"


def _field(name: str, before: Any, after: Any, words: Words) -> FieldDiff:
    instant = name in words.times
    told = compare_values(name, legible(before, instant=instant), legible(after, instant=instant))
    if told.kind is Kind.SAME and differ(before, after):  # people could not tell them apart as they read them
        told = compare_values(name, before, after)
    return replace(told, label=words.of(name))


def _once(fields: Sequence[FieldDiff]) -> list[FieldDiff]:
    """The fields with a part of the value that says the same as the statement told along with it, and not again."""
    said = next((each for each in fields if each.name == "statement" and each.kind is not Kind.SAME), None)
    if said is None:
        return list(fields)
    same = [each for each in fields if each.name.startswith("value.") and _sides(each) == _sides(said)]
    told = replace(said, label=", ".join([said.label, *(each.label for each in same)]))
    return [told if each is said else each for each in fields if each not in same]


def _sides(field: FieldDiff) -> tuple[str | None, str | None]:
    return field.before, field.after


def counted(what: str, count: int) -> str:
    """A line of an effect such as `added to memory_items` as people say it: `memories added`, or of one `memory added`."""
    for verb, said in (("added to ", "added"), ("removed from ", "removed"), ("changed in ", "changed")):
        if what.startswith(verb):
            return f"{words_of(what.removeprefix(verb)).so_many(count)} {said}"
    return _of_one(what) if count == 1 else what


def _of_one(what: str) -> str:
    named = {words.so_many(2): words.row for words in known_words()}
    for many, one in {**_ONE, **named}.items():
        for start in ("", "new "):
            if what.startswith(start + many):
                return start + one + what.removeprefix(start + many)
    return what


def _says(fields: Sequence[FieldDiff], title: str) -> bool:
    """Whether a field that is in sight begins with the words of a title."""
    start = title.removesuffix("…")
    shown = (text for each in fields if each.kind is not Kind.SAME for text in (each.before, each.after) if text)
    return bool(start) and any(" ".join(text.split()).startswith(start) for text in shown)


def one_line(changes: Sequence[Mapping[str, Any]]) -> list[Passage]:
    """The most telling difference among some changes, on one line."""
    told = sorted(enumerate(changes[:MOST_ROWS]), key=lambda pair: (_rank(pair[1]), pair[0]))
    for _, change in told:
        before, after = change.get("before") or {}, change.get("after") or {}
        for name in TELLING:
            old, new = as_texts(before.get(name), after.get(name))
            if old != new:
                return brief(old or "", new or "")
    for _, change in told:
        if change.get("before") is None:
            continue
        before, after = change["before"], change.get("after") or {}
        for name in sorted({*before, *after}):
            if differ(before.get(name), after.get(name)):
                old, new = as_texts(before.get(name), after.get(name))
                return [Passage(Kind.SAME, f"{name}: "), *brief(old or "", new or "")]
    return []


def _kind(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Kind:
    return Kind.ADDED if before is None else Kind.REMOVED if after is None else Kind.CHANGED


def _rank(change: Mapping[str, Any]) -> int:
    """Rows with telling fields first; what a conversation says comes before the rows that only hold it together."""
    row = {**(change.get("before") or {}), **(change.get("after") or {})}
    return next((place for place, name in enumerate(TELLING) if row.get(name)), len(TELLING))
