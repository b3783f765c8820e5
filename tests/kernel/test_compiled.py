"""Compiled queries answer as the querysets that they are made of, on both databases."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from kernel.clock import now
from kernel.compiled import Given, compiled, instances, tuple_of
from kernel.context import ActorKind
from kernel.db import checked, is_postgres
from scopes.models import Domain, MemoryScope
from tests.guards.write_guard import unguarded


@compiled(tuple_of)
def _named(domain: Given, names: Given):
    """Scopes of a domain by their ids."""
    rows = MemoryScope.objects.filter(domain_id=domain, external_id__among=names)
    return rows.order_by("key").values_list("id", "external_id", "metadata", "created_at")


@compiled(tuple_of)
def _by_id(ids: Given):
    return MemoryScope.objects.filter(id__among=ids).order_by("key").values_list("external_id")


@compiled(tuple_of)
def _since(moment: Given):
    return MemoryScope.objects.filter(created_at__gte=moment).order_by("key").values_list("external_id")


@pytest.fixture
def scopes(db):
    with unguarded():
        for name in ("one", "two"):
            Domain.objects.create(id=name)
        made = [
            MemoryScope.objects.create(domain_id="one", scope_type="project", external_id=f"p{n}", metadata={"n": [n]})
            for n in range(3)
        ]
        MemoryScope.objects.create(domain_id="two", scope_type="project", external_id="p1")
    return made


def test_it_works(scopes):
    rows = MemoryScope.objects.filter(domain_id="one", external_id__in=["p1", "p2", "p9"]).order_by("key")
    expected = list(rows.values_list("id", "external_id", "metadata", "created_at"))
    assert len(expected) == 2
    for _ in range(4):  # written once, and planned for good where a database does so
        assert _named(domain="one", names=["p1", "p2", "p9"]) == expected
    assert _named(domain="two", names=["p1"])[0][1] == "p1"


@pytest.mark.parametrize("names", [[], (), set(), frozenset({"p1"}), {"p1": 1}.keys(), ["p1"] * 300])
def test_a_collection_of_any_kind_and_size(scopes, names):
    assert [row[1] for row in _named(domain="one", names=names)] == (["p1"] if names else [])


@pytest.mark.parametrize("name", ["p1' OR '1'='1", "%s", "{}", '"]', "p1\\", "页", "p1, p2", "{p1,p2}"])
def test_a_value_is_never_part_of_the_statement(scopes, name):
    assert _named(domain="one", names=[name]) == []
    with unguarded():
        MemoryScope.objects.create(domain_id="one", scope_type="project", external_id=name)
    assert [row[1] for row in _named(domain="one", names=[name])] == [name]


def test_ids_and_moments_are_compared_as_their_columns_hold_them(scopes):
    assert _by_id(ids=[scopes[2].id, scopes[0].id]) == [("p0",), ("p2",)]
    assert len(_since(moment=scopes[1].created_at - timedelta(microseconds=1))) >= 2
    assert _since(moment=now() + timedelta(hours=1)) == []


def test_an_enumeration_is_its_value(scopes):
    with unguarded():
        MemoryScope.objects.create(domain_id="one", scope_type="project", external_id=str(ActorKind.AGENT.value))
    assert len(_named(domain="one", names=[ActorKind.AGENT])) == 1


def test_large_whole_numbers_are_kept_exactly(scopes):
    @compiled(tuple_of)
    def by_key(keys: Given):
        return MemoryScope.objects.filter(*checked(pk__among=keys)).values_list("pk")

    far = [2**63 - 1, -(2**63) + 1]
    with unguarded():
        for key in far:
            MemoryScope.objects.create(key=key, domain_id="one", scope_type="project", external_id=f"far{key}")
    assert sorted(by_key(keys=far)) == sorted((key,) for key in far)
    assert by_key(keys=[2**63 - 2]) == []


def test_rows_as_instances_that_read_what_was_left_out_when_asked(scopes):
    columns = ("key", "scope_type", "external_id")

    @compiled(instances(MemoryScope, columns))
    def light(domain: Given):
        return MemoryScope.objects.filter(domain_id=domain).order_by("-key").values_list(*columns)

    first = light(domain="one")[0]
    with CaptureQueriesContext(connection) as captured:
        assert (first.pk, first.name) == (scopes[2].pk, "project:p2")
    assert len(captured) == 0
    assert first.metadata == {"n": [2]}
    assert not first._state.adding


@pytest.mark.parametrize("columns", [("external_id", "scope_type"), ("key", "name")])
def test_columns_out_of_order_or_unknown_are_refused(columns):
    with pytest.raises(ValueError, match="in its own order"):
        instances(MemoryScope, columns)


@pytest.mark.parametrize("values", [{}, {"domain": "one"}, {"domain": "one", "names": [], "more": 1}])
def test_every_value_has_to_be_given_and_no_other(scopes, values):
    with pytest.raises(TypeError, match="takes domain, names"):
        _named(**values)


@pytest.mark.parametrize("value", [None, 1.5, object()])
def test_a_value_that_no_column_is_compared_with_is_refused(scopes, value):
    with pytest.raises(TypeError, match="takes no"):
        _named(domain=value, names=["p1"])


def test_its_statements_are_counted_and_guarded_like_any_other(scopes):
    with CaptureQueriesContext(connection) as captured:
        _named(domain="one", names=["p1"])
    assert len(captured) == 1
    assert "memory_scopes" in captured[0]["sql"]


def test_the_text_is_the_same_for_one_value_and_for_many(scopes):
    sent = []

    def keep(execute, sql, params, many, context):
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        for names in (["p1"], ["p1", "p2", "p3"]):
            _named(domain="one", names=names)
    assert len(set(sent)) == 1


@pytest.mark.skipif(not is_postgres(), reason="SQLite keeps statements by itself")
def test_postgres_plans_a_statement_that_comes_again_once(scopes):
    for _ in range(5):
        _named(domain="one", names=["p1"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        assert any("memory_scopes" in text for (text,) in cursor.fetchall())


@pytest.mark.django_db(transaction=True)
def test_a_query_written_in_one_thread_runs_in_another():
    with unguarded():
        Domain.objects.create(id="one")
        MemoryScope.objects.create(domain_id="one", scope_type="project", external_id="p1")
    seen: list[object] = []

    def work() -> None:
        try:
            seen.extend(_named(domain="one", names=["p1"]))
        finally:
            connections.close_all()

    work_in = [Thread(target=work) for _ in range(3)]
    for thread in work_in:
        thread.start()
    for thread in work_in:
        thread.join()
    assert len(seen) == 3


@pytest.mark.parametrize("constant", ["it's", "100%", "%s", "页", '"', ""])
def test_what_is_the_same_in_every_run_is_part_of_the_statement(scopes, constant):
    @compiled(tuple_of)
    def fixed(domain: Given):
        rows = MemoryScope.objects.filter(domain_id=domain, external_id__in=[constant, "p1"], partition="")
        return rows.exclude(metadata__n=[7]).order_by("key").values_list("external_id")

    with unguarded():
        MemoryScope.objects.create(domain_id="one", scope_type="project", external_id=constant, metadata={"n": [1]})
    assert fixed(domain="one") == [("p1",), (constant,)]
