"""Which row of a key counts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.compose.values import CONFLICT_PRIORITY, KeyedRow
from memory.compose.winners import resolve
from tests.memory.compose.made import NOW, uid


def row(number: int, scope_type: str, key: str | None = "pref:db", **fields) -> KeyedRow:
    return KeyedRow(
        **{
            "id": uid(number),
            "type": "preferences",
            "key": key,
            "scope_type": scope_type,
            "scope": f"{scope_type}:x",
            "tier": "",
            "pinned": False,
            "recorded_at": NOW,
            **fields,
        }
    )


def test_it_works():
    only = row(1, "project")
    assert resolve([only]) == ([only], [])
    assert resolve([]) == ([], [])


def test_case_48_the_nearest_scope_wins_and_the_others_are_named():
    """Spec case 48."""
    task, project, expert, everywhere = (
        row(n, kind) for n, kind in enumerate(("task", "project", "expert", "global"), start=1)
    )
    winners, shadowed = resolve([everywhere, expert, project, task])
    assert winners == [task]
    assert [(entry.winner_id, entry.loser_scope, entry.rule) for entry in shadowed] == [
        (task.id, "project:x", "scope_priority"),
        (task.id, "expert:x", "scope_priority"),
        (task.id, "global:x", "scope_priority"),
    ]
    assert shadowed[0].reason == "task counts before project (task > project > expert > global > session)."
    assert resolve([expert, project])[0] == [project]


def test_case_49_a_pinned_principle_stays():
    principle = row(1, "global", tier="dao_tian", pinned=True)
    winners, shadowed = resolve([row(2, "task"), principle])
    assert winners == [principle]
    assert [entry.rule for entry in shadowed] == ["pinned_principle"]


@pytest.mark.parametrize("fields", [{"tier": "dao_tian"}, {"pinned": True}, {"tier": "dao_ren", "pinned": True}])
def test_only_a_pinned_principle_stays(fields):
    task = row(2, "task")
    assert resolve([row(1, "global", **fields), task])[0] == [task]


@pytest.mark.parametrize("key", [None, ""])
def test_case_50_rows_without_a_key_never_give_way(key):
    rows = [row(n, kind, key) for n, kind in enumerate(CONFLICT_PRIORITY)]
    assert resolve(rows) == (rows, [])


def test_equal_rank_the_newer_then_the_greater_id():
    old = row(9, "expert", scope="expert:a", recorded_at=NOW - timedelta(days=1))
    new, twin = row(1, "expert", scope="expert:b"), row(2, "expert", scope="expert:c")
    winners, shadowed = resolve([old, new, twin])
    assert winners == [twin]
    assert {entry.rule for entry in shadowed} == {"same_rank"}
    assert "newer" in next(entry.reason for entry in shadowed if entry.loser_id == old.id)
    assert "id decides" in next(entry.reason for entry in shadowed if entry.loser_id == new.id)


def test_another_type_or_key_is_another_matter():
    rows = [row(1, "task"), row(2, "global", type="goals"), row(3, "global", "pref:other")]
    assert resolve(rows) == (rows, [])


def test_the_policy_gives_the_order_and_unnamed_types_come_last():
    rows = [row(1, "task"), row(2, "global"), row(3, "project")]
    assert resolve(rows, ["global", "task"])[0] == [rows[1]]
    assert resolve([rows[0], rows[2]], ["global", "task"])[0] == [rows[0]]


ROWS = st.lists(
    st.builds(
        row,
        st.integers(1, 10_000),
        st.sampled_from([*CONFLICT_PRIORITY, "other"]),
        st.sampled_from([None, "a", "b"]),
        pinned=st.booleans(),
        tier=st.sampled_from(["", "dao_tian", "qi"]),
        recorded_at=st.integers(0, 3).map(lambda days: NOW - timedelta(days=days)),
    ),
    max_size=12,
    unique_by=lambda found: found.id,
)


@given(ROWS, st.randoms())
def test_every_row_counts_or_gives_way_once_whatever_the_order(rows, random):
    winners, shadowed = resolve(rows)
    assert sorted([found.id for found in winners] + [entry.loser_id for entry in shadowed]) == sorted(
        found.id for found in rows
    )
    shuffled = random.sample(rows, len(rows))
    again, shadows = resolve(shuffled)
    assert shadows == shadowed
    assert {found.id for found in again} == {found.id for found in winners}
    keyed = [(found.type, found.key) for found in winners if found.key]
    assert len(set(keyed)) == len(keyed)
