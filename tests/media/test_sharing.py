"""Who sees a document, who shares it and who takes it away."""

from __future__ import annotations

from media.models import DocumentShare, SourceDocument
from search.models import IndexEntry
from tests.conftest import TEAM, make_agent
from tests.media.imports import PROJECT, add, found, peer, refused, sections

__all__ = ["peer"]


def test_nobody_else_sees_what_is_not_shared(cast, peer):
    made = add(cast.agent)
    for player in (peer, cast.reader, cast.stranger):
        assert refused(player, "get_document", document_id=made["document_id"]) == (404, "not_found")
    assert peer.do("list_documents", domain_id=TEAM)["documents"] == []
    assert found(peer, "Postgres") == []
    assert "Postgres" in found(cast.agent, "Postgres")[0]
    assert [s["type"] for s in peer.do("list_scopes", domain_id=TEAM)["scopes"]] == []


def test_a_scope_lets_others_see_it(cast, peer):
    made = add(cast.agent, scopes=(PROJECT,))
    told = peer.do("get_document", document_id=made["document_id"])["document"]
    assert (told["own"], told["owner"], told["scopes"]) == (False, "agent", [PROJECT])
    assert "Postgres" in found(peer, "Postgres")[0]
    assert found(peer, "Postgres", {"type": "project", "id": "other"}) == []
    assert refused(cast.stranger, "get_document", document_id=made["document_id"]) == (404, "not_found")


def test_a_section_is_found_once_although_it_is_indexed_twice(cast):
    add(cast.agent, scopes=(PROJECT, {"type": "task", "id": "t"}))
    assert len(found(cast.agent, "Postgres")) == 1


def test_sharing_and_taking_back(cast, peer):
    made = add(cast.agent)
    given = {"document_id": made["document_id"], "scope": PROJECT}
    assert cast.agent.do("share_document", given)["scopes"] == [PROJECT]
    assert cast.agent.do("share_document", given)["scopes"] == [PROJECT]
    assert DocumentShare.objects.count() == 1
    assert found(peer, "西瓜")
    assert cast.agent.do("unshare_document", given)["scopes"] == []
    assert found(peer, "西瓜") == []
    assert found(cast.agent, "西瓜")
    assert refused(peer, "get_document", document_id=made["document_id"]) == (404, "not_found")


def test_only_the_owner_shares(cast, peer):
    made = add(cast.agent, scopes=(PROJECT,))
    other = {"document_id": made["document_id"], "scope": {"type": "task", "id": "t"}}
    assert refused(peer, "share_document", **other) == (403, "forbidden")
    assert refused(peer, "unshare_document", document_id=made["document_id"], scope=PROJECT) == (403, "forbidden")


def test_sharing_needs_the_right_to_write_there(cast):
    narrow = make_agent("narrow", TEAM, pattern="project:shop")
    assert refused(narrow, "add_document", domain_id=TEAM, options={"text": "x"}, scopes=[{"type": "task", "id": "t"}]) == (404, "not_found")  # fmt: skip
    made = narrow.do("add_document", domain_id=TEAM, options={"text": "# Narrow\n\nWords"})
    given = {"document_id": made["document_id"], "scope": {"type": "task", "id": "t"}}
    assert refused(narrow, "share_document", **given) == (404, "not_found")
    assert SourceDocument.objects.count() == 1


def test_who_only_reads_imports_nothing(cast):
    for scopes in ([], [PROJECT]):
        told = refused(cast.reader, "add_document", domain_id=TEAM, options={"text": "x"}, scopes=scopes)
        assert told == (403, "forbidden")


# Taking away


def test_the_owner_takes_it_away_with_all_that_hangs_on_it(cast, peer):
    made = add(cast.agent, scopes=(PROJECT,), tags=["x"])
    other = add(peer, "# Other\n\nThe Postgres port.", scopes=(PROJECT,))
    given = {"document_id": made["document_id"], "reason": "old"}
    assert cast.agent.do("remove_document", given)["section_count"] == 2
    assert refused(cast.agent, "get_document", document_id=made["document_id"]) == (404, "not_found")
    assert found(cast.agent, "Postgres") == ["# Other\n\nThe Postgres port."]
    assert set(SourceDocument.objects.values_list("pk", flat=True)) == {SourceDocument.objects.get().pk}
    assert str(SourceDocument.objects.get().pk) == other["document_id"]
    assert IndexEntry.objects.filter(kind="section").count() == 2
    assert refused(cast.agent, "remove_document", **given) == (404, "not_found")


def test_whoever_may_erase_there_takes_it_away(cast, peer):
    made = add(cast.agent, scopes=(PROJECT,))
    given = {"document_id": made["document_id"], "reason": "must go"}
    assert refused(peer, "remove_document", **given) == (403, "forbidden")
    eraser = make_agent("eraser", TEAM, rights=["read", "erase"])
    assert eraser.do("remove_document", given)["section_count"] == 2


def test_erasing_elsewhere_is_not_enough(cast):
    made = add(cast.agent, scopes=(PROJECT,))
    elsewhere = make_agent("elsewhere-eraser", "elsewhere", rights=["read", "write", "erase"])
    assert refused(elsewhere, "remove_document", document_id=made["document_id"], reason="x") == (404, "not_found")


def test_a_document_is_evidence_for_who_sees_it(cast, peer):
    made = add(cast.agent)
    section = sections(cast.agent, made["document_id"])[0]["id"]
    refs = [{"kind": "section", "id": section}, {"kind": "document", "id": made["document_id"]}]
    decision = {"key": "decision:shop:db", "decision": "Use Postgres", "evidence_refs": refs}
    turn = {"domain_id": TEAM, "session_id": "s1", "turn_events": {"messages": [], "decisions": [decision]}}
    assert refused(peer, "commit_turn", **{**turn, "session_id": "s2"})[0] == 422
    assert cast.agent.do("commit_turn", turn)["memory_written"]["items"]


def test_a_session_of_the_legacy_domain_is_each_principals_own(db):
    one, other = make_agent("one", "legacy"), make_agent("other", "legacy")
    scope = {"type": "session", "id": "s1"}
    made = {}
    for player in (one, other):
        given = {"domain_id": "legacy", "options": {"text": f"# Of {player.name}\n\nZebra."}, "scopes": [scope]}
        made[player.name] = player.do("add_document", given)["document_id"]
    for player in (one, other):
        listed = player.do("list_documents", domain_id="legacy")["documents"]
        assert [each["id"] for each in listed] == [made[player.name]]
        assert listed[0]["scopes"] == [scope]
        gone = player.do("unshare_document", document_id=made[player.name], scope=scope)
        assert gone["scopes"] == []
