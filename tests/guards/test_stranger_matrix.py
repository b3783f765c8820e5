"""Every action, every principal, every row state: a stranger reads nothing, learns nothing and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from governance.models import AuditEntry
from kernel.actions import all_actions
from kernel.errors import DomainError, UnauthenticatedError
from scopes.selectors import authenticate_key
from tests.conftest import Player
from tests.guards.inputs import INPUTS
from tests.guards.world import (
    DOMAIN,
    MARK,
    OTHER,
    PROJECT,
    QUESTION,
    RECORDS,
    UUID,
    Ids,
    World,
    build,
    context,
    stored,
)
from tests.shared import shared

pytestmark = pytest.mark.django_db

COUNTS = {"media_job_stats", "proposal_counts", "review_stats"}  # numbers of what the caller may see: none
ONE_BY_ONE = {"decide_proposals", "retry_media_jobs"}  # answer with what became of each: not found
OWN = {"save_filter", "set_preferences", "upload_media", "whoami"}  # what one chooses or brings for oneself
MAY_ANSWER = (
    COUNTS
    | ONE_BY_ONE
    | {
        "agent_activity",
        "export_audit",
        "list_audit",
        "list_blind_reviews",
        "list_domains",
        "list_filters",
        "list_holds",
        "list_tombstones",
        "list_media_jobs",
        "list_proposals",
        "set_preferences",
        "whoami",
    }
)  # with what is the caller's own
OF_THE_INSTALLATION = {
    "check_media", "doctor", "get_migration", "list_migrated_rows",
    "expire_proposals", "garbage_collect_media_objects", "prune_media_jobs", "recover_media_jobs",
    "create_principal", "issue_key", "revoke_key", "list_principals", "get_policy", "replay_policy", "reset_second_factor",
    "set_policy",
    "verify_audit",
}  # fmt: skip
AT_ODDS = {"get_conflict", "show_conflicts", "inspect_shadows", "list_conflicts"}
READER_SEES = COUNTS | AT_ODDS | {
    "list_blind_reviews", "list_filters",
    "compose_context", "diagnostics", "export_domain", "get_memory_item", "show_memory_items", "get_session", "get_turn",
    "lineage", "related_items", "get_document", "get_document_file", "get_topic", "get_topic_recommendations", "list_documents", "list_tags", "list_topics",
    "list_domains", "list_extractions", "list_media_jobs", "list_memory_items", "list_proposals", "list_scopes",
    "list_sessions", "list_turns", "retrieve", "retry_media_jobs", "search_memory", "whoami",
}  # fmt: skip
SHOWS_CONTENT = READER_SEES - COUNTS - {
    "list_blind_reviews",
    "list_domains",
    "list_filters",
    "list_proposals",
    "retry_media_jobs",
    "whoami",
} | {"get_context", "get_media_job"}
READER_KNOWS_NOTHING_OF = {
    "acknowledge_media_job", "cancel_media_job", "get_media_job", "retry_media_job", "run_media_job",
    "lift_hold",
    "approve_proposal", "claim_proposal", "comment_on_proposal", "delete_filter", "draft_rule", "edit_and_approve",
    "explain_policy", "get_audit_entry", "get_context", "get_proposal", "preview_proposal", "recommend",
    "reject_proposal", "release_proposal", "request_changes", "revert_change", "review_blindly", "review_proposal",
    "revise_proposal", "snooze_proposal", "undo_decision", "withdraw_proposal",
}  # fmt: skip


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with shared(build, django_db_blocker) as built:
        yield built


def ask(player: Player, action: str, tree: dict) -> tuple[int, str, str]:
    """Status, code and the whole answer as text."""
    try:
        answer = player.call(action, tree)
    except DomainError as exc:
        return exc.status, exc.code, json.dumps(exc.problem("r"), ensure_ascii=False)
    return answer.status, "", json.dumps(answer.body(), ensure_ascii=False)


def without(text: str, tree: object) -> str:
    """The text without what the caller said itself."""
    for said in sorted(_strings(tree), key=len, reverse=True):
        text = text.replace(said, "…")
    return text


def _strings(tree: object) -> list[str]:
    if isinstance(tree, dict):
        return [said for inner in tree.values() for said in _strings(inner)]
    if isinstance(tree, list):
        return [said for inner in tree for said in _strings(inner)]
    return [tree] if isinstance(tree, str) and len(tree) > 3 else []


def leaks(text: str, world: World) -> list[str]:
    """The team's words and ids in an answer."""
    found = [word for word in (MARK, MARK.upper(), PROJECT) if word in text]
    return found + sorted(set(UUID.findall(text)) & world.secrets)


def test_it_works(world):
    for name in SHOWS_CONTENT | {"list_domains"}:
        for state, tree in INPUTS[name](world.ids).items():
            status, _, text = ask(world.agent, name, tree)
            assert status == 200
            assert leaks(without(text, tree), world), (
                f"{name} of {state} shows the team nothing: it would prove nothing"
            )


def test_no_action_is_left_out():
    assert {action.name for action in all_actions()} == set(INPUTS), "add the new action to tests/guards/inputs"


@pytest.mark.parametrize("who", ["stranger", "legacy_guest", "reviewer_elsewhere", "nobody", "switched_off"])
def test_an_outsider_reads_nothing_and_writes_nothing(world, who):
    player = world.outsiders[who]
    before = stored()
    for name, inputs in INPUTS.items():
        ghosts = inputs(Ids.ghost())
        for state, tree in inputs(world.ids).items():
            place = f"{who}: {name} of {state}"
            entries = AuditEntry.objects.count()
            status, code, text = ask(player, name, tree)
            assert not leaks(without(text, tree), world), f"{place}: {text}"
            if status == 200:
                assert name in MAY_ANSWER, f"{place} was answered: {text}"
                assert "domain_id" not in tree, f"{place}: a foreign domain is no filter, it is unknown"
            else:
                allowed = {403, 404} if name in OF_THE_INSTALLATION | MAY_ANSWER else {404}
                assert status in allowed, f"{place}: {status} {text}"
                entry = AuditEntry.objects.latest("id")
                assert (entry.outcome, entry.code, entry.action) == ("denied", code, name), place
                assert entry.domain_id is None, f"{place}: an outsider's attempt stays out of the team's own log"
            assert AuditEntry.objects.count() == entries + 1, place
            ghost = ask(player, name, ghosts[state])
            assert ghost[:2] == (status, code), f"{place} can be told from one that does not exist"
            if status != 200:
                assert without(ghost[2], ghosts[state]) == without(text, tree), place
    assert stored() == before


def test_a_read_only_key_may_look_and_not_touch(world):
    reader = world.insiders["reader"]
    before = stored(RECORDS)
    for name, inputs in INPUTS.items():
        for state, tree in inputs(world.ids).items():
            status, _, text = ask(reader, name, tree)
            unseen = name in READER_KNOWS_NOTHING_OF and state != "question"
            wanted = 200 if name in READER_SEES else 404 if unseen else 403
            assert status == wanted, f"{name} of {state}: {status} {text}"
            assert stored(RECORDS) == before, f"{name} of {state} wrote"


@pytest.mark.parametrize("who", ["neighbour", "other_reviewer"])
def test_a_grant_on_another_project_shows_nothing_of_this_one(world, who):
    player = world.insiders[who]
    before = stored()
    for name, inputs in INPUTS.items():
        for state, tree in inputs(world.ids).items():
            status, _, text = ask(player, name, tree)
            shown = without(text, tree).replace(DOMAIN, "…")
            assert not leaks(shown, world), f"{who}: {name} of {state}: {text}"
            lists = name.startswith(("list_", "export_")) and name not in {
                "list_turns",
                "list_principals",
                "export_legacy",
            }
            assert status in ({200, 403} if lists else {403, 404}) or name in COUNTS | ONE_BY_ONE | OWN | {
                "agent_activity"
            }, f"{name} of {state}: {status} {text}"
            assert not lists or status == 403 or _rows(text) == [] or name == "list_domains", f"{name}: {text}"
    assert stored() == before


def _rows(text: str) -> list:
    """The rows of a list; of an export its lines but the one that names the columns."""
    body = json.loads(text)
    if "content" in body:
        lines: list[str] = body["content"].splitlines()
        return lines[body["content"].startswith("id,") :]
    return next(value for value in body.values() if isinstance(value, list))


@pytest.mark.parametrize("who", ["neighbour", "other_reviewer"])
def test_inside_the_domain_too_a_hidden_row_looks_like_none(world, who):
    ghost = Ids.ghost(DOMAIN)
    for name in (
        "get_session", "get_turn", "get_proposal", "list_turns", "withdraw_proposal", "approve_proposal",
        "get_memory_item", "show_memory_items", "get_context", "extract_turn", "get_audit_entry", "lineage", "retract_item",
        "get_document", "related_items",
        "get_document_file", "remove_document", "share_document", "unshare_document", "get_topic", "delete_topic", "move_tag", "delete_tag", "tag_sections",
    ):  # fmt: skip
        for state, tree in INPUTS[name](world.ids).items():
            real, absent = (
                ask(world.insiders[who], name, tree),
                ask(world.insiders[who], name, INPUTS[name](ghost)[state]),
            )
            assert real[:2] == absent[:2] == (404, "not_found"), f"{name} of {state}"
            assert without(real[2], tree) == without(absent[2], INPUTS[name](ghost)[state])


def test_a_sibling_project_reads_its_own_and_nothing_of_this_one(world):
    player = world.insiders["neighbour"]
    own = Ids(domain=DOMAIN, session="wombats", project=OTHER)
    place = {"domain_id": DOMAIN, "session_id": own.session, **context(f"project:{OTHER}", write=f"project:{OTHER}")}
    goal = {"key": "goal:wombat:g", "description": "Finish the wombat plan"}
    edge = {"subject": "wombat", "predicate": "uses", "object": "burrow"}
    player.do("commit_turn", place, turn_events={"goals": [goal], "edges": [edge]})
    for asked in ("the wombat plan", QUESTION, "Planboard"):
        for name, fields in (
            ("search_memory", {"query": asked, "kinds": ["memory", "message"], "history": True}),
            ("search_memory", {"query": asked, "mode": "relational"}),
            ("compose_context", {"user_message": asked, "render": True}),
        ):
            status, _, text = ask(player, name, {**place, **fields})
            assert status == 200
            assert not leaks(text.replace(DOMAIN, "…"), world), f"{name} of {asked}: {text}"
            assert ("Finish the wombat" in text) or "wombat" not in asked
    listed = player.do("list_memory_items", domain_id=DOMAIN, history=True)["items"]
    assert [item["key"] for item in listed] == [goal["key"]]


@pytest.mark.parametrize("name", [action.name for action in all_actions() if action.effect == "read"])
def test_a_second_principal_of_the_legacy_domain_reads_nothing_of_the_first(world, name):
    guest = world.outsiders["legacy_guest"]
    ghost = Ids.ghost("legacy")
    for state, tree in INPUTS[name](world.legacy).items():
        if "project" in state:
            continue
        status, code, text = ask(guest, name, tree)
        assert not leaks(without(text, tree), world), f"{name} of {state}: {text}"
        if name in SHOWS_CONTENT and state in ("session", "domain"):
            own = ask(world.legacy_agent, name, tree)[2]
            assert leaks(without(own, tree), world), f"{name} of {state} would prove nothing"
        absent = ask(guest, name, INPUTS[name](ghost)[state])
        assert absent[:2] == (status, code), f"{name} of {state}"


def test_a_revoked_key_is_nobody(world):
    secret = world.agent.key
    assert authenticate_key(secret).actor.name == world.agent.name
    world.operator.do("revoke_key", key_prefix=world.ids.key_prefix)
    with pytest.raises(UnauthenticatedError):
        authenticate_key(secret)


@pytest.mark.parametrize(
    "secret", ["", "sb", "sb__", "sb_x_y", "Bearer x", "sb_\x00_x", "sb_\ud800_x", "sb_钥匙_x", "_" * 99]
)
def test_a_wrong_key_is_nobody(world, secret):
    with pytest.raises(UnauthenticatedError):
        authenticate_key(secret)


def test_a_key_of_the_right_prefix_and_wrong_secret_is_nobody(world):
    with pytest.raises(UnauthenticatedError):
        authenticate_key(world.agent.key[:-1] + ("A" if world.agent.key[-1] != "A" else "B"))
