"""The one door: ask what is decided, then run, queue or refuse, and leave a record in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Generic, NoReturn, TypeVar

from django.db import IntegrityError, OperationalError, transaction

from governance import selectors, services
from governance.contracts import Outcome, QueuedAnswer
from governance.gate.deciding import Call, decide_on, place, policies_for, trail_of, weigh_call
from governance.gate.metering import charge
from governance.gate.opening import is_open, writing
from governance.models import IdempotencyRecord
from governance.policies import (
    QuotasPolicy,
    Verdict,
    effective_or_defaults,
)
from governance.services import Trail
from kernel.actions import Action, Change, Target, get
from kernel.canonical import digest
from kernel.conf import conf
from kernel.context import ANY, Ctx, Right
from kernel.contracts import Contract
from kernel.db import is_outage, rolled_back
from kernel.errors import (
    ConflictError,
    DomainError,
    InternalError,
    NotFoundError,
    StaleError,
    TooLargeError,
    UnavailableError,
)
from kernel.wire import check_tree, read_object
from scopes.selectors import domain_exists

In = TypeVar("In", bound=Contract)
Out = TypeVar("Out", bound=Contract)

_trying: ContextVar[bool] = ContextVar("gate_trying", default=False)


@dataclass(frozen=True, slots=True)
class Answer(Generic[Out]):
    """What a call gets back: the action's own result, or the proposal that now waits for a person."""

    result: Out | None
    queued: QueuedAnswer | None = None

    @property
    def status(self) -> int:
        """The HTTP status: 200 done, 202 queued."""
        return 202 if self.queued else 200

    def body(self) -> dict[str, Any]:
        """The plain JSON that every door sends."""
        shown: Contract | None = self.queued or self.result
        return shown.model_dump(mode="json") if shown else {}


class KeyUsedError(ConflictError):
    """The idempotency key stands for another call, which has no answer to give: the caller's fault alone."""


class _KeyTakenError(Exception):
    """Another call with the same idempotency key was first."""


def call(name: str, raw: bytes | str | Mapping[str, Any], *, ctx: Ctx, expecting: str = "") -> Answer[Any]:
    """Perform the action of that name with JSON text or plain JSON input: what every door calls.

    `expecting` as for `perform`. Raises DomainError; a refused call leaves its audit entry, one with unreadable or
    invalid input included.
    """
    action = get(name)
    try:
        if not isinstance(raw, Mapping) and len(raw) > conf().max_body_bytes:
            raise TooLargeError(f"The input is over {conf().max_body_bytes} bytes: split it.")
        tree = raw if isinstance(raw, Mapping) else read_object(raw)
        check_tree(tree)
        given = action.input.parse(tree)
    except DomainError as exc:
        refuse(name, exc, ctx=ctx, domain_id=_named_domain(raw, ctx))
    return perform(action, given, ctx=ctx, expecting=expecting)


def refuse(name: str, error: DomainError, *, ctx: Ctx, domain_id: str | None = None) -> NoReturn:
    """Record that the input of a call could not be used, and raise why: also for what a door sees before the gate."""
    action = get(name)
    try:
        charge(effective_or_defaults(domain_id), domain_id, action.effect, ctx)
    except DomainError as over:
        error = over
    with writing():
        services.record_refusal(Trail(action=action.name, domain_id=domain_id, rule="input"), ctx, error)
    raise error


def _named_domain(raw: bytes | str | Mapping[str, Any], ctx: Ctx) -> str | None:
    """The domain that unusable input names, so that its owners can count the fault; None unless the actor knows it."""
    try:
        tree = raw if isinstance(raw, Mapping) else read_object(raw)
    except DomainError:
        return None
    named = tree.get("domain_id")
    return named if isinstance(named, str) and ctx.knows(named) and domain_exists(named) else None


def perform(action: Action[In, Out, Any], given: In, *, ctx: Ctx, expecting: str = "") -> Answer[Out]:
    """Carry out one action for one actor, queue it for review, or refuse it with a DomainError.

    `expecting` is the digest of changes that a dry run foretold: where the call would change something else by now, it
    changes nothing and raises StaleError.
    """
    trail = trail_of(action, given)
    this = Call(action, given, replace(ctx, memo={}), trail, expecting)
    try:
        return _perform(this)
    except DomainError as exc:
        _refused(this, exc)
        raise
    except OperationalError as exc:
        if not is_outage(exc):
            raise
        raise UnavailableError("The database is busy or cannot be reached: try again later.") from exc
    except Exception:
        _refused(this, InternalError())
        raise


def _perform(this: Call[In, Out]) -> Answer[Out]:
    try:
        target = _target(this)
    except NotFoundError:
        gone = _replay_of_gone(this)
        if gone is None:
            raise
        return gone
    verdict = decide_on(this, target)
    if this.action.apply is None:
        result: Out = this.action.prepare(this.given, this.ctx)
        with writing():
            this.trail.changes = this.action.exposed(this.given, result, this.ctx) if this.action.exposed else []
            services.record(this.trail, this.ctx, Outcome.ALLOWED)
        return Answer(result)
    return _change(this, target, verdict)


def _change(this: Call[In, Out], target: Target, verdict: Verdict) -> Answer[Out]:
    """Carry out or queue what is no mere reading, once for each key."""
    earlier = _replay(this)
    if earlier is not None:
        return earlier
    try:
        prepared = this.action.prepare(this.given, this.ctx)
    except NotFoundError:
        twin = _replay(this) if this.action.destroys else None  # it may have removed it since the look above
        if twin is None:
            raise
        return twin
    known = this.action.known(this.given, prepared, this.ctx) if this.action.known else None
    if known is not None:
        with writing():
            services.record(this.trail, this.ctx, Outcome.ALLOWED, reason="already done")
        return Answer(known)
    try:
        with writing():
            claimed = _claim(this)
            queued = hold(this, prepared, target) if verdict is Verdict.QUEUE else None
            answer = Answer(None, queued) if queued else carry(this, prepared)
            if claimed is not None:
                services.keep_answer(claimed, answer.body(), queued=answer.queued is not None)
            return answer
    except _KeyTakenError:
        first = _replay(this)
    if first is None:
        raise KeyUsedError("Another call with this idempotency key is under way: send it again.")
    return first


def _target(this: Call[In, Out]) -> Target:
    """What the call is about, once it is counted; a call about what nobody can see counts too."""
    try:
        target = this.action.target(this.given, this.ctx)
    except DomainError:
        charge(effective_or_defaults(None), None, this.action.effect, this.ctx)
        raise
    this.trail.rule = "quotas"
    charge(place(this, target), target.domain_id, this.action.effect, this.ctx)
    return target


def queue_within(action: Action[In, Out, Any], given: In, ctx: Ctx) -> QueuedAnswer | None:
    """Ask, inside the gate's open transaction, whether policy holds back this other call, and queue it then.

    None where the call is allowed: the caller carries its work out itself, and says so with `carried_within`. None too
    while the outer call is only tried or was approved: who approves the whole approves its parts. The action's `prepare`
    runs inside the transaction here, so it must not call a model or the network. Raises DomainError where the call is
    denied or cannot be queued.
    """
    if not is_open():
        raise RuntimeError("queue_within works inside the gate's transaction only")
    if _trying.get() or ctx.approval is not None:
        return None
    this = Call(action, given, ctx, trail_of(action, given))
    target = action.target(given, ctx)
    if decide_on(this, target) is not Verdict.QUEUE:
        return None
    with transaction.atomic():
        return hold(this, action.prepare(given, ctx), target)


def carried_within(action: str, scope: str, ctx: Ctx) -> None:
    """Note, inside the gate's open transaction, that a part of the call of `ctx` was carried out that policy judges as a
    call of this other action on this scope, so that a draft of a policy can be tried on it."""
    _parts_of(ctx).add((action, scope))


def _parts_of(ctx: Ctx) -> set[tuple[str, str]]:
    return ctx.once("parts", set)


def carry(this: Call[In, Out], prepared: Any) -> Answer[Out]:
    """Apply a call and enter it into the audit log, in the present transaction."""
    result, this.trail.changes = this.apply(prepared)
    if this.trail.facts is not None:
        this.trail.facts = replace(this.trail.facts, parts=tuple(sorted(_parts_of(this.ctx))))
    _require_expected(this, this.trail.changes)
    quotas = policies_for(this, Target(this.trail.domain_id)).section(QuotasPolicy)
    services.charge_items(quotas, this.trail.domain_id, this.trail.changes, this.ctx)
    services.record(this.trail, this.ctx, Outcome.ALLOWED)
    return Answer(result)


def hold(this: Call[In, Out], prepared: Any, target: Target, *, drafted: bool = False) -> QueuedAnswer:
    """Queue a call for review, in the present transaction."""
    changes = try_out(this, prepared)
    _require_expected(this, changes)
    # Equal input of two actors need not mean the same place: sessions of the legacy domain are per principal.
    subject = target.subject or f"{this.action.name}:{digest([this.ctx.actor.id, this.trail.input_digest])}"
    about = services.NewProposal(
        subject,
        bool(target.subject),
        services.Evidence.of(target),
        weigh_call(this, target, own=not drafted),
        changes,
        drafted,
    )
    proposal, created = services.open_proposal(this.trail, this.given, about, this.ctx)
    if created:
        services.check_open_proposals(policies_for(this, target).section(QuotasPolicy), target.domain_id, this.ctx)
    this.trail.proposal_id = proposal.id
    services.record(this.trail, this.ctx, Outcome.QUEUED)
    return QueuedAnswer(proposal=selectors.view_proposal(proposal, this.ctx), deduplicated=not created)


def _require_expected(this: Call[In, Out], changes: Sequence[Change]) -> None:
    if this.expecting and services.changes_digest(changes) != this.expecting:
        raise StaleError("It would change something else by now than you were shown: look at it again.")


def try_out(
    this: Call[In, Out], prepared: Any, look: Callable[[Sequence[Change]], None] | None = None
) -> list[Change]:
    """What the call would change: it is applied and undone; `look` may see it in force."""
    token = _trying.set(True)
    try:
        with rolled_back():
            changes = list(this.apply(prepared)[1])
            if look is not None:
                look(changes)
            return changes
    finally:
        _trying.reset(token)


def _claim(this: Call[In, Out]) -> IdempotencyRecord | None:
    if this.key is None:
        return None
    try:
        with transaction.atomic():
            return services.claim_key(this.trail, this.key, this.ctx)
    except IntegrityError as exc:
        raise _KeyTakenError from exc


def _replay(this: Call[In, Out]) -> Answer[Out] | None:
    return _again(this, services.earlier_answer(this.trail, this.key, this.ctx) if this.key is not None else None)


def _replay_of_gone(this: Call[In, Out]) -> Answer[Out] | None:
    """The first answer to a removal under this key, where what it removed is nowhere to be found any more."""
    if this.key is None or not this.action.destroys:
        return None
    row = services.earlier_removal(this.trail, this.key, this.ctx)
    if row is None or not _may_still(this, row.domain):
        return None
    this.trail.domain_id = row.domain or None
    return _again(this, row)


def _may_still(this: Call[In, Out], domain_id: str) -> bool:
    """Whether the actor holds the right to such a removal somewhere in the domain, as far as can be told without what was
    removed. Of what is reviewed nobody's own is excepted; else an owner takes away what is theirs with the right to write."""
    wanted = {this.action.right}
    if this.action.right is Right.ERASE and not this.action.reviewed:
        wanted.add(Right.WRITE)
    reach = (grant for grant in this.ctx.reach if not domain_id or grant.domain_id in (ANY, domain_id))
    return any(wanted & grant.rights for grant in reach)


def _again(this: Call[In, Out], row: IdempotencyRecord | None) -> Answer[Out] | None:
    if row is None or row.answer is None:
        return None
    if services.was_erased(row):
        raise KeyUsedError(
            "This call was carried out, and what it did was erased since: use a new key for a new call."
        )
    with writing():
        services.record(this.trail, this.ctx, Outcome.ALLOWED, reason="idempotent replay")
    again = {**row.answer, "deduplicated": True}
    if row.queued:
        return Answer(None, QueuedAnswer.parse(again))
    kept = this.action.output.parse(again)
    return Answer(this.action.renewed(kept, this.ctx) if this.action.renewed else kept)


def _refused(this: Call[In, Out], error: DomainError) -> None:
    if not this.trail.policy_version:
        this.trail.policy_version = effective_or_defaults(this.trail.domain_id).version
    with writing():
        this.trail.changes = this.action.failed(this.given, error, this.ctx) if this.action.failed else []
        services.record_refusal(this.trail, this.ctx, error)
