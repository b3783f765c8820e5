"""A summary tells what was learned for the scopes that its conversation uses, and nothing that was made of it elsewhere."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from django.apps import apps
from django.db import connection

from memory.models import MemoryItem, Session, Summary
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.guards.write_guard import unguarded
from tests.memory.acting import SHOP, TASK, correct, known, narrow
from tests.memory.talk import VERIFIED, commit, compose, context, decision, ref
from tests.memory.test_summary import under

SECRET = "The confidential budget is 100"
OURS = "Use Postgres"


def outsider() -> Player:
    return make_agent("outsider", pattern="task:*")


def promoted(cast: Cast, item_id: str, text: str | None = SECRET) -> str:
    body = {"memory_item_id": item_id, "target_scope": ref(SHOP), "reason": "for all", "text": text, **VERIFIED}
    return str(cast.reviewer.do("promote_to_scope", body)["item"]["id"])


def summaries(player: Player, *scopes: str) -> list[str]:
    """What every door tells of the summary of the conversation after one more decision in it."""
    used = context(*scopes)
    said = commit(player, scopes=used, decisions=[decision("Use NATS", "decision:shop:queue")])["summary"]["text"]
    composed = compose(player, "hello", scope_context=used)["working_summary"]
    session = Session.objects.get(external_id="s1")
    kept = player.do("get_session", id=str(session.pk))["summaries"]
    return [said, composed, *(each["text"] for each in kept)]


def test_it_works(cast):
    agent = outsider()
    promoted(cast, known(agent, OURS, scope=TASK))
    told = summaries(agent, TASK)
    assert SECRET not in str(told)
    assert under(told[0], "Decisions") == ["Use NATS", OURS]


def test_a_correction_of_the_copy_elsewhere_stays_there(cast):
    agent = outsider()
    correct(cast.reviewer, promoted(cast, known(agent, OURS, scope=TASK), None), text=SECRET)
    assert SECRET not in str(summaries(agent, TASK))


def test_what_was_narrowed_to_another_task_leaves_the_summary(cast):
    known(cast.agent, "Use Kafka", scope=SHOP)
    other = make_agent("other", pattern=SHOP)
    item = known(other, OURS, scope=SHOP, key="decision:shop:other", session="o1")
    narrow(cast.reviewer, item, text=SECRET)
    used = context(SHOP)
    said = commit(other, "o1", scopes=used, decisions=[decision("Use NATS", "decision:shop:queue")])["summary"]["text"]
    assert under(said, "Decisions") == ["Use NATS"]
    assert SECRET not in compose(other, "hello", "o1", scope_context=used)["working_summary"]


def test_what_was_narrowed_to_a_task_of_the_conversation_stays_in_it(cast):
    narrow(cast.agent, known(cast.agent, OURS), text="Use Postgres here")
    assert under(summaries(cast.agent, SHOP, TASK)[0], "Decisions") == ["Use NATS", "Use Postgres here"]


def test_a_copy_for_a_scope_of_the_conversation_is_not_told_beside_its_source(cast):
    promoted(cast, known(cast.agent, OURS, scope=TASK), "We use Postgres")
    assert under(summaries(cast.agent, TASK, SHOP)[0], "Decisions") == ["Use NATS", OURS]


def leaked(cast: Cast) -> Player:
    """A conversation whose stored summaries tell what was made of its decision elsewhere."""
    agent = outsider()
    copy = promoted(cast, known(agent, OURS, scope=TASK))
    long = f"{SECRET} {'word ' * 100}"
    correct(cast.reviewer, copy, text=long)
    alone = "## Goals\n- None\n\n## Decisions\n{}\n\n## Tasks\n- None\n\n## Key References\n- {}\n\n## Open Questions\n- None"
    with unguarded():
        row = Summary.objects.latest("version")
        for version, decided in enumerate((f"- {SECRET}\n- {OURS}", f"- {long[:199]}…"), start=1):
            Summary.objects.update_or_create(
                session=row.session,
                version=version,
                defaults={
                    "domain_id": TEAM, "text": alone.format(decided, SECRET), "source_from": 1, "source_to": 1,
                    "trigger": "stage_event", "generated_at": row.generated_at,
                },
            )  # fmt: skip
    return agent


def test_stored_summaries_are_put_right(cast):
    leaked(cast)
    for _ in range(2):
        with unguarded():
            import_module("memory.migrations.0014_summaries_of_own_scopes").put_right(
                apps, SimpleNamespace(connection=connection)
            )
    first, second = Summary.objects.order_by("version").values_list("text", flat=True)
    assert (under(first, "Decisions"), under(second, "Decisions")) == ([OURS], ["None"])
    assert under(first, "Key References") == [SECRET], "what was said in the conversation itself stays"


def test_a_stored_line_that_the_conversation_says_too_stays(cast):
    agent = outsider()
    promoted(cast, known(agent, OURS, scope=TASK), None)
    before = Summary.objects.get().text
    with unguarded():
        import_module("memory.migrations.0014_summaries_of_own_scopes").put_right(
            apps, SimpleNamespace(connection=connection)
        )
    assert Summary.objects.get().text == before
    assert MemoryItem.objects.filter(source_session=Summary.objects.get().session).count() == 2


def test_what_another_writes_from_the_conversation_elsewhere_is_not_told(cast):
    agent = outsider()
    turn = commit(agent, scopes=context(TASK), decisions=[decision(OURS)])["turn_id"]
    item = {"key": "decision:shop:budget", "decision": SECRET}
    given = {"domain_id": TEAM, "scope": ref(SHOP), "type": "decisions", "item": item, "turn_id": turn}
    cast.agent.do("write_memory_item", given)
    assert SECRET not in str(summaries(agent, TASK))
