"""What an erasure leaves in an audit entry, so that text which is gone for another reason is told from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from governance.contracts.erasing import GONE, is_mark, receipt_named
from governance.models import AuditEntry, Proposal, Tombstone
from kernel.ids import uuids_in

STANDING = ("state", "revision")  # all that a record keeps of a proposal that quoted what is gone
SCRUBBED = "erased:"  # before the id of the receipt, in place of the subject of such a proposal
OF_PROPOSALS = frozenset({"proposals", "proposal_steps", "decisions", "blind_reviews"})


@dataclass(frozen=True, slots=True)
class Erased:
    """What is known of erasures that some entries tell of: the receipts that exist, and the proposals that were scrubbed
    under one of those."""

    receipts: frozenset[str]
    proposals: frozenset[str]


def told_in(entries: Collection[AuditEntry]) -> Erased:
    """What there is of the receipts and proposals that these entries name, in two statements."""
    scrubbed = _scrubbed_proposals(entries) if entries else {}
    named = {receipt for entry in entries for change in entry.changes for receipt in _marks(change)}
    wanted = uuids_in([*named, *scrubbed.values()]).values()
    rows = Tombstone.objects.filter(receipt_id__in=[*wanted]).values_list("receipt_id", flat=True)
    receipts = frozenset(map(str, rows.distinct().order_by())) if wanted else frozenset()
    return Erased(receipts, frozenset(pk for pk, receipt in scrubbed.items() if receipt in receipts))


def _scrubbed_proposals(entries: Iterable[AuditEntry]) -> dict[str, str]:
    """The scrubbed proposals among those that entries are about, each with the id of its receipt."""
    changed = (str(change["id"]) for entry in entries for change in entry.changes if change["table"] == "proposals")
    ids = {entry.proposal_id for entry in entries if entry.proposal_id} | set(uuids_in(changed).values())
    rows = Proposal.objects.filter(pk__in=ids, subject_key__startswith=SCRUBBED)
    return {str(pk): key.removeprefix(SCRUBBED) for pk, key in rows.values_list("pk", "subject_key")}


def unexplained(entry: AuditEntry, lost: Collection[str], known: Erased) -> list[str]:
    """Of the groups of fields whose salt is gone, those that hold something else than an erasure leaves there."""
    return [group for group in sorted(lost) if not _is_explained(entry, group, known)]


def _is_explained(entry: AuditEntry, group: str, known: Erased) -> bool:
    if group == "reason":
        of_proposal = any(_is_of(known.proposals, entry, change) for change in [{}, *entry.changes])
        return entry.reason == GONE and (of_proposal or any(_bears_mark(each, known) for each in entry.changes))
    return group == "changes" and any(
        _bears_mark(each, known) if _marks(each) else _is_stripped(each) and _is_of(known.proposals, entry, each)
        for each in entry.changes
    )


def _bears_mark(change: Mapping[str, Any], known: Erased) -> bool:
    marks = _marks(change)
    return bool(marks) and all(receipt in known.receipts for receipt in marks)


def _is_stripped(change: Mapping[str, Any]) -> bool:
    """Whether that is what stays of a change of a proposal."""
    sides = [change[side] for side in ("before", "after") if change.get(side) is not None]
    return change.get("table") in OF_PROPOSALS and all(side.keys() <= set(STANDING) for side in sides)


def _is_of(proposals: Collection[str], entry: AuditEntry, change: Mapping[str, Any]) -> bool:
    return str(entry.proposal_id) in proposals or change.get("id") in proposals


def _marks(change: Mapping[str, Any]) -> list[str]:
    sides = [change[side] for side in ("before", "after") if is_mark(change.get(side))]
    return [receipt_named(side) for side in sides]
