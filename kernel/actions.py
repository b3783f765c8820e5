"""The one list of things anyone can do. Doors read it; apps add to it when they start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar
from uuid import UUID

from kernel.context import ANY, Ctx, Right
from kernel.contracts import Contract, KeyedInput
from kernel.errors import DomainError, NotFoundError

In = TypeVar("In", bound=Contract)
Out = TypeVar("Out", bound=Contract)
Prepared = TypeVar("Prepared")


class Effect(StrEnum):
    """What an action does to what is stored."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"


@dataclass(frozen=True, slots=True)
class Change:
    """One row that an action changed: plain JSON before (None: it is new) and after (None: it is gone).

    `incidental` marks what was only opened on the way, such as a scope: it is recorded, but no reviewer decides on it.
    `scopes` are those in which the row lies (`type:id`): who audits all of them sees the change. Empty: all that the
    call was about.
    """

    table: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    incidental: bool = False
    scopes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The form kept in the audit log."""
        kept = {"table": self.table, "id": self.id, "before": self.before, "after": self.after}
        return {**kept, "scopes": list(self.scopes)} if self.scopes else kept

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Change:
        """A change read back from the audit log or a proposal; whether it was incidental is not kept."""
        return cls(kept["table"], kept["id"], kept["before"], kept["after"], scopes=tuple(kept.get("scopes", ())))


@dataclass(frozen=True, slots=True)
class Target:
    """What a call is about: the domain, the scopes (`type:id`) on which its right is needed, and the subject's key.

    `domain_id` None means the installation as a whole. `owned` are scopes that the actor itself opened, such as its
    own session: it may read and write those without a grant that names them. `subject` names what a proposal for this
    call would be about, so that one thing has one open proposal; empty lets the gate derive it from the input.
    `place` is the scope in which a proposal for this call is decided; empty: the first of `scopes`.
    `evidence` is a digest of what the call rests on, `rests_on` one of each piece of it: a rejected subject may be proposed
    again once there is a piece that no rejection of it has seen. Where no pieces are told, `evidence` is the only one.
    `proposal_id` is the proposal that the call decides on or looks at.
    `needs` is the right that this call needs where what it is about asks for another than its action does.
    """

    domain_id: str | None
    scopes: tuple[str, ...] = (ANY,)
    owned: frozenset[str] = frozenset()
    subject: str = ""
    place: str = ""
    evidence: str = ""
    rests_on: tuple[str, ...] | None = None
    proposal_id: UUID | None = None
    needs: Right | None = None


Applied = tuple[Out, Sequence[Change]]


@dataclass(frozen=True, slots=True)
class Action(Generic[In, Out, Prepared]):
    """A name, its contracts, the right it needs, and its service in two phases.

    `target` says what the call is about, so that the gate can decide before anything is done.
    `prepare` runs outside any transaction: it may read and call models or the network, and does all of a read action.
    `apply` runs inside the gate's short transaction, rechecks what prepare relied on, and reports its changes.
    `exposed` runs after a read, in the short transaction that records it, and keeps what was shown to whom.
    `failed` runs after a refused apply was rolled back, in the short transaction that records the refusal.
    `reverse` undoes an applied call inside a transaction of its own: from the changes that the call made it appends rows
    that restore what was, never deletes, and reports its own changes. The input is None unless the call went through a
    proposal. It raises StaleError where what the call did has been changed again since.
    `instead` says what to do where a call has no reverse: a sentence for whoever wants it undone.
    `known` finds what an earlier call already did, so that the same call again gets that answer and waits for nobody.
    `renewed` brings the answer that was kept under an idempotency key up to what is true when the key comes again.
    `reviewed` is true for what always waits for a person: only one who may decide in its place carries it out at once.
    `or_decide` is true for what a signed-in person who may decide on a scope does there without the right itself.
    `parts` are the other actions as which policy judges parts of a call, each with the types of scopes where it does.
    `judged_as` are further actions as which policy judges the whole call beside its own name: what holds one of them back
    holds this one back.
    `undone_as` are the actions that would make the opposite change, as which policy judges taking a call back.
    `queueable` is false for what decides on proposals: it can never itself wait for a decision.
    `resource` is the path under /v1/ where a list can also be read with GET.
    """

    name: str
    summary: str
    input: type[In]
    output: type[Out]
    right: Right
    target: Callable[[In, Ctx], Target]
    prepare: Callable[[In, Ctx], Prepared]
    apply: Callable[[In, Prepared, Ctx], Applied[Out]] | None = None
    failed: Callable[[In, DomainError, Ctx], Sequence[Change]] | None = None
    exposed: Callable[[In, Out, Ctx], Sequence[Change]] | None = None
    reverse: Callable[[In | None, Sequence[Change], Ctx], Sequence[Change]] | None = None
    instead: str = ""
    known: Callable[[In, Prepared, Ctx], Out | None] | None = None
    renewed: Callable[[Out, Ctx], Out] | None = None
    destroys: bool = False
    reviewed: bool = False
    or_decide: bool = False
    queueable: bool = True
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    judged_as: tuple[str, ...] = ()
    undone_as: tuple[str, ...] = ()
    resource: str = ""

    @property
    def effect(self) -> Effect:
        """Read, write or destroy."""
        if self.apply is None:
            return Effect.READ
        return Effect.DESTROY if self.destroys else Effect.WRITE

    @property
    def idempotent(self) -> bool:
        """Whether sending it twice is safe: every read, and every write that takes an idempotency key."""
        return self.apply is None or issubclass(self.input, KeyedInput)


_registry: dict[str, Action[Any, Any, Any]] = {}


def register(action: Action[In, Out, Prepared]) -> Action[In, Out, Prepared]:
    """Add an action to the list; its name must be new."""
    if action.name in _registry:
        raise ValueError(f"action {action.name!r} is already registered")
    _registry[action.name] = action
    return action


def get(name: str) -> Action[Any, Any, Any]:
    """The action of that name, or NotFoundError with the names there are."""
    try:
        return _registry[name]
    except KeyError as exc:
        raise NotFoundError(f"There is no action {name!r}. Actions: {', '.join(sorted(_registry))}.") from exc


def all_actions() -> Iterator[Action[Any, Any, Any]]:
    """Every action, by name."""
    return iter(sorted(_registry.values(), key=lambda action: action.name))
