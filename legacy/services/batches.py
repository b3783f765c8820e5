"""Rows of the source in batches: so many, fewer where they are long or bring much with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from legacy.contracts import SourceRow

MOST = 8_000_000  # characters of a batch, but for its last row
_NAMED = 1_000  # as many characters as a row that one names in a list takes when it is fetched here


def batches(rows: Iterable[SourceRow], size: int) -> Iterator[list[SourceRow]]:
    """So many rows at a time, in their order."""
    batch: list[SourceRow] = []
    weight = 0
    for row in rows:
        batch.append(row)
        weight += _weight(row)
        if len(batch) >= size or weight >= MOST:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _weight(row: SourceRow) -> int:
    named = sum(_NAMED * len(each) for each in row.place if isinstance(each, list))
    return named + sum(len(text) for text in row.columns.values() if text)
