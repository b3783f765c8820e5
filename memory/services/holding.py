"""Asking, of each part of what is learned for a scope that many read, whether a person looks at it first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from governance.contracts import QueuedAnswer
from governance.contracts.base import REASON_CHARS
from kernel.contracts import Contract
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, QuotaExceededError
from memory.candidates import Candidate, Retraction, line
from memory.contracts.commit import PartAction, QueuedItem, RetentionLine
from memory.contracts.items import RelationIn
from memory.contracts.writing import WriteRelationInput
from memory.services.graph import known_edge
from memory.services.items import Commit, is_governed
from memory.services.retractions import denial_call, denied_before, retraction_calls
from memory.services.writing import input_of
from scopes.contracts import ScopeView

if TYPE_CHECKING:
    from memory.models import MemoryItem
    from scopes.models import MemoryScope

ELEVATED = ("project", "expert", "global")  # scopes that more than one task or conversation reads


@dataclass(frozen=True, slots=True)
class Holding:
    """What asks policy about a part. `types`: for each action that a part is a call of, the types of scope in which a rule
    could hold it at all. `ask` queues such a call where one does; None: it may be done. `carried` notes that it was done,
    so that a draft of a policy can be tried on it."""

    types: Mapping[PartAction, frozenset[str]]
    ask: Callable[[PartAction, Contract], QueuedAnswer | None]
    carried: Callable[[PartAction, str], None]

    def could(self, action: PartAction, scope: str) -> bool:
        """Whether any rule could hold back such a call on the scope (`type:id`)."""
        return _kind(scope) in self.types[action]

    def done(self, action: PartAction, scope: str) -> None:
        """Note a part that is done at once."""
        if _kind(scope) in ELEVATED:
            self.carried(action, scope)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part that may wait by itself: whose memory, where, what told it, as a call of which action, and what is to be said
    of that."""

    type: str
    key: str
    scope: str
    source: str
    action: PartAction
    note: str = ""

    def line(self, action: str, reason: str, note: str) -> RetentionLine:
        told = line(action, self.type, self.key, reason, self.scope, self.source)
        return told.model_copy(update={"text": f"{told.text}: {note}"}) if note else told


def item_waits(candidate: Candidate, scope: str, holding: Holding, domain_id: str, commit: Commit) -> bool:
    """Whether a person is to look at an item first: it is queued then, while the rest is stored."""
    part = _Part(candidate.type, candidate.key, scope, candidate.source, "write_memory_item")
    return _waits(part, [lambda: input_of(candidate, domain_id, scope, commit.turn)], holding, commit)


def retraction_waits(
    asked: Retraction, rows: Sequence[MemoryItem], scope: MemoryScope, holding: Holding, commit: Commit
) -> bool:
    """Whether a person is to look first at what is taken back, or denied where nothing is known: it is queued then, in as
    many proposals as its versions need. Some facts of a profile cannot wait by themselves: their denial is refused there."""
    if any(is_governed(row) for row in rows):
        return False
    if not rows:
        return _denial_waits(asked, scope, holding, commit)
    if asked.facts and holding.could("retract_item", scope.name):
        reason = "propose_it_with_correct_item"
        commit.written.lines.append(line("refuse", asked.type, asked.key, reason, scope.name, asked.source))
        return True
    part = _Part(asked.type, asked.key, scope.name, asked.source, "retract_item", _cut(asked))
    calls = retraction_calls(asked, rows)
    return _waits(part, [partial(_given, call) for call in calls], holding, commit)


def _denial_waits(asked: Retraction, scope: MemoryScope, holding: Holding, commit: Commit) -> bool:
    if denied_before(asked, scope) is not None:
        return False
    part = _Part(asked.type, asked.key, scope.name, asked.source, "write_denial", _cut(asked))
    return _waits(part, [partial(denial_call, asked, scope.domain_id, scope.name, commit.turn)], holding, commit)


def relation_waits(asked: RelationIn, scope: MemoryScope, source: str, holding: Holding, commit: Commit) -> bool:
    """Whether a person is to look at a relation first: it is queued then. One that the scope knows changes nothing."""
    if known_edge(asked, scope, commit.ctx.now)[1]:
        return False
    part = _Part("edges", asked.words, scope.name, source, "write_relation")
    return _waits(part, [partial(_relation_call, asked, scope, commit)], holding, commit)


def _relation_call(asked: RelationIn, scope: MemoryScope, commit: Commit) -> WriteRelationInput:
    fields = asked.model_dump(include=set(RelationIn.model_fields))
    place = {"domain_id": scope.domain_id, "scope": {"type": scope.scope_type, "id": scope.external_id}}
    return WriteRelationInput.model_validate({**fields, **place, "turn_id": commit.turn.id})


def _waits(part: _Part, calls: Iterable[Callable[[], Contract]], holding: Holding, commit: Commit) -> bool:
    """Whether the part waits as these calls, each put together only where a rule could hold it."""
    if holding.could(part.action, part.scope):
        waiting = [_queued(part, call, holding, commit) for call in calls]
        if any(waiting):
            return True
    holding.done(part.action, part.scope)
    return False


def _queued(part: _Part, call: Callable[[], Contract], holding: Holding, commit: Commit) -> bool:
    """Whether a part waits, or is refused because it did before or cannot wait; the answer of the commit tells so."""
    try:
        queued = holding.ask(part.action, call())
        proposal = queued.proposal.id if queued is not None else None
        known = queued is not None and queued.deduplicated
    except (ForbiddenError, InvalidInputError, NotFoundError) as exc:
        commit.written.lines.append(part.line("refuse", exc.code, exc.message))
        return True
    except (ConflictError, QuotaExceededError) as exc:
        if "open" not in exc.extra:
            reason = "rejected_before" if "rejected" in exc.extra else exc.code
            commit.written.lines.append(part.line("refuse", reason, exc.message))
            return True
        proposal, known = UUID(exc.extra["open"]["proposal_id"]), True  # the same was proposed from another turn
    if proposal is None:
        return False
    commit.written.lines.append(part.line("queue", "waits_for_a_person", part.note))
    scope_type, _, scope_id = part.scope.partition(":")
    commit.written.queued.append(
        QueuedItem(
            proposal_id=proposal,
            type=part.type,
            key=part.key,
            scope=ScopeView(type=scope_type, id=scope_id),
            action=part.action,
            deduplicated=known,
        )
    )
    return True


def _given(call: Contract) -> Contract:
    return call


def _cut(asked: Retraction) -> str:
    return f"its reason is cut to {REASON_CHARS} characters" if len(asked.reason.strip()) > REASON_CHARS else ""


def _kind(scope: str) -> str:
    return scope.partition(":")[0]
