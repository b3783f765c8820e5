"""Ids that come in as text."""

from __future__ import annotations

from uuid import UUID, uuid4

from kernel.ids import new_id, oldest, uuids_in


def test_it_works():
    made = new_id()
    assert uuids_in([str(made), made.hex, "", "no", f"{made}0"]) == {str(made): made, made.hex: made}


def test_the_oldest_is_the_smallest_unless_one_does_not_tell_its_time():
    first, second = new_id(), new_id()
    assert oldest([second, first]) == first
    assert oldest([first, uuid4()]) == UUID(int=0)
