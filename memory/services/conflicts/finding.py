"""Finding conflicts of new memories: looked up by signature, judged by pure rules, stored in a few statements however
many memories a commit writes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from kernel.canonical import digest
from kernel.compiled import Given, compiled, instances, tuple_of
from kernel.context import Ctx
from kernel.db import checked
from kernel.rows import insert
from memory.conflicts import (
    Finding,
    Label,
    Rule,
    Severity,
    Told,
    compare_versions,
    judge,
    judge_key,
    key_signature,
    signatures,
    wide_signatures,
)
from memory.contracts.conflicts import ConflictState
from memory.contracts.items import TRUSTED, Status, Tier
from memory.models import Conflict, ConflictSignature, MemoryItem
from memory.services.conflicts.keeping import CANDIDATES, STANDING, TOGETHER, Found, keep
from scopes.selectors import SCOPE_COLUMNS, scope_row
from scopes.services import lock_domain

PER_SIGNATURE = 12  # rows that one signature keeps: what more have in common tells nothing
SERIES = 3  # more texts than these that differ in a figure only are a list, and no contradiction
_SAME_KEY_TYPES = frozenset({"profile", "preferences", "goals", "tasks", "decisions", "patterns", "facts"})
_TEXT = {"decisions": "decision", "tasks": "title", "goals": "description", "events": "title"}
_ACROSS = frozenset({Rule.OTHER_OBJECT, Rule.OPPOSITE, Rule.NEGATION, Rule.NUMBER, Rule.DATE, Rule.CHANGED})
_SEVERITY = {Label.CONFLICT: Severity.HIGH, Label.UPDATE: Severity.MEDIUM, Label.NEAR_DUPLICATE: Severity.LOW}


@dataclass(frozen=True, slots=True)
class _Side:
    """A memory as far as finding needs it: where it is, what it says, whether it weighs more than others, and of a new
    one which it was made from."""

    id: UUID
    scope_id: int
    scope_type: str
    scope: str
    content_hash: str
    weighty: bool
    told: Told
    source_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _Signed:
    """The signatures of a memory: those by which it is found in its scope, those by which it is found from scopes that
    are read with it, those of what it looks for in these, and that of its key."""

    own: list[int]
    wide: list[int] = field(default_factory=list)
    across: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)

    @property
    def kept(self) -> list[int]:
        """Those by which it is found."""
        return [*self.own, *self.wide, *self.key]


@dataclass(frozen=True, slots=True)
class _Match:
    older: _Side
    newer: _Side
    finding: Finding
    severity: Severity

    @property
    def pair(self) -> str:
        """Names the two, whichever came first, by where they are and what they say."""
        return digest(sorted([str(each.scope_id), each.content_hash] for each in (self.older, self.newer)))


def told_of(item: MemoryItem) -> Told:
    """A memory as the rules see it."""
    text = _text_of(item.type, item.value, item.statement)
    return Told(item.type, item.key, text, item.value, item.valid_from, item.valid_to)


def _text_of(item_type: str, value: Mapping[str, Any], statement: str) -> str:
    """Of a decision what was decided, of a task its title."""
    part = value.get(_TEXT.get(item_type, ""), "")
    return part if isinstance(part, str) and part and statement.startswith(part) else statement


def rule_between(old: MemoryItem, new: MemoryItem) -> Rule | None:
    """How a newer value differs from the one whose place it took; None where each holds for a time of its own."""
    found = compare_versions(told_of(old), told_of(new))
    return found.rule if found is not None else None


def find_conflicts(items: Iterable[MemoryItem], ctx: Ctx) -> Found:
    """Look for conflicts of these new memories with each other and with what was there, and remember how to find them.

    One statement looks up and one remembers; further ones only where something alike is there. Writers of what is read
    over several scopes wait here for each other until their transactions end, so that of two at one instant the later
    finds the earlier.
    """
    fresh = {item.id: item for item in items if _takes_part(item)}
    if not fresh:
        return Found()
    sides = {item.id: _fresh_side(item) for item in fresh.values()}
    signed = {item.id: _signed(item, sides[item.id].told) for item in fresh.values()}
    if any(each.wide or each.key for each in signed.values()):
        lock_domain(next(iter(fresh.values())).domain_id)
    holders = _holders({number for each in signed.values() for number in (*each.kept, *each.across)}, fresh)
    alike = {item_id: _closest(each, holders) for item_id, each in signed.items()}
    known = _still_there({other for others in alike.values() for other in others}, fresh, ctx)
    _forget_gone(holders, alike, known)
    _remember(signed, holders)
    near = {item_id: [known[other] for other in others if other in known] for item_id, others in alike.items()}
    return _store(_judged(sides, near, signed), fresh, ctx)


def remember_again(items: Iterable[MemoryItem]) -> None:
    """Let these memories be found by those that are written from now on, also from other scopes, as if they were new:
    those that were written before there were such signatures lack them. Conflicts among them are not looked for."""
    fresh = {item.id: item for item in items if _takes_part(item)}
    signed = {item.id: _signed(item, _fresh_side(item).told) for item in fresh.values()}
    if signed:
        _remember(signed, _holders({number for each in signed.values() for number in each.kept}, fresh))


def _takes_part(item: MemoryItem) -> bool:
    return item.current_until is None and item.status == Status.ACTIVE and item.lifecycle_status in TRUSTED


def _fresh_side(item: MemoryItem) -> _Side:
    scope = item.scope
    told, weighty = told_of(item), _is_weighty(item.tier, pinned=item.pinned)
    return _Side(
        item.id, item.scope_id, scope.scope_type, scope.name, item.content_hash, weighty, told, item.source_item_id
    )


def _signed(item: MemoryItem, told: Told) -> _Signed:
    own, here = signatures(told, item.scope_id), item.scope.scope_type
    if here not in TOGETHER:
        return _Signed(own)
    wide = wide_signatures(told, item.domain_id, here)
    others = [name for name in TOGETHER if name != here]
    across = [number for name in others for number in wide_signatures(told, item.domain_id, name)]
    if not item.key or item.type not in _SAME_KEY_TYPES:
        return _Signed(own, wide, across)
    return _Signed(own, wide, across, [key_signature(item.domain_id, item.type, item.key)])


def _holders(numbers: set[int], fresh: Mapping[UUID, MemoryItem]) -> dict[int, list[UUID]]:
    """Who has each of the signatures."""
    held: defaultdict[int, list[UUID]] = defaultdict(list)
    for number, item_id in _holding(numbers=sorted(numbers)):
        if item_id not in fresh:
            held[number].append(item_id)
    return held


@compiled(tuple_of)
def _holding(numbers: Given) -> QuerySet[ConflictSignature, Any]:
    return ConflictSignature.objects.filter(signature__among=numbers).order_by().values_list("signature", "item_id")


def _closest(signed: _Signed, holders: Mapping[int, list[UUID]]) -> list[UUID]:
    found: dict[UUID, None] = {}
    for numbers in (signed.own, signed.across, signed.key):
        shared = Counter(item_id for number in numbers for item_id in holders.get(number, ()))
        found |= dict.fromkeys(sorted(shared, key=lambda item_id: (-shared[item_id], -item_id.int))[:CANDIDATES])
    return list(found)


def _still_there(ids: set[UUID], fresh: Mapping[UUID, MemoryItem], ctx: Ctx) -> dict[UUID, _Side]:
    if not ids:
        return {}
    domain = next(iter(fresh.values())).domain_id
    return {side.id: side for side in _sides(domain=domain, ids=ids, moment=ctx.now)}


_ITEM = tuple(field.attname for field in MemoryItem._meta.concrete_fields)
_item = instances(MemoryItem, _ITEM)


def _with_scope(*columns: Any) -> MemoryItem:
    item = _item(*columns[: len(_ITEM)])
    item.scope = scope_row(*columns[len(_ITEM) :])
    return item


def _in_force(domain: Given, ids: Given, moment: Given) -> QuerySet[MemoryItem]:
    trusted = checked(domain_id=domain, status=Status.ACTIVE, lifecycle_status__in=TRUSTED)
    return MemoryItem.objects.filter(*trusted, pk__among=ids, current_until=None).exclude(valid_to__lte=moment)


@compiled(_with_scope)
def _whole(domain: Given, ids: Given, moment: Given) -> QuerySet[MemoryItem, Any]:
    return _in_force(domain, ids, moment).values_list(*_ITEM, *(f"scope__{name}" for name in SCOPE_COLUMNS))


def _side(*columns: Any) -> _Side:
    item_id, scope_id, item_type, key, value, statement, start, end, hashed, tier, pinned, scope_type, name = columns
    told = Told(item_type, key, _text_of(item_type, value, statement), value, start, end)
    weighty = _is_weighty(tier, pinned=pinned)
    return _Side(item_id, scope_id, scope_type, f"{scope_type}:{name}", hashed, weighty, told)


@compiled(_side)
def _sides(domain: Given, ids: Given, moment: Given) -> QuerySet[MemoryItem, Any]:
    return _in_force(domain, ids, moment).values_list(
        *("id", "scope_id", "type", "key", "value", "statement", "valid_from", "valid_to", "content_hash", "tier"),
        *("pinned", "scope__scope_type", "scope__external_id"),
    )


def _forget_gone(
    holders: Mapping[int, list[UUID]], alike: Mapping[UUID, list[UUID]], known: Mapping[UUID, _Side]
) -> None:
    """Forget the signatures of what is no longer in force, as it is come across, so that they stay few."""
    gone = {other for others in alike.values() for other in others} - known.keys()
    if not gone:
        return
    ConflictSignature.objects.filter(signature__in=list(holders), item_id__in=gone).delete()
    for number in holders:
        holders[number][:] = [item_id for item_id in holders[number] if item_id not in gone]


def _remember(signed: Mapping[UUID, _Signed], holders: Mapping[int, list[UUID]]) -> None:
    counts = Counter({number: len(ids) for number, ids in holders.items()})
    rows = []
    for item_id, each in signed.items():
        for number in dict.fromkeys(each.kept):
            if counts[number] < PER_SIGNATURE:
                counts[number] += 1
                rows.append(ConflictSignature(signature=number, item_id=item_id))
    insert(rows, known=True)


def _judged(
    fresh: Mapping[UUID, _Side], near: Mapping[UUID, list[_Side]], signed: Mapping[UUID, _Signed]
) -> list[_Match]:
    """Each new memory against what was there before it, and against as many of the earlier ones of its own commit."""
    found: list[_Match] = []
    before: defaultdict[int, list[UUID]] = defaultdict(list)
    for item_id, item in fresh.items():
        mine = signed[item_id]
        others = [*near[item_id], *(fresh[other] for other in _closest(mine, before))]
        matches = [match for other in others for match in [_match(other, item)] if match is not None]
        contradictions = [match for match in matches if match.finding.label is not Label.UPDATE]
        found += contradictions if len(matches) - len(contradictions) > SERIES else matches
        for number in mine.kept:
            if len(before[number]) < PER_SIGNATURE:
                before[number].append(item_id)
    return found


def _match(older: _Side, newer: _Side) -> _Match | None:
    one, two = older.told, newer.told
    if older.scope_id == newer.scope_id:
        finding = judge(one, two)
        severity = _SEVERITY[finding.label] if finding is not None else Severity.LOW
    elif newer.source_id == older.id:
        return None  # a copy in the words that a reviewer approved: both stand for the same
    elif older.scope_type == newer.scope_type:
        return None  # two projects, or two tasks, are two truths
    elif one.key is not None and (one.type, one.key) == (two.type, two.key):
        finding = judge_key(one, two, older.scope, newer.scope)
        severity = Severity.LOW
    else:
        finding, severity = _across(older, newer)
    if finding is None:
        return None
    if finding.label is not Label.NEAR_DUPLICATE and (older.weighty or newer.weighty):
        severity = Severity.HIGH
    return _Match(older, newer, finding, severity)


def _across(older: _Side, newer: _Side) -> tuple[Finding | None, Severity]:
    """Two memories of scopes that one reader sees together, neither of which shadows the other. It weighs less than in
    one scope: the narrower one may be meant as an exception. What only says the same again is none."""
    finding = judge(older.told, newer.told)
    if finding is None or finding.rule not in _ACROSS:
        return None, Severity.LOW
    severity = Severity.MEDIUM if finding.label is Label.CONFLICT else Severity.LOW
    where = f"{finding.explanation} One is in {older.scope}, the other in {newer.scope}."
    return replace(finding, explanation=where), severity


def _is_weighty(tier: str, *, pinned: bool) -> bool:
    return pinned or tier != Tier.NONE


def _store(matches: Sequence[_Match], fresh: Mapping[UUID, MemoryItem], ctx: Ctx) -> Found:
    """The matches that are neither open already nor judged while both said the same."""
    if not matches:
        return Found()
    by_pair = {match.pair: match for match in matches}
    settled = Q(state=ConflictState.OPEN) | Q(outcome__in=STANDING)
    domain = fresh[matches[0].newer.id].domain_id
    known = Conflict.objects.filter(settled, domain_id=domain, pair__in=by_pair).values_list("pair", flat=True)
    unknown = {pair: by_pair[pair] for pair in by_pair.keys() - set(known)}
    others = {match.older.id for match in unknown.values()} - fresh.keys()
    older = _whole(domain=domain, ids=others, moment=ctx.now) if others else []
    items = {**fresh, **{item.id: item for item in older}}
    rows = [
        Conflict(
            domain_id=domain,
            scope_id=match.newer.scope_id,
            other_scope_id=match.older.scope_id,
            item_a=items[match.older.id],
            item_b=items[match.newer.id],
            rule=match.finding.rule,
            severity=match.severity,
            explanation=match.finding.explanation,
            differences=[
                {"kind": each.kind, "a": list(each.first), "b": list(each.second)}
                for each in match.finding.differences
            ],
            pair=pair,
            found_at=ctx.now,
        )
        for pair, match in by_pair.items()
        if pair in unknown
    ]
    return keep(rows)
