"""How proposals about documents look to a reviewer, what they would do, and that approving does it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from governance import hooks
from governance.contracts.presenting import Presentation
from governance.models import Proposal
from kernel.actions import Change, get
from media.contracts.documents import AddDocumentInput
from media.extensions.proposals import said_of_import
from media.models import SourceDocument
from tests.conftest import TEAM, Cast, make_person

PROJECT = {"type": "project", "id": "shop"}


def hold(cast: Cast, *actions: str) -> None:
    rule = {"name": "look", "actions": list(actions)}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look first")


def add(cast: Cast, text: str = "# Plan\n\nUse Postgres.\n", **fields: Any) -> dict:
    options = {"text": text, **fields.pop("options", {})}
    return cast.agent.do("add_document", domain_id=TEAM, options=options, **fields)


def presented(cast: Cast) -> Presentation:
    row = Proposal.objects.latest("id")
    presenter = hooks.presenter_of(row.action)
    assert presenter is not None
    given = get(row.action).input.parse(row.input)
    return presenter(given, [Change.from_json(kept) for kept in row.changes], cast.reviewer.ctx())


def effects(cast: Cast, proposal_id: str) -> dict[str, tuple[int, list[str]]]:
    told = cast.reviewer.do("preview_proposal", id=proposal_id)
    return {line["what"]: (line["count"], line["rows"] or line["who"]) for line in told["lines"]}


def test_it_works(cast):
    hold(cast, "add_*")
    waits = add(cast, scopes=[PROJECT], options={"tags": ["plans"]})["proposal"]
    assert waits["subject"] == "Import for project:shop: Plan"
    assert not SourceDocument.objects.exists()
    shown = presented(cast)
    assert [(row.kind, row.title) for row in shown.rows] == [("added", "Plan")]
    fields = {each.name: each.after for each in shown.rows[0].fields}
    assert (fields["tags"], fields["scopes"], fields["owner"]) == ("plans", "project:shop", "agent")
    assert "Use Postgres." in fields["text"]
    told = effects(cast, waits["id"])
    assert told["new documents"] == (1, ["Plan"])
    assert told["sections"][0] == 1
    assert told["principals gain sight of a document"] == (2, ["agent", "reader"])
    cast.reviewer.do("approve_proposal", id=waits["id"])
    assert SourceDocument.objects.get().owner_name == "agent"


def test_the_key_to_an_upload_is_shown_to_nobody_who_decides(cast):
    hold(cast, "add_document")
    source = cast.agent.do("upload_media", data="IyBQbGFu", name="plan.md", domain_id=TEAM)["source"]
    cast.agent.do("add_document", domain_id=TEAM, source=source, scopes=[PROJECT])
    shown = presented(cast)
    assert [each.id for each in shown.evidence] == [source.partition(".")[0]]
    assert source.partition(".")[2] not in shown.model_dump_json()
    nothing = said_of_import(AddDocumentInput(source=source), [])
    assert nothing == f"Import for its owner only: {source.partition('.')[0]}"


@pytest.mark.parametrize(
    ("action", "fields", "subject", "effect"),
    [
        ("share_document", {"scope": {"type": "task", "id": "t"}}, "Share to task:t: Plan", "principals gain sight of a document"),
        ("unshare_document", {"scope": PROJECT}, "Take out of project:shop: Plan", "principals lose sight of a document"),
        ("remove_document", {"reason": "old"}, "Take away: Plan", "documents taken away"),
    ],
)  # fmt: skip
def test_what_becomes_of_a_document(cast, action, fields, subject, effect):
    made = add(cast, scopes=[PROJECT])
    hold(cast, action)
    waits = cast.agent.do(action, fields, document_id=made["document_id"])["proposal"]
    assert waits["subject"] == subject
    shown = presented(cast)
    assert (shown.subject, shown.evidence[0].source) == (subject, "Plan")
    assert "Use Postgres." in shown.evidence[0].text
    assert effect in effects(cast, waits["id"])
    cast.reviewer.do("approve_proposal", id=waits["id"])


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
@pytest.mark.parametrize("action", ["add_document", "share_document", "unshare_document", "remove_document"])
def test_what_was_decided_is_shown_as_it_was(cast, action, verdict):
    made = add(cast, scopes=[PROJECT], options={"source_uri": "x:plan"})
    hold(cast, action)
    if action == "add_document":
        waits = add(cast, "# Other\n\nUse DuckDB.\n", options={"source_uri": "x:plan"}, scopes=[PROJECT])["proposal"]
    else:
        place = {"share_document": {"type": "task", "id": "t"}, "unshare_document": PROJECT}.get(action)
        fields = {"scope": place} if place else {"reason": "old"}
        waits = cast.agent.do(action, fields, document_id=made["document_id"])["proposal"]
    if verdict == "approved":
        cast.reviewer.do("approve_proposal", id=waits["id"])
    else:
        cast.reviewer.do("reject_proposal", id=waits["id"], reason="no")
    first = cast.reviewer.do("review_proposal", id=waits["id"])["presentation"]
    assert first["subject"] == waits["subject"]
    assert first["rows"]
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="nobody looks any more")
    add(cast, "# Third\n\nUse nothing.\n", options={"source_uri": "x:plan"}, scopes=[PROJECT])
    then = cast.reviewer.do("review_proposal", id=waits["id"])["presentation"]
    assert then == first
    assert "nothing" not in str(then)


def test_what_was_imported_again_shows_what_changes(cast):
    add(cast, options={"source_uri": "x:plan"}, scopes=[PROJECT])
    hold(cast, "add_document")
    waits = add(cast, "# Other\n\nUse DuckDB.\n", options={"source_uri": "x:plan"}, scopes=[PROJECT])["proposal"]
    row = presented(cast).rows[0]
    assert (row.kind, row.title) == ("changed", "Other")
    assert {"title", "content_hash"} <= {each.name for each in row.fields if each.differs}
    assert effects(cast, waits["id"])["documents imported again"] == (1, ["Other"])


def test_the_front_page_counts_what_one_may_see(cast):
    add(cast, scopes=[PROJECT])
    for name, pattern, sees in (("ann", "*", True), ("bob", "task:none", False)):
        make_person(name, TEAM, pattern, is_staff=True)
        client = Client()
        client.force_login(get_user_model().objects.get(username=name))
        text = client.get(reverse("admin:index")).content.decode()
        assert ("No document is shared to what you read." in text) is not sees
