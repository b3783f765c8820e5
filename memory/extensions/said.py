"""How relations and denials that wait by themselves are shown to reviewers, and what lists tell of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from governance.contracts.presenting import FieldChange, Presentation, ProposalFacts, RelatedText, RowChange
from governance.hooks import Presenter
from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts.items import Status
from memory.contracts.writing import WriteDenialInput, WriteRelationInput
from memory.extensions.alike import alike
from memory.extensions.evidence import Origin, evidence_texts
from memory.extensions.showing import TABLE, brief, neighbours, short
from scopes.selectors import scope_rows

RELATIONS = "kg_edges"


def relation(
    given: WriteRelationInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """One relation for a scope; the one that it ends, where it says of the same that it ends otherwise."""
    told = given.model_dump(mode="json", include={"subject", "predicate", "object", "valid_from", "valid_to"})
    fields = {**told, "scope": given.scope.name, "confidence": given.confidence}
    rows = [_row(RELATIONS, "new", "added", given.words, fields)]
    rows += [
        _row(change.table, change.id, "changed", given.words, change.after or {}, change.before or {})
        for change in changes
        if change.table == RELATIONS and change.before is not None
    ]
    subject = f"Relate in {given.scope.name}: {brief(given.words)}"
    return Presentation(subject=subject, rows=rows, **_around(given, given.words, ctx, then))


def denial(given: WriteDenialInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None) -> Presentation:
    """One denial for a scope, of what it knows nothing of."""
    fields = {
        "statement": given.reason,
        "scope": given.scope.name,
        "type": given.type,
        "key": given.key,
        "status": Status.RETRACTED.value,
    }
    rows = [_row(TABLE, "new", "added", given.reason, fields)]
    subject = f"Deny in {given.scope.name}: {brief(given.reason)}"
    return Presentation(subject=subject, rows=rows, **_around(given, given.reason, ctx, then))


def _row(
    table: str, row_id: str, kind: Any, title: str, after: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> RowChange:
    old = before or {}
    fields = [
        FieldChange(name=name, before=old.get(name), after=told, differs=old.get(name) != told)
        for name, told in after.items()
        if told is not None
    ]
    return RowChange(table=table, id=row_id, kind=kind, title=short(title), fields=fields)


def _around(
    given: WriteRelationInput | WriteDenialInput, said: str, ctx: Ctx, then: datetime | None
) -> dict[str, list[RelatedText]]:
    """The turn that told it, and for who is to decide what the scope says that is near."""
    origins = [Origin(given.turn_id)] if given.turn_id is not None else []
    evidence = evidence_texts([], ctx, origins)
    if then is not None:
        return {"evidence": evidence}
    keys = [row.key for row in scope_rows(given.domain_id, [given.scope.name], "")]
    return {"evidence": evidence, "neighbours": neighbours(said, given.domain_id, keys, ctx)}


def _facts(action: str, verb: str, words: Callable[[Any], str]) -> Callable[..., ProposalFacts]:
    def find(given: WriteRelationInput | WriteDenialInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
        added = sum(1 for change in changes if change.table in (TABLE, RELATIONS) and change.before is None)
        said = words(given)
        return ProposalFacts(
            subject=f"{verb} {given.scope.name}: {short(said)}",
            summary=f"{added} new",
            after=said,
            similar_key=alike(action, given.model_dump(mode="json")),
            source_key=f"turn:{given.turn_id}" if given.turn_id else f"actor:{ctx.actor.id}",
            has_conflict=any(change.table == "conflicts" and change.before is None for change in changes),
        )

    return find


SAID_PRESENTERS: dict[str, Presenter] = {"write_relation": relation, "write_denial": denial}
SAID_FACTS: dict[str, Callable[..., ProposalFacts]] = {
    "write_relation": _facts("write_relation", "Relate", lambda given: given.words),
    "write_denial": _facts("write_denial", "Deny", lambda given: given.reason),
}
