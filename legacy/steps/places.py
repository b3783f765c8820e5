"""Where rows of the source belong here: their scope, the session they come from, and the turns and messages they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from legacy.contracts import Quarantined, Reason, SourceRow
from legacy.steps.base import Parents, here, parents
from memory.models import Message, Session, Turn
from scopes.models import MemoryScope
from scopes.services import lock_scopes


@dataclass(frozen=True, slots=True)
class Said:
    """A turn or a message of ours: when it was, and the session it lies in."""

    id: UUID
    at: datetime
    session_id: UUID
    domain_id: str


class Places:
    """The scopes and sessions that a batch of rows names. Its scopes are locked, as every writer locks them."""

    def __init__(self, rows: Sequence[SourceRow], sessions: Iterable[str | None] = ()) -> None:
        named = [row.columns.get(name) for row in rows for name in ("session_id", "source_session_id")]
        self._sessions_there = parents("sessions", [*named, *sessions])
        self._scopes_there = parents("memory_scopes", (row.columns.get("scope_id") for row in rows))
        self._sessions = Session.objects.select_related("scope").in_bulk(_ids(self._sessions_there))
        self._scopes = {row.id: row for row in MemoryScope.objects.filter(id__in=_ids(self._scopes_there))}
        self._of_scope = {row.scope_id: row for row in Session.objects.filter(scope__in=list(self._scopes.values()))}
        self.scope_keys = {row.scope_id for row in self._sessions.values()}
        self.scope_keys |= {scope.key for scope in self._scopes.values()}
        lock_scopes(self.scope_keys)

    def session(self, row: SourceRow) -> Session | None:
        """The session that a row comes from. Raises Quarantined where it names one that did not come along."""
        name = row.columns.get("source_session_id") or row.columns.get("session_id")
        return self.session_named(name) if name is not None else None

    def session_named(self, source_id: str) -> Session:
        """The session of that source id. Raises Quarantined."""
        return here(self._sessions, self._sessions_there.target(source_id), "its session")

    def scope(self, row: SourceRow, session: Session | None) -> MemoryScope:
        """The scope that a row lies in: the one that it names, else that of its session. Raises Quarantined."""
        named = row.columns.get("scope_id")
        if named is None:
            if session is None:
                raise Quarantined(Reason.MISSING_VALUE, "it names neither a scope nor a session")
            return session.scope
        if self._scopes_there.maybe(named) is None and named not in self._scopes_there.aside:
            raise Quarantined(Reason.UNKNOWN_SCOPE, named[:80])
        scope = here(self._scopes, self._scopes_there.target(named), "its scope")
        if session is not None and session.domain_id != scope.domain_id:
            raise Quarantined(Reason.FOREIGN_DOMAIN, f"scope in {scope.domain_id}, session in {session.domain_id}")
        return scope

    def place(self, row: SourceRow, mentioning: Iterable[Session] = ()) -> tuple[MemoryScope, Session]:
        """The scope that a row lies in and the session that it comes from. Where it names no session, it is that of the
        scope, or the first one of the scope's domain that mentions it. Raises Quarantined where there is none."""
        named = self.session(row)
        scope = self.scope(row, named)
        session = named or self._of_scope.get(scope.key)
        session = session or next((one for one in mentioning if one.domain_id == scope.domain_id), None)
        if session is None:
            raise Quarantined(Reason.MISSING_VALUE, "it names no session, and its scope is not that of one")
        return scope, session


class Origins:
    """The turns and messages that a batch of rows names."""

    def __init__(self, turns: Iterable[str | None], messages: Iterable[str | None]) -> None:
        self._turns_there = parents("turns", turns)
        self._messages_there = parents("messages", messages)
        found = Turn.objects.filter(pk__in=_ids(self._turns_there)).values_list(
            "id", "created_at", "session_id", "domain_id"
        )
        self._turns = {row[0]: Said(*row) for row in found}
        said = Message.objects.filter(pk__in=_ids(self._messages_there))
        columns = ("id", "created_at", "turn__session_id", "domain_id", "turn_id")
        self._messages = {row[0]: (Said(*row[:4]), row[4]) for row in said.values_list(*columns)}

    @property
    def turns(self) -> set[UUID]:
        """The turns that came along, and those of the messages that did."""
        return {*self._turns, *(turn for _, turn in self._messages.values())}

    def turn(self, source_id: str | None) -> Said | None:
        """The turn, None where it did not come along."""
        target = self._turns_there.maybe(source_id)
        return self._turns.get(target) if target else None

    def message(self, source_id: str | None) -> tuple[Said, UUID] | None:
        """The message with the id of its turn, None where it did not come along."""
        target = self._messages_there.maybe(source_id)
        return self._messages.get(target) if target else None

    def message_here(self, source_id: str | None) -> str:
        """The id that the message has here, empty where it did not come along."""
        target = self._messages_there.maybe(source_id)
        return str(target) if target in self._messages else ""

    def turn_of(self, row: SourceRow) -> UUID:
        """The turn that a row names, or that of the message that it names. Raises Quarantined where neither came along."""
        turn = self.turn(row.columns.get("turn_id"))
        said = self.message(row.columns.get("message_id"))
        if turn is not None:
            return turn.id
        if said is not None:
            return said[1]
        if not row.has("turn_id") and not row.has("message_id"):
            raise Quarantined(Reason.ORPHAN, "it names neither a turn nor a message")
        there, name = (self._turns_there, "turn_id") if row.has("turn_id") else (self._messages_there, "message_id")
        return there.target(row.text(name))


def within(said: Said | None, scope: MemoryScope) -> Said | None:
    """What was said, None where it lies in another domain than the scope."""
    return said if said is not None and said.domain_id == scope.domain_id else None


def _ids(there: Parents) -> list[UUID]:
    return [UUID(target) for target in there.moved.values()]
