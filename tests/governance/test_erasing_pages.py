"""The admin's pages of receipts and of legal holds: who sees which, what they say, and that none of the words is left."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from governance.models import LegalHold, Tombstone
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, Cast, make_person
from tests.governance.erasing import SECRET, erase, learned, session_of

pytestmark = pytest.mark.django_db

RECEIPTS = reverse("admin:governance_tombstone_changelist")
HOLDS = reverse("admin:governance_legalhold_changelist")
NASTY = "<script>alert(1)</script>"


@pytest.fixture
def ann(cast: Cast) -> Client:
    """A reviewer of the whole team."""
    make_person("ann", TEAM, is_staff=True)
    return sign_in("ann")


def listed(client: Client, address: str) -> set:
    return {row.pk for row in client.get(address).context["cl"].result_list}


def page(client: Client, row: Tombstone | LegalHold) -> str:
    name = f"admin:governance_{row._meta.model_name}_change"
    return unescape(client.get(reverse(name, args=[row.pk])).content.decode())


def hold(cast: Cast, scope: str, domain_id: str = TEAM, reason: str = "a lawsuit") -> LegalHold:
    made = cast.operator.do("place_hold", domain_id=domain_id, scope=scope, reason=reason)
    return LegalHold.objects.get(pk=made["hold"]["id"])


def test_it_works(cast, ann):
    learned(cast)
    told = erase(cast.operator, "session", session_of(cast.agent), along=True, reason=f"{NASTY} asked")
    rows = {row.kind: row for row in Tombstone.objects.all()}
    assert listed(ann, RECEIPTS) == {row.pk for row in rows.values()}
    shown = page(ann, rows["session"])
    for part in (str(rows["session"].object_id), rows["session"].sha256, "operator", "Backups", told["receipt_id"]):
        assert part in shown
    assert (
        NASTY not in ann.get(reverse("admin:governance_tombstone_change", args=[rows["session"].pk])).content.decode()
    )
    assert SECRET not in shown
    assert listed(ann, f"{RECEIPTS}?receipt_id={told['receipt_id']}") == {row.pk for row in rows.values()}
    assert listed(ann, f"{RECEIPTS}?q={rows['memory'].object_id}") == {rows["memory"].pk}


def test_a_receipt_leads_to_its_entry_in_the_log(cast, ann):
    erase(cast.operator, "memory", learned(cast)["id"])
    (link,) = re.findall(r'href="([^"]+history/\?[^"]+)"', page(ann, Tombstone.objects.get()))
    assert [line["entry"].action for line in ann.get(link).context["lines"]] == ["erase"]


def test_a_hold_tells_whether_it_is_in_force(cast, ann):
    row, other = hold(cast, "project:p"), hold(cast, "*")
    assert "lift_hold" in page(ann, row)
    cast.operator.do("lift_hold", id=str(row.pk), reason="it is over")
    shown = page(ann, row)
    assert "it is over" in shown
    assert "lift_hold" not in shown
    assert listed(ann, f"{HOLDS}?state=lifted") == {row.pk}
    assert listed(ann, f"{HOLDS}?state=in%20force") == {other.pk}
    assert listed(ann, f"{HOLDS}?state=nonsense") == {row.pk, other.pk}


def test_a_hold_on_one_thing_is_found_by_its_id(cast, ann):
    pk = learned(cast)["id"]
    named = {"kind": "memory", "id": pk}
    cast.operator.do("place_hold", domain_id=TEAM, object=named, reason="a lawsuit")
    hold(cast, "project:other")
    (found,) = listed(ann, f"{HOLDS}?q={pk}")
    assert f"memory {pk}" in page(ann, LegalHold.objects.get(pk=found))


def test_who_reviews_some_scopes_sees_what_lay_wholly_in_them(cast):
    make_person("narrow", TEAM, "project:p", is_staff=True)
    erase(cast.operator, "memory", learned(cast)["id"])
    mine = Tombstone.objects.get()
    erase(cast.operator, "memory", learned(cast, "project:q", "s2")["id"])
    kept = hold(cast, "project:p")
    hold(cast, "project:q")
    hold(cast, "*")
    narrow = sign_in("narrow")
    assert listed(narrow, RECEIPTS) == {mine.pk}
    assert listed(narrow, HOLDS) == {kept.pk}


@pytest.mark.parametrize(("address", "action"), [(RECEIPTS, "act erase"), (HOLDS, "act place_hold")])
def test_an_empty_page_teaches(cast, ann, address, action):
    hold(cast, "*", ELSEWHERE)
    shown = ann.get(address).content.decode()
    assert action in shown
    assert f'href="{address}"' in shown
