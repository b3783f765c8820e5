"""A full house to measure screens in: many items, open proposals and audit entries.

One turn and one proposal go through the gate; the rest are copies of their rows, made by the database itself with ids
and texts of their own. For SQLite.
"""

from __future__ import annotations

from django.db import connection
from django.db.models import Model

from governance import gate
from governance.models import AuditEntry, Decision, Proposal
from kernel import clock
from kernel.context import Ctx, Door
from memory.models import MemoryItem
from scopes.selectors import authenticate_key

DOMAIN = "crowd"
HELD = {"review": {"queue": [{"name": "projects", "actions": ["commit_turn"], "scope_types": ["project"]}]}}
TEXT = "'word' || (n % 3989) || ' of thing ' || (n * 7 % 3989) || ' 数据库 ' || n"


def fill(items: int, proposals: int, entries: int, decided: int) -> None:
    """Add so many current items, open proposals, audit entries and decided proposals to the domain `crowd`."""
    agent = _agent()
    place = {"type": "project", "id": "atlas"}
    there = {"domain_id": DOMAIN, "session_id": "s", "scope_context": {"read": [place], "default_write": place}}
    learned = {"decisions": [{"key": "decision:atlas:port", "decision": "The port is 5432"}]}
    gate.call("commit_turn", {**there, "turn_events": learned}, ctx=agent)
    policy = {"domain_id": DOMAIN, "document": HELD, "reason": "project memory is reviewed"}
    gate.call("set_policy", policy, ctx=gate.system_ctx("crowd", Door.CLI))
    changed = {"decisions": [{"key": "decision:atlas:port", "decision": "The port is 5433"}]}
    gate.call("commit_turn", {**there, "turn_events": changed}, ctx=agent)
    told = {"statement": TEXT, "key": "'decision:atlas:' || n", "content_hash": "printf('%064x', n)"}
    _copy(MemoryItem.objects.get(key="decision:atlas:port", domain_id=DOMAIN), items, 1, told)
    held = Proposal.objects.get(domain_id=DOMAIN)
    shown = {
        "subject": TEXT,
        "search_text": TEXT,
        "similar_key": "printf('%064x', n / 17)",
        "risk": "n % 3",
        "created_at": "datetime(created_at, '-' || n || ' minutes')",
    }
    _copy(held, proposals, 2, {**shown, "subject_key": "'held:' || n"})
    _copy(held, decided, 3, {**shown, "subject_key": "'done:' || n", "state": "'approved'"})
    _copy(AuditEntry.objects.filter(domain_id=DOMAIN).latest("id"), entries, 4, {"request_id": "printf('%032x', n)"})
    first = Proposal.objects.filter(state="approved").first()
    if first is None:
        return
    one = Decision.objects.create(
        proposal=first, verdict="approved", revision=1, by_id="user:0", by_name="someone", created_at=clock.now()
    )
    when = {"created_at": "datetime(created_at, '-' || (n * 4) || ' minutes')", "proposal_id": _id(3)}
    _copy(one, decided, 5, when)


def _agent() -> Ctx:
    given = {"name": "crowd", "domain_id": DOMAIN}
    made = gate.call("create_principal", given, ctx=gate.system_ctx("crowd", Door.CLI)).body()
    identity = authenticate_key(made["api_key"])
    return Ctx(identity.actor, Door.PYTHON, identity.reach)


def _id(kind: int) -> str:
    """Ids in a row for one kind of copies."""
    return f"printf('0{kind}000000%024x', n)"


def _copy(row: Model, count: int, kind: int, fields: dict[str, str]) -> None:
    """So many further rows like one; `fields` are expressions over the number `n` and the row's own columns."""
    meta = row._meta
    columns = [field.attname for field in meta.concrete_fields]
    given = {"id": _id(kind), **fields}
    chosen = ", ".join(given.get(column, f'"{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    sql = (
        f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {int(count)}) "
        f'INSERT INTO "{meta.db_table}" ({names}) SELECT {chosen} FROM "{meta.db_table}", numbers WHERE id = %s'
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [row.pk.hex])
