"""Turns with their messages, tool calls and references, in the order of their sessions, and the index entries of these."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Prefetch

from kernel.canonical import canonical_json
from kernel.conf import conf
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import kept_aside, moved
from legacy.source import Source
from legacy.steps.base import Parents, Run, free_ids, here, outer_id, parents, put, told_beside
from memory.models import Message, Ref, Session, ToolCall, Turn
from memory.services.turns import Place, StoredTurn, index_entries
from search import services as index

_TURN = frozenset({"id", "session_id", "seq", "created_at"})
_MESSAGE = frozenset({"id", "turn_id", "role", "content", "model", "created_at", "meta_json"})
_CALL = frozenset({"id", "turn_id", "name", "args_json", "result_json", "status", "created_at"})
_REF = frozenset({"id", "turn_id", "ref_type", "ref_uri", "ref_meta_json", "created_at"})

_PARTS = ("messages", "tool_calls", "refs")
_WRITTEN: dict[str, tuple[str, ...]] = {
    "messages": ("role", "content", "model", "meta"),
    "tool_calls": ("name", "args", "result", "status"),
    "refs": ("ref_type", "ref_uri", "ref_meta"),
}
_OF_TURN = (
    "coalesce(t.session_id::text, '') COLLATE \"C\"",
    "coalesce(t.seq, 0)",
    "coalesce(t.id::text, '') COLLATE \"C\"",
)
MAX_SEQ = 2_147_483_647
_TURNS_OWN = tuple(text.replace("t.", "r.") for text in _OF_TURN)


def message_fields(row: SourceRow) -> dict[str, Any]:
    """The columns of a message. Raises Quarantined."""
    return {
        "role": row.required("role", 32),
        "content": row.text("content", conf().max_message_chars),
        "model": row.text("model", 200),
        "meta": {**row.beside(_MESSAGE), **row.json_data("meta_json")},
    }


def call_fields(row: SourceRow) -> dict[str, Any]:
    """The columns of a tool call. Raises Quarantined."""
    return {
        "name": row.required("name", 200),
        "args": _short(row.json("args_json"), "args_json"),
        "result": _short(row.json("result_json"), "result_json"),
        "status": row.text("status", 32),
    }


def ref_fields(row: SourceRow) -> dict[str, Any]:
    """The columns of a reference. Raises Quarantined."""
    return {
        "ref_type": row.required("ref_type", 16),
        "ref_uri": row.required("ref_uri", 2000),
        "ref_meta": {**row.beside(_REF), **row.json_data("ref_meta_json")},
    }


def _short(value: Any, name: str) -> Any:
    size, most = len(canonical_json(value)), conf().max_message_chars
    if size > most:
        raise Quarantined(Reason.TEXT_TOO_LONG, f"{name}: {size} characters, at most {most}")
    return value


@dataclass(slots=True)
class _Open:
    """A turn that a batch adds to: what it held before, and what comes."""

    turn: Turn
    messages: list[Message] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    refs: list[Ref] = field(default_factory=list)
    fresh: set[UUID] = field(default_factory=set)

    def rows(self, table: str) -> list[Any]:
        """Its rows of one table, in order."""
        rows: list[Any] = getattr(self, table)
        return rows


class Turns:
    """The step of turns and what is in them."""

    name = "turns"
    tables: tuple[str, ...] = ("turns", *_PARTS)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Each turn by its session and number, followed by its messages, tool calls and references by their time. First
        come those of no turn."""
        streams: list[Iterator[SourceRow]] = [source.rows("turns", places=_TURNS_OWN)]
        streams += [_parts(source, table) for table in _PARTS]
        return heapq.merge(*streams, key=_place)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store turns and their parts, index them, and count the turns of their sessions on."""
        batch = _Batch(rows, run)
        outcomes = [batch.take(row) for row in rows]
        batch.store()
        return outcomes


def _parts(source: Source, table: str) -> Iterator[SourceRow]:
    if not source.has("turns"):
        return source.rows(table, places=("''", "0", "''"))
    order = ["r.created_at"] if source.has(table, "created_at") else []
    order += ["r.ctid"] if source.has(table) and source.tables[table].plain else []
    return source.rows(table, join="LEFT JOIN {turns} t ON t.id = r.turn_id", places=_OF_TURN, order=order)


def _place(row: SourceRow) -> tuple[Any, ...]:
    return (*row.place, row.table != "turns", row.table != "messages", row.table == "refs")


class _Batch:
    """What one batch of turns and parts becomes."""

    def __init__(self, rows: Sequence[SourceRow], run: Run) -> None:
        self._run = run
        by_table: dict[str, list[SourceRow]] = defaultdict(list)
        for row in rows:
            by_table[row.table].append(row)
        self._ids = {
            (table, source_id): target
            for table, model in (("turns", Turn), ("messages", Message), ("tool_calls", ToolCall), ("refs", Ref))
            for source_id, target in free_ids(model, by_table[table], run).items()
        }
        self._sessions_there = parents("sessions", (row.columns.get("session_id") for row in by_table["turns"]))
        own = {row.id for row in by_table["turns"]}
        wanted = {row.columns.get("turn_id") or "" for table in _PARTS for row in by_table[table]}
        self._turns_there = parents("turns", wanted - own)
        sessions = Session.objects.select_for_update(no_key=True).filter(
            pk__in=list(self._sessions_there.moved.values())
        )
        self._sessions = {session.pk: session for session in sessions.order_by("pk")}
        self._taken = _taken(self._sessions, by_table["turns"], run)
        self._open = _opened(self._turns_there)
        self._here: dict[str, _Open] = {}  # turns of this batch, by their source id
        self._aside: set[str] = set()
        self._new_turns: list[Turn] = []

    def take(self, row: SourceRow) -> Outcome:
        """The outcome of one row."""
        try:
            return self._turn(row) if row.table == "turns" else self._part(row)
        except Quarantined as why:
            self._aside.add(row.id if row.table == "turns" else "")
            return kept_aside(row, why)

    def _turn(self, row: SourceRow) -> Outcome:
        session = here(self._sessions, self._sessions_there.target(row.text("session_id")), "its session")
        seq = row.integer("seq", most=MAX_SEQ)
        if (session.pk, seq) in self._taken:
            raise Quarantined(Reason.DUPLICATE, f"turn {seq} of session {session.external_id} is there already")
        turn = Turn(
            id=self._ids["turns", row.id],
            domain_id=session.domain_id,
            session=session,
            seq=seq,
            default_write_id=session.scope_id,
            author_id=self._run.owner.id,
            author_name=self._run.owner.name,
            created_at=row.moment("created_at") or session.created_at,
        )
        self._taken.add((session.pk, seq))
        session.last_seq = max(session.last_seq, seq)
        self._here[row.id] = self._open[turn.pk] = _Open(turn)
        self._new_turns.append(turn)
        return moved(row, "turns", turn.pk, told_beside(row, _TURN))

    def _part(self, row: SourceRow) -> Outcome:
        held = self._turn_of(row.text("turn_id"))
        target = self._ids[row.table, row.id]
        siblings = held.rows(row.table)
        there = self._there(siblings, target)
        common = {
            "id": target,
            "domain_id": held.turn.domain_id,
            "turn": held.turn,
            "position": there.position if there else max((each.position for each in siblings), default=-1) + 1,
            "external_id": outer_id(row, target),
            "created_at": row.moment("created_at") or held.turn.created_at,
        }
        made, note = _made(row, common, held.turn.created_at)
        if there:
            siblings[siblings.index(there)] = made
        else:
            siblings.append(made)
        held.fresh.add(target)
        return moved(row, row.table, target, note)

    def _there(self, siblings: Sequence[Any], target: UUID) -> Any:
        """The part here that is taken again, None where it is new. Raises Quarantined where it is in another turn here."""
        if self._run.again is None:
            return None
        found = next((each for each in siblings if each.pk == target), None)
        if found is None:
            raise Quarantined(Reason.MOVED_THERE, "it is of another turn than when it was moved in")
        return found

    def _turn_of(self, source_id: str) -> _Open:
        if source_id in self._here:
            return self._here[source_id]
        if source_id in self._aside:
            raise Quarantined(Reason.PARENT_QUARANTINED, f"turns {source_id[:80]}")
        return here(self._open, self._turns_there.target(source_id), "its turn")

    def store(self) -> None:
        """Insert what was taken, parts in the order of their turns."""
        touched = [held for held in self._open.values() if held.fresh]
        put(self._new_turns, self._run, (), ("session_id", "seq", "created_at"))
        for table in _PARTS:
            rows = [row for held in touched for row in held.rows(table) if row.pk in held.fresh]
            put(rows, self._run, _WRITTEN[table], ("created_at",))
        entries = [entry for held in touched for entry in _entries(held)]
        if self._run.again is None:
            index.add(entries)
        else:
            index.refresh(entries)
        counted = {turn.session_id for turn in self._new_turns}
        Session.objects.bulk_update([self._sessions[key] for key in sorted(counted)], ["last_seq"])


def _taken(sessions: Collection[UUID], rows: Sequence[SourceRow], run: Run) -> set[tuple[UUID, int]]:
    """The turn numbers among those of the rows that are taken already, by session; not that of a turn taken again."""
    numbers = {int(row.columns["seq"] or 0) for row in rows if (row.columns.get("seq") or "").isdecimal()}
    found = Turn.objects.filter(session__in=sessions, seq__in=[number for number in numbers if number <= MAX_SEQ])
    found = found.exclude(pk=run.again.target_id) if run.again is not None and rows else found
    return set(found.values_list("session_id", "seq"))


def _made(row: SourceRow, common: dict[str, Any], recorded_at: datetime) -> tuple[Message | ToolCall | Ref, str]:
    """The row here of a part, and a note."""
    notes = [f"its id of {len(row.id)} characters is not kept"] if row.key != row.id else []
    made: Message | ToolCall | Ref
    if row.table == "messages":
        made = Message(**common, **message_fields(row), recorded_at=recorded_at)
        notes += [row.wrapped("meta_json"), "" if row.has("content") else "content was NULL"]
    elif row.table == "tool_calls":
        made = ToolCall(**common, **call_fields(row))
        notes += [told_beside(row, _CALL)]
    else:
        made = Ref(**common, **ref_fields(row))
        notes += [row.wrapped("ref_meta_json")]
    return made, "; ".join(filter(None, notes))


def _opened(there: Parents) -> dict[UUID, _Open]:
    """Turns that earlier batches stored, with what is in them but for its words: there may be any number of long ones."""
    rows = Turn.objects.filter(pk__in=list(there.moved.values())).select_related("session")
    return {
        turn.pk: _Open(turn, list(turn.messages.all()), list(turn.tool_calls.all()), list(turn.refs.all()))
        for turn in rows.order_by("session_id", "seq").prefetch_related(
            Prefetch("messages", Message.objects.defer("content", "meta")),
            Prefetch("tool_calls", ToolCall.objects.defer("args", "result")),
            Prefetch("refs", Ref.objects.defer("ref_meta")),
        )
    }


def _entries(held: _Open) -> list[Any]:
    """The index entries of what came, in its place among all of the turn."""
    turn = held.turn
    place = Place(turn.session, {}, turn.default_write_id)
    stored = StoredTurn(turn, held.messages, held.tool_calls, held.refs)
    return index_entries(place, stored, held.fresh)
