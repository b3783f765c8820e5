"""The lists of conflicts: what they show, find and count, and the way onward that stays in them."""

from __future__ import annotations

import json
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db.models import Q
from django.urls import reverse

from governance.models import AuditEntry
from kernel.context import Ctx, Door
from kernel.errors import NotFoundError
from memory.extensions.conflicts import open_conflicts
from memory.models import Conflict
from scopes.selectors import identify_person
from tests.conftest import TEAM, make_person
from tests.memory.conflict_pages import LIST, address, client, send
from tests.memory.conflicts.test_deciding import disputed
from tests.memory.conflicts.test_finding import tell
from tests.memory.talk import commit, context, decision

__all__ = ["client"]


def test_the_list_shows_what_is_open_and_can_show_the_rest(cast, client):
    conflict = disputed(cast)
    tell(cast, "The port is 1.", "one")
    tell(cast, "The port is 2.", "two")

    def shown(query: str) -> list[str]:
        return [row.shown["view"].rule for row in client.get(reverse(LIST) + query).context["cl"].result_list]

    assert shown("") == ["other_object", "number"]
    assert shown("?severity=high") == ["other_object"]
    assert shown("?rule=number") == ["number"]
    assert shown("?domain=team") == ["other_object", "number"]
    assert shown("?domain=elsewhere") == []
    assert shown(f"?q={conflict}") == ["other_object"]
    send(client, conflict, "keep_a")
    assert shown("") == ["number"]
    assert shown("?state=resolved") == ["other_object"]
    assert shown("?state=all") == ["number", "other_object"]


def test_after_a_decision_the_next_open_conflict_follows(cast, client):
    first = disputed(cast)
    tell(cast, "The port is 1.", "one")
    (second,) = tell(cast, "The port is 2.", "two")["memory_written"]["found"]
    assert send(client, first, "not_a_conflict")["Location"] == address(second["id"])
    assert send(client, second["id"], "not_a_conflict")["Location"] == reverse(LIST)


def test_the_way_back_and_onward_keeps_the_filter_of_the_list(cast, client):
    first = disputed(cast)
    tell(cast, "The port is 1.", "one")
    (second,) = tell(cast, "The port is 2.", "two")["memory_written"]["found"]
    page = client.get(reverse(LIST), {"severity": "high", "q": "database"})
    (link,) = [part for part in page.content.decode().split('"') if part.startswith(address(first))]
    shown = client.get(link.replace("&amp;", "&"))
    assert shown.context["following"] == shown.context["preceding"] == "", "the other one does not fit the filter"
    assert shown.context["conflict_list"] == f"{reverse(LIST)}?q=database&severity=high"
    every = client.get(address(first)).context
    assert every["following"] == address(second["id"])
    for hostile in ("%00", "x" * 5000, "state=%FF", "severity=%00", "q=%00", "severity=%27", "scope=x", "list=list"):
        assert client.get(f"{address(first)}?list={hostile}").status_code == 200


def test_the_way_onward_goes_by_the_order_of_the_list(cast, client):
    first = disputed(cast)
    tell(cast, "The port is 1.", "one")
    (second,) = tell(cast, "The port is 2.", "two")["memory_written"]["found"]
    for query in ("", "state=all"):
        rows = [str(row.pk) for row in client.get(f"{reverse(LIST)}?{query}").context["cl"].result_list]
        assert sorted(rows) == [first, second["id"]]
        ways = [client.get(address(each), {"list": query}).context for each in rows]
        links = [page["following"].partition("?")[0] for page in ways]
        assert links == [address(rows[1]), ""], query
        assert [page["preceding"].partition("?")[0] for page in ways] == ["", address(rows[0])], query


def test_the_way_onward_stays_in_the_scope_and_the_words_of_the_list(cast, client):
    first = disputed(cast)
    for place in ("harbour", "garden"):
        told = decision(f"The default gateway is {place}.", f"decision:q:{place}")
        commit(cast.agent, decisions=[told], scopes=context("project:q"))
    apart = Conflict.objects.exclude(pk=first).get()
    scope, other = Conflict.objects.get(pk=first).scope_id, apart.scope_id
    assert scope != other
    kept = f"?{urlencode({'list': f'scope={scope}'})}"
    assert client.get(address(first) + kept).context["following"] == ""
    onward = client.get(address(first), {"list": f"scope={other}"}).context["following"]
    assert onward == f"{address(str(apart.pk))}?{urlencode({'list': f'scope={other}'})}"
    answer = client.post(address(first) + kept, {"outcome": "not_a_conflict", "reason": "because", "revision": "1"})
    assert answer["Location"] == f"{reverse(LIST)}?scope={scope}"
    (notice,) = client.get(answer["Location"]).context["messages"]
    assert json.loads(notice.extra_tags)["undo"] == address(first) + kept


def test_the_search_of_a_list_looks_where_the_list_looks(cast, client):
    first = disputed(cast)
    scope = Conflict.objects.get(pk=first).scope_id
    page = client.get(address(first), {"list": f"scope={scope}&q=database"})
    seen = page.wsgi_request.META["smartbrain.conflicts"]
    assert seen.rows == Q(pk__in=[UUID(first)])
    tight = client.get(address(first), {"list": "scope=0&q=database"}).wsgi_request.META["smartbrain.conflicts"]
    assert tight.rows == Q(pk__in=[]), "the words are looked up in the scopes of the list"


@pytest.mark.parametrize(
    ("term", "which"),
    [
        ("postgres", ["other_object"]),
        ("default MYSQL", ["other_object"]),
        ("茶壶", ["opposite"]),
        ("port", ["number"]),
        ("decision:shop:tw", ["number"]),
        ("another number", ["number"]),
        ("other object", ["other_object"]),
        ("other_object", ["other_object"]),
        ("Bea", ["other_object"]),
        ("nothing of the kind", []),
        ("%", []),
    ],
)
def test_conflicts_are_found_by_the_words_of_either_side_by_key_and_by_rule(cast, client, term, which):
    disputed(cast)
    tell(cast, "The port is 1.", "one")
    tell(cast, "The port is 2.", "two")
    if term == "茶壶":
        tell(cast, "默认茶壶是红色的。", "pot")
        tell(cast, "默认茶壶是蓝色的。", "default-pot")
    if term == "Bea":
        edges = [{"subject": "Bea", "predicate": "lives_in", "object": place} for place in ("Bern", "Basel")]
        commit(cast.agent, edges=edges[:1])
        commit(cast.agent, edges=edges[1:])
    rows = client.get(reverse(LIST), {"q": term}).context["cl"].result_list
    assert [row.shown["view"].rule for row in rows] == which


def test_the_tabs_count_what_each_list_shows(cast, client):
    disputed(cast)
    for number in range(3):
        tell(cast, f"The port of box{number} gear is 1.", f"a{number}")
        tell(cast, f"The port of box{number} gear is 2.", f"b{number}")
    for query in ("", "?q=port", "?state=resolved", "?severity=medium&q=port", "?rule=number"):
        tabs = client.get(reverse(LIST) + query).context["cl"].tabs
        assert [tab["current"] for tab in tabs].count(True) == 1
        for tab in tabs:
            rows = client.get(reverse(LIST) + tab["address"]).context["cl"].result_list
            assert tab["count"] == str(len(rows)), (query, tab)


@pytest.mark.usefixtures("midday")
def test_the_list_is_one_look_on_record_and_where_it_is_refused_it_shows_no_content(cast, client):
    disputed(cast)
    client.get(reverse(LIST))
    looks = AuditEntry.objects.filter(actor_name="ann").exclude(action="sign_in")
    assert [entry.action for entry in looks] == ["show_conflicts"]
    quota = {"quotas": {"actor_kinds": ["person"], "each": {"calls_per_minute": 1}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=quota, reason="slow down")
    answers = [client.get(reverse(LIST)).content.decode() for _ in range(3)]
    assert "MySQL" not in answers[-1]
    assert "could not be shown" in answers[-1]


def test_several_are_told_by_id_and_what_is_missing(cast):
    conflict, nobody = disputed(cast), "00000000-0000-7000-8000-000000000000"
    answer = cast.agent.do("show_conflicts", ids=[nobody, conflict, conflict])
    assert [each["id"] for each in answer["conflicts"]] == [conflict]
    assert answer["missing"] == [nobody]
    with pytest.raises(NotFoundError):
        cast.agent.do("show_conflicts", ids=[nobody])


def test_the_front_page_counts_what_is_open(cast, client):
    disputed(cast)
    text = client.get(reverse("admin:index")).content.decode()
    assert "Conflicts and shadows" in text
    assert "high severity" in text
    panel = open_conflicts(ctx_of_person("ann"))
    assert panel is not None
    assert [figure.value for figure in panel.figures] == ["1", "0", "0", "0"]
    for figure in panel.figures:
        assert client.get(figure.link).status_code == 200, figure.link
    assert open_conflicts(ctx_of_person("nobody", make=True)) is None


def ctx_of_person(name: str, *, make: bool = False) -> Ctx:
    if make:
        make_person(name)
    identity = identify_person(get_user_model().objects.get(username=name))
    return Ctx(identity.actor, Door.ADMIN, identity.reach)
