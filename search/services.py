"""Writing the index. Owners call this in the transaction that writes the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from kernel import tokens
from kernel.compiled import Given, compiled, tuple_of
from kernel.db import repeated_cursor, values_of
from kernel.rows import insert
from search.contracts import Kind, NewEntry, State
from search.models import IndexEntry, ScopeSize
from search.terms import FIRST_PLACE, LAST_PLACE, chain_start, pack, term_key, unpack

_BATCH = 10_000
_FOLD_EVERY = 32
_Place = tuple[int, str, int]
_Held = tuple[int, Iterable[int]]
"""An entry by its number, and terms of it."""
_MOVED = frozenset({"sequence", "place"})
# What an entry must agree in with the text that it stands for.
_UPKEPT = (
    "author", "label", "trust", "valid_from", "valid_to", "recorded_at", "state", "current_until", "tokeniser", "length",
    "terms",
)  # fmt: skip
_OF_NUMBERED = (*_UPKEPT, "session_key", "sequence", "place", "event_time")


def count_terms(text: str, author: str = "") -> Mapping[str, int]:
    """The terms of a text to index, for `counted` of its entry: no database is asked."""
    return tokens.terms(f"{author} {text}")


def add(entries: Iterable[NewEntry]) -> int:
    """Index texts; gives the number of entries written. An object can be indexed once a scope.

    The texts of a session are to be added in its order: what stands before and after a text counts when it is ranked.
    """
    wanted = list(entries)
    places = _places(wanted)
    counted = _terms_of(wanted)
    rows = [
        _row(entry, terms, places.get(number))
        for number, (entry, terms) in enumerate(zip(wanted, counted, strict=True))
    ]
    insert(rows)
    _insert_postings((row.id, terms) for row, terms in zip(rows, counted, strict=True))
    _resize([(row.scope_id, row.length) for row in rows], 1)
    return len(rows)


def set_state(kind: Kind, object_ids: Sequence[UUID], state: State) -> int:
    """Move objects in or out of ordinary searches; gives the number of entries changed."""
    return IndexEntry.objects.filter(kind=kind, object_id__in=object_ids).update(state=state)


def close(kind: Kind, object_ids: Sequence[UUID], at: datetime) -> int:
    """Move objects into history as of an instant; gives the number of entries changed. Closing twice keeps the first.

    What was only a candidate has no part in history either: it was never held to be true.
    """
    rows = IndexEntry.objects.filter(kind=kind, object_id__in=object_ids)
    rows.filter(state=State.CURRENT).update(state=State.HISTORY)
    return rows.filter(current_until=None).update(current_until=at)


def remove(kind: Kind, object_ids: Sequence[UUID], scope_key: int | None = None) -> int:
    """Forget objects, where a scope is given in that scope only; gives the number of entries removed."""
    found = IndexEntry.objects.filter(kind=kind, object_id__in=object_ids)
    rows = list((found if scope_key is None else found.filter(scope_id=scope_key)).order_by("id"))
    _delete_postings((row.id, [term for term, _ in unpack(bytes(row.terms))]) for row in rows)
    IndexEntry.objects.filter(pk__in=[row.id for row in rows]).delete()
    _resize([(row.scope_id, row.length) for row in rows], -1)
    return len(rows)


def refresh(entries: Sequence[NewEntry]) -> tuple[int, int]:
    """Bring the entries of these texts up to date in place, and add those that are missing; gives how many were changed
    and how many added. An entry that is right already is not written. Whoever searches meanwhile finds the old entry
    or the new one. When a text was said, and its place among others, is kept as it was, unless they are numbered.
    """
    rows = IndexEntry.objects.filter(object_id__in={entry.object_id for entry in entries})
    known = {(row.kind, row.object_id, row.scope_id): row for row in rows}
    missing, there = [], []
    for entry in entries:
        row = known.get((entry.kind, entry.object_id, entry.scope_key))
        if row is None:
            missing.append(entry)
        else:
            there.append((entry, row))
    return _put_right(there), add(missing)


def _put_right(there: Sequence[tuple[NewEntry, IndexEntry]]) -> int:
    """Bring entries in line with what they should be, where they are not; gives how many were not."""
    longer: dict[int, int] = defaultdict(int)
    gone: list[_Held] = []
    new: list[_Held] = []
    moved: list[tuple[int, int, int | None]] = []
    changed = 0
    for (entry, row), terms in zip(there, _terms_of([entry for entry, _ in there]), strict=True):
        right = _row(entry, terms, _place_of_number(entry) if entry.numbered else row.place)
        upkept = _OF_NUMBERED if entry.numbered else _UPKEPT
        wrong = [name for name in upkept if _plain(getattr(row, name)) != getattr(right, name)]
        changed += bool(wrong)
        if _MOVED.issuperset(wrong):
            moved += [(row.id, right.sequence, right.place)] if wrong else []
        else:
            longer[row.scope_id] += right.length - row.length
            before = {term for term, _ in unpack(bytes(row.terms))}
            gone.append((row.pk, before - terms.keys()))
            new.append((row.pk, terms.keys() - before))
            IndexEntry.objects.filter(pk=row.pk).update(**{name: getattr(right, name) for name in wrong})
    _move(moved)
    _delete_postings(gone)
    _insert_postings(new)
    insert([ScopeSize(scope_id=key, entries=0, length=by) for key, by in sorted(longer.items()) if by])
    return changed


def _move(moved: Sequence[tuple[int, int, int | None]]) -> None:
    """Give entries another sequence and place, all in a few statements: one new section moves all behind it."""
    with repeated_cursor() as cursor:
        for start in range(0, len(moved), _BATCH):
            source, values = values_of(("bigint", "bigint", "bigint"), moved[start : start + _BATCH])
            cursor.execute(
                f"WITH moved (id, sequence, place) AS ({source}) "  # noqa: S608  all values are parameters
                "UPDATE index_entries SET sequence = moved.sequence, place = moved.place FROM moved "
                "WHERE index_entries.id = moved.id",
                values,
            )


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def _insert_postings(held: Iterable[_Held]) -> None:
    """Insert postings as plain rows: a hundred model objects for every message cost more than all the rest."""
    _with_postings("INSERT INTO index_postings (term, entry_id) {}", held)


def _delete_postings(held: Iterable[_Held]) -> None:
    # Over a list that is not selected from, SQLite reads the whole table.
    _with_postings("DELETE FROM index_postings WHERE (term, entry_id) IN (SELECT * FROM ({}) AS pairs)", held)


def _with_postings(statement: str, held: Iterable[_Held]) -> None:
    """Run a statement for postings, so many at a time, in the order of their key: so they cost both databases half."""
    by_term: dict[int, list[int]] = defaultdict(list)
    for number, terms in held:
        for term in terms:
            by_term[term].append(number)
    ordered = ((term, number) for term in sorted(by_term) for number in by_term[term])
    with repeated_cursor() as cursor:
        while batch := list(islice(ordered, _BATCH)):
            source, numbers = values_of(("bigint", "bigint"), batch)
            cursor.execute(statement.format(source), numbers)


def _terms_of(entries: Sequence[NewEntry]) -> list[dict[int, int]]:
    """The terms of each entry by their keys with how often they occur. Each is hashed once a scope: long texts of one
    document have most of their words in common."""
    keys: dict[int, dict[str, int]] = defaultdict(dict)
    found = []
    for entry in entries:
        known, scope_key = keys[entry.scope_key], entry.scope_key
        counted = count_terms(entry.text, entry.author) if entry.counted is None else entry.counted
        known.update({term: term_key(scope_key, term) for term in counted if term not in known})
        found.append({known[term]: count for term, count in counted.items()})
    return found


def _places(entries: Sequence[NewEntry]) -> dict[int, int]:
    """The place in its chain of each entry that has a sequence, by its number in `entries`."""
    chains: dict[_Place, list[int]] = defaultdict(list)
    places = {}
    for number, entry in enumerate(entries):
        if entry.session_key is not None and entry.sequence and not entry.numbered:
            chains[entry.scope_key, entry.kind, entry.session_key].append(number)
        elif (place := _place_of_number(entry)) is not None:
            places[number] = place
    for chain, numbers in chains.items():
        start = chain_start(*chain)
        held = _last_place(start=start, end=start + LAST_PLACE)
        following = held[0][0] + 1 if held else start + FIRST_PLACE
        numbers.sort(key=lambda number: entries[number].sequence)
        places.update({number: place for place, number in enumerate(numbers, following) if place < start + LAST_PLACE})
    return places


def _place_of_number(entry: NewEntry) -> int | None:
    """Where a numbered text stands; None for others, and beyond the length of a chain."""
    if not entry.numbered or entry.session_key is None or entry.sequence > LAST_PLACE - FIRST_PLACE:
        return None
    return chain_start(entry.scope_key, entry.kind, entry.session_key) + FIRST_PLACE + entry.sequence


@compiled(tuple_of)
def _last_place(start: Given, end: Given) -> QuerySet[IndexEntry, Any]:
    rows = IndexEntry.objects.filter(place__gte=start, place__lt=end)
    return rows.order_by("-place").values_list("place")[:1]


def _resize(changed: Sequence[tuple[int, int]], sign: int) -> None:
    """Append the change of each scope's size, and fold its changes into one row now and then."""
    sizes: dict[int, list[int]] = defaultdict(list)
    for scope_key, length in changed:
        sizes[scope_key].append(length)
    made = [
        ScopeSize(scope_id=scope_key, entries=sign * len(lengths), length=sign * sum(lengths))
        for scope_key, lengths in sorted(sizes.items())
    ]
    insert(made)
    for row in made:
        if row.pk % _FOLD_EVERY == 0:
            _fold(row.scope_id)


def _fold(scope_key: int) -> None:
    """Replace the rows of a scope that no other writer holds by their sum."""
    rows = list(ScopeSize.objects.select_for_update(skip_locked=True).filter(scope_id=scope_key).order_by("id"))
    if len(rows) > 1:
        ScopeSize.objects.filter(pk__in=[row.pk for row in rows]).delete()
        entries, length = sum(row.entries for row in rows), sum(row.length for row in rows)
        ScopeSize.objects.create(scope_id=scope_key, entries=entries, length=length)


def _row(entry: NewEntry, terms: Mapping[int, int], place: int | None) -> IndexEntry:
    return IndexEntry(
        kind=entry.kind,
        object_id=entry.object_id,
        domain_id=entry.domain_id,
        scope_id=entry.scope_key,
        session_key=entry.session_key,
        sequence=entry.sequence,
        place=place,
        author=entry.author[:200],
        label=entry.label,
        trust=entry.trust,
        valid_from=entry.valid_from,
        valid_to=entry.valid_to,
        event_time=entry.event_time,
        recorded_at=entry.recorded_at,
        state=entry.state,
        current_until=entry.current_until,
        tokeniser=tokens.VERSION,
        length=sum(terms.values()),
        terms=pack(terms),
    )
