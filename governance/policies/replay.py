"""Replay: recorded decision facts decided again by a draft policy; pure, so it never writes and can be tabled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from governance.policies.decide import Decision, Facts, decide
from governance.policies.words import verdict_of

if TYPE_CHECKING:
    from governance.policies.effective import Policies

EXAMPLES = 3


class Recorded(NamedTuple):
    """What is needed of an audit entry; `facts` is its JSON text, so that equal facts are decided once."""

    id: UUID
    at: datetime
    action: str
    actor: str
    domain_id: str | None
    scope: str
    rule: str
    facts: str


class Turned(NamedTuple):
    """A kind of call that would be decided otherwise."""

    action: str
    rule: str
    new_rule: str
    verdict: str
    new_verdict: str


@dataclass(slots=True)
class Replayed:
    """What a replay found; `turned` counts the calls of each kind that would be decided otherwise."""

    looked_at: int = 0
    decided: int = 0
    turned: dict[Turned, int] = field(default_factory=dict)
    examples: dict[Turned, list[Recorded]] = field(default_factory=dict)


def replay(recorded: Iterable[Recorded], policies_of: Callable[[str | None], Policies]) -> Replayed:
    """Decide every recorded call again by the policies of its domain."""
    found = Replayed()
    again: dict[tuple[str | None, str], Decision] = {}
    for entry in recorded:
        found.looked_at += 1
        before = verdict_of(entry.rule)
        if before is None:
            continue
        found.decided += 1
        key = (entry.domain_id, entry.facts)
        if key not in again:
            again[key] = decide(Facts.from_json(json.loads(entry.facts)), policies_of(entry.domain_id))
        after = again[key]
        if after.verdict is before:
            continue
        kind = Turned(entry.action, entry.rule, after.rule, before, after.verdict)
        found.turned[kind] = found.turned.get(kind, 0) + 1
        shown = found.examples.setdefault(kind, [])
        if len(shown) < EXAMPLES:
            shown.append(entry)
    return found
