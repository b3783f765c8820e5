"""The page of moving in: what the last validation found, the quarantine row by row, and nothing for anyone but operators."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from governance import gate
from governance.adminbase import page_url
from governance.gate import system_ctx
from kernel.context import Door
from kernel.errors import ForbiddenError
from legacy.contracts.validating import Finding, MigrationReport
from legacy.models import MigratedRow, MigrationCheck, MigrationRun
from legacy.services import recording
from legacy.services.validating import validate
from memory.models import MemoryItem, Turn
from tests.conftest import a_turn, make_person
from tests.guards.write_guard import unguarded
from tests.legacy.moving import aside, came

HOSTILE = "<script>document.title = 'owned'</script> a\u200bb"


def page(who: str = "operator", **query: str):
    client = Client()
    client.force_login(get_user_model().objects.get(username=who))
    return client.get(reverse("admin:legacy_migration"), query)


def text(who: str = "operator", **query: str) -> str:
    answer = page(who, **query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def check() -> MigrationCheck:
    """A validation of this side, kept."""
    recording.keep(validate(None, lambda *told: None), system_ctx("tests", Door.CLI))
    return MigrationCheck.objects.order_by("-pk")[0]


def test_it_works(cast):
    cast.agent.do("commit_turn", a_turn(turn_events={"decisions": [{"key": "decision:shop:db", "decision": "Yes"}]}))
    came("turns", Turn.objects.get().pk, "t-1")
    aside("messages", "m-9", "orphan", content={"id": "m-9", "content": HOSTILE})
    assert check().whole
    shown = text()
    assert "Whole" in shown
    assert "not made" in shown, "the source was not given"
    assert "m-9" in shown
    assert "&lt;script&gt;" in shown
    assert HOSTILE not in shown
    assert "\u200b" not in shown


def test_it_says_whose_it_became(cast):
    came("messages", "m-1")
    with unguarded():
        MigrationRun.objects.update(owner_id=cast.agent.identity.actor.id)
    run = MigrationRun.objects.get()
    assert "<bdi>agent</bdi>" in text()
    client = Client()
    client.force_login(get_user_model().objects.get(username="operator"))
    assert "Moved in for" in client.get(page_url(run)).content.decode()
    assert cast.operator.do("get_migration")["runs"][0]["owner"] == "agent"


def test_before_anything_was_moved_it_teaches_how(cast):
    assert "Nothing was moved in yet" in text()
    assert "migrate_legacy --from" in text()


def test_what_was_not_validated_says_so(cast):
    aside("refs", "r-1", "orphan")
    shown = text()
    assert "was not validated yet" in shown
    assert "r-1" in shown


def test_a_fault_is_named_with_a_link_to_its_row(cast):
    cast.agent.do("commit_turn", a_turn(turn_events={"decisions": [{"key": "decision:shop:db", "decision": "Yes"}]}))
    item = MemoryItem.objects.get()
    came("memory_items", item.pk, HOSTILE)
    with unguarded():
        MemoryItem.objects.update(source_session=None)
    assert not check().whole
    shown = text()
    assert "Wrong" in shown
    assert reverse("admin:memory_memoryitem_change", args=[item.pk]) in shown
    assert HOSTILE not in shown


def test_the_last_report_against_the_source_counts_before_one_of_this_side(cast):
    check()
    with unguarded():
        kept = MigrationCheck.objects.get()
        MigrationCheck.objects.create(
            source="older:5432/brain", whole=True, report={**kept.report, "source": "older:5432/brain"}
        )
    check()
    assert "older:5432/brain" in text()


def test_rows_are_narrowed_and_paged(cast):
    for number in range(25):
        aside("refs", f"r-{number:02}", "orphan" if number % 5 else "duplicate")
    assert text().count("sb-line-head") == 10
    assert text(reason="duplicate").count("sb-line-head") == 5
    assert text(source_id="r-03").count("sb-line-head") == 1
    assert "No row fits" in text(source_table="messages")
    assert 'rel="next"' in text()
    assert 'rel="next"' not in text(reason="duplicate")


def test_rows_with_a_note_are_counted_explained_and_found(cast):
    came("messages", "m-1")
    came("messages", "m-2", note="its time was odd")
    check()
    shown = text()
    assert "source_table=messages&amp;outcome=migrated&amp;noted=1#rows" in shown
    assert "With a note: moved in, but not just as it was there" in shown
    assert "its time was odd" in text(outcome="migrated", noted="1")
    assert "Here: <code>messages m-1</code>" not in text(outcome="migrated", noted="1")
    assert "Here: <code>messages m-1</code>" in text(outcome="migrated")
    listed = [cast.operator.do("list_migrated_rows", noted=noted)["rows"] for noted in (True, False, None)]
    assert [[row["source_id"] for row in rows] for rows in listed] == [["m-2"], ["m-1"], ["m-1", "m-2"]]


def test_checks_that_found_nothing_take_one_line(cast):
    check()
    assert "checks found nothing" in text()
    assert "more checks found nothing" not in text()
    came("messages", "m-1")
    check()
    assert "more checks found nothing" in text()


def test_a_cursor_that_is_none_is_refused(cast):
    assert page(cursor="x").status_code == 422


@pytest.mark.parametrize("who", ["ann", "olive"])
def test_only_operators_of_the_installation_see_it(cast, who):
    make_person("ann", "team", is_staff=True)
    make_person("olive", is_staff=True)
    aside("refs", "r-1", "orphan")
    assert page(who).status_code == 403
    assert "Moving in" not in page(who).content.decode()
    run = MigratedRow.objects.get().run
    client = Client()
    client.force_login(get_user_model().objects.get(username=who))
    address = reverse("admin:legacy_migrationrun_change", args=[run.pk])
    assert "older:5432" not in client.get(address, follow=True).content.decode()


@pytest.mark.parametrize("action", ["get_migration", "list_migrated_rows"])
def test_nobody_else_asks(cast, action):
    for player in (cast.agent, cast.reviewer, cast.stranger):
        with pytest.raises(ForbiddenError):
            player.do(action)
    assert cast.operator.do(action)


def test_rows_are_listed_with_their_content_and_page(cast):
    came("refs", "0199aaaa-0000-7000-8000-000000000000", "r-1")
    aside("refs", "r-2", "orphan", content={"id": "r-2"})
    ctx = system_ctx("tests", Door.PYTHON)
    first = gate.call("list_migrated_rows", {"limit": 1}, ctx=ctx).body()
    second = gate.call("list_migrated_rows", {"limit": 1, "cursor": first["next_cursor"]}, ctx=ctx).body()
    assert [row["source_id"] for row in (*first["rows"], *second["rows"])] == ["r-1", "r-2"]
    assert second["rows"][0]["content"] == {"id": "r-2"}
    assert second["next_cursor"] is None


def test_a_kept_report_holds_its_findings(cast):
    came("memory_items", "0199aaaa-0000-7000-8000-000000000000", "m-1")
    check()
    report = MigrationReport.model_validate(
        gate.call("get_migration", {}, ctx=system_ctx("tests", Door.PYTHON)).body()["report"]
    )
    missing = next(each for each in report.checks if each.code == "missing")
    assert missing.findings == [
        Finding(
            source_table="memory_items",
            source_id="m-1",
            target_table="memory_items",
            target_id="0199aaaa-0000-7000-8000-000000000000",
            what="It was moved and is not here, and nothing tells how it went.",
        )
    ]
