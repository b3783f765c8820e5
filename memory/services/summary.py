"""Writing the working summary of a session, in versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from governance.policies import in_force
from kernel.compiled import Compiled, Given, compiled, instances, tuple_of
from kernel.context import Ctx
from kernel.rows import insert
from memory.compose.policy import CompositionPolicy
from memory.compose.recalled import without
from memory.contracts.commit import SummaryResult
from memory.models import MemoryItem, Message, Ref, Session, SessionScopeLink, Summary, Turn
from memory.policies import RetentionPolicy
from memory.selectors.items import is_current
from memory.summarising import PER_HEADING, SUMMARISED, Line, render, trigger, window_tokens

WINDOW_TURNS = 12


def update_summary(turn: Turn, *, staged: bool, policy: RetentionPolicy, token_limit: int, ctx: Ctx) -> SummaryResult:
    """Make a new version of the session's summary if one is due after this turn; the last one as it is otherwise."""
    last = next(iter(_newest(session=turn.session_id)), None)
    since = turn.seq - (last.source_to if last else 0)
    recent = _recent(turn)
    reason = trigger(since, policy.summarize_after_turns, window_tokens(recent), token_limit, staged)
    if reason == "not_triggered":
        return view_summary(last, "not_triggered")
    row = Summary(
        domain_id=turn.domain_id,
        session_id=turn.session_id,
        version=(last.version if last else 0) + 1,
        text=render(_statements(turn), _references(turn), recent),
        source_from=max(turn.seq - WINDOW_TURNS + 1, 1),
        source_to=turn.seq,
        trigger=reason,
        generated_at=ctx.now,
    )
    insert([row])
    return view_summary(row, reason)


def summarise_again(items: Iterable[MemoryItem], ctx: Ctx) -> None:
    """A new version of the summary of every session that the items come from: what it tells must not outlive what holds."""
    told = {item.source_session_id: item for item in items if item.type in SUMMARISED and item.source_session_id}
    for session, item in told.items():
        turn = Turn.objects.filter(session_id=session).select_related("session").order_by("-seq").first()
        if turn is None:
            continue
        policies = in_force(item.domain_id, ctx)
        limit = policies.section(CompositionPolicy).token_limit
        update_summary(turn, staged=True, policy=policies.section(RetentionPolicy), token_limit=limit, ctx=ctx)


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
    rows = _said(session=turn.session_id, after=turn.seq - WINDOW_TURNS)
    return [Line(role, without(content, recalled)) for role, content, recalled in rows]


def _statements(turn: Turn) -> Mapping[str, Sequence[str]]:
    """The newest trusted goals, decisions and tasks that came from this session, of the scopes that it uses."""
    asked = {"session": turn.session_id, "moment": turn.created_at}
    return {kind: [text for (text,) in query(**asked)] for kind, query in _LEARNED.items()}


def _references(turn: Turn) -> list[str]:
    return list(dict.fromkeys(uri for (uri,) in _referred(session=turn.session_id)))[:PER_HEADING]


_COLUMNS = tuple(field.attname for field in Summary._meta.concrete_fields)


@compiled(instances(Summary, _COLUMNS))
def _newest(session: Given) -> QuerySet[Summary, Any]:
    return Summary.objects.filter(session_id=session).order_by("-version").values_list(*_COLUMNS)[:1]


@compiled(tuple_of)
def _said(session: Given, after: Given) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(turn__session_id=session, turn__seq__gt=after)
    return rows.order_by("turn__seq", "position").values_list("role", "content", "recalled")


def _newest_of(kind: str) -> Compiled[Any]:
    """What was learned from a session for the scopes that it uses; of a memory and a copy of it, which says again what it
    says, only the first. A query of its own for each type, so that a plan made for good knows how many there are of it."""

    def build(session: Given, moment: Given) -> QuerySet[MemoryItem, Any]:
        links = SessionScopeLink.objects.filter(session_id=session).order_by().values("scope_id")
        own = Session.objects.filter(pk=session).order_by().values("scope_id")
        used = Q(scope_id__in=own) | Q(scope_id__in=links)
        told = MemoryItem.objects.filter(is_current(moment), used, source_session_id=session, type=kind)
        source = told.filter(pk=OuterRef("source_item_id"))
        return told.filter(~Exists(source)).order_by("-id").values_list("statement")[:PER_HEADING]

    return Compiled(build, tuple_of)


_LEARNED = {kind: _newest_of(kind) for kind in SUMMARISED}


@compiled(tuple_of)
def _referred(session: Given) -> QuerySet[Ref, Any]:
    rows = Ref.objects.filter(turn__session_id=session).order_by("-turn__seq", "position")
    return rows.values_list("ref_uri")[: PER_HEADING * 4]
