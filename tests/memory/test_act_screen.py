"""The pages on which people act on a memory: form, effect, deed and way back, with plain forms and without a script."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from governance.models import AuditEntry
from memory.models import EvidenceLink, MemoryItem
from tests.conftest import TEAM
from tests.memory.act_pages import ALL, REASON, URL, address, client, confirm, done, fields_of, look, page, undone
from tests.memory.acting import SHOP, TASK, known
from tests.memory.talk import commit, compose, context, only

__all__ = ["client"]


def test_it_works(cast, client):
    row = known(cast.agent)
    compose(cast.agent, "Which database, Postgres?", "s1", scope_context=context(SHOP))
    text = page(client, row)
    assert [act for act in ALL if address(row, act) in text] == list(ALL[:5])
    shown = look(client, row, "retract_item", **REASON)
    told = shown.content.decode()
    for part in ("What it would do", "principals lose sight", "agent, reader", "1 recorded context that showed"):
        assert part in told
    assert MemoryItem.objects.get(pk=row).status == "active"
    answer = confirm(client, row, "retract_item", shown)
    assert answer["Location"] == reverse("admin:memory_memoryitem_change", args=[row])
    gone = MemoryItem.objects.get(pk=row)
    assert gone.status == "retracted"
    place = undone(client, row)
    back = MemoryItem.objects.get(key=gone.key, current_until=None)
    assert place == reverse("admin:memory_memoryitem_change", args=[back.pk]), "the version that came back"
    assert "This is version 2, which says it again" in page(client, back.pk)
    assert (back.status, back.statement) == ("active", "Use Postgres")
    assert AuditEntry.objects.filter(action="retract_item", actor_name="ann", rule="right:decide").count() == 1


def test_near_duplicates_and_copies_go_along(cast, client):
    row = known(cast.agent)
    copy = done(client, row, "promote_to_scope", target="global:all", refs=URL)
    assert copy.scope.name == "global:all"
    text = client.get(address(row, "retract_item")).content.decode()
    assert f'name="also" value="{copy.pk}"' in text
    assert "checked" not in re.findall(rf'<input[^>]*value="{copy.pk}"[^>]*>', text)[0]
    done(client, row, "retract_item", also=[str(copy.pk)])
    assert set(MemoryItem.objects.values_list("status", flat=True)) == {"retracted"}


def test_words_are_corrected_and_compared(cast, client):
    row = known(cast.agent)
    shown = look(client, row, "correct_item", text="Use Postgres 16 <b>now</b>", **REASON)
    assert "<ins" in shown.content.decode()
    assert "<b>now</b>" not in shown.content.decode()
    assert "&amp;lt;" not in shown.content.decode()
    answer = confirm(client, row, "correct_item", shown)
    assert answer.status_code == 302
    new = MemoryItem.objects.get(current_until=None)
    assert (new.statement, new.version) == ("Use Postgres 16 <b>now</b>", 2)
    undone(client, new.pk)
    assert MemoryItem.objects.get(current_until=None).statement == "Use Postgres"


def test_a_field_is_corrected_and_the_others_stay(cast, client):
    row = known(cast.agent, rationale="it is boring")
    new = done(client, row, "correct_item", **{"field.decision": "Use SQLite"})
    assert (new.value["decision"], new.value["rationale"]) == ("Use SQLite", "it is boring")


def test_a_correction_by_a_field_is_compared_like_one_by_words(cast, client):
    row = known(cast.agent, rationale="it is boring")
    text = look(client, row, "correct_item", **REASON, **{"field.decision": "Use SQLite"}).content.decode()
    effect = text.split('id="effect"')[1].split("</section>")[0].split("<ul")[0]
    assert effect.count("<del") == 2, "the words, and the field that is not the same as the words"
    assert effect.count("SQLite") == 2
    assert "boring</" not in effect.partition("ecision</span>")[2]


def test_what_a_correction_leaves_out_is_shown_as_removed(cast, client):
    row = known(cast.agent, rationale="it is boring")
    text = look(client, row, "correct_item", **REASON, text="Use SQLite").content.decode()
    effect = text.split('id="effect"')[1].split("<ul")[0]
    assert "removed" in effect
    assert "it is boring" in effect


def test_words_and_a_field_that_disagree_are_refused(cast, client):
    row = known(cast.agent, rationale="it is boring")
    answer = look(client, row, "correct_item", **REASON, text="two euros", **{"field.decision": "THREE euros"})
    text = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert "the words say “two euros”, the fields of the value say “THREE euros — it is boring”" in text
    assert fields_of(text, "form")["field.decision"] == ["THREE euros"]
    new = done(client, row, "correct_item", text="two euros", **{"field.rationale": "fair"})
    assert (new.statement, new.value["decision"], new.value["rationale"]) == ("two euros", "two euros", "fair")


def test_a_field_that_is_no_text_is_typed_as_json(cast, client):
    given = {"key": "task:shop:parser", "title": "Write it", "notes": ["one"]}
    row = only(commit(cast.agent, scopes=context(SHOP), tasks=[given]))["id"]
    refused = look(client, row, "correct_item", **REASON, **{"field.notes": "[1"})
    assert refused.status_code == 422
    assert "Notes: is not valid JSON" in refused.content.decode()
    assert "[1</textarea>" in refused.content.decode()
    assert done(client, row, "correct_item", **{"field.notes": '["one", "两"]'}).value["notes"] == ["one", "两"]


def test_it_is_narrowed_to_a_scope_that_is_chosen_or_typed(cast, client):
    row = known(cast.agent)
    known(cast.agent, "Use Redis", scope=TASK, session="s2")
    blank = client.get(address(row, "narrow_item")).content.decode()
    assert '<option value="task:t">' in blank
    assert '<option value="project:shop">' not in blank
    new = done(client, row, "narrow_item", target="task:new", text="Use Postgres for the migration")
    assert (new.scope.name, new.statement) == ("task:new", "Use Postgres for the migration")
    assert MemoryItem.objects.get(pk=row).narrowed_to_id == new.scope_id


def test_it_is_demoted_on_evidence_that_is_ticked_and_typed(cast, client):
    first = known(cast.agent, evidence_refs=[{"kind": "url", "id": "https://example.org/first"}])
    blank = client.get(address(first, "demote")).content.decode()
    assert "promoted again" not in blank, "a demoted memory is refused by a promotion"
    assert 'name="ref" value="url https://example.org/first"' in blank
    ticked = ["url https://example.org/first"]
    row = done(client, first, "demote", status="retired", reason_type="obsolete", ref=ticked, refs=f"{URL}\r\n")
    assert row.lifecycle_status == "retired"
    against = EvidenceLink.objects.filter(item=row, role="counterexample").values_list("ref", flat=True)
    assert set(against) == {"https://example.org/first", URL}
    undone(client, first)
    assert MemoryItem.objects.get(pk=first).lifecycle_status == "promoted"


def test_a_promoted_copy_leaves_its_scope_and_what_it_was_made_from_stays(cast, client):
    row = known(cast.agent)
    copy = done(client, row, "promote_to_scope", target="global:all", refs=URL, text="We use Postgres")
    assert address(copy.pk, "demote_from_scope") in page(client, copy.pk)
    left = done(client, copy.pk, "demote_from_scope", reason_type="out_of_scope", refs=URL)
    assert (left.pk, left.lifecycle_status) == (copy.pk, "demoted")
    assert MemoryItem.objects.get(pk=row).lifecycle_status == "promoted"
    assert address(copy.pk, "demote_from_scope") not in page(client, copy.pk)


def test_what_was_done_before_is_not_offered_again(cast, client):
    row = known(cast.agent)
    done(client, row, "promote_to_scope", target="global:all", refs=URL)
    text = look(client, row, "promote_to_scope", **REASON, target="global:all", refs=URL).content.decode()
    effect = text.split('id="effect"')[1].split("</section>")[0]
    assert "It was done before" in effect
    assert "sb-primary" not in effect
    assert 'id="confirm"' not in text
    assert MemoryItem.objects.count() == 2


def test_a_double_click_acts_once(cast, client):
    row = known(cast.agent)
    fields = fields_of(look(client, row, "correct_item", text="Use SQLite", **REASON).content.decode(), "confirm")
    places = {client.post(address(row, "correct_item"), fields)["Location"] for _ in range(2)}
    assert len(places) == 1
    assert MemoryItem.objects.count() == 2
    new = MemoryItem.objects.get(current_until=None)
    undone(client, new.pk)
    assert MemoryItem.objects.get(current_until=None).statement == "Use Postgres"


def test_after_a_replacement_what_was_typed_goes_on_with_the_new_one(cast, client):
    row = known(cast.agent, rationale="it is boring")
    blank = fields_of(client.get(address(row, "correct_item")).content.decode(), "form")
    shown = look(client, row, "correct_item", text="Use MySQL", **REASON)
    new = cast.operator.do("correct_item", memory_item_id=row, text="Use SQLite", reason="mine")["item"]["id"]
    newest = cast.operator.do("correct_item", memory_item_id=new, text="Use Redis", reason="mine")["item"]["id"]
    typed = {**blank, "text": "Use <b>MySQL</b>", "reason": "it is known"}
    for late in (client.post(address(row, "correct_item"), typed), confirm(client, row, "correct_item", shown)):
        text = late.content.decode()
        assert late.status_code == 409
        assert text.count("It was replaced, so it is no longer in force.") == 1
        assert str(row) not in re.sub(r"<[^>]+>", " ", text.split('id="problem"')[1])
        assert reverse("admin:memory_memoryitem_change", args=[newest]) in text
        assert f'action="{address(newest, "correct_item")}"' in text
        assert "MySQL" in fields_of(text, "form")["text"][0]
    late = client.post(address(row, "correct_item"), typed).content.decode()
    carried = fields_of(late, "carry")
    assert "field.rationale" not in carried, "what the form filled in is not typed"
    text = client.post(address(newest, "correct_item"), carried).content.decode()
    again = fields_of(text, "form")
    assert (again["text"], again["reason"]) == (["Use <b>MySQL</b>"], ["it is known"])
    assert again["field.decision"] == ["Use Redis"]
    told = client.post(address(newest, "correct_item"), again)
    assert told.status_code == 200
    assert "What it would do" in told.content.decode()
    blank_now = client.get(address(row, "correct_item")).content.decode()
    assert f'href="{address(newest, "correct_item")}"' in blank_now
    assert "(active)" not in blank_now


@pytest.mark.usefixtures("midday")
def test_what_took_its_place_is_shown_with_the_look_on_record_however_long_ago(cast, client):
    row = newest = known(cast.agent)
    for number in range(13):
        correction = {"memory_item_id": newest, "text": f"Use Redis {number}", "reason": "mine"}
        newest = cast.operator.do("correct_item", correction)["item"]["id"]
    with CaptureQueriesContext(connection) as asked:
        text = client.get(address(row, "correct_item")).content.decode()
    assert "Use Redis 12" in text
    assert "Use Redis 11" not in text
    assert len(asked) < 40, [query["sql"][:90] for query in asked]
    looks = AuditEntry.objects.filter(actor_name="ann", action="show_memory_items")
    assert looks.count() == 1
    quota = {"quotas": {"actor_kinds": ["person"], "each": {"calls_per_minute": 1}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=quota, reason="slow down")
    shown = client.get(address(row, "correct_item")).content.decode()
    assert "Use Redis 12" not in shown
    assert "another memory" in shown


def test_what_was_taken_back_names_nothing_in_its_place(cast, client):
    row = known(cast.agent)
    cast.reviewer.do("retract_item", memory_item_id=row, reason="gone")
    text = client.get(address(row, "correct_item")).content.decode()
    assert "It was taken back, so it is no longer in force." in text
    assert "In its place" not in text


def test_the_page_of_an_undo_leads_back_to_the_memory(cast, client):
    row = known(cast.agent)
    cast.reviewer.do("retract_item", memory_item_id=row, reason="gone")
    entry = AuditEntry.objects.filter(action="retract_item").latest("id").pk
    text = client.get(reverse("admin:memory_item_undo", args=[row, entry])).content.decode()
    back = reverse("admin:memory_memoryitem_change", args=[row])
    assert re.search(rf'href="{back}"[^>]*>Back to the memory<', text)
    assert "Back to the entry" in client.get(reverse("admin:governance_revert", args=[entry])).content.decode()


def test_the_effect_comes_first(cast, client):
    row = known(cast.agent)
    answer = client.post(address(row, "retract_item"), {**REASON, "step": "do"})
    assert (answer.status_code, MemoryItem.objects.get().status) == (422, "active")
