"""What a batch meets that no step foresaw: the row that it is about is kept aside, and the others are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import pytest
from django.db import OperationalError

from legacy.contracts import Outcome, SourceRow
from legacy.contracts.outcomes import moved
from legacy.services.storing import _stored
from legacy.source import Source
from legacy.steps.base import Run

pytestmark = pytest.mark.django_db

RUN = cast(Run, None)  # the step below never looks at it
ROWS = [SourceRow("things", name, {"id": name}) for name in ("a", "bad", "c")]


class Things:
    """A step that fails on one row."""

    name = "things"
    tables: tuple[str, ...] = ("things",)

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    def rows(self, source: Source) -> Iterator[SourceRow]:
        yield from ROWS

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        if any(row.id == "bad" for row in rows):
            raise self.fault
        return [moved(row, "things", row.id) for row in rows]


@pytest.mark.parametrize("fault", [KeyError("secret words"), ValueError("secret words"), RecursionError()])
def test_it_works(fault: Exception, caplog: pytest.LogCaptureFixture) -> None:
    outcomes = _stored(Things(fault), ROWS, RUN)
    assert [(one.row.id, one.reason) for one in outcomes] == [("a", ""), ("bad", "not_storable"), ("c", "")]
    assert type(fault).__name__ in outcomes[1].note
    assert "secret" not in outcomes[1].note
    assert "things bad" in caplog.text


@pytest.mark.parametrize("fault", [OperationalError("the connection is gone"), MemoryError()])
def test_what_is_no_fault_of_a_row_ends_the_run(fault: Exception) -> None:
    with pytest.raises(type(fault)):
        _stored(Things(fault), ROWS, RUN)
