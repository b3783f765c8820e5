"""What a search costs: as many database queries however much there is, and sizes that stay right."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.db import repeated_cursor
from search import services
from search.contracts import Kind
from search.models import IndexEntry, Posting, ScopeSize
from search.selectors import candidates
from tests.guards.write_guard import unguarded

QUERIES = 5


def queries_of(shelf, *scopes: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert shelf.ask("kumquat harbour project yesterday", *scopes)
    return len(captured)


def test_it_works(shelf):
    shelf.talk(("ann", "a kumquat in the harbour"), ("bob", "of the project"))
    assert queries_of(shelf, "a") == QUERIES
    shelf.talk(*(("ann", f"kumquat {n} harbour project") for n in range(300)), session=2)
    shelf.put("kumquat harbour", scope="b")
    assert queries_of(shelf, "a", "b") == QUERIES


def test_a_word_of_every_text_is_bounded(shelf, monkeypatch):
    monkeypatch.setattr(candidates, "ROW_BUDGET", 10)
    shelf.put(*(f"kumquat {n}" for n in range(30)))
    assert len(shelf.ask("kumquat")) == 10


def test_a_search_reads_no_scope_from_end_to_end(shelf):
    """Every table is looked up by an index on what the query asks. PostgreSQL reads a table of fifty rows whole, and
    rightly, also by way of an index, unless it is told not to."""
    shelf.put(*(f"harbour {n}" for n in range(50)), "kumquat")
    asked = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        shelf.ask("kumquat")
    assert asked
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # else the plans hang on what other tests left the planner to believe
    for sql, params in asked:
        plan = plan_of(sql, params)
        if connection.vendor == "sqlite":
            assert "SCAN" not in plan.replace("SCAN json_each", ""), plan  # those are the values of the query itself
            assert "index_entries USING INDEX index_entries_scope" not in plan, plan
        else:
            assert "Index Cond" in plan, plan
            assert "Seq Scan" not in plan, plan


def plan_of(sql: str, params: Any) -> str:
    with repeated_cursor() as cursor:
        if connection.vendor == "postgresql":
            for way in ("seqscan", "indexscan", "indexonlyscan"):  # what remains reads an index by a condition only
                cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"{'EXPLAIN' if connection.vendor == 'postgresql' else 'EXPLAIN QUERY PLAN'} {sql}", params)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def test_sizes_are_the_sums_of_their_changes(shelf):
    ids = [shelf.put(f"kumquat number {n}")[0] for n in range(70)]
    with unguarded():
        assert services.remove(Kind.MEMORY, ids[:20]) == 20
    rows = ScopeSize.objects.filter(scope_id=shelf.scope())
    entries = IndexEntry.objects.all()
    assert sum(row.entries for row in rows) == entries.count() == 50
    assert sum(row.length for row in rows) == sum(entry.length for entry in entries)
    assert rows.count() < 40, "changes are folded now and then"


def test_nothing_stays_of_what_is_removed(shelf):
    ids = shelf.put("kumquat harbour", "kumquat 数据库")
    with unguarded():
        services.remove(Kind.MEMORY, ids)
        assert services.remove(Kind.MEMORY, ids) == 0
    assert not Posting.objects.exists()
    assert not IndexEntry.objects.exists()
    assert shelf.ask("kumquat") == []
