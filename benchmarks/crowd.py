"""A full house to measure screens in: many items that are found by words, open proposals, conflicts and audit entries.

One turn and one proposal go through the gate; the rest are copies of their rows, made by the database itself with ids
and texts of their own; some items are indexed by words of their own, all others by those of the first. For SQLite.
"""

from __future__ import annotations

from django.db import connection
from django.db.models import Model

from governance import gate
from governance.models import AuditEntry, Decision, Proposal
from kernel import clock
from kernel.context import Ctx, Door
from memory.models import Conflict, MemoryItem
from scopes.selectors import authenticate_key
from search import services as index
from search.contracts import Kind, NewEntry
from search.models import IndexEntry

DOMAIN = "crowd"
HELD = {"review": {"queue": [{"name": "projects", "actions": ["commit_turn"], "scope_types": ["project"]}]}}
OWN_WORDS = 20  # every so many items are indexed by their own words
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
    first_item = MemoryItem.objects.get(key="decision:atlas:port", domain_id=DOMAIN)
    _copy(first_item, items, 1, told)
    _index(first_item, items)
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


def quarrel(conflict_id: str, count: int) -> None:
    """So many conflicts more, like this one, each between two of the items, of every severity; half of them decided."""
    fields = {
        "item_a_id": _id(1, "2 * n - 1"),
        "item_b_id": _id(1, "2 * n"),
        "severity": "CASE n % 3 WHEN 0 THEN 'high' WHEN 1 THEN 'medium' ELSE 'low' END",
        "state": "CASE n % 2 WHEN 0 THEN 'open' ELSE 'resolved' END",
        "pair": "printf('%064x', n)",
    }
    _copy(Conflict.objects.get(pk=conflict_id), count, 6, fields)


def _index(item: MemoryItem, count: int) -> None:
    """Index the copies of an item: some by their own words, the others by those of the item."""
    known = IndexEntry.objects.get(object_id=item.pk)
    _copy(known, count, 1, {"id": f"{known.pk} + n", "object_id": _id(1)}, f"n % {OWN_WORDS} > 0")
    with connection.cursor() as cursor:
        cursor.execute(
            f"{NUMBERS} INSERT INTO index_postings (term, entry_id) SELECT term, entry_id + n FROM index_postings, numbers "
            f"WHERE entry_id = %s AND n % {OWN_WORDS} > 0".replace(" % ", " %% "),
            [count, known.pk],
        )
    rows = MemoryItem.objects.filter(key__startswith="decision:atlas:", domain_id=DOMAIN).exclude(
        pk__in=IndexEntry.objects.values("object_id")
    )
    index.add(
        NewEntry(
            kind=Kind.MEMORY,
            object_id=row.pk,
            domain_id=DOMAIN,
            scope_key=row.scope_id,
            text=row.statement,
            event_time=row.recorded_at,
            recorded_at=row.recorded_at,
            label=row.type,
        )
        for row in rows
    )


def _agent() -> Ctx:
    given = {"name": "crowd", "domain_id": DOMAIN}
    made = gate.call("create_principal", given, ctx=gate.system_ctx("crowd", Door.CLI)).body()
    identity = authenticate_key(made["api_key"])
    return Ctx(identity.actor, Door.PYTHON, identity.reach)


def _id(kind: int, number: str = "n") -> str:
    """Ids in a row for one kind of copies."""
    return f"printf('0{kind}000000%024x', {number})"


NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s)"


def _copy(row: Model, count: int, kind: int, fields: dict[str, str], which: str = "TRUE") -> None:
    """So many further rows like one, those of the numbers `n` for `which` holds; `fields` are expressions over the number
    and the row's own columns."""
    meta = row._meta
    columns = [field.attname for field in meta.concrete_fields]
    given = {"id": _id(kind), **fields}
    chosen = ", ".join(given.get(column, f'"{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    body = f'INSERT INTO "{meta.db_table}" ({names}) SELECT {chosen} FROM "{meta.db_table}", numbers WHERE {which} AND id = '
    with connection.cursor() as cursor:
        cursor.execute(f"{NUMBERS} {body.replace('%', '%%')}%s", [count, getattr(row.pk, "hex", row.pk)])
