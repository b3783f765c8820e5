"""Taking a domain elsewhere: all that one may see, nothing else, and the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from io import StringIO

import pytest
from django.core.management import call_command

from governance import hooks
from governance.hooks import Exporter
from governance.selectors import exporting
from kernel.errors import InvalidInputError, NotFoundError
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.memory.talk import VERIFIED, commit, context, decision, only, ref

pytestmark = pytest.mark.django_db


def fill(cast: Cast) -> None:
    scopes = context("project:p", write=("project:p",))
    commit(cast.agent, scopes=scopes, say="Stripes of 斑马", decisions=[decision(scope_ref=ref("project:p"))])
    options = {"text": "# Zoo\n\nZebras.\n\n## More\n\nStripes."}
    scope = {"type": "project", "id": "p"}
    cast.agent.do("add_document", domain_id=TEAM, options={**options, "title": "shared"}, scopes=[scope])
    cast.agent.do("add_document", domain_id=TEAM, options={"text": "mine alone", "title": "private"})


def export(player: Player, limit: int = 1000, **fields: object) -> list[dict]:
    lines, cursor = [], None
    while True:
        found = player.do("export_domain", {"domain_id": TEAM, "limit": limit, "cursor": cursor, **fields})
        lines += [json.loads(line) for line in found["content"].splitlines()]
        assert found["rows"] <= limit
        cursor = found["next_cursor"]
        if cursor is None:
            return lines


def titles(lines: list[dict]) -> list[str]:
    return [line["row"]["title"] for line in lines if line["table"] == "source_documents"]


def test_it_works(cast):
    fill(cast)
    lines = export(cast.agent)
    counts = {table: sum(line["table"] == table for line in lines) for table in {line["table"] for line in lines}}
    assert counts == {
        "document_shares": 1, "memory_items": 1, "messages": 1, "sessions": 1, "source_documents": 2,
        "source_sections": 2, "turns": 1, "knowledge_events": 1, "evidence_links": 1,
    }  # fmt: skip
    (item,) = [line["row"] for line in lines if line["table"] == "memory_items"]
    assert (item["scope_type"], item["scope_id"], item["key"]) == ("project", "p", "decision:shop:database")
    assert any("Stored bytes" in each for each in cast.agent.do("export_domain", domain_id=TEAM)["excluded"])


def test_pages_of_any_size_hold_the_same(cast):
    fill(cast)
    assert export(cast.agent, 1) == export(cast.agent, 2) == export(cast.agent)


def test_the_command_writes_the_same_bytes_again_with_a_manifest_that_fits(cast):
    fill(cast)
    texts = []
    for _ in range(2):
        out = StringIO()
        call_command("export_domain", "--domain", TEAM, stdout=out)
        texts.append(out.getvalue())
    assert texts[0] == texts[1]
    *lines, last = texts[0].splitlines()
    manifest = json.loads(last)["manifest"]
    assert hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() == manifest["sha256"]
    assert sum(manifest["tables"].values()) == len(lines)
    assert (manifest["domain_id"], manifest["format"], manifest["tables"]["tool_calls"]) == (TEAM, 1, 0)
    assert "斑马" in texts[0]


def test_what_others_keep_to_themselves_is_absent(cast):
    fill(cast)
    assert titles(export(cast.agent)) == ["shared", "private"]
    assert titles(export(cast.reader)) == ["shared"]
    narrow = make_agent("narrow", TEAM, pattern="project:q")
    assert export(narrow) == []


def test_a_copy_in_a_scope_that_one_does_not_read_is_not_named(cast):
    """Its source is read; the history of the source says that it was copied, and not to where."""
    given = context("project:p", write=("project:p",))
    item = only(commit(cast.agent, scopes=given, decisions=[decision(scope_ref=ref("project:p"))]))
    out_of_sight = {"type": "global", "id": "council"}
    copy = cast.reviewer.do(
        "promote_to_scope", memory_item_id=item["id"], target_scope=out_of_sight, reason="for all", **VERIFIED
    )["item"]["id"]
    seen = export(make_agent("narrow", TEAM, pattern="project:p"))
    assert {line["row"]["kind"] for line in seen if line["table"] == "knowledge_events"} >= {"copied"}
    assert "council" not in json.dumps(seen)
    assert copy not in json.dumps(seen)


def test_a_page_ends_where_it_has_bytes_enough(cast, monkeypatch):
    fill(cast)
    whole = export(cast.agent)
    monkeypatch.setattr(exporting, "_ENOUGH", 1)
    page = cast.agent.do("export_domain", domain_id=TEAM)
    assert (page["rows"], page["next_cursor"] is None) == (1, False)
    assert export(cast.agent) == whole


def test_another_domain_is_unknown(cast):
    fill(cast)
    with pytest.raises(NotFoundError):
        export(cast.stranger)
    assert export(cast.stranger, domain_id="elsewhere") == []


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 1001}, {"cursor": "x"}, {"domain_id": ""}, {"tables": []}])
def test_bad_input_is_refused(cast, bad):
    with pytest.raises(InvalidInputError):
        cast.agent.do("export_domain", {"domain_id": TEAM, **bad})


def test_a_cursor_belongs_to_its_domain(cast):
    fill(cast)
    cursor = cast.agent.do("export_domain", domain_id=TEAM, limit=1)["next_cursor"]
    with pytest.raises(InvalidInputError):
        cast.stranger.do("export_domain", domain_id="elsewhere", limit=1, cursor=cursor)


def test_a_table_has_one_exporter():
    with pytest.raises(ValueError, match="already"):
        hooks.register_exporter(Exporter("sessions", lambda domain_id, ctx: None, {}))
