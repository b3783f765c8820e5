"""A call tried before it is made: what it would do is told and nothing is kept; what was shown is what is done."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

from governance import gate
from governance.models import AuditEntry, Proposal
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, StaleError
from memory.models import KnowledgeEvent, MemoryItem
from scopes.selectors import identify_person
from tests.conftest import TEAM, Player, make_person
from tests.memory.acting import SHOP, TASK, correct, known
from tests.memory.talk import VERIFIED, compose, context, ref

QUEUED = {"review": {"queue": [{"name": "all", "actions": ["retract_item"], "actor_kinds": ["person"]}]}}


def preview(player: Player, action: str, item_id: str, **fields: object) -> dict:
    given = {"memory_item_id": item_id, "reason": "it was wrong", **fields}
    return player.do("preview_call", action=action, input=given)


def retract_as_seen(player: Player, item_id: str, digest: str, **fields: object) -> dict:
    given = {"memory_item_id": item_id, "reason": "it was wrong", **fields}
    return gate.call("retract_item", given, ctx=player.ctx(), expecting=digest).body()


def test_it_works(cast):
    row = known(cast.agent)
    compose(cast.agent, "Which database, Postgres?", "s1", scope_context=context(SHOP))
    before = KnowledgeEvent.objects.count()
    told = preview(cast.reviewer, "retract_item", row)
    lines = {line["kind"]: line for line in told["lines"]}
    assert (told["waits"], told["already"], told["withheld"]) == (False, False, False)
    assert lines["loses_sight"]["who"] == ["agent", "reader"]
    assert lines["contexts"]["count"] == 1
    assert [each["differs"] for each in told["shown"]] == [True]
    assert [each["id"] for each in told["rows"] if each["table"] == "memory_items"] == [row]
    assert MemoryItem.objects.get(pk=row).status == "active"
    assert KnowledgeEvent.objects.count() == before
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.outcome, entry.changes) == ("preview_call", "allowed", [])


def test_what_was_shown_is_what_is_done_and_nothing_else(cast):
    row = known(cast.agent)
    digest = preview(cast.reviewer, "retract_item", row)["digest"]
    correct(cast.reviewer, row, text="Use SQLite")
    with pytest.raises(StaleError, match="something else by now"):
        retract_as_seen(cast.reviewer, row, digest)
    assert MemoryItem.objects.get(pk=row).status == "superseded"
    other = known(cast.agent, "Use Redis", key="decision:shop:cache")
    digest = preview(cast.reviewer, "retract_item", other)["digest"]
    for _ in range(2):  # the same call again gets the first answer, though it would change nothing any more
        answer = retract_as_seen(cast.reviewer, other, digest, idempotency_key="k")
        assert answer["item"]["status"] == "retracted"
    assert answer["deduplicated"] is True


def test_what_another_took_back_meanwhile_is_told(cast):
    row = known(cast.agent)
    digest = preview(cast.reviewer, "retract_item", row)["digest"]
    make_person("other", TEAM).do("retract_item", memory_item_id=row, reason="mine")
    with pytest.raises(StaleError):
        retract_as_seen(cast.reviewer, row, digest)


def test_a_call_that_would_wait_says_so_and_waits_for_what_was_shown(cast):
    row = known(cast.agent)
    cast.operator.do("set_policy", domain_id=TEAM, document=QUEUED, reason="two people")
    told = preview(cast.reviewer, "retract_item", row)
    assert (told["waits"], told["rule"]) == (True, "review.queue:all")
    assert not Proposal.objects.exists()
    with pytest.raises(StaleError):
        retract_as_seen(cast.reviewer, row, "0" * 64)
    assert not Proposal.objects.exists()
    assert retract_as_seen(cast.reviewer, row, told["digest"])["status"] == "queued"


def test_the_effect_in_a_scope_where_one_does_not_decide_is_withheld(cast):
    row = known(cast.agent, scope=TASK, session="s2")
    given = {"target_scope": ref(SHOP), **VERIFIED}
    here = make_person("here", TEAM, TASK)
    with pytest.raises(NotFoundError):
        preview(here, "promote_to_scope", row, **given)
    cast.operator.do("assign_reviewer", user="here", domain_id=TEAM, pattern=SHOP, role="operator")
    here = Player("here", identify_person(get_user_model().objects.get(username="here")))
    told = preview(here, "promote_to_scope", row, **given)
    assert (told["waits"], told["withheld"], told["rows"], told["lines"], told["shown"]) == (True, True, [], [], [])
    told = preview(cast.reviewer, "promote_to_scope", row, **given)
    assert (told["waits"], told["withheld"]) == (False, False)
    assert {line["kind"] for line in told["lines"]} >= {"rows", "index"}


def test_what_was_done_before_would_change_nothing(cast):
    row = known(cast.agent, scope=TASK, session="s2")
    given = {"target_scope": ref(SHOP), **VERIFIED}
    cast.reviewer.do("promote_to_scope", memory_item_id=row, reason="agreed", **given)
    told = preview(cast.reviewer, "promote_to_scope", row, **given)
    assert (told["already"], told["rows"], told["lines"]) == (True, [], [])


@pytest.mark.parametrize(
    ("who", "action", "fields", "error"),
    [
        ("agent", "retract_item", {}, ForbiddenError),
        ("stranger", "retract_item", {}, NotFoundError),
        ("reviewer", "no_such_action", {}, NotFoundError),
        ("reviewer", "claim_proposal", {}, InvalidInputError),
        ("reviewer", "retract_item", {"reason": " "}, InvalidInputError),
        ("reviewer", "retract_item", {"surprise": 1}, InvalidInputError),
        ("reviewer", "demote_from_scope", VERIFIED, InvalidInputError),
        ("reviewer", "demote_from_scope", {"evidence_refs": VERIFIED["verification_refs"]}, ConflictError),
        ("reviewer", "set_policy", {}, InvalidInputError),
    ],
)
def test_it_is_refused_as_the_call_would_be(cast, who, action, fields, error):
    row = known(cast.agent)
    with pytest.raises(error):
        preview(getattr(cast, who), action, row, **fields)
    assert MemoryItem.objects.get(pk=row).status == "active"
