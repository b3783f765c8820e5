"""Writing the working summary of a session, in versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernel.context import Ctx
from memory.contracts.commit import SummaryResult
from memory.models import MemoryItem, Message, Ref, Summary, Turn
from memory.policies import RetentionPolicy
from memory.selectors.items import is_current
from memory.summarising import PER_HEADING, Line, render, trigger, window_tokens

WINDOW_TURNS = 12


def update_summary(turn: Turn, *, staged: bool, policy: RetentionPolicy, token_limit: int, ctx: Ctx) -> SummaryResult:
    """Make a new version of the session's summary if one is due after this turn; the last one as it is otherwise."""
    last = Summary.objects.filter(session_id=turn.session_id).order_by("-version").first()
    since = turn.seq - (last.source_to if last else 0)
    recent = _recent(turn)
    reason = trigger(since, policy.summarize_after_turns, window_tokens(recent), token_limit, staged)
    if reason == "not_triggered":
        return view_summary(last, "not_triggered")
    row = Summary.objects.create(
        domain_id=turn.domain_id,
        session_id=turn.session_id,
        version=(last.version if last else 0) + 1,
        text=render(_statements(turn), _references(turn), recent),
        source_from=max(turn.seq - WINDOW_TURNS + 1, 1),
        source_to=turn.seq,
        trigger=reason,
        generated_at=ctx.now,
    )
    return view_summary(row, reason)


def view_summary(row: Summary | None, reason: str) -> SummaryResult:
    """The session's summary as answers show it; version 0 where there is none yet."""
    if row is None:
        return SummaryResult(
            summary_version=0,
            summary_source_turn_range=None,
            summary_generated_at=None,
            text="",
            triggered=False,
            trigger_reason=reason,
        )
    return SummaryResult(
        summary_version=row.version,
        summary_source_turn_range={"from": row.source_from, "to": row.source_to},
        summary_generated_at=row.generated_at,
        text=row.text,
        triggered=reason != "not_triggered",
        trigger_reason=reason,
    )


def _recent(turn: Turn) -> list[Line]:
    rows = (
        Message.objects.filter(turn__session_id=turn.session_id, turn__seq__gt=turn.seq - WINDOW_TURNS)
        .order_by("turn__seq", "position")
        .values_list("role", "content")
    )
    return [Line(role, content) for role, content in rows]


def _statements(turn: Turn) -> Mapping[str, Sequence[str]]:
    """The newest trusted goals, decisions and tasks that came from this session."""
    found: dict[str, list[str]] = {}
    for item_type in ("goals", "decisions", "tasks"):
        rows = MemoryItem.objects.filter(
            is_current(turn.created_at), source_session_id=turn.session_id, type=item_type
        )
        found[item_type] = list(rows.order_by("-id").values_list("statement", flat=True)[:PER_HEADING])
    return found


def _references(turn: Turn) -> list[str]:
    rows = Ref.objects.filter(turn__session_id=turn.session_id).order_by("-turn__seq", "position")
    return list(dict.fromkeys(rows.values_list("ref_uri", flat=True)[: PER_HEADING * 4]))[:PER_HEADING]
