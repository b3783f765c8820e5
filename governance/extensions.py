"""What governance itself adds to its hooks: checks of the doctor, and how a call to erase looks to a reviewer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from governance.contracts.erasing import EraseInput
from governance.contracts.presenting import FieldChange, Presentation, ProposalFacts, RowChange
from governance.hooks import Words, erasers, register_doctor_check, register_facts, register_presenter, register_words
from governance.selectors.erasing import ERASE
from governance.selectors.health import check_migrations, check_policy, check_queue, check_sealing
from kernel.actions import Change
from kernel.context import Ctx

_SHOWN = 20


def _said(changes: Sequence[Change]) -> str:
    kinds = {eraser.table: kind for kind, eraser in erasers().items()}
    counts = Counter(kinds[change.table] for change in changes if change.table in kinds)
    return f"Erase for good: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}"


def present_erasing(
    given: EraseInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """What would be erased, with its text as far as the reviewer may see it, and the reason."""
    kinds = {eraser.table: kind for kind, eraser in erasers().items()}
    shown = []
    for kind, eraser in erasers().items():
        ids = [ref.id for ref in given.objects if ref.kind == kind][:_SHOWN]
        shown += eraser.show(ids, ctx) if ids else []
    rows = [
        RowChange(table=change.table, id=change.id, kind="removed", title=kinds[change.table], fields=_fields(change))
        for change in changes
        if change.table in kinds
    ]
    return Presentation(subject=f"{_said(changes)}: {given.reason}", rows=rows[:_SHOWN], evidence=shown)


def _fields(change: Change) -> list[FieldChange]:
    return [FieldChange(name=name, before=value, differs=True) for name, value in (change.before or {}).items()]


def facts_of_erasing(given: EraseInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """What is kept with the proposal: counts and the reason, nothing of what is to go."""
    return ProposalFacts(subject=_said(changes), summary=given.reason[:500], source_key=f"actor:{ctx.actor.id}")


register_doctor_check("audit", check_sealing)
register_doctor_check("migrations", check_migrations)
register_doctor_check("policy", check_policy)
register_doctor_check("queue", check_queue)
register_presenter(ERASE, present_erasing)
register_facts(ERASE, facts_of_erasing)
for _table, _words in {
    "domains": Words("domain"),
    "grants": Words("access", "accesses"),
    "legal_holds": Words("legal hold"),
    "memory_scopes": Words("scope"),
    "policy": Words("policy", "policies"),
    "policy_versions": Words("policy version"),
    "policies": Words("policy in force", "policies in force"),
    "proposals": Words("proposal"),
}.items():
    register_words(_table, _words)
