"""Domains and scopes of 0.2, and the scopes that its sessions used: what was scoped there keeps its domain and scopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from governance.policies import ScopesPolicy, in_force
from kernel.rows import insert
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Parents, Run, each, free_ids, own, parents, put, stay, take_over, told_beside
from legacy.steps.places import Places
from legacy.steps.sessions import HERE, domain_name, session_name
from memory.models import SessionScopeLink
from scopes.contracts import LEGACY_DOMAIN, SESSION, ScopeRef
from scopes.models import Domain, MemoryScope
from scopes.services import ensure_domain

_DOMAIN = frozenset({"id", "metadata", "metadata_json", "created_at", "updated_at"})
_SCOPE = frozenset(
    {
        "id", "domain_id", "scope_type", "external_id", "parent_scope_id", "metadata", "metadata_json", "created_at",
        "updated_at",
    }
)  # fmt: skip
_LINK = frozenset({"session_id", "scope_id", "access_mode", "priority", "created_at"})
_USED = "uses that scope already"
_Place = tuple[str, str, str, str]  # domain, type, id and partition

# How deep a scope lies under others, so that those come first.
_DEPTH = (
    "LEFT JOIN LATERAL (WITH RECURSIVE up(above, depth) AS (SELECT r.parent_scope_id, 1 UNION ALL "
    "SELECT s.parent_scope_id, depth + 1 FROM up JOIN {memory_scopes} s ON s.id = up.above WHERE depth < 100) "
    "SELECT max(depth) AS depth FROM up WHERE above IS NOT NULL) u ON true"
)


class Domains:
    """The step of domains."""

    name = "domains"
    tables: tuple[str, ...] = ("domains",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every domain."""
        return source.rows("domains")

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store domains under their own names; one that is here already gets what its row says, where nothing was said of
        it here: `create_principal` makes a domain, and says nothing of it."""
        there = Domain.objects.select_for_update().in_bulk([row.id for row in rows])
        made: list[Domain] = []

        def take(row: SourceRow) -> Outcome:
            name = domain_name(row.id)
            domain = Domain(
                id=name,
                metadata={**row.beside(_DOMAIN), **metadata_of(row)},
                created_at=row.moment("created_at") or run.ctx.now,
                updated_at=row.moment("updated_at") or run.ctx.now,
            )
            own(run, HERE)
            if name in there and run.again is None:
                kept, told = take_over(there[name], domain.metadata, row.moment("created_at"))
                return moved(row, "domains", name, f"a domain of that id {HERE}; {kept}" if kept else "", told=told)
            made.append(domain)
            return moved(row, "domains", name)

        outcomes = each(rows, take)
        put(made, run, ("metadata", "created_at", "updated_at"))
        return outcomes


class Scopes:
    """The step of scopes."""

    name = "memory_scopes"
    tables: tuple[str, ...] = ("memory_scopes",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every scope, those first that others lie under."""
        deep = source.has("memory_scopes", "parent_scope_id")
        return source.rows(
            "memory_scopes", join=_DEPTH if deep else "", places=("coalesce(u.depth, 0)",) if deep else ()
        )

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store scopes; one that is here already is used. A session's scope belongs to the owner of the run."""
        named = [row.columns.get("parent_scope_id") for row in rows]
        above = parents("memory_scopes", named)
        ids = free_ids(MemoryScope, rows, run, column="id")
        there = self._there(rows)
        outcomes = []
        for row in rows:  # one after the other: a scope may lie under another of its batch
            outcomes += each([row], lambda row: _take_scope(row, ids[row.id], there, above, run))
            if outcomes[-1].target_id:
                above.moved[row.key] = outcomes[-1].target_id
        return outcomes

    def _there(self, rows: Sequence[SourceRow]) -> dict[_Place, MemoryScope]:
        found = MemoryScope.objects.filter(external_id__in=[row.columns.get("external_id") or "" for row in rows])
        return {(row.domain_id, row.scope_type, row.external_id, row.partition): row for row in found}


def _take_scope(row: SourceRow, target: Any, there: dict[_Place, MemoryScope], above: Parents, run: Run) -> Outcome:
    domain_id = domain_name(row.text("domain_id") or LEGACY_DOMAIN)
    kind, external_id = _scope_name(row, in_force(domain_id, run.ctx).section(ScopesPolicy).allowed_types)
    private = kind == SESSION
    partition = run.owner.id if private and domain_id == LEGACY_DOMAIN else ""
    place = (domain_id, kind, external_id, partition)
    if place in there and run.again is None:
        if private and there[place].owner != run.owner.id:
            raise Quarantined(Reason.DUPLICATE, "the session of that id here is another principal's")
        kept, told = take_over(there[place], {**row.beside(_SCOPE), **metadata_of(row)}, row.moment("created_at"))
        note = "; ".join(filter(None, [f"a scope of that name {HERE}", kept]))
        return moved(row, "memory_scopes", there[place].id, note, told=told)
    over = above.maybe(row.columns.get("parent_scope_id"))
    parent = MemoryScope.objects.filter(id=over, domain_id=domain_id).first() if over else None
    ensure_domain(domain_id)
    scope = MemoryScope(
        id=target,
        domain_id=domain_id,
        scope_type=kind,
        external_id=external_id,
        partition=partition,
        owner=run.owner.id if private else "",
        parent=parent,
        metadata={**row.beside(_SCOPE), **metadata_of(row)},
        created_at=row.moment("created_at") or run.ctx.now,
        updated_at=row.moment("updated_at") or run.ctx.now,
    )
    if run.again is None:
        insert([scope])
        there[place] = scope
    else:
        _take_again(scope, run)
    lost = row.has("parent_scope_id") and parent is None
    return moved(
        row,
        "memory_scopes",
        scope.id,
        f"lay under {row.columns['parent_scope_id']}, which is not in this domain here" if lost else "",
    )


def _take_again(scope: MemoryScope, run: Run) -> None:
    """Give the scope here what its row says by now. Raises Quarantined where that lies elsewhere."""
    own(run, HERE)
    there = MemoryScope.objects.get(id=scope.id)
    stay(scope, there, ("domain_id", "scope_type", "external_id", "partition", "parent_id"))
    scope.key = there.key
    put([scope], run, ("metadata", "created_at", "updated_at"))


def _scope_name(row: SourceRow, allowed: Sequence[str]) -> tuple[str, str]:
    kind, external_id = row.required("scope_type"), row.text("external_id")
    if kind not in allowed:
        raise Quarantined(Reason.UNKNOWN_TYPE, f"scope {kind[:40]}:{external_id[:80]}")
    if kind == SESSION:
        return kind, session_name(external_id)
    try:
        ref = ScopeRef(type=kind, id=external_id)
    except ValidationError:
        raise Quarantined(Reason.BAD_ID, f"scope {kind}:{external_id[:80]}") from None
    return ref.type, ref.id


class Links:
    """The step of the scopes that sessions used."""

    name = "session_scope_links"
    tables: tuple[str, ...] = ("session_scope_links",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every link."""
        return source.rows("session_scope_links", key=("session_id", "scope_id"))

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store links; of a scope that the session uses already, what it may do is widened."""
        places = Places(rows)
        ids = free_ids(SessionScopeLink, rows, run)

        def take(row: SourceRow) -> Outcome:
            session = places.session_named(row.text("session_id"))
            scope = places.scope(row, session)
            mode = row.text("access_mode")
            if mode not in ("read", "read_write"):
                raise Quarantined(Reason.UNKNOWN_STATUS, f"access_mode {mode[:40]}")
            said = {
                "id": ids[row.id],
                "access_mode": mode,
                "priority": row.integer("priority", least=-2_147_483_648) if row.has("priority") else 0,
                "created_at": row.moment("created_at") or session.created_at,
            }
            if run.again is not None:
                own(run, _USED)
                again = SessionScopeLink(session=session, scope=scope, **said)
                put([again], run, ("access_mode", "priority", "created_at"), ("session_id", "scope_id"))
                return moved(row, "session_scope_links", again.pk, told_beside(row, _LINK))
            link, made = SessionScopeLink.objects.get_or_create(session=session, scope=scope, defaults=said)
            if not made and mode == "read_write" and link.access_mode == "read":
                SessionScopeLink.objects.filter(pk=link.pk).update(access_mode=mode)
            notes = ["" if made else f"the session {_USED}", told_beside(row, _LINK)]
            return moved(row, "session_scope_links", link.pk, "; ".join(filter(None, notes)))

        return each(rows, take)


def metadata_of(row: SourceRow) -> dict[str, Any]:
    """The metadata of a row of 0.2, under either of its names."""
    return {**row.json_data("metadata"), **row.json_data("metadata_json")}
