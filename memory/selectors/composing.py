"""Gathering what a context is made of, and putting it together: sessions, memories, relations, documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from typing import TYPE_CHECKING
from uuid import UUID

from governance.policies import Policies, ScopesPolicy, in_force
from kernel.context import Ctx
from kernel.ids import new_id
from media.contracts.retrieval import RetrievalPlan
from memory.compose import budget, planner, render
from memory.compose.assemble import Header, assemble, evidence_from
from memory.compose.contracts import ContextPackage, DeveloperBlock, RecentTurn, Shadow
from memory.compose.fusion import candidates_from, fuse
from memory.compose.policy import CompositionPolicy, RetrievalPolicy
from memory.compose.values import Candidate, KeyedRow, RecentMessage, Request, Slots
from memory.compose.winners import resolve
from memory.contracts.compose import ChatMessage, ComposeContextInput, ComposeContextResult
from memory.resources import DirectClient, client_for
from memory.selectors.conflicts import told_among
from memory.selectors.conversation import Conversation, read_conversation
from memory.selectors.evidence import edges_as_candidates, find_candidates, outside_the_window, query_for
from memory.selectors.notices import waiting_notices
from memory.selectors.seen import ItemSeen, items_of_keys, standing_items
from memory.selectors.standing import STANDING_TYPES, system_blocks
from scopes.selectors import Resolved

if TYPE_CHECKING:
    from scopes.models import MemoryScope

MAX_QUERIES = 3  # of a plan, asked of our own index: expansions with the same terms find the same texts


def compose(given: ComposeContextInput, place: Resolved, ctx: Ctx) -> ComposeContextResult:
    """The context for one message, within scopes that the caller was found to be allowed to read."""
    policies = in_force(place.domain_id, ctx)
    composition, retrieval = policies.section(CompositionPolicy), policies.section(RetrievalPolicy)
    conversation = read_conversation(place, composition.recent_turns_max, ctx)
    request = _request(given, place, ctx)
    plan = planner.plan(
        given.user_message,
        recent=_recent(conversation),
        refs=conversation.refs,
        request=request,
        retrieval=retrieval,
        composition=composition,
    )
    scopes = place.scopes_read()
    memories = _memories(plan, place, scopes, policies, ctx)
    pack = client_for(plan, retrieval, DirectClient(place, ctx)).retrieve(plan)
    caps = policies.section(ScopesPolicy).max_items_per_scope
    shown_before = {(message.turn_id, message.message_id) for message in conversation.recent}
    fused = fuse(memories.candidates, candidates_from(pack), shown_before, plan, composition, caps)
    evidence, shortened = evidence_from(fused.selected, plan, composition, ctx.now)
    slots = Slots(
        user_message=given.user_message,
        system_blocks=tuple(system_blocks(memories.standing)),
        developer_blocks=tuple(DeveloperBlock(type=block.type, text=block.text) for block in given.developer_blocks),
        working_summary=conversation.summary,
        recent_turns=tuple(conversation.recent),
        evidence=tuple(evidence),
        notices=tuple(waiting_notices(place.domain_id, tuple(scopes), ctx)),
    )
    fitted = _fit_with_conflicts(slots, place.domain_id, tuple(scopes), composition)
    header = Header(
        context_id=new_id(),
        created_at=ctx.now,
        session_id=given.session_id,
        scopes_read=place.read,
        shadowed=tuple(memories.shadowed),
        max_items_per_scope=caps,
        found=memories.found,
        outside=memories.outside,
    )
    fitted = replace(fitted, truncated=(*fitted.truncated, *shortened))
    return _answer(assemble(header, plan, pack, fused, fitted, composition), given)


def _fit_with_conflicts(
    slots: Slots, domain_id: str, scope_keys: tuple[int, ...], policy: CompositionPolicy
) -> budget.Fitted:
    """The parts that fit together with the open conflicts of what is shown. Where the room for these costs a text its
    place, its conflicts go with it."""
    fitted = budget.fit(slots, policy.token_limit, policy)
    conflicts = told_among(_shown_ids(fitted.slots), domain_id, scope_keys)
    if not conflicts:
        return fitted
    fitted = budget.fit(replace(slots, conflicts=tuple(conflicts)), policy.token_limit, policy)
    shown = set(_shown_ids(fitted.slots))
    kept = tuple(each for each in fitted.slots.conflicts if shown & {each.a_id, each.b_id})
    return budget.without_conflicts(fitted, kept)


def _shown_ids(slots: Slots) -> list[UUID | None]:
    """The memories that the package shows, and the relations."""
    ids = [block.source.memory_item_id for block in slots.system_blocks]
    ids += [item.ref.memory_item_id for item in slots.evidence]
    ids += [UUID(item.id.removeprefix("edge:")) for item in slots.evidence if item.id.startswith("edge:")]
    return ids


@dataclass(frozen=True, slots=True)
class _Memories:
    candidates: list[Candidate]
    standing: list[ItemSeen]
    shadowed: list[Shadow]
    found: Mapping[str, int]
    outside: tuple[str, ...]


def _memories(
    plan: RetrievalPlan, place: Resolved, scopes: Mapping[int, MemoryScope], policies: Policies, ctx: Ctx
) -> _Memories:
    """Memories and messages that match the plan, each key by its winner over all scopes, and the standing ones."""
    query = query_for(plan, place, tuple(scopes), ctx)
    found = find_candidates(plan, query, scopes, MAX_QUERIES)
    standing = standing_items(place.domain_id, query.scope_keys, ctx.now)
    everything = {**found.items, **{item.id: item for item in standing}}
    if len(scopes) > 1:  # in one scope a key has one current row
        same_key = items_of_keys(everything, place.domain_id, query.scope_keys, ctx.now)
        everything |= {item.id: item for item in same_key}
    winners, shadowed = resolve(
        [_keyed(item, scopes[item.scope_id]) for item in everything.values()],
        policies.section(ScopesPolicy).conflict_priority,
    )
    kept = {row.id for row in winners}
    candidates = _with_winners(found.candidates, everything, scopes, shadowed)
    shown = [item for item in everything.values() if item.id in kept and item.type in STANDING_TYPES]
    blocks = {item.id for item in shown}
    edges = edges_as_candidates(query, found.related, scopes)
    return _Memories(
        [*(each for each in candidates if each.item_id not in blocks), *edges],
        shown,
        shadowed,
        Counter(each.scope for each in [*found.candidates, *edges]),
        tuple(outside_the_window(plan, query, len(scopes))),
    )


def _keyed(item: ItemSeen, scope: MemoryScope) -> KeyedRow:
    return KeyedRow(
        id=item.id,
        type=item.type,
        key=item.key,
        scope_type=scope.scope_type,
        scope=scope.name,
        tier=item.tier,
        pinned=item.pinned,
        recorded_at=item.recorded_at,
    )


def _with_winners(
    candidates: Sequence[Candidate],
    items: Mapping[UUID, ItemSeen],
    scopes: Mapping[int, MemoryScope],
    shadowed: Sequence[Shadow],
) -> list[Candidate]:
    """The candidates with every shadowed row replaced by the row that counts, matched by the query or not."""
    winner_of = {entry.loser_id: entry.winner_id for entry in shadowed}
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.item_id in winner_of:
            item = items[winner_of[candidate.item_id]]
            candidate = replace(
                candidate,
                id=f"memory:{item.id}",
                item_id=item.id,
                text=item.statement,
                title=item.key or item.type,
                source_uri=f"smartbrain://memory/{item.id}",
                scope=scopes[item.scope_id].name,
                tier="" if item.tier == "none" else item.tier,
                pinned=item.pinned,
                message_id=None,
                turn_id=item.source_turn_id,
                source_session_id=item.source_session,
                event_time=item.valid_from or item.recorded_at,
            )
        known = best.get(candidate.id)
        if known is None or candidate.score > known.score:
            best[candidate.id] = candidate
    return list(best.values())


def _request(given: ComposeContextInput, place: Resolved, ctx: Ctx) -> Request:
    zone = timezone(timedelta(minutes=given.utc_offset_minutes))
    return Request(
        request_id=ctx.request_id,
        now=ctx.now.astimezone(zone),
        domain_id=place.domain_id,
        session_id=given.session_id,
        scope_context=given.scope_context,
        agent_state=given.agent_state,
    )


def _recent(conversation: Conversation) -> list[RecentMessage]:
    return [_as_recent(message) for message in conversation.recent]


def _as_recent(message: RecentTurn) -> RecentMessage:
    return RecentMessage(message.role, message.content, message.turn_id, message.message_id, message.created_at)


def _answer(package: ContextPackage, given: ComposeContextInput) -> ComposeContextResult:
    messages = None
    if given.render:
        messages = [ChatMessage(role=each["role"], content=each["content"]) for each in render.render(package)]
    fields = {name: getattr(package, name) for name in type(package).model_fields}
    return ComposeContextResult(**fields, messages=messages)
