"""What a validation has counted so far: of each check how many rows and the first of them, of each table its figures."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from legacy.contracts.validating import Check, Finding, ReasonCount, TableFigures

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Rule:
    """A check: what must hold, whether a row that breaks it makes the migration wrong, and what it takes to make it."""

    title: str
    fault: bool = True
    needs_source: bool = False


RULES: dict[str, Rule] = {
    "no_place": Rule("Every item, entity and relation names its scope and the session that it came from."),
    "orphan": Rule("Whatever a row belongs to, or names as evidence, is there."),
    "cross_domain": Rule("A row and what it belongs to lie in one domain."),
    "wrong_count": Rule("A session knows the number of its last turn."),
    "no_origin": Rule("Every memory tells in its history from which row it came."),
    "missing": Rule("Every row that was moved is here."),
    "bytes_lost": Rule("The bytes of every file that was moved are stored and have its hash."),
    "not_on_record": Rule("What became of every row that a run read is on record."),
    "not_indexed": Rule("Every message, item and section that was moved can be found."),
    "not_accounted": Rule("Every row there was moved, quarantined or left out.", needs_source=True),
    "source_changed": Rule("The rows there are those that were read.", needs_source=True),
    "gone_from_source": Rule("Every row that was read is still there.", needs_source=True),
    "value_differs": Rule("The values here are those there.", needs_source=True),
    "adjusted": Rule("Values that had to be changed, each with a note.", fault=False, needs_source=True),
    "changed_here": Rule("Values changed here since, on record in the audit log.", fault=False, needs_source=True),
    "closed_to_owner": Rule("Whose the sessions became may read and write them in every domain.", fault=False),
    "removed_here": Rule("Rows taken away here since, on record in the audit log.", fault=False),
    "other_source": Rule(
        "Rows that came from another database, against which they are to be held too.", fault=False, needs_source=True
    ),
    "erased_here": Rule("Rows erased here since, each with its receipt.", fault=False),
}


@dataclass(slots=True)
class _Digest:
    """SHA-256 over the compared values of a table on both sides."""

    rows: int = 0
    there: hashlib._Hash = field(default_factory=hashlib.sha256)
    here: hashlib._Hash = field(default_factory=hashlib.sha256)


class Tally:
    """The counts of one validation."""

    def __init__(self) -> None:
        self.reasons: Counter[tuple[str, str, str]] = Counter()
        self.missing: Counter[str] = Counter()
        self.in_source: dict[str, int] = {}
        self.seen = 0
        self._outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self._gone: Counter[str] = Counter()
        self._targets: dict[str, set[str]] = defaultdict(set)
        self._digests: dict[str, _Digest] = {}
        self._counts: Counter[str] = Counter()
        self._findings: dict[str, list[Finding]] = defaultdict(list)

    def found(self, code: str, source: tuple[str, str], target: tuple[str, str], what: str) -> None:
        """Count a row that breaks a rule; each of the two is a table and an id, or two empty texts."""
        self._counts[code] += 1
        if self._counts[code] <= SHOWN:
            ids = {
                "source_table": source[0],
                "source_id": source[1],
                "target_table": target[0],
                "target_id": target[1],
            }
            self._findings[code].append(Finding(**ids, what=what))

    def accounted(self, table: str, outcome: str, target: str, *, reason: str, adjusted: bool) -> None:
        """Count the outcome of a row."""
        self._outcomes[table][outcome] += 1
        if adjusted:
            self._outcomes[table]["adjusted"] += 1
        if target:
            self._targets[table].add(target)
        if reason:
            self.reasons[table, outcome, reason] += 1

    def gone(self, table: str) -> None:
        """Count a row that was moved and is not here."""
        self._gone[table] += 1

    def left_out(self, table: str, reason: str, count: int) -> None:
        """Count all rows of a table that is not taken along."""
        self.in_source[table] = count
        self._outcomes[table]["left_out"] += count
        self.reasons[table, "left_out", reason] += count

    def tables(self) -> set[str]:
        """The tables of which rows have an outcome."""
        return {table for table in self._outcomes if self.remembered(table)}

    def remembered(self, table: str) -> int:
        """How many rows of a table have an outcome."""
        counts = self._outcomes[table]
        return counts.total() - counts["adjusted"]

    def compared(self, table: str, row_id: str, there: Iterable[str], here: Iterable[str]) -> None:
        """Add a row to the digests of both sides."""
        kept = self._digests.setdefault(table, _Digest())
        kept.rows += 1
        for digest, values in ((kept.there, there), (kept.here, here)):
            digest.update("\x1f".join([row_id, *values]).encode("utf-8", "surrogateescape") + b"\x1e")

    def checks(self, *, with_source: bool) -> list[Check]:
        """Every check with what it found."""
        return [
            Check(
                code=code,
                title=rule.title,
                made=with_source or not rule.needs_source,
                fault=rule.fault,
                count=self._counts[code],
                findings=self._findings[code],
            )
            for code, rule in RULES.items()
        ]

    def figures(self) -> list[TableFigures]:
        """The tables, by name."""
        return [self._figures(name) for name in sorted(self._outcomes.keys() | self.in_source.keys())]

    def _figures(self, table: str) -> TableFigures:
        counts, digest = self._outcomes[table], self._digests.get(table)
        return TableFigures(
            source_table=table,
            target_tables=sorted(self._targets[table]),
            in_source=self.in_source.get(table),
            migrated=counts["migrated"] - self._gone[table],
            adjusted=counts["adjusted"],
            quarantined=counts["quarantined"],
            left_out=counts["left_out"],
            compared=digest.rows if digest else None,
            source_digest=digest.there.hexdigest() if digest else None,
            target_digest=digest.here.hexdigest() if digest else None,
        )

    def reason_counts(self) -> list[ReasonCount]:
        """What was not moved as it was, the most first."""
        return [
            ReasonCount(source_table=table, outcome=outcome, reason=reason, count=count)
            for (table, outcome, reason), count in sorted(self.reasons.items(), key=lambda each: (-each[1], each[0]))
        ]
