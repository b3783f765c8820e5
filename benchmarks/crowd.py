"""A full house to measure screens in: many items, open proposals and audit entries, written as bulk rows.

One turn and one proposal go through the gate; the rest are copies of their rows with texts and ids of their own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Model

from benchmarks.measuring import words_of
from governance import gate
from governance.models import AuditEntry, Decision, Proposal
from kernel import clock
from kernel.context import Ctx, Door
from kernel.ids import new_id
from memory.models import MemoryItem
from scopes.selectors import authenticate_key

DOMAIN = "crowd"
BATCH = 2_000
HELD = {"review": {"queue": [{"name": "projects", "actions": ["commit_turn"], "scope_types": ["project"]}]}}


def fill(items: int, proposals: int, entries: int, decisions: int) -> None:
    """Write so many current items, open proposals, audit entries and decided proposals into the domain `crowd`."""
    agent = _agent()
    place = {"type": "project", "id": "atlas"}
    there = {"domain_id": DOMAIN, "session_id": "s", "scope_context": {"read": [place], "default_write": place}}
    learned = {"decisions": [{"key": "decision:atlas:port", "decision": "The port is 5432"}]}
    gate.call("commit_turn", {**there, "turn_events": learned}, ctx=agent)
    policy = {"domain_id": DOMAIN, "document": HELD, "reason": "project memory is reviewed"}
    gate.call("set_policy", policy, ctx=gate.system_ctx("crowd", Door.CLI))
    changed = {"decisions": [{"key": "decision:atlas:port", "decision": "The port is 5433"}]}
    gate.call("commit_turn", {**there, "turn_events": changed}, ctx=agent)
    draw = random.Random(5)
    _copies(MemoryItem.objects.get(key="decision:atlas:port"), items, lambda n: _item(n, draw))
    proposal = Proposal.objects.get(domain_id=DOMAIN)
    _copies(proposal, proposals, lambda n: _proposal(n, draw))
    _copies(proposal, decisions, lambda n: {**_proposal(n, draw), "state": "approved", "subject_key": f"done:{n}"})
    _copies(AuditEntry.objects.filter(domain_id=DOMAIN).latest("id"), entries, lambda n: {"request_id": new_id()})
    decided = Proposal.objects.filter(state="approved").values_list("pk", flat=True).iterator()
    rows = (
        Decision(
            proposal_id=pk,
            verdict="approved",
            revision=1,
            by_id="user:0",
            by_name="someone",
            created_at=clock.now() - timedelta(minutes=4 * n),
        )
        for n, pk in enumerate(decided)
    )
    _in_batches(Decision, rows)


def _agent() -> Ctx:
    given = {"name": "crowd", "domain_id": DOMAIN}
    made = gate.call("create_principal", given, ctx=gate.system_ctx("crowd", Door.CLI)).body()
    identity = authenticate_key(made["api_key"])
    return Ctx(identity.actor, Door.PYTHON, identity.reach)


def _item(number: int, draw: random.Random) -> dict[str, Any]:
    text = words_of(draw, 8)
    return {
        "key": f"decision:atlas:{number}",
        "statement": text,
        "value": {"decision": text},
        "content_hash": f"{number:064x}",
    }


def _proposal(number: int, draw: random.Random) -> dict[str, Any]:
    text = words_of(draw, 8)
    return {
        "subject_key": f"held:{number}",
        "subject": f"decision:atlas:{number}",
        "summary": text,
        "search_text": text.casefold(),
        "similar_key": f"{number // 17:064x}",
        "risk": number % 3,
        "created_at": clock.now() - timedelta(minutes=number),
    }


def _copies(row: Model, count: int, fields: Any) -> None:
    """So many further rows like one, each with an id of its own and the given fields."""
    names = [field.attname for field in row._meta.concrete_fields]  # noqa: SLF001
    plain = {name: getattr(row, name) for name in names if name != "id"}
    made = (type(row)(**{**plain, **fields(number)}, id=new_id()) for number in range(count))
    _in_batches(type(row), made)


def _in_batches(model: type[Model], rows: Iterator[Model]) -> None:
    batch: list[Model] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            model._default_manager.bulk_create(batch)  # noqa: SLF001
            batch = []
    model._default_manager.bulk_create(batch)  # noqa: SLF001
