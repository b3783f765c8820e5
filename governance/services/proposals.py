"""Writing proposals: opening them, moving them from state to state, and noting why carrying one out failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from governance.contracts import Outcome, ProposalFacts, ProposalState, StepKind, Verdict
from governance.hooks import facts_of
from governance.models import OPEN_STATES, RISKS, AuditEntry, Decision, Proposal
from governance.policies import Facts, Weight
from governance.services.audit import Trail
from governance.services.steps import add_step
from kernel import clock
from kernel.actions import Change, Target
from kernel.canonical import digest
from kernel.context import ActorKind, Ctx
from kernel.contracts import Contract
from kernel.errors import ConflictError
from kernel.likeness import likeness_of
from kernel.text import fold

SEARCHED_CHARS = 4000
TOLD_CHARS = 400
REJECTIONS = 200  # of one subject that are looked at
EXPIRED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a call rests on: a digest of all of it, and one of each piece."""

    whole: str
    pieces: tuple[str, ...]

    @classmethod
    def of(cls, target: Target) -> Self:
        """That of a call about the target."""
        pieces = target.rests_on
        if pieces is None:
            pieces = (target.evidence,) if target.evidence else ()
        return cls(target.evidence, pieces)


@dataclass(frozen=True, slots=True)
class NewProposal:
    """What is known of a call that is to wait, beside its trail and input. `named`: its action says what it is about, so
    that calls which say nearly the same are about the same."""

    subject: str
    named: bool
    evidence: Evidence
    weight: Weight
    changes: Sequence[Change]
    drafted: bool = False


def changes_digest(changes: Sequence[Change]) -> str:
    """What a set of changes rests on: the rows it alters as they were, and how many it adds to each table.

    New rows have fresh ids and instants each time, so only their number counts; a row that changed meanwhile, or is no
    longer altered, gives another digest. What is only opened on the way does not count: someone else may open it first.
    """
    decided = [change for change in changes if not change.incidental]
    altered = [[change.table, change.id, change.before] for change in decided if change.before is not None]
    added: dict[str, int] = {}
    for change in decided:
        if change.before is None:
            added[change.table] = added.get(change.table, 0) + 1
    return digest({"altered": sorted(altered, key=digest), "added": added})


def facts_about(action: str, given: Contract, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """What lists show of a call that waits: as its app tells it, and where that says nothing, as its rows do."""
    find = facts_of(action)
    told = find(given, changes, ctx) if find is not None else ProposalFacts()
    words = list(words_of(given.model_dump(mode="json")))
    return ProposalFacts(
        subject=(told.subject or f"{action}: {' '.join(words)}" if words else action)[:300],
        summary=(told.summary or _counted(changes))[:500],
        before=told.before,
        after=told.after,
        similar_key=told.similar_key or alike(action, given.model_dump(mode="json")),
        source_key=told.source_key,
        has_conflict=told.has_conflict,
    )


def alike(action: str, tree: Mapping[str, Any]) -> str:
    """Equal for calls of an action of which the texts say nearly the same (`kernel.likeness`) and everything else is
    equal; where its app knows better, it says so itself."""
    return digest([action, likeness_of({name: value for name, value in tree.items() if name != "idempotency_key"})])


def open_proposal(trail: Trail, given: Contract, about: NewProposal, ctx: Ctx) -> tuple[Proposal, bool]:
    """Store a call for review: the proposal, and whether it is new. One subject has one open proposal: the same call
    again gives the open one and counts it as seen, another call raises ConflictError that names it. What was rejected
    is refused when an agent sends it again, with the reason as data, unless there is new evidence."""
    try:
        with transaction.atomic():
            row = _insert(trail, given, about, ctx)
            refuse_rejected(
                row, about.evidence, ctx, alike=about.named
            )  # after the insert: a rejection at this very moment is committed by now
    except IntegrityError as exc:
        return _open_one(trail, given, about, ctx, exc), False
    return row, True


def move_proposal(row: Proposal, to: ProposalState, ctx: Ctx, **columns: Any) -> bool:
    """Move a proposal on from the state, revision and approvals that `row` says, setting further columns, by a
    conditional update; False where someone else was first."""
    final = to not in OPEN_STATES
    moved = Proposal.objects.filter(pk=row.pk, state=row.state, revision=row.revision, approvals=row.approvals).update(
        **{
            "state": to,
            "moved_at": ctx.now,
            "decided_at": ctx.now if final else None,
            "last_error": "",
            "claimed_by": "",
            "claimed_name": "",
            "claimed_until": None,
            "snoozed_until": None,
            "snoozed_to_seen": None,
            **columns,
        }
    )
    if moved:
        row.refresh_from_db()
    return bool(moved)


def touch_proposal(row: Proposal, ctx: Ctx, **columns: Any) -> bool:
    """Set columns of a proposal that stays where it is; False where it has moved on meanwhile."""
    touched = Proposal.objects.filter(pk=row.pk, state=row.state, revision=row.revision).update(
        moved_at=ctx.now, **columns
    )
    return bool(touched)


def note_failure(proposal_id: UUID, message: str) -> list[Change]:
    """Keep why carrying out an open proposal failed; it stays open."""
    noted = Proposal.objects.filter(pk=proposal_id, state__in=OPEN_STATES).update(last_error=message[:2000])
    return [Change("proposals", str(proposal_id), {}, {"last_error": message[:2000]})] if noted else []


def add_decision(
    row: Proposal, verdict: Verdict, reason: str, ctx: Ctx, edited: Mapping[str, Any] | None = None
) -> Decision:
    """Append a decision of the actor; `edited` is the input that they made of it. It is dated when it is made, not when
    its call began: a bulk takes a while, and the order of decisions tells which of them count."""
    return Decision.objects.create(
        proposal=row,
        verdict=verdict,
        revision=row.revision,
        by_id=ctx.actor.id,
        by_name=ctx.actor.name,
        reason=reason,
        input=edited,
        request_id=ctx.request_id,
        created_at=clock.now(),
    )


_NAMES = frozenset({"idempotency_key", "domain_id", "session_id", "id", "type", "role"})


def content_columns(action: str, given: Contract, changes: Sequence[Change], ctx: Ctx) -> dict[str, Any]:
    """The columns of a proposal that say what it would do; `ctx` is the proposer's."""
    tree = given.model_dump(mode="json")
    facts = facts_about(action, given, changes, ctx)
    return {
        "input": tree,
        "digest": changes_digest(changes),
        "changes": [change.as_json() for change in changes],
        "subject": facts.subject,
        "summary": facts.summary,
        "search_text": fold(" ".join([facts.subject, facts.summary, *words_of(tree)]))[:SEARCHED_CHARS],
        "told_before": facts.before[:TOLD_CHARS],
        "told_after": facts.after[:TOLD_CHARS],
        "similar_key": facts.similar_key,
        "source_key": facts.source_key,
        "has_conflict": facts.has_conflict,
    }


def _insert(trail: Trail, given: Contract, about: NewProposal, ctx: Ctx) -> Proposal:
    return Proposal.objects.create(
        **content_columns(trail.action, given, about.changes, ctx),
        action=trail.action,
        domain_id=trail.domain_id,
        scope=trail.scope,
        subject_key=about.subject,
        evidence=about.evidence.whole,
        rests_on=list(about.evidence.pieces),
        rule=trail.rule,
        policy_version=trail.policy_version,
        proposer_kind=ctx.actor.kind,
        proposer_id=ctx.actor.id,
        proposer_name=ctx.actor.name,
        proposer_owner=ctx.actor.owner,
        request_id=ctx.request_id,
        created_at=ctx.now,
        moved_at=ctx.now,
        risk=RISKS.index(about.weight.risk),
        approvals_needed=about.weight.approvals,
        drafted=about.drafted,
    )


def refuse_rejected(row: Proposal, evidence: Evidence, ctx: Ctx, *, alike: bool) -> None:
    """Refuse what an agent sends again after a person rejected it: ConflictError with the rejection as data. Whatever was
    proposed in between, every rejection of the subject counts until it was approved, and with `alike` every one in the
    scope that says nearly the same: `evidence` is new where it holds a piece that none of them has seen."""
    if ctx.actor.kind is not ActorKind.AGENT:
        return
    about = Q(subject_key=row.subject_key)
    if alike and row.similar_key:
        about |= Q(similar_key=row.similar_key, action=row.action, scope=row.scope)
    decided = Proposal.objects.filter(about, domain_id=row.domain_id).order_by("-id")
    rejected = decided.filter(state=ProposalState.REJECTED)
    approved = decided.filter(state=ProposalState.APPROVED).values_list("id", flat=True).first()
    rows = (rejected if approved is None else rejected.filter(id__gt=approved)).only("evidence", "rests_on")
    last = _seen_in(list(rows[:REJECTIONS]), evidence)
    decision = last.decisions.filter(verdict=Verdict.REJECTED).last() if last is not None else None
    if last is None or decision is None:
        return
    stop = "" if decision.reason.endswith((".", "!", "?", "。", "！", "？")) else "."
    raise ConflictError(
        f"{decision.by_name} rejected this: {decision.reason}{stop} Propose it again once its evidence has changed.",
        extra={
            "rejected": {
                "proposal_id": str(last.id),
                "reason": decision.reason,
                "by": decision.by_name,
                "at": decision.created_at.isoformat(),
            }
        },
    )


def _seen_in(rejected: Sequence[Proposal], evidence: Evidence) -> Proposal | None:
    """The newest of some rejections, the newest first, that bars a call on this evidence; None where a piece is new."""
    equal = next((row for row in rejected if row.evidence == evidence.whole), None)
    if equal is not None:
        return equal
    seen = {piece for row in rejected for piece in row.rests_on}
    if not rejected or not seen.issuperset(evidence.pieces):
        return None
    return next((row for row in rejected if not set(row.rests_on).isdisjoint(evidence.pieces)), rejected[0])


def _open_one(trail: Trail, given: Contract, about: NewProposal, ctx: Ctx, cause: Exception) -> Proposal:
    open_ones = Proposal.objects.filter(domain_id=trail.domain_id, subject_key=about.subject, state__in=OPEN_STATES)
    known = open_ones.first()
    if known is None:
        raise ConflictError("A proposal about the same subject was decided at this moment: send it again.") from cause
    if known.action != trail.action or given.model_dump(mode="json") not in (known.input, known.proposed_input):
        raise ConflictError(
            f"Proposal {known.id} about the same subject is {known.state.replace('_', ' ')}: wait for it, or change it "
            "with revise_proposal or take it back with withdraw_proposal if it is yours.",
            extra={"open": {"proposal_id": str(known.id), "state": known.state}},
        ) from cause
    Proposal.objects.filter(pk=known.pk).update(seen=F("seen") + 1)
    known.seen += 1
    return known


def words_of(tree: Any, name: str = "") -> Iterator[str]:
    """The texts of an input that people would read, in order."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from words_of(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from words_of(value, name)
    elif isinstance(tree, str) and name not in _NAMES and tree.strip():
        yield tree


def _counted(changes: Sequence[Change]) -> str:
    """Such as `1 added to memory_items, 2 changed in domains`."""
    counts: dict[tuple[str, str], int] = {}
    for change in changes:
        if not change.incidental:
            how = "added to" if change.before is None else "removed from" if change.after is None else "changed in"
            counts[how, change.table] = counts.get((how, change.table), 0) + 1
    return ", ".join(f"{number} {how} {table}" for (how, table), number in counts.items()) or "changes nothing"


def domains_with_open_proposals() -> list[str | None]:
    """The domains in which something waits; None for the installation."""
    rows = Proposal.objects.filter(state__in=OPEN_STATES).order_by()
    return sorted(set(rows.values_list("domain_id", flat=True)), key=lambda domain_id: domain_id or "")


def expire_proposals(domain_id: str | None, days: int, ctx: Ctx) -> list[Change]:
    """Let a batch of a domain's proposals expire that nobody touched for so many days."""
    untouched = ctx.now - timedelta(days=days)
    rows = Proposal.objects.filter(domain_id=domain_id, state__in=OPEN_STATES, moved_at__lt=untouched)
    changes = []
    for row in rows.order_by("moved_at", "id")[:EXPIRED_AT_ONCE]:
        before = {"state": row.state, "revision": row.revision}
        if move_proposal(row, ProposalState.EXPIRED, ctx):
            changes.append(Change("proposals", str(row.id), before, {"state": row.state, "revision": row.revision}))
            add_step(row, StepKind.EXPIRED, ctx, f"nobody touched it for {days} days")
    return changes


def scopes_of(row: Proposal) -> tuple[str, ...]:
    """The scopes that a queued call was about, the one in which it is decided included, as its audit entry says them."""
    entry = AuditEntry.objects.filter(proposal=row, action=row.action, outcome=Outcome.QUEUED).order_by("id").first()
    return Facts.from_json(entry.facts).touched if entry and entry.facts else ()
