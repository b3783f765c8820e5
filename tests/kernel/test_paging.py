"""Cursors: pages make up the whole, and a cursor that is not ours is 422 and nothing else."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.canonical import canonical_json
from kernel.errors import DomainError, InvalidInputError
from tests.conftest import TEAM, Player, a_turn

LISTS = [
    "list_audit",
    "list_domains",
    "list_principals",
    "list_proposals",
    "list_scopes",
    "list_sessions",
    "list_turns",
]


def tree_of(action: str) -> dict:
    domain = {"domain_id": TEAM} if action in {"list_scopes", "list_sessions", "list_turns"} else {}
    return {**domain, **({"session_id": "s0"} if action == "list_turns" else {})}


def rows_of(body: dict) -> list[dict]:
    return next(value for value in body.values() if isinstance(value, list))


def forge(*parts: object) -> str:
    return base64.urlsafe_b64encode(canonical_json(list(parts)).encode("utf-8", "surrogatepass")).decode().rstrip("=")


def open_up(cursor: str) -> list:
    place: list = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    return place


@pytest.fixture
def full(cast):
    for n in range(5):
        cast.agent.do("commit_turn", a_turn(session_id=f"s{n}"))
        cast.agent.do("commit_turn", a_turn(session_id="s0"))
    return cast


def test_it_works(full):
    first = full.agent.do("list_sessions", domain_id=TEAM, limit=2)
    second = full.agent.do("list_sessions", domain_id=TEAM, limit=2, cursor=first["next_cursor"])
    assert [row["session_id"] for row in [*first["sessions"], *second["sessions"]]] == ["s4", "s3", "s2", "s1"]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("action", LISTS)
def test_the_pages_make_up_the_whole(full, action, limit):
    player = full.agent if action == "list_turns" else full.operator
    tree = {**tree_of(action), **({"action": "commit_turn"} if action == "list_audit" else {})}  # reading adds entries
    whole = rows_of(player.do(action, tree, limit=100))
    seen: list[dict] = []
    cursor = None
    for _ in range(len(whole) + 2):
        body = player.do(action, tree, limit=limit, cursor=cursor)
        assert len(rows_of(body)) <= limit
        seen += rows_of(body)
        cursor = body["next_cursor"]
        if cursor is None:
            break
    assert seen == whole
    assert cursor is None


def test_a_cursor_holds_for_its_filters_only(full):
    cursor = full.operator.do("list_audit", {"action": "commit_turn"}, limit=1)["next_cursor"]
    for filters in ({}, {"action": "whoami"}, {"action": "commit_turn", "outcome": "allowed"}):
        with pytest.raises(InvalidInputError, match="other filters"):
            full.operator.call("list_audit", filters, limit=1, cursor=cursor)
    assert full.operator.call("list_audit", {"action": "commit_turn"}, limit=50, cursor=cursor).status == 200


def test_a_cursor_of_another_list_is_refused(full):
    cursor = full.agent.do("list_sessions", domain_id=TEAM, limit=1)["next_cursor"]
    with pytest.raises(InvalidInputError):
        full.operator.call("list_audit", cursor=cursor)


def test_a_cursor_gives_no_rights(full):
    cursor = full.operator.do("list_audit", limit=1)["next_cursor"]
    assert full.agent.do("list_proposals", limit=1)["proposals"] == []
    elsewhere = rows_of(full.reviewer.do("list_audit", limit=100, cursor=cursor))
    assert {row["domain_id"] for row in elsewhere} == {TEAM}


NOT_OURS = [
    "", "x", "====", "!", "a b", "数据", "A" * 2001, forge(), forge("x"), forge("x", "y"), forge(1, 2), forge([]), forge(None),
    base64.urlsafe_b64encode(b"{}").decode(), base64.urlsafe_b64encode(b"\xff").decode(),
    base64.urlsafe_b64encode(b"[" * 1500).decode(),
]  # fmt: skip


def refusal(player: Player, action: str, tree: dict, cursor: str) -> DomainError | None:
    """The DomainError that a cursor is refused with, or None for a page."""
    try:
        player.call(action, tree, limit=1, cursor=cursor)
    except DomainError as exc:
        return exc
    return None


@pytest.mark.parametrize("action", [*LISTS, "search_memory"])
def test_a_cursor_that_is_not_ours_is_422(full, action):
    tree = (
        tree_of(action) if action != "search_memory" else {"domain_id": TEAM, "session_id": "s0", "query": "database"}
    )
    player = full.agent if action in {"list_turns", "search_memory"} else full.operator
    for cursor in NOT_OURS:
        error = refusal(player, action, tree, cursor)
        assert isinstance(error, InvalidInputError), cursor
        assert error.errors[0]["loc"] == ["cursor"]


PLACES = ["", "x", "\x00", "\ud800", "-1", "1e9", "９", "1_0", "99999999999999999999999999", "00000000-0000-0000-0000-000000000000",
          "' OR 1=1", "nan", "inf", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]  # fmt: skip


@pytest.mark.parametrize("action", [*LISTS, "search_memory"])
def test_a_forged_place_gives_a_page_or_422(full, action):
    tree = (
        tree_of(action) if action != "search_memory" else {"domain_id": TEAM, "session_id": "s0", "query": "database"}
    )
    player = full.agent if action in {"list_turns", "search_memory"} else full.operator
    first = player.do(action, tree, limit=1)["next_cursor"]
    head, *parts = open_up(first) if first else ["x", ""]
    for place in PLACES:
        for forged in ([place] * len(parts), [place, *parts[1:]]):
            error = refusal(player, action, tree, forge(head, *forged))
            assert error is None or error.code == "invalid_input", place


@settings(max_examples=60)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_any_cursor_gives_a_page_or_a_domain_error(full, cursor):
    for player, action in ((full.operator, "list_domains"), (full.agent, "list_turns")):
        error = refusal(player, action, tree_of(action), cursor)
        assert error is None or error.status == 422


def test_a_place_that_is_gone_still_goes_on(full):
    """The row of a cursor may be gone when it is used: the next page starts where it stood."""
    first = full.operator.do("list_domains", limit=1)
    assert first["domains"][0]["id"] == "elsewhere"
    head = open_up(first["next_cursor"])[0]
    after = full.operator.do("list_domains", limit=10, cursor=forge(head, "f-was-here"))
    assert [row["id"] for row in after["domains"]] == [TEAM]
