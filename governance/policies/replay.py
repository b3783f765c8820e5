"""Replay: recorded decision facts decided again, by a draft and by the policy in force; pure, so it never writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from governance.policies.decide import Decision, Facts, Verdict, decide
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
    """A kind of call that the draft would decide otherwise than the policy in force: rule and verdict of both."""

    action: str
    rule: str
    new_rule: str
    verdict: str
    new_verdict: str


@dataclass(slots=True)
class Replayed:
    """What a replay found. `otherwise` counts the calls of which anything would be decided otherwise, `turned` what that is
    by kind: of one call it may be several things that were done within it."""

    looked_at: int = 0
    decided: int = 0
    otherwise: int = 0
    turned: dict[Turned, int] = field(default_factory=dict)
    examples: dict[Turned, list[Recorded]] = field(default_factory=dict)


_Twice = tuple[str, Decision, Decision]
PoliciesOf = Callable[[str | None], "Policies"]


def replay(recorded: Iterable[Recorded], in_force_of: PoliciesOf, draft_of: PoliciesOf) -> Replayed:
    """Decide every recorded call twice, by the policies in force in its domain and by those that the draft would give
    it; and what was done within it, where the draft lets the call itself through. What differs from the record alone was
    changed already, and is no effect of the draft."""
    found = Replayed()
    again: dict[tuple[str | None, str], list[_Twice]] = {}
    for entry in recorded:
        found.looked_at += 1
        if verdict_of(entry.rule) is None:
            continue
        found.decided += 1
        key = (entry.domain_id, entry.facts)
        if key not in again:
            facts = Facts.from_json(json.loads(entry.facts))
            again[key] = list(_decided_twice(facts, in_force_of(entry.domain_id), draft_of(entry.domain_id)))
        differing = [each for each in again[key] if each[1].verdict is not each[2].verdict]
        found.otherwise += bool(differing)
        for action, now, then in differing:
            kind = Turned(action, now.rule, then.rule, now.verdict, then.verdict)
            found.turned[kind] = found.turned.get(kind, 0) + 1
            shown = found.examples.setdefault(kind, [])
            if len(shown) < EXAMPLES:
                shown.append(entry)
    return found


def _decided_twice(facts: Facts, in_force: Policies, draft: Policies) -> Iterator[_Twice]:
    now, then = decide(facts, in_force), decide(facts, draft)
    yield facts.action, now, then
    if then.verdict is Verdict.ALLOW:
        for part in facts.calls_within():
            yield f"{part.action} in {facts.action}", decide(part, in_force), decide(part, draft)
