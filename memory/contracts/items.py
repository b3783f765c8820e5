"""Long-term memory: its types, states, inputs and how an item is shown."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import Field, JsonValue, model_validator

from kernel.contracts import Contract, Instant, PageInput, PageResult
from memory.contracts.refs import EvidenceRefs
from scopes.contracts import LEGACY_DOMAIN, DomainId, NarrowedInput, ScopeRef, ScopeView


class Status(StrEnum):
    """Whether an item holds: superseded by a newer value, or retracted because it was wrong."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"


class Lifecycle(StrEnum):
    """How far an item is trusted. Only promoted and canonical items enter a context by themselves."""

    CANDIDATE = "candidate"
    PROMOTED = "promoted"
    CANONICAL = "canonical"
    DEMOTED = "demoted"
    RETIRED = "retired"


class Tier(StrEnum):
    """How abstract knowledge is: universal law, law of a field, method, tool-bound know-how, or none of these."""

    DAO_TIAN = "dao_tian"
    DAO_REN = "dao_ren"
    SHU = "shu"
    QI = "qi"
    NONE = "none"


TRUSTED = (Lifecycle.PROMOTED, Lifecycle.CANONICAL)
OUT_OF_USE = (Lifecycle.DEMOTED, Lifecycle.RETIRED)

# Behavioural specification 5.3, and decision 11 for items without a tier.
LEGAL_LIFECYCLES: dict[Tier, tuple[Lifecycle, ...]] = {
    Tier.DAO_TIAN: (Lifecycle.CANONICAL, Lifecycle.DEMOTED),
    Tier.DAO_REN: (Lifecycle.CANDIDATE, Lifecycle.PROMOTED, Lifecycle.DEMOTED, Lifecycle.RETIRED),
    Tier.SHU: (Lifecycle.PROMOTED, Lifecycle.DEMOTED, Lifecycle.RETIRED),
    Tier.QI: (Lifecycle.CANDIDATE, Lifecycle.PROMOTED, Lifecycle.DEMOTED, Lifecycle.RETIRED),
    Tier.NONE: (Lifecycle.CANDIDATE, Lifecycle.PROMOTED, Lifecycle.DEMOTED, Lifecycle.RETIRED),
}

MemoryType = Literal[
    "profile", "preferences", "goals", "tasks", "decisions", "entities", "events", "cases", "patterns", "facts"
]

Short = Annotated[str, Field(max_length=500)]
Long = Annotated[str, Field(max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=300, pattern=r"\S")]


class Lasting(Contract):
    """Something that holds in the world for a time."""

    valid_from: Instant | None = Field(default=None, description="Holds in the world from then on.")
    valid_to: Instant | None = Field(default=None, description="Holds in the world until then.")

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
        if self.valid_from is not None and self.valid_to is not None and self.valid_to <= self.valid_from:
            raise ValueError("valid_to must be later than valid_from")
        return self


class ItemIn(Lasting):
    """What every long-term item may say beside its own fields."""

    of_type: ClassVar[str]

    key: str = Field(min_length=1, max_length=500, description="Stable key in the grammar of the type.")
    scope_ref: ScopeRef | None = Field(default=None, description="Scope to write, one of `write`, instead of default.")
    supersedes: UUID | None = Field(default=None, description="Item that this one replaces, in the same scope.")
    review_by: Instant | None = Field(default=None, description="When a person should look at it again.")
    importance: int = Field(default=0, ge=0, le=5, description="0 to 5.")
    evidence_refs: EvidenceRefs = Field(default=[])


class ProfileFact(Contract):
    """One fact about a subject."""

    k: Short = Field(description="What about it.")
    v: Long = Field(description="The value.")
    since: Short | None = Field(default=None, description="Since when, in the caller's own words.")


class ProfileIn(ItemIn):
    """Who someone is: key `profile:<subject>`."""

    of_type: ClassVar[str] = "profile"
    subject: Short | None = Field(default=None, description="`user`, `agent` or a name; left out, that of the key.")
    facts: list[ProfileFact] = Field(min_length=1, max_length=100, description="Facts about the subject.")


class PreferenceIn(ItemIn):
    """What someone prefers: key `pref:<scope>:<name>`; kept only once it is confirmed."""

    of_type: ClassVar[str] = "preferences"
    value: JsonValue = Field(description="The preference.")
    confirmed: bool = Field(default=False, description="Only a confirmed preference is kept.")
    scope: Literal["writing", "coding", "tools", "ui", "other"] | None = Field(default=None, description="Area.")
    name: Short | None = Field(default=None, description="Name of the preference.")
    priority: float | None = Field(default=None, ge=0, le=1, description="0 to 1.")


class GoalIn(ItemIn):
    """A long-term goal: key `goal:<project or topic>:<name>`."""

    of_type: ClassVar[str] = "goals"
    project: Short | None = Field(default=None, description="Project or topic.")
    name: Short | None = Field(default=None, description="Name of the goal.")
    description: Long = Field(default="", description="The goal in words.")
    status: Short | None = Field(default=None, description="Such as active or reached.")


class TaskIn(ItemIn):
    """Something to do: key `task:<project>:<task id>`."""

    of_type: ClassVar[str] = "tasks"
    title: Long = Field(default="", description="What is to be done.")
    status: Literal["todo", "doing", "done", "blocked"] = Field(default="todo", description="Where it stands.")
    project: Short | None = Field(default=None, description="Project.")
    task_id: Short | None = Field(default=None, description="Id within the project.")
    due: Short | None = Field(default=None, description="When it is due, in the caller's own words.")
    notes: list[Long] = Field(default=[], max_length=100, description="Notes.")


class DecisionIn(ItemIn):
    """What was decided: key `decision:<project>:<topic>`."""

    of_type: ClassVar[str] = "decisions"
    decision: Long = Field(min_length=1, description="The decision in words.")
    rationale: Long | None = Field(default=None, description="Why.")
    made_at: Short | None = Field(default=None, description="When, in the caller's own words.")
    project: Short | None = Field(default=None, description="Project.")
    topic: Short | None = Field(default=None, description="Topic.")


class EntityIn(ItemIn):
    """Someone or something worth knowing: key `entity:<kind>:<canonical>`; kept if it matters (see the entity gate)."""

    of_type: ClassVar[str] = "entities"
    kind: Literal["person", "org", "repo", "file", "url", "topic", "other"] | None = Field(
        default=None, description="Kind; left out, that of the key."
    )
    canonical: Name | None = Field(default=None, description="Canonical name.")
    name: Name | None = Field(default=None, description="Name as people say it.")
    aliases: list[Name] = Field(default=[], max_length=50, description="Other names.")
    attrs: dict[str, JsonValue] = Field(default={}, description="Anything known of it.")
    remember: bool = Field(default=False, description="True: keep it whatever the gate says.")


class MilestoneIn(ItemIn):
    """Something that happened: key `event:<project or scope>:<date>:<slug>`."""

    of_type: ClassVar[str] = "events"
    scope: Short | None = Field(default=None, description="Project or scope.")
    date: Short | None = Field(default=None, description="Date.")
    title: Long = Field(default="", description="What happened.")
    impact: Short | None = Field(default=None, description="What it touches.")


class Artifact(Contract):
    """Something a case produced."""

    type: Short = Field(description="What it is.")
    ref: Short = Field(description="Where it is.")


class CaseIn(ItemIn):
    """A problem and how it was solved: key `case:<domain>:<slug or id>`."""

    of_type: ClassVar[str] = "cases"
    domain: Short | None = Field(default=None, description="Subject area; it isolates nothing.")
    problem: Long = Field(default="", description="The problem.")
    solution: Long = Field(default="", description="The solution.")
    outcome: Short | None = Field(default=None, description="How it went.")
    artifacts: list[Artifact] = Field(default=[], max_length=50, description="What came of it.")


class PatternIn(ItemIn):
    """A rule drawn from several cases: key `pattern:<domain>:<name>`."""

    of_type: ClassVar[str] = "patterns"
    domain: Short | None = Field(default=None, description="Subject area; it isolates nothing.")
    name: Short | None = Field(default=None, description="Name of the pattern.")
    rule: Long = Field(min_length=1, description="The rule.")
    confidence: float | None = Field(default=None, ge=0, le=1, description="How sure, 0 to 1.")


class RetractionIn(Contract):
    """Something that was wrong: every active version of the key is retracted."""

    type: MemoryType = Field(description="Type of the item.")
    key: str = Field(min_length=1, max_length=500, description="Key of the item.")
    reason: Long = Field(default="", description="Why.")
    scope_ref: ScopeRef | None = Field(default=None, description="Scope to write, one of `write`, instead of default.")


class RelationIn(Lasting):
    """A relation between two names."""

    subject: Name = Field(description="Who or what.")
    predicate: Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")] = Field(description="Relation.")
    object: Name = Field(description="To whom or what.")
    confidence: float = Field(default=1.0, ge=0, le=1, description="How sure, 0 to 1.")

    @property
    def words(self) -> str:
        """The relation as people read it."""
        return f"{self.subject} {self.predicate} {self.object}"


class EdgeIn(RelationIn):
    """A relation that a turn tells."""

    scope_ref: ScopeRef | None = Field(default=None, description="Scope to write, one of `write`, instead of default.")


class ItemView(Contract):
    """A memory item as lists show it."""

    id: UUID = Field(description="Item id (UUIDv7).")
    type: str = Field(description="Memory type.")
    key: str | None = Field(description="Key; null where there is none.")
    value: dict[str, Any] = Field(description="The value in the shape of its type.")
    statement: str = Field(description="The memory in words, in its own language.")
    confidence: float = Field(description="How sure, 0 to 1.")
    status: Status = Field(description="active, superseded or retracted.")
    lifecycle_status: Lifecycle = Field(description="candidate, promoted, canonical, demoted or retired.")
    tier: Tier = Field(description="Tier of knowledge, or none.")
    pinned: bool = Field(description="True: never overridden by ordinary memory.")
    current: bool = Field(description="True for the version in force of its key.")
    domain_id: str = Field(description="Domain.")
    scope: ScopeView = Field(description="Scope it belongs to.")
    source_session_id: str | None = Field(description="Conversation it comes from.")
    version: int = Field(description="Version of its key, from 1.")
    valid_from: datetime | None = Field(description="Holds in the world from then on.")
    valid_to: datetime | None = Field(description="Holds in the world until then.")
    recorded_at: datetime = Field(description="When it was stored.")
    current_until: datetime | None = Field(description="When it stopped being the version in force.")
    review_by: datetime | None = Field(description="When a person should look at it again.")
    author: str = Field(description="Name of the principal that wrote it.")


class HistoryStep(Contract):
    """One step in the life of an item or of its key."""

    item_id: UUID = Field(description="Item concerned.")
    kind: str = Field(description="created, superseded, retracted, …")
    from_status: str = Field(description="State before; empty for the first step.")
    to_status: str = Field(description="State after.")
    reason: str = Field(description="Why; may be empty.")
    actor: str = Field(description="Who.")
    at: datetime = Field(description="When.")


class ProvenanceView(Contract):
    """Where an item comes from."""

    origin: str = Field(description="structured, text:<rule>, model or promotion.")
    session_id: str | None = Field(description="Conversation.")
    turn_id: UUID | None = Field(description="Turn.")
    message_id: str | None = Field(description="Message.")
    source_item_id: UUID | None = Field(description="Item that this one was promoted from.")
    promotion_event_id: UUID | None = Field(description="Event of the promotion.")
    evidence: list[dict[str, str]] = Field(description="`{kind, id, role}` each.")


class ListMemoryItemsInput(PageInput):
    """Which items to list; all filters must hold."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    scope: ScopeRef | None = Field(default=None, description="Only this scope.")
    type: MemoryType | None = Field(default=None, description="Only this type.")
    key: Short | None = Field(default=None, description="Only this key.")
    status: Status | None = Field(
        default=None, description="Only this status; `superseded` and `retracted` are never in force."
    )
    lifecycle_status: Lifecycle | None = Field(default=None, description="Only this lifecycle.")
    overdue: bool = Field(default=False, description="True: only items whose `review_by` has passed.")
    proposable: bool = Field(
        default=False,
        description="True: only trusted items of narrower scopes than global that were never proposed to another scope.",
    )
    history: bool = Field(default=False, description="True: versions no longer in force too.")


class ListMemoryItemsResult(PageResult):
    """One page of items, newest first."""

    items: list[ItemView] = Field(description="Items, newest first.")


class GetMemoryItemInput(NarrowedInput):
    """Names one item; its domain and scope come from the record."""

    id: UUID = Field(description="Item id.")


class GetMemoryItemResult(Contract):
    """An item with its versions, history and provenance."""

    item: ItemView = Field(description="The item asked for.")
    text: str = Field(description="The text under which it is indexed.")
    successor_id: UUID | None = Field(description="Item that replaced it.")
    versions: list[ItemView] = Field(description="Other versions of its key in its scope, newest first; at most 50.")
    history: list[HistoryStep] = Field(description="Steps of all these versions, oldest first; at most 200.")
    provenance: ProvenanceView = Field(description="Where it comes from.")


class ShowMemoryItemsInput(Contract):
    """Names several items; their domains and scopes come from the records."""

    ids: list[UUID] = Field(min_length=1, max_length=100, description="Item ids, 1 to 100.")


class ShowMemoryItemsResult(Contract):
    """Several items as lists show them."""

    items: list[ItemView] = Field(description="The items, in the order in which they were named, each once.")
    missing: list[UUID] = Field(description="Ids of which there is no item that you can see.")
