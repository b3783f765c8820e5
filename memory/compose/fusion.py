"""Choosing the evidence: one ranking over memory and documents, from which repeats and excess are taken out by name."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from kernel.restate import statement
from media.contracts.retrieval import EvidencePack, PackMetadata, RetrievalPlan, resource_score
from memory.compose.contracts import Left, Position
from memory.compose.planner import ENTITIES
from memory.compose.policy import CompositionPolicy
from memory.compose.scoring import order, rank, tier_place
from memory.compose.values import Candidate, Ranked, Source

_DEFAULT_RATIO = (40, 60)
MAX_ITEMS_PER_SCOPE = 10
MESSAGES_BEFORE_A_MEMORY = 3
MESSAGE = "message"

Reason = Literal["recent_turn", "weak", "duplicate", "restatement", "scope_cap", "diversity", "max_items"]
Excess = tuple[Ranked, Reason]
Origin = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fused:
    """The evidence in final order, and everything else with its reason: each candidate is in one of the two."""

    selected: tuple[Ranked, ...]
    dropped: tuple[Left, ...]
    found: Mapping[str, int] = field(default_factory=dict)  # texts found, by scope
    capped: Mapping[str, int] = field(default_factory=dict)  # of them, left out by the cap of the scope


@dataclass(slots=True)
class _Account:
    """What was left out so far."""

    dropped: list[Left] = field(default_factory=list)

    def drop(self, item: Candidate, reason: Reason, of: Candidate | None = None) -> None:
        self.dropped.append(Left(id=item.id, source=item.source, reason=reason, of=of.id if of else None))


def fuse(
    memory: Sequence[Candidate],
    resources: Sequence[Candidate],
    recent: Collection[tuple[UUID, str]],
    plan: RetrievalPlan,
    policy: CompositionPolicy,
    max_items_per_scope: int = MAX_ITEMS_PER_SCOPE,
) -> Fused:
    """The evidence for a plan, best first.

    `recent` are the messages that the package shows anyway, each by turn and message id, since callers name their
    messages anew in each conversation. Candidates of one source with one id are one.
    """
    account, caps = _Account(), _limits(policy, max_items_per_scope)
    found = _by_id([*memory, *resources])
    entities = _entities(plan)
    kept = _kept(found, frozenset(recent), account)
    ranked = rank(kept, plan.queries[0].text, entities, plan)
    ranked, excess = _sifted(_memories_in_reach(ranked), caps, policy.evidence_max_items, account)
    chosen, beyond = _by_ratio(ranked, policy)
    left = [*excess, *beyond]
    chosen, left = _covering(chosen, left, caps, plan) if entities else (chosen, left)
    for item, reason in left:
        account.drop(item.candidate, reason)
    return Fused(
        selected=tuple(sorted(chosen, key=lambda item: order(item, plan))),
        dropped=tuple(sorted(account.dropped, key=lambda entry: (entry.source, entry.id))),
        found=Counter(item.scope for item in found if item.scope),
        capped=Counter(item.candidate.scope for item, reason in left if reason == "scope_cap"),
    )


def candidates_from(pack: EvidencePack) -> list[Candidate]:
    """The texts of a pack as candidates; stores that score differently keep scales of their own."""
    found = []
    for evidence in pack.evidences:
        scale, score = resource_score(evidence)
        given = evidence.signals.model_dump(exclude_none=True)
        found.append(
            Candidate(
                id=evidence.id,
                source="resource",
                score=score,
                scale=scale,
                text=evidence.snippet,
                title=evidence.title or evidence.metadata.section_title or "",
                source_uri=evidence.source_uri,
                source_type=evidence.source_type,
                kind=evidence.kind,
                mode=evidence.provenance.mode,
                scope=evidence.scope.name if evidence.scope else "",
                document_id=evidence.document_id,
                section_id=evidence.section_id,
                chunk_index=evidence.metadata.chunk_index,
                position=_position(evidence.metadata),
                event_time=evidence.event_time,
                signals={name: float(value) for name, value in given.items()},
            )
        )
    return found


def _position(metadata: PackMetadata) -> Position | None:
    known = metadata.model_dump(include=set(Position.model_fields), exclude_none=True)
    return Position(**known) if known else None


def _entities(plan: RetrievalPlan) -> list[str]:
    named = plan.queries[0].hints.get(ENTITIES, [])
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def _by_id(candidates: Iterable[Candidate]) -> list[Candidate]:
    best: dict[tuple[Source, str], Candidate] = {}
    for found in candidates:
        name = (found.source, found.id)
        if name not in best or _strength(found) > _strength(best[name]):
            best[name] = found
    return [best[name] for name in sorted(best)]


def _strength(found: Candidate) -> tuple[float, str, str]:
    return found.score, found.scale, repr(found)


def _kept(
    candidates: Iterable[Candidate], recent: frozenset[tuple[UUID | None, str | None]], account: _Account
) -> list[Candidate]:
    kept = []
    for found in candidates:
        if found.item_id is None and (found.turn_id, found.message_id) in recent:
            account.drop(found, "recent_turn")
        elif found.weak and not found.pinned:
            account.drop(found, "weak")
        else:
            kept.append(found)
    return kept


def _memories_in_reach(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The candidates in the order in which they are chosen: of each scope, at most three messages before each memory.

    What was said often is said in many messages; what was learned of it is one memory, and must not be shut out by them.
    """
    left = list(ranked)
    waiting: defaultdict[str, deque[Ranked]] = defaultdict(deque)
    for item in left:
        if _is_memory(item):
            waiting[item.candidate.scope].append(item)
    since: Counter[str] = Counter()
    taken: list[Ranked] = []
    for item in left:
        scope = item.candidate.scope
        if _is_memory(item):
            if waiting[scope] and waiting[scope][0] is item:
                taken.append(waiting[scope].popleft())
                since[scope] = 0
            continue
        if item.candidate.kind == MESSAGE and since[scope] >= MESSAGES_BEFORE_A_MEMORY and waiting[scope]:
            taken.append(waiting[scope].popleft())
            since[scope] = 0
        since[scope] += 1
        taken.append(item)
    return taken


def _is_memory(item: Ranked) -> bool:
    return item.candidate.item_id is not None


def _sifted(
    ranked: Iterable[Ranked], caps: Mapping[str, int], room: int, account: _Account
) -> tuple[list[Ranked], list[Excess]]:
    """What repeats nothing above it and stays under the caps, in order of rank, as far as there can be room for it.

    Only what is kept counts: a text that a cap shuts out does not shut out its own repetition from elsewhere.
    """
    by_key: dict[Hashable, Candidate] = {}
    by_statement: dict[Hashable, Candidate] = {}
    used: Counter[Origin] = Counter()
    full: Counter[Source] = Counter()
    kept: list[Ranked] = []
    excess: list[Excess] = []
    for item in ranked:
        found = item.candidate
        if full[found.source] >= room:
            excess.append((item, "max_items"))
            continue
        key, said = _object_key(found), statement(found.text)
        if key in by_key:
            account.drop(found, "duplicate", by_key[key])
        elif said and said in by_statement:
            account.drop(found, "restatement", by_statement[said])
        elif reason := _over_cap(found, used, caps):
            excess.append((item, reason))
        else:
            by_key[key] = by_statement[said] = found
            used.update(_origins(found))
            full[found.source] += 1
            kept.append(item)
    return kept, excess


def _object_key(found: Candidate) -> Hashable:
    if found.source == "resource" and (found.document_id or found.section_id):
        return "resource", found.document_id, found.section_id, found.chunk_index
    if found.item_id is not None:
        return "memory", found.item_id
    if found.turn_id is not None and found.message_id is not None:
        return "memory-turn", found.turn_id, found.message_id
    return "fallback", found.source, found.id


def _limits(policy: CompositionPolicy, max_items_per_scope: int) -> dict[str, int]:
    diversity = policy.diversity
    return {
        "scope": max_items_per_scope,
        "document": diversity.by_document,
        "uri": diversity.by_source_uri,
        "lineage": diversity.by_lineage,
    }


def _over_cap(found: Candidate, used: Mapping[Origin, int], caps: Mapping[str, int]) -> Reason | None:
    """Which cap shuts the text out, if any does."""
    full = next((origin for origin in _origins(found) if used.get(origin, 0) >= caps[origin[0]]), None)
    if full is None:
        return None
    return "scope_cap" if full[0] == "scope" else "diversity"


def _within_caps(chosen: Iterable[Ranked], caps: Mapping[str, int]) -> bool:
    used = Counter(origin for item in chosen for origin in _origins(item.candidate))
    return all(count <= caps[origin[0]] for origin, count in used.items())


def _origins(found: Candidate) -> list[Origin]:
    origins = [("scope", found.scope), ("uri", found.source_uri.partition("#")[0]), ("lineage", found.lineage)]
    if found.source == "resource":
        origins.append(("document", found.document_id or found.title))
    return [origin for origin in origins if origin[1]]


def ratio_of(text: str) -> tuple[int, int]:
    """The two shares of a text such as `40/60`; 40 and 60 where it names none."""
    first, _, second = text.partition("/")
    if not (first.isdecimal() and second.isdecimal()):
        return _DEFAULT_RATIO
    shares = (int(first), int(second))
    return shares if sum(shares) else _DEFAULT_RATIO


def _by_ratio(ranked: Sequence[Ranked], policy: CompositionPolicy) -> tuple[list[Ranked], list[Excess]]:
    """Each source its share, in order of rank; what one leaves free goes to the best of the rest."""
    limit = policy.evidence_max_items
    memory, resource = ratio_of(policy.diversity.memory_resource_ratio)
    share = limit * memory // (memory + resource)
    quota = {"memory": share, "resource": limit - share}
    used: Counter[str] = Counter()
    chosen: list[Ranked] = []
    rest: list[Ranked] = []
    for item in ranked:
        source = item.candidate.source
        if used[source] < quota[source]:
            used[source] += 1
            chosen.append(item)
        else:
            rest.append(item)
    free = limit - len(chosen)
    return chosen + rest[:free], [(item, "max_items") for item in rest[free:]]


def _covering(
    chosen: list[Ranked], left: list[Excess], caps: Mapping[str, int], plan: RetrievalPlan
) -> tuple[list[Ranked], list[Excess]]:
    """If nothing chosen speaks of a name in the question and something left out for want of room does, it comes in.

    It takes the place of the last untiered evidence whose going keeps every cap.
    """
    if any(item.covers for item in chosen):
        return chosen, left
    able = sorted((entry for entry in left if entry[0].covers), key=lambda entry: order(entry[0], plan))
    untiered = [item for item in chosen if tier_place(item.candidate.tier) == tier_place("")]
    for entry in able:
        for goes in sorted(untiered, key=lambda item: order(item, plan), reverse=True):
            changed = [*(item for item in chosen if item is not goes), entry[0]]
            if _within_caps(changed, caps):
                return changed, [*(other for other in left if other is not entry), (goes, "max_items")]
    return chosen, left
