"""Reading a whole batch before any of it is stored, so that what its rows name is looked up once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from legacy.contracts import Quarantined, SourceRow

T = TypeVar("T")


@dataclass(slots=True)
class Read(Generic[T]):
    """What the rows of a batch say, by source id, and why the others say nothing."""

    good: dict[str, T] = field(default_factory=dict)
    bad: dict[str, Quarantined] = field(default_factory=dict)

    def of(self, row: SourceRow) -> T:
        """What a row says. Raises the Quarantined of one that cannot be taken."""
        if row.id in self.bad:
            raise self.bad[row.id]
        return self.good[row.id]

    def __iter__(self) -> Iterator[T]:
        return iter(self.good.values())


def read(rows: Iterable[SourceRow], mapping: Callable[[SourceRow], T]) -> Read[T]:
    """What each row says."""
    found: Read[T] = Read()
    for row in rows:
        try:
            found.good[row.id] = mapping(row)
        except Quarantined as why:
            found.bad[row.id] = why
    return found
