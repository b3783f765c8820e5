"""References to evidence: each exists, is visible and counts once, or the call is refused before anything is stored."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.errors import InvalidInputError
from memory.contracts.lifecycle import DemoteInput
from memory.contracts.refs import EvidenceRef
from memory.models import EvidenceLink, MemoryItem, Message, Turn
from scopes.selectors import authenticate_key
from search import hooks
from tests.conftest import make_agent
from tests.memory.talk import commit, context, decision, only, task

P = "project:shop"
NOBODY = "01a00000-0000-7000-8000-000000000000"


def links(item_id: str) -> list[tuple[str, str]]:
    rows = EvidenceLink.objects.filter(item_id=UUID(item_id)).exclude(kind="turn").order_by("id")
    return list(rows.values_list("kind", "ref"))


def test_it_works(cast):
    first = commit(cast.agent, say="We chose Postgres.", extract=False, decisions=[decision()])
    message, known = str(Message.objects.get().id), only(first)["id"]
    refs = [known, {"kind": "message", "id": message}, {"kind": "url", "id": "https://example.org/why"}]
    made = only(commit(cast.agent, tasks=[task(evidence_refs=refs)]))
    assert links(made["id"]) == [("memory", known), ("message", message), ("url", "https://example.org/why")]


def test_the_same_reference_in_two_spellings_counts_once(cast):
    known = only(commit(cast.agent, decisions=[decision()]))["id"]
    refs = [known, known.upper(), {"kind": "memory", "id": known}, {"kind": "memory", "id": known.replace("-", "")}]
    made = only(commit(cast.agent, tasks=[task(evidence_refs=refs)]))
    assert links(made["id"]) == [("memory", known)]


def test_of_two_spellings_the_first_stays_in_its_place():
    refs = [f"https://{name}" for name in ("a.example", "b.example", "A.example/", "c.example", "b.example#x")]
    given = {"memory_item_id": NOBODY, "reason": "r", "reason_type": "unsafe"}
    made = DemoteInput.parse({**given, "evidence_refs": [{"kind": "url", "id": each} for each in refs]})
    assert [each.id for each in made.evidence_refs] == [refs[0], refs[1], refs[3]]


def test_a_message_can_be_named_by_the_callers_own_id_also_in_the_same_turn(cast):
    first = {"role": "user", "content": "We chose Postgres.", "id": "m1"}
    commit(cast.agent, messages=[first], extract=False)
    again = {"role": "user", "content": "As I said.", "id": "m2"}
    refs = [{"kind": "message", "id": "m1"}, {"kind": "message", "id": "m2"}]
    made = only(commit(cast.agent, messages=[again], extract=False, tasks=[task(evidence_refs=refs)]))
    stored = {row.external_id: str(row.id) for row in Message.objects.all()}
    assert set(links(made["id"])) == {("message", stored["m1"]), ("message", stored["m2"])}


def test_tool_results_are_evidence_too(cast):
    commit(cast.agent, tool_calls=[{"name": "grep", "result": "5432"}])
    call = str(Turn.objects.get().tool_calls.get().id)
    made = only(commit(cast.agent, tasks=[task(evidence_refs=[{"kind": "message", "id": call}])]))
    assert links(made["id"]) == [("message", call)]


@pytest.mark.parametrize(
    ("spelt", "same"),
    [
        ("HTTPS://Example.ORG/why", True),
        ("https://example.org:443/why", True),
        ("https://example.org./why/", True),
        ("https://ann@example.org/why#part-2", True),
        ("https://example.org/why?", True),
        ("https://example.org/%77hy", True),
        ("http://example.org/why", False),
        ("https://example.org:8443/why", False),
        ("https://example.org/Why", False),
        ("https://example.org/why?page=2", False),
    ],
)
def test_an_address_names_the_same_page_however_it_is_spelt(spelt, same):
    refs = [EvidenceRef(kind="url", id=text) for text in ("https://example.org/why", spelt)]
    assert (refs[0].identity == refs[1].identity) is same


@pytest.mark.parametrize(
    "ref",
    [
        NOBODY,
        {"kind": "memory", "id": NOBODY},
        {"kind": "memory", "id": "' OR 1=1 --"},
        {"kind": "message", "id": NOBODY},
        {"kind": "message", "id": "no such message"},
        {"kind": "section", "id": NOBODY},
        {"kind": "document", "id": "handbook"},
        {"kind": "card", "id": "../../etc/passwd"},
    ],
)
def test_a_reference_that_leads_nowhere_stops_the_whole_commit_and_is_named(cast, ref):
    known = only(commit(cast.agent, decisions=[decision()]))["id"]
    turns, items = Turn.objects.count(), MemoryItem.objects.count()
    with pytest.raises(InvalidInputError) as caught:
        commit(cast.agent, say="hello", goals=[{"key": "goal:a:b"}], tasks=[task(evidence_refs=[known, ref])])
    assert caught.value.errors[0]["loc"] == ["turn_events", "tasks", "0", "evidence_refs", "1"]
    assert (Turn.objects.count(), MemoryItem.objects.count()) == (turns, items)


@pytest.mark.parametrize(
    "address",
    ["example.org", "ftp://example.org", "javascript:alert(1)", "https://", "https://a b", "http://[x", "HTTP"],
)
def test_what_is_no_web_address_is_refused(cast, address):
    with pytest.raises(InvalidInputError, match="http"):
        commit(cast.agent, tasks=[task(evidence_refs=[{"kind": "url", "id": address}])])


def test_a_kind_of_which_no_store_is_installed_says_so(cast):
    with pytest.raises(InvalidInputError, match="no store of kind 'card' is installed here"):
        commit(cast.agent, tasks=[task(evidence_refs=[{"kind": "card", "id": "a"}])])


def test_what_another_may_not_see_looks_like_what_is_not_there(cast):
    hidden = only(commit(cast.stranger, decisions=[decision()], domain_id="elsewhere"))["id"]
    own = only(commit(cast.agent, decisions=[decision()], scopes=context(P)))["id"]
    neighbour = make_agent("neighbour", pattern="project:other")
    said = {}
    for player, there in ((cast.agent, hidden), (neighbour, own)):
        for given in (there, NOBODY):
            body = {"scopes": context("project:other"), "tasks": [task(evidence_refs=[given])]}
            with pytest.raises(InvalidInputError) as caught:
                commit(player, f"of {player.name}", **body)
            said[player.name, given] = caught.value.message.replace(given, "…")
    assert len(set(said.values())) == 1


def test_an_item_of_another_domain_that_one_may_see_is_still_elsewhere(cast):
    both = make_agent("both")
    cast.operator.do("grant_access", name="both", domain_id="elsewhere", rights=["read", "write"])
    both = replace(both, identity=authenticate_key(both.key))
    other = only(commit(both, decisions=[decision()], domain_id="elsewhere"))["id"]
    with pytest.raises(InvalidInputError, match="in this domain"):
        commit(both, tasks=[task(evidence_refs=[other])])


def test_one_statement_for_each_kind_however_many_references(cast, no_folding):
    ids = [only(commit(cast.agent, tasks=[task(str(n), f"task:shop:{n}")]))["id"] for n in range(8)]
    counts = []
    for number, refs in enumerate((ids[:1], ids)):
        with CaptureQueriesContext(
            connection,
        ) as caught:
            commit(cast.agent, goals=[{"key": f"goal:a:{number}", "evidence_refs": refs}])
        counts.append(len(caught))
    assert counts[0] == counts[1]


def test_another_app_can_add_its_own_kind(cast, monkeypatch):
    monkeypatch.setitem(hooks._resolvers, "card", lambda ids, domain_id, ctx: {"intro": "intro"})
    made = only(commit(cast.agent, tasks=[task(evidence_refs=[{"kind": "card", "id": "intro"}])]))
    assert links(made["id"]) == [("card", "intro")]
    with pytest.raises(InvalidInputError, match="no card 'outro'"):
        commit(cast.agent, tasks=[task("x", "task:a:b", evidence_refs=[{"kind": "card", "id": "outro"}])])
