"""Ids that come in as text."""

from __future__ import annotations

from kernel.ids import new_id, uuids_in


def test_it_works():
    made = new_id()
    assert uuids_in([str(made), made.hex, "", "no", f"{made}0"]) == {str(made): made, made.hex: made}
