"""What a contract allows, both databases hold: every text at its longest, in characters of four bytes that cannot be packed."""

from __future__ import annotations

import pytest

from kernel.errors import InvalidInputError
from tests.conftest import Cast, a_turn

SPECIAL = "ﷺ" * 300  # folds to 18 characters each


def varied(length: int) -> str:
    """Han characters beyond the basic plane, with hardly a repetition."""
    return "".join(chr(0x20000 + number * 7919 % 40_009) for number in range(length))


def named(kind: str, length: int = 300) -> str:
    return f"{kind}:{varied(length)}"[:length]


def everything() -> dict:
    evidence = {"kind": "url", "id": f"https://b.example/{varied(490)}"}
    return {
        "messages": [
            {"role": "u" * 32, "content": varied(5000), "id": varied(200), "name": varied(200), "model": varied(200)}
        ],
        "tool_calls": [{"name": varied(200), "args": {varied(500): 1}, "status": varied(32), "id": varied(200)}],
        "refs": [{"ref_type": "url", "ref_uri": varied(2000), "id": varied(200)}],
        "tasks": [{"key": named("task:a"), "title": varied(5000)}],
        "decisions": [{"key": named("decision:a"), "decision": varied(5000), "evidence_refs": [evidence]}],
        "preferences": [{"key": named("pref:ui"), "confirmed": True, "value": {varied(500): varied(5000)}}],
        "entities": [
            {
                "key": f"entity:person:{varied(200)}",
                "canonical": varied(200),
                "remember": True,
                "aliases": [SPECIAL, varied(300), f"{SPECIAL[:-1]}x"],
            }
        ],
        "edges": [{"subject": SPECIAL, "predicate": varied(100), "object": varied(300)}],
        "retractions": [{"type": "goals", "key": named("goal:a"), "reason": varied(5000)}],
    }


def test_it_works(cast: Cast) -> None:
    where = {"type": "project", "id": varied(200)}
    session = varied(200)
    answer = cast.agent.do(
        "commit_turn",
        a_turn(
            session_id=session,
            turn_events=everything(),
            idempotency_key=varied(128),
            scope_context={"read": [where, {"type": "session", "id": session}], "default_write": where},
        ),
    )
    assert [line for line in answer["explain"]["retention"] if line["action"] == "refuse"] == []
    assert answer["memory_written"]["count"] == 5
    found = cast.agent.do("search_memory", domain_id=answer["domain_id"], scope_context={"read": [where]}, query="汉")
    assert found["next_cursor"] is None


def test_evidence_with_more_bytes_than_an_index_takes_is_refused(cast: Cast) -> None:
    events = everything()
    events["decisions"][0]["evidence_refs"] = [{"kind": "url", "id": f"https://b.example/{varied(501)}"}]
    with pytest.raises(InvalidInputError, match="2,000 bytes"):
        cast.agent.call("commit_turn", a_turn(turn_events=events))
