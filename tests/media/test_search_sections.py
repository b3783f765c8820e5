"""Searching memory for sections: where they stand, and whose they are."""

from __future__ import annotations

import pytest

from tests.conftest import TEAM, make_agent
from tests.media.shelf import put, reads
from tests.memory.talk import commit, decision


def found(player, **fields) -> list[dict]:
    given = {"domain_id": TEAM, "session_id": "s1", "query": "zebra stripes", "kinds": ["section"], **fields}
    results: list[dict] = player.do("search_memory", given)["results"]
    return results


def texts(player, **fields) -> set[str]:
    return {each["text"] for each in found(player, **fields)}


def test_it_works(cast):
    row = put(cast.agent, "zebra stripes", metadata={"page": 4}, title="The zoo")
    (result,) = found(cast.agent)
    section = row.sections.get()
    assert (result["kind"], result["id"], result["text"]) == ("section", str(section.id), "zebra stripes")
    assert result["ref"]["section_id"] == str(section.id)
    assert (result["ref"]["document_id"], result["ref"]["document"]) == (str(row.id), "The zoo")
    assert (result["ref"]["section"], result["ref"]["page"]) == ("Part 1", 4)
    assert result["scope"] is None, "the caller names no scope for it"


def test_a_section_names_the_scope_that_it_is_shared_through(cast):
    put(cast.agent, "zebra stripes p", shared=("project:p",))
    for reader in (cast.agent, make_agent("other")):
        (result,) = found(reader, session_id=f"of-{reader.name}", **reads("project:p"))
        assert result["scope"] == {"type": "project", "id": "p"}


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("search_memory", {"session_id": "s1", "query": "zebra", "kinds": ["section", "memory", "message"]}),
        ("compose_context", {"session_id": "s1", "user_message": "zebra stripes"}),
        (
            "retrieve",
            {
                "plan": {
                    "version": "0.1",
                    "request_id": "01a22ffd-c3f2-7c9a-9451-3528953149e0",
                    "purpose": "qa",
                    "queries": [{"text": "zebra"}],
                    "budget": {"top_k": 5},
                }
            },
        ),
        ("list_documents", {}),
    ],
)
def test_no_answer_tells_how_ones_own_is_kept(cast, action, given):
    put(cast.agent, "zebra stripes alone")
    told = str(cast.agent.do(action, {"domain_id": TEAM, **given}))
    assert ("zebra" in told) == (action != "list_documents")
    assert "@owner" not in told


def test_sections_stand_beside_memories(cast):
    put(cast.agent, "zebra stripes in a book")
    commit(cast.agent, decisions=[decision("zebra stripes are black")])
    assert texts(cast.agent, kinds=["memory", "section"]) == {"zebra stripes in a book", "zebra stripes are black"}
    assert texts(cast.agent, kinds=["memory"]) == {"zebra stripes are black"}


@pytest.mark.parametrize("place", [{}, reads("project:p"), reads("project:q"), reads("project:p", "project:q")])
def test_shares_and_scopes_are_respected(cast, place):
    other = make_agent("other")
    put(cast.agent, "zebra stripes p", shared=("project:p",))
    put(cast.agent, "zebra stripes q", shared=("project:q",))
    put(cast.agent, "zebra stripes alone")
    named = {ref["id"] for ref in place.get("scope_context", {"read": []})["read"]}
    shared = {f"zebra stripes {name}" for name in named}
    assert texts(cast.agent, **place) == shared | {"zebra stripes alone"}
    assert texts(other, session_id="s2", **place) == shared


def test_what_may_not_be_seen_shuts_nothing_out(cast):
    """The filter holds before anything is cut."""
    for n in range(3):
        put(cast.agent, *(f"zebra stripes {n} {m}" for m in range(100)), shared=("project:q",))
    put(cast.agent, "a zebra in a text of many more words, alone")
    assert texts(cast.agent, **reads("project:p")) == {"a zebra in a text of many more words, alone"}
