"""How a proposed policy change is shown: every field that would differ, and what it would have decided otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from governance.actions.policy import REPLAY_POLICY
from governance.contracts import (
    FieldChange,
    Presentation,
    ProposalFacts,
    RelatedText,
    ReplayLine,
    ReplayPolicyInput,
    RowChange,
    SetPolicyInput,
)
from governance.hooks import register_facts, register_presenter
from governance.models import PolicyVersion
from governance.policies import Draft, check_document, effective
from kernel.actions import Change
from kernel.context import ANY, Ctx, Right
from kernel.errors import InvalidInputError

REPLAYED = 10_000
KINDS = 10


def _facts(given: SetPolicyInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    document = given.document.items()
    names = [f"{section}.{name}" for section, fields in document if isinstance(fields, dict) for name in fields]
    where = given.domain_id or "the installation"
    return ProposalFacts(subject=f"Policy of {where}", summary=f"sets {', '.join(names) or 'nothing: the defaults'}")


def _present(given: SetPolicyInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None) -> Presentation:
    where = given.domain_id or "the installation"
    subject = f"Policy of {where}: {given.reason}"
    if then is not None:
        return Presentation(subject=subject, rows=_written(given, changes))
    try:
        check_document(given.document, given.domain_id)
    except InvalidInputError as exc:
        fault = _text(f"It cannot be set any more: {exc.message}")
        return Presentation(subject=subject, rows=_written(given, changes), evidence=[fault])
    now = effective(given.domain_id).document()
    after = effective(given.domain_id, Draft(given.domain_id, given.document)).document()
    return Presentation(subject=subject, rows=_rows(now, after), evidence=_replayed(given, ctx))


def _written(given: SetPolicyInput, changes: Sequence[Change]) -> list[RowChange]:
    """What differs between the document and the one that it replaces, without what other layers say."""
    return _rows(_document_before(given.domain_id, changes), given.document)


def _rows(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[RowChange]:
    """The sections in which something would differ."""
    rows = [_row(name, now.get(name), then.get(name)) for name in dict.fromkeys([*now, *then])]
    return [row for row in rows if row.fields]


def _document_before(domain_id: str | None, changes: Sequence[Change]) -> dict[str, Any]:
    """The document that a recorded change of the policy replaced, or would have replaced; empty: the defaults."""
    number = next((change.before["version"] for change in changes if change.table == "policies" and change.before), 0)
    row = PolicyVersion.objects.filter(domain_id=domain_id, source="action", number=number).first()
    return dict(row.document) if row is not None else {}


def _row(section: str, before: Any, after: Any) -> RowChange:
    """A section with the fields that would differ."""
    now, then = (fields if isinstance(fields, dict) else {} for fields in (before, after))
    fields = [
        FieldChange(name=name, before=now.get(name), after=then.get(name), differs=True)
        for name in dict.fromkeys([*now, *then])
        if then.get(name) != now.get(name)
    ]
    return RowChange(table="policy", id=section, kind="changed", title=f"section {section}", fields=fields)


def _replayed(given: SetPolicyInput, ctx: Ctx) -> list[RelatedText]:
    """What the draft would have decided otherwise on recorded calls, for those who may read the record as a whole."""
    if not ctx.may(Right.AUDIT, given.domain_id or ANY):
        return []
    asked = ReplayPolicyInput(domain_id=given.domain_id, document=given.document, limit=REPLAYED)
    found = REPLAY_POLICY.prepare(asked, ctx)
    told = f"Of the {found.decided} newest calls of the last 30 days it would decide {found.otherwise} otherwise than now."
    return [_text(told), *(_text(_in_words(line)) for line in found.lines[:KINDS])]


def _text(told: str) -> RelatedText:
    return RelatedText(kind="policy", id="replay", text=told, role="replay", source="the audit log")


def _in_words(line: ReplayLine) -> str:
    return f"{line.count} × {line.action}: {line.verdict} ({line.rule}) becomes {line.new_verdict} ({line.new_rule})"


register_facts("set_policy", _facts)
register_presenter("set_policy", _present)
