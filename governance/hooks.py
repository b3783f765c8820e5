"""Where apps above governance tell it about themselves, from `AppConfig.ready()`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar
from uuid import UUID

from governance.contracts.presenting import EffectLine, Panel, Presentation, ProposalFacts, RelatedText, Snapshot
from kernel.actions import Change
from kernel.context import Ctx
from kernel.contracts import Contract


class PolicySection(Contract):
    """One typed part of the policy document; its fields' defaults are the product's defaults."""

    section: ClassVar[str]


Section = TypeVar("Section", bound=PolicySection)


class Presenter(Protocol):
    """How a proposal is shown. `then` is when it was decided; None: it is open.

    An open one is compared with what is there now. A decided one is shown as it was: `changes` are those that it made
    where it was approved, and what is near it or contradicts it today stays out.
    """

    def __call__(
        self, given: Any, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None, /
    ) -> Presentation: ...


FactFinder = Callable[[Any, Sequence[Change], Ctx], ProposalFacts]
EffectFinder = Callable[[Sequence[Change], Ctx], list[EffectLine]]
SnapshotTaker = Callable[[Sequence[Change], Ctx], list[Snapshot]]
PanelMaker = Callable[[Ctx], Panel | None]


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A call that waits: its action, the stored input, and the rows that it would change, as recorded with it. `maker` is
    the context in which it would be carried out now; None where that was not asked."""

    action: str
    given: Mapping[str, Any]
    changes: Sequence[Mapping[str, Any]]
    domain_id: str | None = None
    maker: Ctx | None = None


ObstacleFinder = Callable[[Mapping[UUID, HeldCall], Ctx], Mapping[UUID, str]]
FigureFinder = Callable[[str, datetime], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of the installation found, in a sentence, and what to do; without advice all is well."""

    what: str
    advice: str = ""


DoctorCheck = Callable[[datetime], Checked]


@dataclass(frozen=True, slots=True)
class Words:
    """How people read a table: what they call one of its rows and many, its fields whose name does not say it, and which
    of its fields hold instants."""

    row: str
    many: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    times: frozenset[str] = frozenset()

    def so_many(self, count: int) -> str:
        """What so many rows are called."""
        return self.row if count == 1 else self.many or f"{self.row}s"

    def of(self, name: str) -> str:
        """A field as people call it; `value.color` is a part of the field `value`."""
        whole, _, part = name.partition(".")
        said = self.fields.get(whole) or whole.replace("_", " ").capitalize()
        return f"{said}: {part.replace('_', ' ')}" if part else said


@dataclass(frozen=True, slots=True)
class Erased:
    """One thing that is gone: SHA-256 over all its rows, and how many of them there were, by name. `along`: rows that went
    with it and are things of their own to the audit log, by table and id."""

    id: UUID
    sha256: str
    counts: Mapping[str, int]
    along: Sequence[tuple[str, str]] = ()


def _no_wholes(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, UUID]]:
    return {}


@dataclass(frozen=True, slots=True)
class Eraser:
    """How things of one kind, which are rows of `table`, are erased.

    `find(ids, domain_id, ctx)` gives those that the actor may see there, each with the scopes (`type:id`) in which it
    lies. `names(ids)` are the ids by which records elsewhere quote them. `show(ids, ctx)` tells a reviewer what they
    say, as far as they may see it. `erase(ids)` deletes them with all that hangs on them, in the gate's
    transaction and in statements of bounded size; before it `hold(ids)` locks their own rows, as far as other writers
    lock these before scopes, and gives the keys of the scopes to lock. `wholes(ids)` are the things, by kind and id,
    that any of them is a part of: who holds the whole holds its parts.
    """

    kind: str
    table: str
    find: Callable[[Collection[UUID], str, Ctx], Mapping[UUID, tuple[str, ...]]]
    names: Callable[[Collection[UUID]], frozenset[str]]
    show: Callable[[Sequence[UUID], Ctx], list[RelatedText]]
    erase: Callable[[Sequence[UUID]], list[Erased]]
    hold: Callable[[Collection[UUID]], Collection[int]]
    wholes: Callable[[Collection[UUID]], Mapping[UUID, tuple[str, UUID]]] = _no_wholes


@dataclass(frozen=True, slots=True)
class Dependent:
    """Something of that kind and id that depends on `of`, and why. `part`: it is only a part of it, and goes with it."""

    of: UUID
    kind: str
    id: str
    why: str
    part: bool = False


def _nothing(ids: Collection[UUID], domain_id: str) -> Collection[UUID]:
    return ()


@dataclass(frozen=True, slots=True)
class Scrubber:
    """How what an app's records quote of things that were erased is taken out.

    `scrub(ids, found, domain_id, receipt_id)` does it or deletes the record, in the gate's transaction, and gives how many
    records of each name it came to. What takes long to look for, as each record has to be read, `find(ids, domain_id)` finds before,
    outside of any transaction; what it finds may be gone when `scrub` is given it.
    """

    scrub: Callable[[Collection[UUID], Collection[UUID], str, UUID], Mapping[str, int]]
    find: Callable[[Collection[UUID], str], Collection[UUID]] = _nothing


@dataclass(frozen=True, slots=True)
class Exporter:
    """How a table leaves a domain: `rows(domain_id, ctx)` are those that the actor may see, `columns` names what of them
    is told, by the name of a column or of one that a foreign key leads to. Rows are told in the order of their ids."""

    table: str
    rows: Callable[[str, Ctx], Any]
    columns: Mapping[str, str]


def same(*names: str) -> dict[str, str]:
    """Columns of an exporter that are told by their own names."""
    return {name: name for name in names}


DependentsFinder = Callable[[str, Collection[UUID], str], list[Dependent]]

_sections: dict[str, type[PolicySection]] = {}
_presenters: dict[str, Presenter] = {}
_facts: dict[str, FactFinder] = {}
_effects: list[EffectFinder] = []
_snapshots: list[SnapshotTaker] = []
_panels: list[PanelMaker] = []
_obstacles: list[ObstacleFinder] = []
_diagnostics: dict[str, FigureFinder] = {}
_checks: dict[str, DoctorCheck] = {}
_erasers: dict[str, Eraser] = {}
_dependents: list[DependentsFinder] = []
_scrubbers: list[Scrubber] = []
_exporters: dict[str, Exporter] = {}
_counted: set[str] = set()
_words: dict[str, Words] = {}


def register_policy_section(model: type[Section]) -> type[Section]:
    """Add a part to the policy document; its name must be new."""
    if model.section in _sections:
        raise ValueError(f"policy section {model.section!r} is already registered")
    _sections[model.section] = model
    return model


def policy_sections() -> dict[str, type[PolicySection]]:
    """Every registered part of the policy document, by name."""
    return dict(sorted(_sections.items()))


def register_presenter(action: str, presenter: Presenter) -> None:
    """Say how a proposal of that action is shown: `presenter(input, changes, ctx, then)`, with the parsed input.

    It runs when a reviewer looks, outside any transaction, with the reviewer's own reach: what they may not see stays out.
    """
    if action in _presenters:
        raise ValueError(f"action {action!r} has a presenter already")
    _presenters[action] = presenter


def presenter_of(action: str) -> Presenter | None:
    """The presenter of an action; None where its app registered none."""
    return _presenters.get(action)


def register_words(table: str, words: Words) -> None:
    """Say how people read a table, where proposals show what they change in it."""
    if table in _words:
        raise ValueError(f"table {table!r} has words already")
    _words[table] = words


def words_of(table: str) -> Words:
    """How people read a table; by the names of the code where its app says nothing."""
    plain = table.replace("_", " ")
    return _words.get(table) or Words(plain, plain)


def known_words() -> Sequence[Words]:
    """How people read every table of which an app says it."""
    return tuple(_words.values())


def register_facts(action: str, find: FactFinder) -> None:
    """Say what is kept with a proposal of that action: `find(input, changes, ctx)`, with the proposer's ctx.

    It runs inside the short transaction that queues the call, so it may read little and must not be slow.
    """
    if action in _facts:
        raise ValueError(f"action {action!r} has facts already")
    _facts[action] = find


def facts_of(action: str) -> FactFinder | None:
    """What finds the facts of an action's proposals; None where its app registered nothing."""
    return _facts.get(action)


def register_effect(find: EffectFinder) -> None:
    """Add lines to the preview of effect: `find(changes, ctx)` with the rows that any proposal would change.

    It runs inside the transaction in which the change was tried and which is rolled back: it sees the rows changed.
    """
    _effects.append(find)


def effects() -> Sequence[EffectFinder]:
    """Everything that adds to the preview of effect."""
    return tuple(_effects)


def register_snapshots(take: SnapshotTaker) -> None:
    """Add what the preview compares: `take(changes, ctx)` is called before the change is tried and again while it is
    in force, and gives at most 20 snapshots, the same ones both times."""
    _snapshots.append(take)


def snapshot_takers() -> Sequence[SnapshotTaker]:
    """Everything that the preview compares before and after."""
    return tuple(_snapshots)


def register_obstacles(find: ObstacleFinder) -> None:
    """Say which waiting calls would be refused now: `find(calls, ctx)`, by the id of the proposal, gives why, in a sentence
    for whoever may decide on it. It tries nothing, so it need not find all of them, but what it finds is so; it makes as
    few statements for many calls as for one."""
    _obstacles.append(find)


def obstacles(calls: Mapping[UUID, HeldCall], ctx: Ctx) -> dict[UUID, str]:
    """Why waiting calls would be refused now, as far as their apps can tell without trying them."""
    return {proposal: why for find in _obstacles for proposal, why in find(calls, ctx).items()} if calls else {}


def register_dashboard_panel(make: PanelMaker) -> None:
    """Add a part to the front page: `make(ctx)` with the signed-in person's reach; None leaves it out."""
    _panels.append(make)


def dashboard_panels() -> Sequence[PanelMaker]:
    """Every part that apps add to the front page, in the order of registration."""
    return tuple(_panels)


def register_counted_table(table: str) -> None:
    """Say that each new row of that table is an item to the quotas."""
    _counted.add(table)


def counted_tables() -> frozenset[str]:
    """The tables whose new rows are items to the quotas."""
    return frozenset(_counted)


def register_diagnostics(name: str, find: FigureFinder) -> None:
    """Add a part to the diagnostics of a domain: `find(domain_id, now)` gives its figures, each with few statements."""
    if name in _diagnostics:
        raise ValueError(f"diagnostics have a part {name!r} already")
    _diagnostics[name] = find


def diagnostics_parts() -> Mapping[str, FigureFinder]:
    """Every part that apps add to diagnostics, by name."""
    return dict(sorted(_diagnostics.items()))


def register_doctor_check(name: str, check: DoctorCheck) -> None:
    """Add a check to the doctor: `check(now)` looks at the whole installation and changes nothing that lasts.

    A DomainError, a fault of the database or of the system that it raises is reported as what is wrong.
    """
    if name in _checks:
        raise ValueError(f"the doctor has a check {name!r} already")
    _checks[name] = check


def doctor_checks() -> Mapping[str, DoctorCheck]:
    """Every check of the doctor, by name."""
    return dict(sorted(_checks.items()))


def register_eraser(eraser: Eraser) -> None:
    """Say how things of a kind are erased. Where several kinds go in one call, they go in the order of registration."""
    if eraser.kind in _erasers:
        raise ValueError(f"there is an eraser of {eraser.kind!r} already")
    _erasers[eraser.kind] = eraser


def erasers() -> Mapping[str, Eraser]:
    """The eraser of each kind, in the order of registration."""
    return dict(_erasers)


def register_holds(find: DependentsFinder) -> None:
    """Say what depends on things of any kind: `find(kind, ids, domain_id)`, whoever asks, and nothing for other kinds.

    What depends on a thing holds it: it is erased too, or nothing is.
    """
    _dependents.append(find)


def holds() -> Sequence[DependentsFinder]:
    """Everything that tells what depends on a thing."""
    return tuple(_dependents)


def register_scrubber(scrubber: Scrubber) -> None:
    """Say what of an app's records quotes what was erased."""
    _scrubbers.append(scrubber)


def scrubbers() -> Sequence[Scrubber]:
    """Everything that takes what was erased out of an app's records."""
    return tuple(_scrubbers)


def register_exporter(exporter: Exporter) -> None:
    """Say how a table is exported; its name must be new."""
    if exporter.table in _exporters:
        raise ValueError(f"table {exporter.table!r} has an exporter already")
    _exporters[exporter.table] = exporter


def exporters() -> Mapping[str, Exporter]:
    """The exporter of each table, by name."""
    return dict(sorted(_exporters.items()))
