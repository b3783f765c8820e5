"""Erasing what was stored, the receipts that it leaves, and legal holds that forbid it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from governance.contracts.base import Reason
from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from scopes.contracts import LEGACY_DOMAIN, DomainId, ScopePattern

Kind = Annotated[
    str,
    Field(min_length=1, max_length=20, pattern=r"^[a-z_]+$", description="`memory`, `session` or `document`."),
]
InDomain = Annotated[DomainId, Field(description="The isolation domain; `legacy` where left out.")]
MOST_SOUGHT = 2000  # ids that one later run looks for
NOT_PROVED = (
    "Backups, exports and logs outside of this database are not touched.",
    "What was shown to agents and people, or copied elsewhere, is not taken back.",
    "The same words said again under another id are not looked for, nor is a job that was sent the same text without an "
    "address and did not make this document.",
    "SHA-256 of what calls were given, in the audit log, and of rows that were moved in: who guesses one whole finds it "
    "confirmed.",
    "Names of scopes, sessions, tags and topics, and the reasons of refused calls, stay.",
    "Stored bytes leave the store with the next collection, unless something else needs the same bytes.",
)


GONE = "(erased)"  # what stands in place of a text
_MARK = "erased_by_receipt"


def mark(receipt_id: UUID) -> dict[str, str]:
    """What records hold in place of what quoted something erased."""
    return {_MARK: str(receipt_id)}


def is_mark(value: object) -> bool:
    """Whether that is such a mark, and nothing that an action said."""
    return isinstance(value, dict) and value.keys() == {_MARK}


def receipt_named(mark: dict[str, str]) -> str:
    """The id of the receipt that a mark names."""
    return mark[_MARK]


class ErasableRef(Contract):
    """Something that can be erased."""

    kind: Kind
    id: UUID = Field(description="Its id; of a session the server's own id, as `list_sessions` gives it.")


class EraseInput(KeyedInput):
    """What is to be erased for good, and why."""

    domain_id: InDomain = LEGACY_DOMAIN
    objects: list[ErasableRef] = Field(min_length=1, max_length=1000, description="What to erase, 1 to 1,000.")
    along: bool = Field(
        default=False,
        description="True: erase what depends on it too, such as promoted copies and memories learned from a session. "
        "False: the call is refused while something depends on it, and says what.",
    )
    reason: Reason


class ScrubErasedInput(Contract):
    """What is left to do of an erasure: where calls that had read it may have stored a quotation of it since."""

    domain_id: InDomain = LEGACY_DOMAIN
    receipt_id: UUID = Field(description="The receipt of the erasure.")
    ids: list[UUID] = Field(
        min_length=1,
        max_length=MOST_SOUGHT,
        description="Ids of what went, 1 to 2,000: one of the lists that the erasure itself put in the queue, in any order.",
    )


class ScrubErasedResult(Contract):
    """What was scrubbed."""

    scrubbed: dict[str, int] = Field(description="Records out of which what was quoted was taken this time, by name.")


class TombstoneView(Contract):
    """The receipt of one thing that was erased: hashes and counts, nothing of what it said."""

    id: UUID = Field(description="The receipt's own id.")
    receipt_id: UUID = Field(description="Equal for all that one call erased.")
    domain_id: str = Field(description="Domain.")
    kind: str = Field(description="What it was: memory, session or document.")
    object_id: UUID = Field(description="The id that it had.")
    scopes: list[str] = Field(description="The scopes in which it lay.")
    sha256: str = Field(description="SHA-256 over all that was erased, random ids that are gone too included.")
    counts: dict[str, int] = Field(description="Rows that went with it, by name.")
    reason: str = Field(description="Why.")
    erased_by: str = Field(description="Who carried it out.")
    on_behalf_of: str = Field(description="Who had asked for it, where a person approved; else empty.")
    at: datetime = Field(description="When.")


class EraseResult(KeyedResult):
    """The receipt of the whole call."""

    receipt_id: UUID = Field(description="Names all that the call erased.")
    erased_count: int = Field(description="How many things were erased.")
    erased: list[TombstoneView] = Field(description="Their receipts, 100 at most; `list_tombstones` gives all.")
    scrubbed: dict[str, int] = Field(description="Records elsewhere out of which what was quoted was taken, by name.")
    not_proved: list[str] = Field(description="What this receipt does not prove.")


class ListTombstonesInput(PageInput):
    """Which receipts."""

    domain_id: DomainId | None = Field(default=None, description="Only of this domain.")
    object_id: UUID | None = Field(default=None, description="Only of what had this id.")
    receipt_id: UUID | None = Field(default=None, description="Only of one call.")


class ListTombstonesResult(PageResult):
    """Receipts, newest first."""

    tombstones: list[TombstoneView] = Field(description="Receipts.")


class PlaceHoldInput(Contract):
    """What must not be erased: one thing, or all that lies in scopes."""

    domain_id: InDomain = LEGACY_DOMAIN
    object: ErasableRef | None = Field(default=None, description="One thing.")
    scope: ScopePattern | None = Field(default=None, description="Scopes instead: `type:id`, `type:*` or `*`.")
    reason: Reason

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.object is None) == (self.scope is None):
            raise ValueError("name either `object` or `scope`")
        return self


class HoldRef(Contract):
    """A hold to lift."""

    id: UUID = Field(description="Id of the hold.")
    reason: Reason


class HoldView(Contract):
    """A legal hold."""

    id: UUID = Field(description="Id.")
    domain_id: str = Field(description="Domain.")
    object: ErasableRef | None = Field(description="What is held; null where scopes are.")
    scope: str = Field(description="The scopes that are held, or in which the thing lay; `*` for more than one.")
    reason: str = Field(description="Why.")
    placed_by: str = Field(description="Who placed it.")
    placed_at: datetime = Field(description="When.")
    lifted_by: str = Field(description="Who lifted it; empty while it is in force.")
    lifted_at: datetime | None = Field(description="When it was lifted; null while it is in force.")
    lift_reason: str = Field(description="Why it was lifted.")


class HoldResult(Contract):
    """The hold as it is now."""

    hold: HoldView = Field(description="The hold.")


class ListHoldsInput(PageInput):
    """Which holds."""

    domain_id: DomainId | None = Field(default=None, description="Only of this domain.")
    lifted: bool = Field(default=False, description="True: those that were lifted too.")


class ListHoldsResult(PageResult):
    """Holds, newest first."""

    holds: list[HoldView] = Field(description="Holds.")
