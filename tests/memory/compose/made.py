"""Values that the tests of composing start from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from media.contracts.retrieval import EvidencePack, RetrievalPlan
from memory.compose.contracts import (
    Evidence,
    EvidenceProvenance,
    EvidenceRef,
    NoticeView,
    OpenConflict,
    RecentTurn,
    SystemBlock,
)
from memory.compose.planner import plan
from memory.compose.policy import CompositionPolicy, DiversityPolicy, RetrievalPolicy
from memory.compose.values import Candidate, RecentMessage, Request

NOW = datetime(2026, 12, 1, 4, 30, tzinfo=UTC)
CONTEXT_ID = UUID("01938000-0000-7000-8000-00000000c0de")
REQUEST_ID = UUID("01938000-0000-7000-8000-0000000000aa")


def uid(number: int) -> UUID:
    return UUID(int=(7 << 76) + number)


def a_request(**fields) -> Request:
    return Request(**{"request_id": REQUEST_ID, "now": NOW, "domain_id": "team", "session_id": "s1", **fields})


def a_plan(message="Which database do we use?", recent=(), refs=(), request=None, **policy) -> RetrievalPlan:
    return plan(
        message,
        recent=recent,
        refs=refs,
        request=request or a_request(),
        retrieval=RetrievalPolicy(**policy),
        composition=CompositionPolicy(),
    )


def a_policy(by_document=3, by_source_uri=2, by_lineage=2, ratio="40/60", **fields) -> CompositionPolicy:
    return CompositionPolicy(
        diversity=DiversityPolicy(
            by_document=by_document,
            by_source_uri=by_source_uri,
            by_lineage=by_lineage,
            memory_resource_ratio=ratio,
        ),
        **fields,
    )


def a_conflict(number: int, explanation: str = "They differ in a number.", **fields) -> OpenConflict:
    return OpenConflict(
        **{
            "id": uid(100 + number),
            "rule": "number",
            "severity": "high",
            "explanation": explanation,
            "state": "open",
            "a_id": uid(number),
            "a_statement": "The port is 80.",
            "b_id": uid(number + 50),
            "b_statement": "The port is 81.",
            **fields,
        }
    )


def a_notice(number: int, reason: str = "it was wrong", **fields) -> NoticeView:
    return NoticeView(
        **{
            "id": uid(200 + number),
            "kind": "retracted",
            "memory_item_id": uid(number),
            "at": NOW,
            "reason": reason,
            "replacement_id": None,
            **fields,
        }
    )


def said(content: str, number: int = 1, role: str = "user") -> RecentMessage:
    return RecentMessage(role, content, uid(number), f"m{number}", NOW - timedelta(minutes=number))


def memory(number: int, text: str | None = None, score: float = 1.0, **fields) -> Candidate:
    return Candidate(
        **{
            "id": str(uid(number)),
            "source": "memory",
            "score": score,
            "text": text or f"Fact {number} about a thing.",
            "title": f"[facts:fact:{number}]",
            "source_uri": f"smartbrain://memory/{uid(number)}",
            "kind": "memory",
            "item_id": uid(number),
            **fields,
        }
    )


def section(number: int, text: str | None = None, score: float = 0.01, document: str | None = None, **fields):
    document = document or f"d{number}"
    return Candidate(
        **{
            "id": f"section:{number}",
            "source": "resource",
            "score": score,
            "scale": "rrf_score",
            "text": text or f"Section {number} of a document.",
            "title": f"Document {document}",
            "source_uri": f"https://docs.example/{document}",
            "source_type": "url",
            "kind": "resource_section",
            "document_id": document,
            "section_id": str(number),
            **fields,
        }
    )


def evidence(number: int, snippet: str = "A fact.", **fields) -> Evidence:
    return Evidence(
        **{
            "id": str(uid(number)),
            "source": "memory",
            "source_uri": f"smartbrain://memory/{uid(number)}",
            "title": f"Fact {number}",
            "snippet": snippet,
            "mode": "hybrid",
            "score": 1.0,
            "signals": {},
            "provenance": EvidenceProvenance(request_id=REQUEST_ID, plan_version="0.1", retrieved_at=NOW),
            "ref": EvidenceRef(memory_item_id=uid(number)),
            "event_time": NOW,
            **fields,
        }
    )


def turn(number: int, content: str = "Something was said.", role: str = "user", place: int = 0) -> RecentTurn:
    return RecentTurn(role=role, content=content, turn_id=uid(number), message_id=f"m{number}.{place}", created_at=NOW)


def block(text: str, kind: str = "preferences", number: int = 1) -> SystemBlock:
    return SystemBlock(type=kind, text=text, updated_at=NOW, source={"memory_item_id": uid(number)})


def a_pack(plan_: RetrievalPlan, evidences=(), **fields) -> EvidencePack:
    return EvidencePack.parse(
        {
            "version": "0.1",
            "plan_id": "p1",
            "request_id": str(plan_.request_id),
            "generated_at": NOW.isoformat(),
            "evidences": list(evidences),
            **fields,
        }
    )


def an_evidence(number: int, **fields) -> dict:
    """One evidence as a store sends it."""
    return {
        "id": f"section:{number}",
        "kind": "resource_section",
        "document_id": 5,
        "section_id": number,
        "title": "Handbook",
        "source_uri": f"https://docs.example/{number}",
        "source_type": "url",
        "snippet": f"Section {number} says so.",
        "signals": {"rrf_score": 0.016},
        "provenance": {"mode": "hybrid", "query_text": "q", "query_index": 0},
        **fields,
    }
