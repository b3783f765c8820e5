"""Reading by what a queue can be narrowed: the values that occur in it, each with the proposals that it leaves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from governance.contracts import Choice, ProposalFilters, QueueChoices, QueueFilters, QueueName
from governance.selectors.proposals import COUNTED_TO, filter_proposals
from kernel.context import ANY, Ctx, covers

FIELDS = {"domain_id": "domain_id", "scope": "scope", "action": "action", "proposer": "proposer_name", "rule": "rule"}
SHOWN = 50
_NAMED_SCOPE = re.compile(r"[a-z]+:\S")


def choices_of(queue: QueueName, given: QueueFilters, ctx: Ctx) -> QueueChoices:
    """The values of each of `FIELDS` in a queue, the most frequent first, 50 at most; each counted with the other filters
    as they are. Looks at 10,000 proposals in one statement."""
    others = {name: getattr(given, name) for name in QueueFilters.model_fields if name not in FIELDS}
    rows = filter_proposals(ProposalFilters(**others, queue=queue), ctx).prefetch_related(None).order_by()
    found = list(rows.values_list(*FIELDS.values())[: COUNTED_TO + 1])
    together = Counter(found[:COUNTED_TO])
    wanted = [getattr(given, name) for name in FIELDS]
    counted: dict[str, Counter[str]] = {name: Counter() for name in FIELDS}
    for values, number in together.items():
        misses = [
            name for name, value, want in zip(FIELDS, values, wanted, strict=True) if not _fits(name, value, want)
        ]
        for name, value in zip(FIELDS, values, strict=True):
            if value and not {*misses} - {name}:
                counted[name][value] += number
    counted["scope"] = Counter(dict(_scopes(counted["scope"])))
    lists = {name: _most(values) for name, values in counted.items()}
    cut = [name for name, values in counted.items() if len(values) > SHOWN]
    return QueueChoices(**lists, at_least=len(found) > COUNTED_TO, cut=cut)


def _fits(name: str, value: str | None, want: str | None) -> bool:
    if want is None:
        return True
    return covers(want, value or "") if name == "scope" else value == want


def _scopes(counted: Counter[str]) -> Iterator[tuple[str, int]]:
    """The scopes that a filter can name, and the pattern of each type that has several."""
    named = {scope: number for scope, number in counted.items() if _NAMED_SCOPE.match(scope)}
    types = Counter(scope.partition(":")[0] for scope in named)
    for scope_type, several in types.items():
        if several > 1:
            yield f"{scope_type}:{ANY}", sum(n for scope, n in named.items() if scope.startswith(f"{scope_type}:"))
    yield from named.items()


def _most(counted: Counter[str]) -> list[Choice]:
    ordered = sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:SHOWN]
    return [Choice(value=value, count=number) for value, number in ordered]
