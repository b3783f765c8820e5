"""Turning a message into a plan: what it is for, what to ask, in which time, and whether documents are needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from kernel.text import fold
from media.contracts.retrieval import (
    Caller,
    GlobalFilters,
    PlanBudget,
    PlanDebug,
    PlanDiversity,
    PlanQuery,
    PlanTimeRange,
    Purpose,
    QueryMode,
    ResourceDecision,
    RetrievalPlan,
)
from memory.compose.policy import CompositionPolicy, RetrievalPolicy
from memory.compose.values import RecentMessage, Request
from memory.compose.windows import time_window
from memory.compose.words import core_names, has_phrase, languages, runs, telling, unique, words

VERSION = "0.1"
ENTITIES = "entities"

_RESEARCH = (
    "查资料", "引用", "标准", "论文", "文档", "对比", "来源", "出处",
    "reference", "research", "compare", "comparison", "cite", "citation",
)  # fmt: skip
_DEBUG = (
    "报错", "出错", "错误", "调试", "异常", "崩溃", "失败", "修复",
    "debug", "error", "exception", "traceback", "stack trace", "crash", "bug", "fails", "failing", "failed", "broken",
)  # fmt: skip
_SUMMARIZE = ("总结", "概括", "摘要", "归纳", "小结", "summar", "recap", "tl;dr", "tldr")
_CONTINUE = (
    "继续", "接着", "上次", "这个项目", "那个仓库", "下一步", "接下来",
    "continue", "resume", "carry on", "go on", "pick up", "where we left", "where were we", "next step", "last time",
)  # fmt: skip
_PURPOSES = (
    (Purpose.RESEARCH, _RESEARCH),
    (Purpose.DEBUG, _DEBUG),
    (Purpose.SUMMARIZE, _SUMMARIZE),
    (Purpose.CONTINUE_TASK, _CONTINUE),
)
_SMALL_TALK = frozenset(
    (
        "hello", "hi", "hey", "there", "thanks", "thank", "you", "ok", "okay", "bye", "goodbye", "good", "morning",
        "evening", "night", "great", "nice", "cool", "yes", "no", "lol", "all", "everyone",
        "你好", "您好", "谢谢", "多谢", "好", "好的", "早上好", "晚安", "再见", "哈哈", "嗯", "收到", "大家好", "辛苦",
    )
)  # fmt: skip
_POINTER = re.compile(
    r"https?://\S|(?<![\w.])[\w./\\-]*\w\.(?:md|rb|txt|py|js|ts|go|rs|java|sql|ya?ml|json|toml|csv|html?|pdf|docx?|xlsx?|pptx?)"
    r"(?![A-Za-z0-9_])",
    re.IGNORECASE | re.ASCII,
)
_LOOK_BACK = 2  # recent messages whose names may widen a question
_MAX_TEXT = 4000


def plan(
    message: str,
    *,
    recent: Sequence[RecentMessage],
    refs: Sequence[str],
    request: Request,
    retrieval: RetrievalPolicy,
    composition: CompositionPolicy,
) -> RetrievalPlan:
    """The plan for a message.

    `recent` are the messages before it, the oldest first; `refs` the addresses of recent references.
    """
    entities = core_names(message)
    filters, notes = _filters(message, request)
    diversity = composition.diversity
    return RetrievalPlan(
        version=VERSION,
        request_id=request.request_id,
        purpose=purpose_of(message),
        queries=_queries(message, recent, entities, retrieval),
        global_filters=filters,
        budget=PlanBudget(
            top_k=retrieval.top_k,
            candidate_k=retrieval.candidate_k,
            diversity=PlanDiversity(by_document=diversity.by_document, by_source=diversity.by_source_uri),
        ),
        resource_retrieval=_resources(message, recent, refs, retrieval),
        debug=PlanDebug(
            notes=notes,
            caller=Caller(app=request.app, domain_id=request.domain_id, session_id=request.session_id),
            recent_turns_count=len(recent),
            agent_state=dict(request.agent_state),
        ),
        scope_context=request.scope_context,
    )


def purpose_of(message: str) -> Purpose:
    """What the message wants, by its words; small talk wants nothing."""
    for purpose, phrases in _PURPOSES:
        if has_phrase(message, phrases):
            return purpose
    folded = [fold(word) for word in words(message)]
    return Purpose.OTHER if all(word in _SMALL_TALK for word in folded) else Purpose.QA


def _resources(
    message: str, recent: Sequence[RecentMessage], refs: Sequence[str], policy: RetrievalPolicy
) -> ResourceDecision:
    if policy.enable_resource_retrieval is not True and policy.enable_resource_retrieval is not False:
        reasons = list(_reasons(message, recent, refs))
        return ResourceDecision(enabled=bool(reasons), reason="; ".join(reasons) or "not needed")
    if policy.enable_resource_retrieval:
        return ResourceDecision(enabled=True, reason="forced by policy")
    return ResourceDecision(enabled=False, reason="disabled by policy")


def _reasons(message: str, recent: Sequence[RecentMessage], refs: Sequence[str]) -> Iterable[str]:
    if phrase := has_phrase(message, _RESEARCH):
        yield f"user asked: {phrase}"
    if _POINTER.search(message):
        yield "the message names a URL or file"
    if refs:
        yield f"has recent refs: {len(refs)}"
    if any(_POINTER.search(earlier.content) for earlier in recent):
        yield "has recent URLs or files in messages"


def _queries(
    message: str, recent: Sequence[RecentMessage], entities: Sequence[str], policy: RetrievalPolicy
) -> list[PlanQuery]:
    # A blank message still needs a query; an underscore finds nothing.
    text = message[:_MAX_TEXT] if message.strip() else "_"
    hints: dict[str, JsonValue] = {ENTITIES: list(entities)} if entities else {}
    queries = [PlanQuery(text=text, mode=QueryMode.HYBRID, weight=1.0, hints=hints)]
    if not policy.query_expansion.enabled:
        return queries
    wider = _expansions(text, recent)[: policy.query_expansion.max_queries - 1]
    return queries + [
        PlanQuery(
            text=variant,
            mode=QueryMode.ASSOCIATIVE,
            weight=max(0.5, round(0.8 - 0.05 * place, 2)),
            hints={"expanded": True},
        )
        for place, variant in enumerate(wider)
    ]


def _expansions(message: str, recent: Sequence[RecentMessage]) -> list[str]:
    """Shorter forms of the question, and the question with what was just spoken of; none with the same words twice."""
    core = telling(words(message))
    if not core:
        return []
    spoken = [name for earlier in recent[-_LOOK_BACK:] for name in core_names(earlier.content[:_MAX_TEXT])]
    new = [name for name in unique(spoken) if fold(name) not in fold(message)][:3]
    variants = [
        core,
        *([core[:3], core[-3:]] if len(core) > 1 else []),
        *([[*core[:6], *new]] if new else []),
        core_names(message),
    ]
    seen = {_bag(runs(message)), _bag([message])}
    kept = []
    for variant in variants:
        if variant and _bag(variant) not in seen:
            seen.add(_bag(variant))
            kept.append(" ".join(variant)[:_MAX_TEXT])
    return kept


def _bag(found: Iterable[str]) -> tuple[str, ...]:
    """Word order finds nothing new, so the same words in another order are the same question."""
    return tuple(sorted({part for word in found for part in fold(word).split()}))


def _filters(message: str, request: Request) -> tuple[GlobalFilters, list[str]]:
    notes: list[str] = []
    window = time_window(message, request.now)
    spoken = languages(message)
    if window:
        notes.append(f"time_range from the words: {window[1]}")
    if spoken:
        notes.append(f"language from a message in {' and '.join(spoken)}")
    span = PlanTimeRange(from_=window[0][0], to=window[0][1]) if window else None
    return GlobalFilters(time_range=span, language=spoken), notes
