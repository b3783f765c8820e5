"""Memories are found in their list by what they say, by the start of their key and by id; the look is on record once."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from governance import gate
from governance.models import AuditEntry
from kernel.context import Door
from kernel.errors import InvalidInputError, NotFoundError
from memory.models import MemoryItem
from memory.selectors import finding
from search.selectors import holding
from tests.clients import new_reviewer
from tests.conftest import ELSEWHERE, TEAM, Cast
from tests.memory.conflicts.test_finding import tell
from tests.memory.talk import commit, context, decision

LIST = "admin:memory_memoryitem_changelist"
PORT = "The port of the shop is 5432."
TEA = "我们的茶壶放在三楼的厨房里。"


@pytest.fixture
def client(cast: Cast) -> Client:
    return new_reviewer("ann", TEAM)


def look(client: Client, term: str = "", **query: str) -> Any:
    return client.get(reverse(LIST), {"q": term, **query}).context["cl"]


def found(client: Client, term: str, **query: str) -> list[str]:
    return [row.statement for row in look(client, term, **query).result_list]


@pytest.fixture
def told(cast: Cast) -> None:
    tell(cast, PORT, "port")
    tell(cast, "The port of the harbour is open.", "harbour")
    tell(cast, TEA, "tea")


@pytest.mark.parametrize(
    ("term", "which"),
    [
        ("port 5432", [PORT]),
        ("HARBOUR", ["The port of the harbour is open."]),
        ("ports", [PORT, "The port of the harbour is open."]),
        ("茶壶", [TEA]),
        ("三楼 厨房", [TEA]),
        ("decision:shop:po", [PORT]),
        ("DECISION:SHOP:PO", [PORT]),
        ("decision:shop:harbour", ["The port of the harbour is open."]),
        ("nothing of the kind whatever", []),
        ("壶茶", []),
        ("task:", []),
        ("%", []),
        ("_", []),
        ("' OR 1=1 --", []),
        ("?" * 5000, []),
    ],
)
def test_it_works(told, client, term, which):
    assert sorted(found(client, term)) == sorted(which)


@pytest.mark.parametrize(
    ("key", "term", "which"),
    [
        ("Über", "decision:shop:Üb", True),
        ("Über", "DECISION:SHOP:ÜB", True),
        ("Über", "decision:shop:U\u0308b", True),
        ("über", "decision:shop:Üb", True),
        ("Über", "decision:shop:ub", False),
    ],
)
def test_a_key_beyond_ascii_is_found_alike_on_every_database(cast, client, key, term, which):
    tell(cast, "The default database is Postgres.", key)
    tell(cast, "The default database is MySQL.", "b")
    conflicts = client.get(reverse("admin:memory_conflict_changelist"), {"q": term}).context["cl"]
    by_key = [shown.told == [] and len(shown.result_list) == 1 for shown in (look(client, term), conflicts)]
    assert by_key == [which, which], (
        "a key that does not begin so is found by most of its words at best, which is told"
    )


def test_an_id_finds_the_one(told, client):
    row = MemoryItem.objects.get(statement=TEA)
    assert found(client, str(row.pk)) == found(client, row.pk.hex.upper()) == [TEA]


def test_where_nothing_holds_every_word_what_holds_most_is_shown_and_said_to_be(told, client):
    assert found(client, "port 5432 zebra") == [PORT]
    assert look(client, "port 5432 zebra").told == ["Nothing holds every one of these words: these hold most of them."]
    assert not look(client, "port 5432").told


def test_what_no_longer_holds_is_found_too_and_filters_narrow(cast, client):
    for text in ("Use the MySQL cluster", "Use the Postgres cluster"):
        commit(cast.agent, decisions=[decision(text)], scopes=context("project:shop"))
    assert len(found(client, "cluster")) == 2
    assert found(client, "cluster", in_force="no") == ["Use the MySQL cluster"]
    assert found(client, "cluster", status__exact="retracted") == []
    assert found(client, "cluster", type="tasks") == []


def test_only_the_scopes_that_the_person_reads_are_looked_through(told, cast):
    tell(cast, "The port of the other place is 1.", "other")
    commit(cast.stranger, domain_id=ELSEWHERE, decisions=[decision(PORT)])
    assert found(new_reviewer("eve", ELSEWHERE), "port") == [PORT]
    assert found(new_reviewer("bob", TEAM, "task:none"), "port") == []
    both = new_reviewer("cat", TEAM)
    given = {"user": "cat", "domain_id": ELSEWHERE, "pattern": "*"}
    gate.call("assign_reviewer", given, ctx=gate.system_ctx("tests", Door.PYTHON))
    assert found(both, "port 5432") == [PORT, PORT]
    assert AuditEntry.objects.get(action="show_memory_items", actor_name="cat").domain_id is None
    assert found(both, "port 5432", domain=ELSEWHERE) == [PORT]
    key = MemoryItem.objects.filter(domain_id=TEAM).values_list("scope_id", flat=True)[0]
    assert found(both, "port 5432", scope=str(key)) == [PORT]
    for nonsense in ("x", "9" * 40, "-1"):
        assert both.get(reverse(LIST), {"q": "port", "scope": nonsense}).status_code in (200, 302)


def test_a_page_of_the_list_is_one_look_on_record(told, client):
    found(client, "port")
    entries = list(AuditEntry.objects.filter(actor_name="ann").exclude(action="sign_in"))
    assert [(entry.action, entry.door, entry.domain_id) for entry in entries] == [("show_memory_items", "admin", TEAM)]
    found(client, "nothing of the kind whatever")
    assert AuditEntry.objects.filter(actor_name="ann").exclude(action="sign_in").count() == 1, "nothing was shown"


@pytest.mark.usefixtures("midday")
def test_where_the_look_is_refused_the_list_says_so_and_shows_no_content(told, cast, client):
    quota = {"quotas": {"actor_kinds": ["person"], "each": {"calls_per_minute": 1}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=quota, reason="slow down")
    answers = [client.get(reverse(LIST)).content.decode() for _ in range(3)]
    assert PORT in answers[0]
    assert PORT not in answers[-1]
    assert "decision:shop:port" in answers[-1]


def test_what_a_search_leaves_out_is_said_on_the_page(told, client, monkeypatch):
    monkeypatch.setattr(finding, "MOST", 1)
    assert look(client, "port").told == ["These are the best 1: add a word or a filter to see others."]
    monkeypatch.setattr(holding, "LOOKED_UP", 0)
    page = client.get(reverse(LIST), {"q": "port"})
    assert "Not all of your scopes were looked through" in page.content.decode()


def test_several_are_told_by_id_in_the_order_asked_for_and_what_is_missing(told, cast):
    ids = [str(pk) for pk in MemoryItem.objects.order_by("-id").values_list("pk", flat=True)]
    nobody = "00000000-0000-7000-8000-000000000000"
    answer = cast.agent.do("show_memory_items", ids=[ids[1], nobody, ids[0], ids[1]])
    assert [each["id"] for each in answer["items"]] == [ids[1], ids[0]]
    assert answer["missing"] == [nobody]
    with pytest.raises(NotFoundError):
        cast.agent.do("show_memory_items", ids=[nobody])


@pytest.mark.parametrize("ids", [[], ["x"], "x", [None], ["00000000-0000-7000-8000-000000000000"] * 101])
def test_ids_that_are_none_are_refused(cast, ids):
    with pytest.raises(InvalidInputError, match="ids"):
        cast.agent.do("show_memory_items", ids=ids)


def test_the_list_asks_as_many_questions_however_much_there_is(cast, client):
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert found(client, "port")
        return len(queries)

    tell(cast, "The port is 1.", "one")
    asked()
    few = asked()
    for number in range(12):
        tell(cast, f"The port of box {number} is {number}.", f"box{number}")
    assert asked() == few <= 20
