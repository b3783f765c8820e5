"""Making a package fit its tokens, giving up the least needed first and naming all that is given up.

Room is given in this order: the user's message, system and developer blocks, the best evidence and what speaks of the
name that is asked about, what is unsettled about the texts shown or was taken back, the summary, the newest recent
messages, the remaining evidence. What is counted is the text of the rendered messages, so the limit holds for what a
model is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar
from uuid import UUID

from kernel.tokens import count_tokens
from memory.compose import render
from memory.compose.contracts import (
    Block,
    DeveloperBlock,
    Evidence,
    Left,
    NoticeView,
    OpenConflict,
    RecentTurn,
    Slot,
    SystemBlock,
)
from memory.compose.policy import CompositionPolicy
from memory.compose.values import Slots

TOP_EVIDENCE = 3
# What is unsettled or taken back has a quarter of the room that is left, but enough for a line: it crowds out nothing.
_TOLD_SHARE, _TOLD_LEAST = 4, 200
_MIN_PART = 16  # a piece of a text shorter than this many tokens says nothing
_ANY_ID = UUID(int=0)  # every id has the same length

_Block = TypeVar("_Block", bound=Block)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What fits, what was left out and what was shortened. `over_limit`: the user's message alone is too long."""

    slots: Slots
    dropped: tuple[Left, ...]
    truncated: tuple[Left, ...]
    used: int
    over_limit: bool


@dataclass(slots=True)
class _Purse:
    """The tokens that are left, and what they did not suffice for."""

    left: int
    dropped: list[Left] = field(default_factory=list)
    truncated: list[Left] = field(default_factory=list)

    def pays(self, cost: int) -> bool:
        if cost > self.left:
            return False
        self.left -= cost
        return True


def fit(slots: Slots, limit: int, policy: CompositionPolicy) -> Fitted:
    """The parts within `limit` tokens. The user's message is never cut, even where it alone is over the limit."""
    asked = count_tokens(slots.user_message)
    purse = _Purse(max(0, limit - asked))
    system = _system_blocks(slots.system_blocks, purse, policy.system_blocks_max_tokens)
    developer = _developer_blocks(slots.developer_blocks, purse)
    evidence = _Evidence(slots.evidence)
    evidence.take(evidence.top(), purse)
    notices, conflicts = _told(slots.notices, slots.conflicts, purse)
    summary = _summary(slots.working_summary, purse, policy.summary_max_tokens)
    recent = _recent(slots.recent_turns, purse, policy.recent_turns_max)
    evidence.take(range(len(slots.evidence)), purse)
    evidence.account(purse)
    kept = Slots(
        user_message=slots.user_message,
        system_blocks=system,
        developer_blocks=developer,
        working_summary=summary,
        recent_turns=recent,
        evidence=evidence.kept(),
        conflicts=conflicts,
        notices=notices,
    )
    return Fitted(kept, tuple(purse.dropped), tuple(purse.truncated), _used(kept), asked > limit)


def without_conflicts(fitted: Fitted, kept: tuple[OpenConflict, ...]) -> Fitted:
    """The same without the other conflicts, which are named: the budget cost what they are about its place."""
    slots = replace(fitted.slots, conflicts=kept)
    gone = [
        Left(id=str(each.id), reason="budget", slot="conflicts") for each in fitted.slots.conflicts if each not in kept
    ]
    if not gone:
        return fitted
    return replace(fitted, slots=slots, dropped=(*fitted.dropped, *gone), used=_used(slots))


def _used(slots: Slots) -> int:
    return sum(count_tokens(message["content"]) for message in render.chat(slots, _ANY_ID))


def _cost(text: str) -> int:
    """Tokens of a text and its line break; texts joined never cost more than this adds up to."""
    return count_tokens(f"{text}\n")


def _block_id(block: Block, kind: str, place: int) -> str:
    found = block.source.memory_item_id or block.source.turn_id
    return str(found) if found else f"{kind}[{place}]"


def _system_blocks(blocks: Sequence[SystemBlock], purse: _Purse, cap: int) -> tuple[SystemBlock, ...]:
    head = _cost(render.SYSTEM_HEAD)
    room = min(purse.left, cap) - head
    own = _Purse(room)
    kept = _whole_blocks(
        [(block, block.type, _cost(render.system_text(block))) for block in blocks], own, "system_blocks"
    )
    purse.dropped += own.dropped
    if kept:
        purse.left -= head + room - own.left
    return kept


def _developer_blocks(blocks: Sequence[DeveloperBlock], purse: _Purse) -> tuple[DeveloperBlock, ...]:
    return _whole_blocks(
        [(block, block.type, _cost(render.developer_text(block))) for block in blocks], purse, "developer_blocks"
    )


def _whole_blocks(priced: Sequence[tuple[_Block, str, int]], purse: _Purse, slot: Slot) -> tuple[_Block, ...]:
    """Blocks in order while there is room; half a rule would be another rule, so none is shortened."""
    kept = []
    for place, (block, kind, cost) in enumerate(priced):
        if purse.pays(cost):
            kept.append(block)
        else:
            purse.dropped.append(Left(id=_block_id(block, kind, place), reason="budget", slot=slot, tokens=cost))
    return tuple(kept)


def _told(
    notices: Sequence[NoticeView], conflicts: Sequence[OpenConflict], purse: _Purse
) -> tuple[tuple[NoticeView, ...], tuple[OpenConflict, ...]]:
    """Notices and then conflicts, in order, while there is room: each line whole or not at all."""
    frame = _cost(render.fenced(_ANY_ID, render.TOLD_NOTE, ""))
    room = min(purse.left, max(purse.left // _TOLD_SHARE, _TOLD_LEAST))
    own = _Purse(room)
    told: list[NoticeView] = []
    unsettled: list[OpenConflict] = []
    for place, notice in enumerate(notices, start=1):
        cost = _cost(render.notice_text(notice, place))
        if own.pays(cost + (0 if told else frame)):
            told.append(notice)
        else:
            own.dropped.append(Left(id=str(notice.id), reason="budget", slot="notices", tokens=cost))
    for place, conflict in enumerate(conflicts, start=1):
        cost = _cost(render.conflict_text(conflict, place))
        if own.pays(cost + (0 if told or unsettled else frame)):
            unsettled.append(conflict)
        else:
            own.dropped.append(Left(id=str(conflict.id), reason="budget", slot="conflicts", tokens=cost))
    purse.left -= room - own.left
    purse.dropped += own.dropped
    return tuple(told), tuple(unsettled)


def _summary(text: str, purse: _Purse, cap: int) -> str:
    if not text:
        return ""
    frame = _cost(render.fenced(_ANY_ID, render.SUMMARY_NOTE, ""))
    whole = _cost(render.summary_text(text))
    room = min(purse.left - frame, cap)
    kept = _shortened(text, lambda part: _cost(render.summary_text(part)) <= room) if room >= _MIN_PART else ""
    if not kept:
        purse.dropped.append(Left(id="working_summary", reason="budget", slot="working_summary", tokens=whole))
        return ""
    cost = _cost(render.summary_text(kept))
    purse.left -= frame + cost
    if kept != text:
        saved = whole - cost
        purse.truncated.append(Left(id="working_summary", reason="budget", slot="working_summary", tokens=saved))
    return kept


def _recent(turns: Sequence[RecentTurn], purse: _Purse, turns_max: int) -> tuple[RecentTurn, ...]:
    """The newest messages without a gap, the oldest of them first."""
    window = _newest_turns(turns, turns_max)
    outside = turns[: len(turns) - len(window)]
    purse.dropped += [_left_message(turn, "window") for turn in outside]
    kept: list[RecentTurn] = []
    for place in range(len(window) - 1, -1, -1):
        turn = window[place]
        if purse.pays(_cost(render.history_text(turn))):
            kept.append(turn)
            continue
        if not kept and (part := _shortened_message(turn, purse)):
            kept.append(part)
            place -= 1
        purse.dropped += [_left_message(older, "budget") for older in window[: place + 1]]
        break
    return tuple(reversed(kept))


def _newest_turns(turns: Sequence[RecentTurn], turns_max: int) -> Sequence[RecentTurn]:
    """The messages of the newest turns, the oldest of them first."""
    wanted = list(dict.fromkeys(turn.turn_id for turn in reversed(turns)))[:turns_max]
    first = next((place for place, turn in enumerate(turns) if turn.turn_id in wanted), len(turns))
    return turns[first:]


def _left_message(turn: RecentTurn, reason: str) -> Left:
    return Left(id=turn.message_id, reason=reason, slot="recent_turns", tokens=_cost(render.history_text(turn)))


def _shortened_message(turn: RecentTurn, purse: _Purse) -> RecentTurn | None:
    """The beginning of the newest message, where it alone is too long: better than no history at all."""
    if purse.left < _MIN_PART:
        return None

    def with_text(text: str) -> RecentTurn:
        return turn.model_copy(update={"content": text})

    text = _shortened(turn.content, lambda part: _cost(render.history_text(with_text(part))) <= purse.left)
    if not text:
        return None
    cost = _cost(render.history_text(with_text(text)))
    purse.left -= cost
    saved = _cost(render.history_text(turn)) - cost
    purse.truncated.append(Left(id=turn.message_id, reason="budget", slot="recent_turns", tokens=saved))
    return with_text(text)


def _shortened(text: str, fits: Callable[[str], bool]) -> str:
    """The text, else its longest beginning that fits with three dots, else nothing."""
    if fits(text):
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(f"{text[:middle]}...") else (low, middle - 1)
    cut = f"{text[:low]}..."
    return cut if low and fits(cut) else ""


class _Evidence:
    """Evidence by its place in the ranking, each piece whole or not at all."""

    def __init__(self, ranked: Sequence[Evidence]) -> None:
        self._ranked = ranked
        self._taken: set[int] = set()
        self._frame = _cost(render.fenced(_ANY_ID, render.EVIDENCE_NOTE, ""))
        self._costs = [_cost(render.evidence_text(item, place)) for place, item in enumerate(ranked, start=1)]

    def top(self) -> list[int]:
        """What speaks of the name that is asked about, once; then the best."""
        covering = [place for place, item in enumerate(self._ranked) if item.covers][:1]
        best = [place for place in range(min(TOP_EVIDENCE, len(self._ranked))) if place not in covering]
        return [*covering, *best]

    def take(self, places: Sequence[int], purse: _Purse) -> None:
        """Those of these that there is room for."""
        for place in places:
            frame = 0 if self._taken else self._frame
            if place not in self._taken and purse.pays(frame + self._costs[place]):
                self._taken.add(place)

    def kept(self) -> tuple[Evidence, ...]:
        return tuple(self._ranked[place] for place in sorted(self._taken))

    def account(self, purse: _Purse) -> None:
        """Name what there was no room for."""
        purse.dropped += [
            Left(id=item.id, source=item.source, reason="budget", slot="evidence", tokens=self._costs[place])
            for place, item in enumerate(self._ranked)
            if place not in self._taken
        ]
