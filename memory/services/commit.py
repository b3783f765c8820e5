"""Committing a turn: everything is read and checked first, then stored in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from governance.policies import in_force
from kernel.actions import Applied
from kernel.canonical import canonical_json
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, InvalidInputError, TooLargeError
from memory.candidates import Candidate, Retained, entity_names, line, retain
from memory.compose.contracts import OpenConflict
from memory.compose.policy import CompositionPolicy
from memory.contracts import (
    CommitExplain,
    CommitTurnInput,
    CommitTurnResult,
    Ignored,
    MemoryWritten,
    StoredCounts,
    SummaryResult,
    TurnEvents,
)
from memory.extraction import Extraction
from memory.policies import RetentionPolicy
from memory.selectors import recalled_in, recent_entity_names
from memory.selectors.conflicts import told_of_found
from memory.selectors.refs import PlacedRef, checked_refs, distinct
from memory.services.graph import write_edge, write_entity
from memory.services.holding import Holding, item_waits, relation_waits, retraction_waits
from memory.services.items import Commit, Pending, Written, settle, write
from memory.services.model_extraction import ask_later
from memory.services.reading import read_messages
from memory.services.retractions import known_by, retract, task_told
from memory.services.summary import update_summary
from memory.services.turns import Place, StoredTurn, index_entries, open_place, store_events
from scopes.contracts import ScopeRef, ScopeView
from scopes.selectors import Resolved, check_ref, held
from scopes.services import lock_scopes


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a commit needs that was read and checked outside the transaction. `recalled` are the parts of each message
    that are rendered memory."""

    place: Resolved
    retained: Retained
    names: list[str]
    retention: RetentionPolicy
    token_limit: int
    recalled: Sequence[Sequence[tuple[int, int]]]
    holding: Holding


def prepare(
    given: CommitTurnInput, place: Resolved, allowed_types: Sequence[str], holding: Holding, ctx: Ctx
) -> Prepared:
    """Check limits, scopes and keys, read the text of the messages, and apply the retention gate. `holding` asks policy
    about each part.

    Raises InvalidInputError, TooLargeError or ForbiddenError; nothing is stored then.
    """
    _check_limits(given.turn_events)
    for ref in scope_refs(given.turn_events):
        check_ref(ref, place.domain_id, allowed_types)
    for name in place.write:
        if Right.WRITE not in held(ctx, place.domain_id, name, place.owned):
            raise ForbiddenError(f"You may read {name!r} but not write it: leave it out of `write`.")
    policies = in_force(place.domain_id, ctx)
    retention = policies.section(RetentionPolicy)
    names = entity_names(given.turn_events)
    session, default = (place.rows.get(name) for name in (place.session or "", place.default_write or ""))
    turns = retention.entity_gate.window_turns - 1
    window = recent_entity_names(session.key, turns) if session is not None and names else []
    recalled = recalled_in(given.turn_events.messages, place.domain_id, ctx.actor.id)
    extraction = Extraction([], [])
    if given.turn_events.messages and given.extract and retention.extract_text and place.default_write:
        extraction = read_messages(given, recalled, place, default.key if default is not None else None, ctx)
    retained = retain(given.turn_events, extraction, [*window, *names], retention)
    return Prepared(
        place,
        replace(retained, candidates=_with_evidence(given, retained.candidates, ctx)),
        names,
        retention,
        policies.section(CompositionPolicy).token_limit,
        [each.proved for each in recalled],
        holding,
    )


def _with_evidence(given: CommitTurnInput, candidates: list[Candidate], ctx: Ctx) -> list[Candidate]:
    """The candidates with their evidence as it is stored, each reference once. Every reference is checked, also those
    of items that are not kept."""
    events = given.turn_events
    placed = [
        PlacedRef((*path.split("."), "evidence_refs", str(number)), ref)
        for path, item in events.items()
        for number, ref in enumerate(item.evidence_refs)
    ]
    if not placed:
        return candidates
    own = {message.id for message in events.messages if message.id is not None}
    found = checked_refs(placed, given.domain_id, ctx, own)
    return [replace(each, evidence=tuple(distinct(each.evidence, found))) for each in candidates]


def apply(given: CommitTurnInput, prepared: Prepared, ctx: Ctx) -> Applied[CommitTurnResult]:
    """Store the turn and what is learned from it, in the present transaction."""
    where, changes = open_place(prepared.place, ctx)
    stored, more = store_events(given.turn_events, where, prepared.names, prepared.recalled, ctx)
    commit = Commit(stored.turn, stored.messages, ctx, Written(), Pending(entries=index_entries(where, stored)))
    commit.written.lines.extend(prepared.retained.skipped)
    _learn(given, prepared, where, commit)
    settle(commit)
    if given.extract and stored.messages:
        more += ask_later(stored.turn, prepared.retention, ctx)
    summary = update_summary(
        stored.turn, staged=commit.pending.staged, policy=prepared.retention, token_limit=prepared.token_limit, ctx=ctx
    )
    found = told_of_found(commit.written.found, ctx)
    result = _result(given, prepared, stored, commit.written, found, summary)
    return result, [*changes, *more, *commit.written.changes]


def _check_limits(events: TurnEvents) -> None:
    limits = conf()
    for name in type(events).model_fields:
        rows = getattr(events, name)
        if len(rows) > limits.max_items_per_commit:
            raise TooLargeError(
                f"turn_events.{name} has {len(rows)} entries; {limits.max_items_per_commit} at most: split the turn."
            )
    for name, rows in (("messages", events.messages), ("tool_calls", events.tool_calls), ("refs", events.refs)):
        ids = [row.id for row in rows if row.id is not None]
        if len(set(ids)) != len(ids):
            raise InvalidInputError(f"turn_events.{name} gives one id twice.")
    texts = [("messages", message.content) for message in events.messages]
    texts += [("messages", canonical_json(message.meta)) for message in events.messages]
    texts += [("tool_calls", canonical_json([call.args, call.result])) for call in events.tool_calls]
    texts += [("refs", canonical_json(ref.ref_meta_json)) for ref in events.refs]
    texts += [(path.split(".")[1], item.model_dump_json()) for path, item in events.items()]
    for name, text in texts:
        if len(text) > limits.max_message_chars:
            raise TooLargeError(
                f"turn_events.{name} has a text of {len(text)} characters; {limits.max_message_chars} at most."
            )


def scope_refs(events: TurnEvents, apart: Collection[str] = ()) -> Iterator[ScopeRef]:
    """The scopes that items, retractions and relations name for themselves; not those of items for a scope of a type
    in `apart`, about each of which policy is asked by itself."""
    for _, item in events.items():
        if item.scope_ref is not None and item.scope_ref.type not in apart:
            yield item.scope_ref
    yield from (row.scope_ref for row in events.retractions if row.scope_ref is not None)
    yield from (row.scope_ref for row in events.edges if row.scope_ref is not None)


def _written_scopes(given: CommitTurnInput, prepared: Prepared) -> set[str]:
    """The scopes that will be written."""
    kept = prepared.retained
    named = [candidate.scope for candidate in kept.candidates]
    named += [asked.scope for asked in kept.retractions]
    named += [edge.scope_ref.name if edge.scope_ref else None for edge in given.turn_events.edges]
    named += [None] if kept.updates else []
    writable = {_writable(name, prepared.place) for name in set(named)}
    return {name for name in writable if name is not None}


def _learn(given: CommitTurnInput, prepared: Prepared, where: Place, commit: Commit) -> None:
    lock_scopes(where.scopes[name].key for name in _written_scopes(given, prepared))
    for candidate in prepared.retained.candidates:
        scope = _scope_of(candidate, prepared.place, commit)
        if scope is None or _item_waits(candidate, scope, prepared, commit):
            continue
        if candidate.type == "entities":
            write_entity(candidate, where.scopes[scope], commit)
        else:
            write(candidate, where.scopes[scope], commit)
    default = prepared.place.default_write
    for update in prepared.retained.updates:
        told = task_told(update, where.scopes[default], commit) if default is not None else None
        if default is not None and told is not None and not _item_waits(told, default, prepared, commit):
            write(told, where.scopes[default], commit)
    for asked in prepared.retained.retractions:
        scope = _writable(asked.scope, prepared.place)
        if scope is None:
            reason = _refusal(asked.scope)
            commit.written.lines.append(line("refuse", asked.type, asked.key, reason, asked.scope, asked.source))
            continue
        known, rows = known_by(asked, where.scopes[scope])
        if not retraction_waits(known, rows, where.scopes[scope], prepared.holding, commit):
            retract(known, rows, where.scopes[scope], commit)
    _edges(given, prepared, where, commit)


def _item_waits(candidate: Candidate, scope: str, prepared: Prepared, commit: Commit) -> bool:
    return item_waits(candidate, scope, prepared.holding, prepared.place.domain_id, commit)


def _edges(given: CommitTurnInput, prepared: Prepared, where: Place, commit: Commit) -> None:
    for number, asked in enumerate(given.turn_events.edges):
        source = f"turn_events.edges.{number}"
        told = asked.scope_ref.name if asked.scope_ref else None
        scope = _writable(told, prepared.place)
        if scope is None:
            commit.written.lines.append(line("refuse", "edges", asked.words, _refusal(told), told, source))
        elif not relation_waits(asked, where.scopes[scope], source, prepared.holding, commit):
            write_edge(asked, where.scopes[scope], source, commit)


def _scope_of(candidate: Candidate, place: Resolved, commit: Commit) -> str | None:
    scope = _writable(candidate.scope, place)
    if scope is None:
        reason = _refusal(candidate.scope)
        commit.written.lines.append(
            line("refuse", candidate.type, candidate.key, reason, candidate.scope, candidate.source)
        )
    return scope


def _writable(named: str | None, place: Resolved) -> str | None:
    """The scope to write: the one named if it is in `write`, the default where none is named, else None."""
    if named is None:
        return place.default_write
    return named if named in place.write else None


def _refusal(named: str | None) -> str:
    return "no_default_write" if named is None else "scope_not_writable"


def _result(
    given: CommitTurnInput,
    prepared: Prepared,
    stored: StoredTurn,
    written: Written,
    found: list[OpenConflict],
    summary: SummaryResult,
) -> CommitTurnResult:
    default = prepared.place.default_write
    scope_type, _, scope_id = (default or "").partition(":")
    learned = MemoryWritten(
        count=written.count,
        items=written.items,
        queued=written.queued,
        conflicts=written.conflicts,
        found=found,
    )
    explain = CommitExplain(
        retention=written.lines,
        conflicts=written.conflicts,
        summary={"triggered": summary.triggered, "reason": summary.trigger_reason},
        warnings=[f"{row.rule}:{row.explanation}" for row in found],
    )
    counts = StoredCounts(messages=len(stored.messages), tool_calls=len(stored.tool_calls), refs=len(stored.refs))
    return CommitTurnResult(
        commit_id=stored.turn.id,
        domain_id=prepared.place.domain_id,
        session_id=given.session_id,
        turn_id=stored.turn.id,
        seq=stored.turn.seq,
        default_write=ScopeView(type=scope_type, id=scope_id) if default else None,
        message_ids=[row.external_id or str(row.id) for row in stored.messages],
        stored=counts,
        memory_written=learned,
        summary=summary,
        explain=explain,
        ignored=_ignored(given.turn_events),
    )


def _ignored(events: TurnEvents) -> list[Ignored]:
    return [
        Ignored(path=f"turn_events.{name}.{number}.scope_ref", reason="events_belong_to_their_session")
        for name, rows in (("messages", events.messages), ("tool_calls", events.tool_calls), ("refs", events.refs))
        for number, row in enumerate(rows)
        if row.scope_ref is not None
    ]
