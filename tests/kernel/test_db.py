from __future__ import annotations

import json

import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from kernel.db import interruptible, is_outage, is_postgres, postgres_options, starts_with
from scopes.models import Domain
from tests.guards.write_guard import unguarded


def read_back(value: object) -> str:
    with unguarded():
        Domain.objects.create(id="d", metadata=value)
    return json.dumps(Domain.objects.get(id="d").metadata, ensure_ascii=False)


@pytest.mark.django_db
def test_it_works():
    given = {"b": 1, "a": [True, None, "x"], "aa": {"é": "é", "z": 0.1, "B": ""}}
    assert read_back(given) == '{"a": [true, null, "x"], "b": 1, "aa": {"B": "", "z": 0.1, "é": "é"}}'


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("1e16", "10000000000000000"),
        ("1.5e20", "150000000000000000000"),
        ("-1e300", f"-1{'0' * 300}"),
        ("-0.0", "0.0"),
        ("1.0", "1.0"),
        ("1e-7", "1e-07"),
        ("5e-324", "5e-324"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("9007199254740993", "9007199254740993"),
    ],
)
def test_a_number_in_json_reads_back_the_same_from_both_databases(given, kept):
    assert read_back({"n": [json.loads(given)]}) == f'{{"n": [{kept}]}}'


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("prefix", "found"),
    [("ab", True), ("aB", False), ("a_", False), ("%", False), ("", True), ("ab会", True), ("ab会议x", False)],
)
def test_a_beginning_is_compared_letter_by_letter(prefix, found):
    with unguarded():
        Domain.objects.create(id="ab会议")
    assert Domain.objects.filter(starts_with("id", prefix), id="ab会议").exists() is found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("ab", True),
        ("AB", True),
        ("aBÜ", True),
        ("abü", False),
        ("a_", False),
        ("ab%", False),
        ("ab\\", False),
        ("b", False),
    ],
)
def test_beginnings_are_alike_in_the_case_of_ascii_letters(prefix, found):
    with unguarded():
        Domain.objects.create(id="abÜber会议")
    assert Domain.objects.filter(id__begins_alike=prefix, pk="abÜber会议").exists() is found


@pytest.mark.django_db
def test_a_limit_of_the_database_is_no_outage():
    beyond = "SELECT array_fill(0, ARRAY[100000, 100000])" if is_postgres() else f"SELECT {'(' * 5000}1{')' * 5000}"
    with pytest.raises(OperationalError) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(beyond)
    assert not is_outage(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"prepare_threshold": 2, "options": "-c random_page_cost=1.1"}),
        ({"sslmode": "require"}, {"prepare_threshold": 2, "options": "-c random_page_cost=1.1", "sslmode": "require"}),
        ({"prepare_threshold": "None", "options": ""}, {"prepare_threshold": None, "options": ""}),
    ],
)
def test_what_the_url_says_of_a_connection_counts_before_our_own(given, expected):
    assert postgres_options(given) == expected


def _interrupt(self: BaseDatabaseWrapper) -> None:
    raise KeyboardInterrupt


@pytest.mark.django_db(transaction=True)
def test_ctrl_c_in_a_commit_leaves_a_connection_that_goes_on_and_is_closed_by_whoever_opened_it(monkeypatch):
    wrapper = connections[DEFAULT_DB_ALIAS]
    wrapper.ensure_connection()
    opened = wrapper.connection
    with unguarded(), monkeypatch.context() as patched:
        patched.setattr(BaseDatabaseWrapper, "_commit", _interrupt)
        with pytest.raises(KeyboardInterrupt), interruptible(), transaction.atomic():
            Domain.objects.create(id="d")
    assert connections[DEFAULT_DB_ALIAS] is wrapper
    assert connection.connection is not opened
    with unguarded(), transaction.atomic():
        Domain.objects.create(id="e")
    assert Domain.objects.filter(id="e").exists()
    wrapper.close()
    assert connection.connection is None
