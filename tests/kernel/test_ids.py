"""Ids that come in as text."""

from __future__ import annotations

from uuid import UUID, uuid4

from kernel.ids import a_day_before, new_id, oldest, uuids_in


def test_it_works():
    made = new_id()
    assert uuids_in([str(made), made.hex, "", "no", f"{made}0"]) == {str(made): made, made.hex: made}


def test_the_oldest_is_the_smallest_unless_one_does_not_tell_its_time():
    first, second = new_id(), new_id()
    assert oldest([second, first]) == first
    assert oldest([first, uuid4()]) == UUID(int=0)
    assert oldest([]) == UUID(int=0)


def test_a_day_before_is_so_by_the_time_in_the_id():
    made = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
    assert a_day_before(made).int >> 80 == (made.int >> 80) - 86_400_000
    assert a_day_before(made) < UUID(int=made.int - (86_399_999 << 80)) < made
    assert a_day_before(UUID(int=(7 << 76) | (2 << 62))) == a_day_before(uuid4()) == UUID(int=0)
