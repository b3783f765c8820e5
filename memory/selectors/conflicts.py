"""Reading conflicts, as far as the one who asks may see both sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When

from kernel.compiled import Given, compiled
from kernel.context import Ctx
from kernel.db import checked
from kernel.errors import NotFoundError
from memory.compose.contracts import OpenConflict
from memory.conflicts import Rule, Severity
from memory.contracts.conflicts import (
    ConflictOutcome,
    ConflictSide,
    ConflictState,
    ConflictStep,
    ConflictView,
    ListConflictsInput,
    Neighbour,
    SideDetail,
)
from memory.contracts.items import TRUSTED, ProvenanceView, Status
from memory.models import Conflict, KgEdge, MemoryItem
from memory.selectors.events import visible_messages
from memory.selectors.items import provenance_of, view_item, visible_items
from memory.selectors.sight import in_sight
from scopes.contracts import ScopeView
from scopes.selectors import visible_scopes

if TYPE_CHECKING:
    from scopes.models import MemoryScope

MAX_SHOWN = 20
_SIDES = ("item_a", "item_b", "edge_a", "edge_b")
_WEIGHT = {Severity.HIGH.value: 0, Severity.MEDIUM.value: 1, Severity.LOW.value: 2}


def visible_conflicts(ctx: Ctx) -> QuerySet[Conflict]:
    """The base queryset: conflicts of which the actor may read the scopes of both sides, but those with a memory that
    was narrowed to a scope that it may not read."""
    scopes = visible_scopes(ctx)
    other = Exists(scopes.filter(pk=OuterRef("other_scope_id")))
    rows = Conflict.objects.filter(*in_sight(ctx), other)
    for side in ("item_a", "item_b"):
        inside = Exists(scopes.filter(pk=OuterRef(f"{side}__narrowed_to_id")))
        rows = rows.filter(Q(**{f"{side}__narrowed_to": None}) | inside)
    return rows


def gravity() -> Case:
    """The gravest conflicts have the smallest number."""
    return Case(*(When(severity=name, then=Value(number)) for name, number in _WEIGHT.items()), default=Value(3))


def beside(row: Conflict, rows: QuerySet[Conflict], *, newest_first: bool) -> tuple[UUID | None, UUID | None]:
    """Of some conflicts the one before and the one after this, the newest first, or the gravest and then the oldest. Two
    statements."""
    if newest_first:
        before, after = rows.filter(pk__gt=row.pk).order_by("pk"), rows.filter(pk__lt=row.pk).order_by("-pk")
        return before.values_list("pk", flat=True).first(), after.values_list("pk", flat=True).first()
    place, ranked = _WEIGHT[row.severity], rows.alias(weight=gravity())
    before = ranked.filter(Q(weight__lt=place) | Q(weight=place, pk__lt=row.pk)).order_by("-weight", "-pk")
    after = ranked.filter(Q(weight__gt=place) | Q(weight=place, pk__gt=row.pk)).order_by("weight", "pk")
    return before.values_list("pk", flat=True).first(), after.values_list("pk", flat=True).first()


def with_sides(rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
    """With both sides and their scopes, in the same statement."""
    return rows.select_related(*_SIDES, "scope", "other_scope")


def conflict_by_id(conflict_id: UUID, ctx: Ctx) -> Conflict:
    """One visible conflict. Raises NotFoundError."""
    row = with_sides(visible_conflicts(ctx)).filter(pk=conflict_id).first()
    if row is None:
        raise NotFoundError(f"No conflict {str(conflict_id)!r} that you can see.")
    return row


def filter_conflicts(given: ListConflictsInput, ctx: Ctx) -> QuerySet[Conflict]:
    """Visible conflicts that fit the filters."""
    rows = visible_conflicts(ctx).filter(domain_id=given.domain_id)
    wanted = {"state": given.state, "rule": given.rule, "severity": given.severity}
    rows = rows.filter(**{column: value for column, value in wanted.items() if value is not None})
    if given.memory_item_id is not None:
        rows = rows.filter(Q(item_a=given.memory_item_id) | Q(item_b=given.memory_item_id))
    if given.scope is not None:
        here = {"scope_type": given.scope.type, "external_id": given.scope.id}
        scopes = visible_scopes(ctx).filter(domain_id=given.domain_id, **here).values("pk")
        rows = rows.filter(Q(scope__in=scopes) | Q(other_scope__in=scopes))
    return with_sides(rows)


def told_among(ids: Iterable[UUID | None], domain_id: str, scope_keys: Sequence[int]) -> list[OpenConflict]:
    """What agents are told of the memories and relations shown, in scopes that the caller was found to be allowed to
    read: open conflicts, and pairs that hold under a condition; the gravest first, twenty at most. One statement."""
    wanted = {each for each in ids if each is not None}
    return _told(_among(domain=domain_id, scopes=scope_keys, ids=wanted)) if wanted else []


def conflicts_of(item_ids: Iterable[UUID], ctx: Ctx) -> list[OpenConflict]:
    """The same for whatever the actor may see."""
    wanted = list(dict.fromkeys(item_ids))
    return _told(ToldRow(*row) for row in _standing(visible_conflicts(ctx), wanted)) if wanted else []


class ToldRow(NamedTuple):
    """A conflict with what its sides say, be they memories or relations, and whether they are still in force."""

    id: UUID
    rule: str
    severity: str
    explanation: str
    state: str
    condition: str
    item_a: UUID | None
    item_b: UUID | None
    edge_a: UUID | None
    edge_b: UUID | None
    statement_a: str | None
    statement_b: str | None
    subject_a: str | None
    predicate_a: str | None
    object_a: str | None
    subject_b: str | None
    predicate_b: str | None
    object_b: str | None


_TOLD = (
    *("id", "rule", "severity", "explanation", "state", "condition"),
    *("item_a_id", "item_b_id", "edge_a_id", "edge_b_id", "item_a__statement", "item_b__statement"),
    *(f"{side}__{part}" for side in ("edge_a", "edge_b") for part in ("subject", "predicate", "object")),
)


def _standing(rows: QuerySet[Conflict], ids: Any) -> QuerySet[Conflict, Any]:
    """The conflicts of these memories and relations that agents are told of, the gravest first. Of a pair that was decided
    one side may have left since, or be demoted."""
    sides = Q(item_a__among=ids) | Q(item_b__among=ids) | Q(edge_a__among=ids) | Q(edge_b__among=ids)
    standing = Q(state=ConflictState.OPEN) | Q(outcome=ConflictOutcome.BOTH_VALID)
    held = Q(**{f"{side}__current_until": None for side in _SIDES})
    for side in ("item_a", "item_b"):
        trusted = {f"{side}__status": Status.ACTIVE, f"{side}__lifecycle_status__in": TRUSTED}
        held &= Q(**{side: None}) | Q(**trusted)
    decided = Case(When(state=ConflictState.OPEN, then=Value(0)), default=Value(1))
    gravest = rows.filter(sides & standing & held).alias(decided_last=decided, weight=gravity())
    return gravest.order_by("decided_last", "weight", "-id").values_list(*_TOLD)[:MAX_SHOWN]


@compiled(ToldRow)
def _among(domain: Given, scopes: Given, ids: Given) -> QuerySet[Conflict, Any]:
    here = checked(domain_id=domain, scope_id__among=scopes, other_scope_id__among=scopes)
    return _standing(Conflict.objects.filter(*here), ids)


def _told(rows: Iterable[ToldRow]) -> list[OpenConflict]:
    return [_open_conflict(row) for row in rows]


def _open_conflict(row: ToldRow) -> OpenConflict:
    return OpenConflict.model_validate(
        {
            **{name: getattr(row, name) for name in ("id", "rule", "severity", "explanation", "state", "condition")},
            "a_id": row.item_a or row.edge_a,
            "a_statement": row.statement_a or f"{row.subject_a} {row.predicate_a} {row.object_a}",
            "b_id": row.item_b or row.edge_b,
            "b_statement": row.statement_b or f"{row.subject_b} {row.predicate_b} {row.object_b}",
        }
    )


def sides_of(row: Conflict) -> tuple[MemoryItem | KgEdge, MemoryItem | KgEdge]:
    """Both sides, the older first."""
    one, other = row.item_a or row.edge_a, row.item_b or row.edge_b
    if one is None or other is None:
        raise LookupError(f"conflict {row.pk} has lost a side")
    return one, other


def statement_of(side: MemoryItem | KgEdge) -> str:
    """What a side says."""
    return side.statement if isinstance(side, MemoryItem) else str(side)


def told_of_found(rows: Sequence[Conflict], ctx: Ctx) -> list[OpenConflict]:
    """Of conflicts that were just found, those of which the actor may see both sides: what it wrote may contradict what
    lies out of its sight, and of that it learns nothing."""
    if not rows:
        return []
    seen = set(visible_conflicts(ctx).filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))
    return [view_open(row) for row in rows if row.pk in seen]


def view_open(row: Conflict) -> OpenConflict:
    """A conflict as agents are told of it."""
    one, other = sides_of(row)
    return OpenConflict.model_validate(
        {
            "id": row.id,
            "rule": str(row.rule),
            "severity": str(row.severity),
            "explanation": row.explanation,
            "state": str(row.state),
            "condition": row.condition,
            "a_id": one.pk,
            "a_statement": statement_of(one),
            "b_id": other.pk,
            "b_statement": statement_of(other),
        }
    )


def view_conflict(row: Conflict) -> ConflictView:
    """A conflict as lists show it."""
    one, other = sides_of(row)
    return ConflictView.model_validate(
        {
            "id": row.id,
            "domain_id": row.domain_id,
            "rule": row.rule,
            "severity": row.severity,
            "explanation": row.explanation,
            "state": row.state,
            "outcome": row.outcome or None,
            "condition": row.condition,
            "revision": row.revision,
            "a": _side(one, row.other_scope),
            "b": _side(other, row.scope),
            "found_at": row.found_at,
            "decided_at": row.decided_at,
            "decided_by": row.decided_by,
        }
    )


def _side(side: MemoryItem | KgEdge, scope: MemoryScope) -> ConflictSide:
    memory = side if isinstance(side, MemoryItem) else None
    return ConflictSide(
        kind="memory" if memory else "relation",
        id=side.pk,
        type=memory.type if memory else "edges",
        key=memory.key if memory else None,
        statement=statement_of(side),
        scope=ScopeView(type=scope.scope_type, id=scope.external_id),
        current=side.current_until is None and side.status == Status.ACTIVE,
        author=memory.author_name if memory else "",
        recorded_at=side.recorded_at,
    )


def neighbours_of(row: Conflict, ctx: Ctx) -> list[Neighbour]:
    """Memories in force to which a decision may apply too, as far as they may be seen: near-duplicates of a side, what
    was promoted from it, and what it was promoted from; at most twenty."""
    sides = {item.pk: name for name, item in (("a", row.item_a), ("b", row.item_b)) if item is not None}
    if not sides:
        return []
    like = Q(rule=Rule.NEAR_DUPLICATE) & (Q(item_a__in=sides) | Q(item_b__in=sides))
    pairs = visible_conflicts(ctx).filter(like).exclude(outcome=ConflictOutcome.NOT_A_CONFLICT)
    found: dict[UUID, tuple[str, str]] = {}
    for one, other in pairs.order_by("-id").values_list("item_a_id", "item_b_id")[:MAX_SHOWN]:
        near, of = (other, one) if one in sides else (one, other)
        found.setdefault(near, (sides[of], "near_duplicate"))
    sources = {item.source_item_id: name for name, item in (("a", row.item_a), ("b", row.item_b)) if item is not None}
    kin = Q(pk__in=found) | Q(source_item__in=sides) | Q(pk__in=[pk for pk in sources if pk is not None])
    items = visible_items(ctx).filter(kin, current_until=None, status=Status.ACTIVE).exclude(pk__in=sides)
    return [_neighbour(item, sides, sources, found) for item in items.order_by("-id")[:MAX_SHOWN]]


def _neighbour(
    item: MemoryItem,
    sides: Mapping[UUID, str],
    sources: Mapping[UUID | None, str],
    found: Mapping[UUID, tuple[str, str]],
) -> Neighbour:
    if item.source_item_id is not None and item.source_item_id in sides:
        of, relation = sides[item.source_item_id], "derived"
    elif item.pk in sources:
        of, relation = sources[item.pk], "source"
    else:
        of, relation = found[item.pk]
    return Neighbour.model_validate(
        {
            "memory_item_id": item.pk,
            "of": of,
            "relation": relation,
            "statement": item.statement,
            "scope": {"type": item.scope.scope_type, "id": item.scope.external_id},
        }
    )


def details_of(sides: Sequence[MemoryItem | KgEdge], ctx: Ctx) -> list[SideDetail]:
    """Each side in full, with the texts that it rests on as far as the actor may see them."""
    ids = [side.pk for side in sides if isinstance(side, MemoryItem)]
    rows = visible_items(ctx).select_related("source_message").prefetch_related("evidence").filter(pk__in=ids)
    items = {row.pk: row for row in rows} if ids else {}
    told = {pk: provenance_of(row) for pk, row in items.items()}
    shown = {pk: each.evidence[:MAX_SHOWN] for pk, each in told.items()}
    texts = _texts_of([link for links in shown.values() for link in links], ctx)
    return [_detail(items.get(side.pk), told, shown, texts) for side in sides]


def _detail(
    item: MemoryItem | None,
    told: Mapping[UUID, ProvenanceView],
    shown: Mapping[UUID, Sequence[Mapping[str, Any]]],
    texts: Mapping[str, str],
) -> SideDetail:
    if item is None:
        return SideDetail(item=None, provenance=None, evidence=[])
    evidence = [{"kind": link["kind"], "id": link["id"], "text": texts.get(link["id"], "")} for link in shown[item.pk]]
    return SideDetail(item=view_item(item), provenance=told[item.pk], evidence=evidence)


def _texts_of(links: Sequence[Mapping[str, Any]], ctx: Ctx) -> dict[str, str]:
    """The texts of the messages and memories among some links, by id, as far as they may be seen."""
    ids = [link["id"] for link in links if link["kind"] in ("message", "memory") and _is_uuid(link["id"])]
    if not ids:
        return {}
    texts = {str(pk): text for pk, text in visible_messages(ctx).filter(pk__in=ids).values_list("pk", "content")}
    return texts | {str(pk): text for pk, text in visible_items(ctx).filter(pk__in=ids).values_list("pk", "statement")}


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def steps_of(row: Conflict) -> list[ConflictStep]:
    """What was decided so far, oldest first."""
    return [
        ConflictStep(
            verdict=step.verdict,
            reason=step.reason,
            condition=step.condition,
            result_id=step.result_id,
            by=step.by_name,
            at=step.created_at,
        )
        for step in row.decisions.order_by("id")
    ]
