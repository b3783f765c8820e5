"""Rows inserted in one statement read back as Django itself would have stored them, on both databases."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from kernel.rows import insert
from scopes.models import Domain, MemoryScope
from search.models import Posting, ScopeSize
from tests.guards.write_guard import OutsideTheGateError, unguarded


@pytest.fixture
def domain(db):
    with unguarded():
        return Domain.objects.create(id="one")


def scope(name: str, **more: object) -> MemoryScope:
    return MemoryScope(domain_id="one", scope_type="project", external_id=name, **more)


def test_it_works(domain):
    given = {"b": 1, "a": [True, None, "页"], "aa": {"z": 0.1, "B": ""}}
    row, beside = scope("mine", metadata=given), scope("other", metadata=given)
    with unguarded():
        insert([row])
        beside.save()
    stored = MemoryScope.objects.get(external_id="mine")
    assert (stored.pk, stored.id, stored.created_at, stored.parent_id) == (row.pk, row.id, row.created_at, None)
    assert stored.metadata == MemoryScope.objects.get(external_id="other").metadata == given


def test_nothing_to_insert_asks_the_database_nothing(domain):
    with CaptureQueriesContext(connection) as captured:
        insert([])
    assert len(captured) == 0


@pytest.mark.parametrize("count", [1, 3, 2_500])
def test_numbers_are_given_in_order_whatever_the_batches(domain, count):
    rows = [scope(f"s{n}") for n in range(count)]
    with unguarded():
        insert(rows)
    stored = dict(MemoryScope.objects.values_list("external_id", "pk"))
    assert {row.external_id: row.pk for row in rows} == stored
    assert [row.pk for row in rows] == sorted(stored.values())


def test_many_rows_are_few_statements(domain):
    with unguarded():
        insert([owner := scope("owner")])
        with CaptureQueriesContext(connection) as captured:
            insert([ScopeSize(scope_id=owner.pk, entries=1, length=n) for n in range(300)])
    assert len(captured) == 1


def test_a_row_of_a_composite_key_is_inserted_whole(domain):
    with unguarded():
        insert([Posting(term=-(2**63), entry_id=1), Posting(term=2**63 - 1, entry_id=1)])
    assert sorted(Posting.objects.values_list("term", "entry_id")) == [(-(2**63), 1), (2**63 - 1, 1)]


def test_a_row_that_is_there_already_is_an_error(domain):
    with unguarded():
        insert([scope("a")])
        with pytest.raises(IntegrityError), transaction.atomic():
            insert([scope("b"), scope("a")])
    assert MemoryScope.objects.count() == 1


def test_unless_rows_that_are_known_are_passed_over(domain):
    with unguarded():
        insert([scope("a", owner="first")])
        insert([scope("a", owner="second"), scope("b")], known=True)
    assert list(MemoryScope.objects.order_by("external_id").values_list("external_id", "owner")) == [
        ("a", "first"),
        ("b", ""),
    ]


@pytest.mark.parametrize("name", ["'); DROP TABLE domains; --", "%s", "页\u202e", '"'])
def test_a_value_is_never_part_of_the_statement(domain, name):
    with unguarded():
        insert([scope(name)])
    assert MemoryScope.objects.get().external_id == name


def test_it_writes_nothing_outside_the_gate(domain):
    with pytest.raises(OutsideTheGateError), transaction.atomic():
        insert([scope("raw")])
