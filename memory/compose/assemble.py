"""Putting a package together from its fitted parts, with the full account of how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from media.contracts.retrieval import EvidencePack, RetrievalPlan
from memory.compose.budget import Fitted
from memory.compose.contracts import (
    Constraints,
    ContextPackage,
    Diversity,
    Evidence,
    EvidenceProvenance,
    EvidenceRef,
    Left,
    PackageDebug,
    PlannerDebug,
    ScopeBudget,
    ScopeStat,
    Shadow,
    TokenBudget,
    Trace,
    Truncation,
    UserMessage,
    WhySelected,
)
from memory.compose.fusion import MAX_ITEMS_PER_SCOPE, Fused
from memory.compose.policy import CompositionPolicy
from memory.compose.values import Ranked
from scopes.contracts import ScopeView

_DOTS = "..."


@dataclass(frozen=True, slots=True)
class Header:
    """What a package says of itself. Scopes are written `type:id`; `found` counts a scope's rows before winners,
    `outside` names the memories and messages that match but are not of the time that was asked for."""

    context_id: UUID
    created_at: datetime
    session_id: str | None
    scopes_read: tuple[str, ...] = ()
    shadowed: tuple[Shadow, ...] = ()
    max_items_per_scope: int = MAX_ITEMS_PER_SCOPE
    found: Mapping[str, int] = field(default_factory=dict)
    outside: tuple[str, ...] = ()


def evidence_from(
    ranked: Sequence[Ranked], plan: RetrievalPlan, policy: CompositionPolicy, now: datetime
) -> tuple[list[Evidence], list[Left]]:
    """The chosen texts as evidence, and those whose text had to be shortened."""
    limit = policy.max_snippet_chars
    cut = [
        Left(id=item.candidate.id, source=item.candidate.source, reason="snippet_limit")
        for item in ranked
        if len(item.candidate.text) > limit
    ]
    return [_evidence(item, plan, limit, now) for item in ranked], cut


def assemble(
    header: Header,
    plan: RetrievalPlan,
    pack: EvidencePack,
    fused: Fused,
    fitted: Fitted,
    policy: CompositionPolicy,
) -> ContextPackage:
    """The package. Its `truncated` names what was shortened and is still in it."""
    slots = fitted.slots
    return ContextPackage(
        context_id=header.context_id,
        session_id=header.session_id,
        created_at=header.created_at,
        system_blocks=list(slots.system_blocks),
        developer_blocks=list(slots.developer_blocks),
        working_summary=slots.working_summary,
        recent_turns=list(slots.recent_turns),
        evidence=list(slots.evidence),
        conflicts=list(slots.conflicts),
        user_message=UserMessage(content=slots.user_message),
        notices=list(slots.notices),
        constraints=_constraints(fitted, policy),
        debug=_debug(header, plan, pack, fused, fitted),
    )


def _constraints(fitted: Fitted, policy: CompositionPolicy) -> Constraints:
    diversity = policy.diversity
    return Constraints(
        token_budget=TokenBudget(limit=policy.token_limit, used_estimate=fitted.used, over_limit=fitted.over_limit),
        diversity=Diversity(
            by_document=diversity.by_document, by_source=diversity.by_source_uri, by_lineage=diversity.by_lineage
        ),
        truncation=Truncation(snippets_max_chars=policy.max_snippet_chars, recent_turns_max=policy.recent_turns_max),
    )


def _debug(header: Header, plan: RetrievalPlan, pack: EvidencePack, fused: Fused, fitted: Fitted) -> PackageDebug:
    used = Counter(f"{item.scope.type}:{item.scope.id}" for item in fitted.slots.evidence if item.scope)
    gone = {(entry.slot, entry.id) for entry in fitted.dropped}
    outside = [Left(id=each, source="memory", reason="time_range") for each in header.outside]
    scope_warnings = [text for text in [*pack.explain.ignored_fields, *pack.warnings] if "scope" in text]
    return PackageDebug(
        trace=Trace(context_id=header.context_id, request_id=plan.request_id, plan_id=pack.plan_id),
        planner=PlannerDebug(
            request_id=plan.request_id,
            purpose=plan.purpose,
            queries=plan.queries,
            global_filters=plan.global_filters,
            notes=plan.debug.notes,
        ),
        why_selected=[_why(item, place) for place, item in enumerate(fitted.slots.evidence, start=1)],
        ignored=[*plan.debug.ignored_fields, *plan.debug.clamped, *pack.explain.ignored_fields, *pack.warnings],
        dropped=[*fused.dropped, *outside, *fitted.dropped],
        truncated=[entry for entry in fitted.truncated if (entry.slot, entry.id) not in gone],
        scopes_read=[_scope(name) for name in header.scopes_read],
        scope_stats=_scope_stats(header, fused, used),
        shadowed=list(header.shadowed),
        scope_budget=ScopeBudget(max_items_per_scope=header.max_items_per_scope, used=dict(used)),
        scope_filter_warnings=list(dict.fromkeys(scope_warnings)),
        agent_state=plan.debug.agent_state,
    )


def _scope_stats(header: Header, fused: Fused, used: Mapping[str, int]) -> list[ScopeStat]:
    shadowed = Counter(entry.loser_scope for entry in header.shadowed)
    return [
        ScopeStat(
            scope=_scope(name),
            found=header.found.get(name, fused.found.get(name, 0)),
            selected=used.get(name, 0),
            shadowed=shadowed[name],
            capped=fused.capped.get(name, 0),
        )
        for name in header.scopes_read
    ]


def _scope(name: str) -> ScopeView:
    kind, _, external_id = name.partition(":")
    return ScopeView(type=kind, id=external_id)


def _why(item: Evidence, place: int) -> WhySelected:
    parts = [f"rank {place}", *([f"tier {item.group}"] if item.group else [])]
    parts += [
        f"{name} {item.signals[name]:.2f}"
        for name in ("relevance", "overlap", "memory", "scope")
        if name in item.signals
    ]
    parts += [f"speaks of {', '.join(item.covers)}"] if item.covers else []
    return WhySelected(id=item.id, reason="; ".join(parts))


def _evidence(item: Ranked, plan: RetrievalPlan, limit: int, now: datetime) -> Evidence:
    found = item.candidate
    return Evidence(
        id=found.id,
        source=found.source,
        kind=found.kind,
        source_uri=found.source_uri,
        title=found.title,
        snippet=found.text if len(found.text) <= limit else found.text[:limit] + _DOTS,
        mode=found.mode,
        score=item.score,
        signals=dict(item.signals),
        provenance=EvidenceProvenance(request_id=plan.request_id, plan_version=plan.version, retrieved_at=now),
        ref=EvidenceRef(
            document_id=found.document_id,
            section_id=found.section_id,
            turn_id=found.turn_id,
            message_id=found.message_id,
            memory_item_id=found.item_id,
        ),
        group=found.tier or None,
        scope=_scope(found.scope) if found.scope else None,
        source_session_id=found.source_session_id,
        author=found.author,
        event_time=found.event_time,
        covers=list(item.covers),
        position=found.position,
    )
