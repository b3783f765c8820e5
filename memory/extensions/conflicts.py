"""Conflicts on the screens of review: a proposed decision field by field, and open ones on the front page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Count
from django.urls import reverse

from governance.contracts.presenting import (
    ConflictNote,
    FieldChange,
    Figure,
    Panel,
    Presentation,
    ProposalFacts,
    RelatedText,
    RowChange,
    Tone,
)
from kernel.actions import Change
from kernel.context import Ctx
from memory.conflicts import Severity
from memory.contracts.conflicts import ConflictOutcome, ConflictState, ResolveConflictInput
from memory.extensions.evidence import evidence_texts, rests_on
from memory.extensions.recorded import rows_then
from memory.extensions.showing import related, short, superseded
from memory.models import Conflict, MemoryItem
from memory.selectors.conflicts import conflict_by_id, sides_of, statement_of, visible_conflicts
from memory.selectors.contexts import visible_contexts

NEWEST = 100
_TONES: dict[str, Tone] = {Severity.HIGH.value: "bad", Severity.MEDIUM.value: "warn", Severity.LOW.value: "plain"}
_LIST = "admin:memory_conflict_changelist"
_SAID = {
    ConflictOutcome.KEEP_A: "keep the older side",
    ConflictOutcome.KEEP_B: "keep the newer side",
    ConflictOutcome.MERGE: "merge both",
    ConflictOutcome.BOTH_VALID: "let both hold under a condition",
    ConflictOutcome.NOT_A_CONFLICT: "call it no conflict",
}


def present_decision(
    given: ResolveConflictInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """A proposed decision about a conflict: what becomes of both sides."""
    row = conflict_by_id(given.id, ctx)
    one, other = sides_of(row)
    sides = [side for side in (one, other) if isinstance(side, MemoryItem)]
    if then is not None:
        was = next((change.before for change in changes if change.id == str(row.pk) and change.before), {})
        rows = [_decision_row(given, row, {"state": was.get("state", ConflictState.OPEN.value)})]
        rows += rows_then(changes, {}, sides, ctx)
    else:
        rows = [_decision_row(given, row, {"state": row.state, "outcome": row.outcome, "condition": row.condition})]
        going = {ConflictOutcome.KEEP_A: [other], ConflictOutcome.KEEP_B: [one], ConflictOutcome.MERGE: [one, other]}
        rows += [superseded(side, ctx) for side in going.get(given.outcome, []) if isinstance(side, MemoryItem)]
    refs, origins = rests_on(sides, ctx, then)
    return Presentation(
        subject=_subject(given, row),
        rows=rows,
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=[related(side, ctx, f"side {name}") for name, side in zip("ab", sides, strict=False)],
        conflicts=[
            ConflictNote.model_validate(
                {
                    "id": str(row.pk),
                    "rule": row.rule,
                    "explanation": row.explanation,
                    "severity": row.severity,
                    "other": RelatedText(kind="memory", id=str(one.pk), text=statement_of(one)),
                }
            )
        ],
    )


def _decision_row(given: ResolveConflictInput, row: Conflict, was: Mapping[str, str]) -> RowChange:
    told = [
        ("state", was["state"], ConflictState.RESOLVED.value),
        ("outcome", was.get("outcome") or None, given.outcome.value),
        ("condition", was.get("condition") or None, given.condition or None),
        ("text", None, given.text or None),
        ("reason", None, given.reason),
    ]
    fields = [FieldChange(name=name, before=old, after=new, differs=old != new) for name, old, new in told]
    link = reverse("admin:memory_conflict_change", args=[row.pk])
    title = short(row.explanation)
    return RowChange(table="conflicts", id=str(row.pk), kind="changed", title=title, fields=fields, link=link)


def _subject(given: ResolveConflictInput, row: Conflict) -> str:
    one, other = sides_of(row)
    return short(f"{_SAID[given.outcome].capitalize()}: {statement_of(one)} ⟷ {statement_of(other)}")


def facts_of_decision(given: ResolveConflictInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """What is kept with a proposed decision."""
    row = conflict_by_id(given.id, ctx)
    return ProposalFacts(subject=_subject(given, row), summary=short(given.reason), has_conflict=True)


def open_conflicts(ctx: Ctx) -> Panel | None:
    """Open conflicts by severity, and how many rows gave way in the newest contexts; nothing for who reviews nothing."""
    if not ctx.reach:
        return None
    rows = visible_conflicts(ctx).filter(state=ConflictState.OPEN).order_by().values("severity")
    counts = dict(rows.annotate(n=Count("id")).values_list("severity", "n"))
    figures = [
        Figure(
            label=f"{each.value} severity",
            value=str(counts.get(each.value, 0)),
            tone=_TONES[each.value] if counts.get(each.value) else "plain",
            link=reverse(_LIST, query={"severity": each.value}),
        )
        for each in Severity
    ]
    newest = visible_contexts(ctx).order_by("-id").values_list("shadowed", flat=True)[:NEWEST]
    shadowed = Figure(
        label="gave way in the newest contexts", value=str(sum(newest)), link=reverse("admin:memory_shadows")
    )
    note = (
        "Memories that contradict, update or repeat each other wait for a decision." if counts else "No open conflict."
    )
    return Panel(title="Conflicts and shadows", figures=[*figures, shadowed], note=note, link=reverse(_LIST))
