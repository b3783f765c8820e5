"""What a signed-in person may do with one memory: the acts that its state allows, as far as the gate would."""

from __future__ import annotations

from dataclasses import dataclass

from governance import gate
from governance.policies import Verdict
from kernel.actions import Target, get
from kernel.context import Ctx
from memory.actions.along import own_scope
from memory.actions.lifecycle import narrower_types
from memory.contracts.items import OUT_OF_USE, Lifecycle, Status
from memory.models import MemoryItem


@dataclass(frozen=True, slots=True)
class Deed:
    """One act on a memory: its action, the words on its button, what it does in a sentence, the key that opens it, and
    what is said when it is done."""

    action: str
    label: str
    does: str
    key: str
    done: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A deed that the person may do here. `waits`: someone else decides on it first."""

    deed: Deed
    waits: bool


RETRACT = Deed(
    "retract_item",
    "Retract",
    "It was wrong: it leaves contexts, searches and relations, and stays readable as history.",
    "r",
    "Retracted.",
)
CORRECT = Deed(
    "correct_item",
    "Correct",
    "Something else is right: a new version takes its place, and leads back to this one.",
    "e",
    "Corrected.",
)
NARROW = Deed(
    "narrow_item",
    "Narrow",
    "It holds for a narrower scope only: outside of that it is hidden, history included.",
    "n",
    "Narrowed.",
)
PROMOTE = Deed(
    "promote_to_scope",
    "Promote",
    "It holds elsewhere too: another scope gets a copy that can be traced to this one, which stays as it is.",
    "p",
    "Promoted.",
)
DEMOTE = Deed(
    "demote",
    "Demote",
    "It is no longer to be trusted, on evidence: it leaves contexts and searches until this is undone.",
    "d",
    "Demoted.",
)
LEAVE = Deed(
    "demote_from_scope",
    "Take this copy out of its scope",
    "This promoted copy does not belong here, on evidence; what it was made from stays as it is.",
    "l",
    "Taken out of its scope.",
)
DEEDS = {deed.action: deed for deed in (RETRACT, CORRECT, NARROW, PROMOTE, DEMOTE, LEAVE)}


def offers_on(row: MemoryItem, ctx: Ctx) -> list[Offer]:
    """What the person may do with the memory as it stands, in the order of a desk."""
    found = [(deed, foreseen(deed, row, ctx)) for deed in DEEDS.values() if not hindrance(deed, row)]
    return [Offer(deed, verdict is Verdict.QUEUE) for deed, (verdict, _) in found if verdict is not Verdict.DENY]


def foreseen(deed: Deed, row: MemoryItem, ctx: Ctx) -> tuple[Verdict, str]:
    """What the gate would decide on the deed where the memory lies, and what it would say to a denial. Another scope
    that the call names is decided on when the call is made."""
    scope, owned = own_scope(row, ctx)
    _, decision, _ = gate.foresee(get(deed.action), Target(row.domain_id, (scope,), owned), ctx)
    return decision.verdict, decision.message


def hindrance(deed: Deed, row: MemoryItem) -> str:
    """Why the state of a memory does not allow a deed, in a sentence; empty where it does."""
    if deed is RETRACT:
        return "It was taken back already." if row.status == Status.RETRACTED else ""
    if row.current_until is not None or row.status != Status.ACTIVE:
        return _past(row)
    trusted = row.lifecycle_status not in OUT_OF_USE
    if deed is DEMOTE:
        return "It was retired already." if row.lifecycle_status == Lifecycle.RETIRED else ""
    if deed is LEAVE:
        return "" if row.source_item_id is not None and trusted else "It is no promoted copy in use."
    if row.key is None:
        return "It has no key, so no other version of it can be written: retract it, and commit what is right."
    if deed is CORRECT:
        return ""
    if not trusted:
        return f"It is {row.lifecycle_status}: nobody is shown it."
    if deed is NARROW and not narrower_types(row.scope.scope_type):
        return f"No scope is narrower than {row.scope.name}."
    return ""


def _past(row: MemoryItem) -> str:
    """Why a memory that is not in force is not."""
    if row.status == Status.RETRACTED:
        return "It was taken back, so it is no longer in force."
    replaced = row.successor_id is not None
    return "It was replaced, so it is no longer in force." if replaced else "It is no longer in force."
