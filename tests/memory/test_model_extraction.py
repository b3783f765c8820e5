"""Learning with a language model over the OpenAI-compatible API of a real local server (field report G)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.test import override_settings
from django_q.models import OrmQ

from kernel.conf import conf
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, UnavailableError
from memory.jobs import extract_turn
from memory.modelling.client import MAX_REPLY_BYTES
from memory.models import EvidenceLink, ExtractionRun, MemoryItem
from tests.conftest import TEAM
from tests.memory.serving import Reply, Seen, answer, dripping, serving, silent
from tests.memory.talk import commit, compose, context, memories, pref, search, shown, states

GOOD = {
    "items": [
        {
            "type": "facts",
            "key": "fact:database:default",
            "statement": "The zebra database is Postgres.",
            "confidence": 0.95,
        },
        {"type": "preferences", "key": "pref:writing:tone", "statement": "用户喜欢简短的斑马回答", "confidence": 0.4},
        {
            "type": "entities",
            "key": "entity:repo:octo/zebra",
            "statement": "octo/zebra is the main repository",
            "confidence": 1,
        },
    ]
}


def chat(content: object) -> bytes:
    """A chat completion whose message holds the content."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return json.dumps(
        {"id": "c1", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    ).encode()


@contextmanager
def a_model(reply: Reply | bytes, timeout: float = 60.0) -> Iterator[Seen]:
    """A configured model that answers so; a bytes reply is the whole body."""
    with serving(answer(reply) if isinstance(reply, bytes) else reply) as (url, seen):
        given = replace(
            conf(), model_url=f"{url}/v1", model_name="tiny", model_api_key="model-key", model_timeout=timeout
        )
        with override_settings(SMARTBRAIN=given):
            yield seen


def a_turn(cast, text: str = "The zebra database is Postgres, by the way.", **fields: object) -> str:
    turn_id: str = commit(cast.agent, say=text, **fields)["turn_id"]
    return turn_id


def extractions(cast, **fields: object) -> list[dict]:
    rows: list[dict] = cast.agent.do("list_extractions", {"domain_id": TEAM, **fields})["extractions"]
    return rows


def test_it_works(cast):
    """A good reply becomes candidates of confidence .6 at most in the default scope, and nothing trusted."""
    turn_id = a_turn(cast, scopes=context("project:p"))
    with a_model(chat(GOOD)) as seen:
        answered = cast.agent.do("extract_turn", turn_id=turn_id)
    assert answered["extraction"]["state"] == "done"
    assert answered["memory_written"]["count"] == 3
    rows = list(MemoryItem.objects.select_related("scope", "source_session").order_by("key"))
    assert [(row.key, row.confidence, row.lifecycle_status) for row in rows] == [
        ("entity:repo:octo/zebra", 0.6, "candidate"),
        ("fact:database:default", 0.6, "candidate"),
        ("pref:writing:tone", 0.4, "candidate"),
    ]
    assert {row.scope.name for row in rows} == {"project:p"}
    assert {(row.origin, str(row.source_turn_id)) for row in rows} == {("model", turn_id)}
    ((path, headers, body),) = seen
    assert (path, headers["authorization"], body["model"]) == ("/v1/chat/completions", "Bearer model-key", "tiny")
    assert body["messages"][0]["role"] == "system"
    assert body["messages"][1]["content"] == "user: The zebra database is Postgres, by the way."


def test_what_a_model_says_is_on_no_reading_door(cast):
    turn_id = a_turn(cast, "hello")
    with a_model(chat(GOOD)):
        cast.agent.do("extract_turn", turn_id=turn_id)
    assert memories(cast.agent, "zebra 斑马") == []
    assert search(cast.agent, "octo/zebra", mode="relational", kinds=["memory"]) == []
    package = compose(cast.agent, "What about the zebra database, 斑马?", "s2", scope_context=context("session:s1"))
    assert (shown(package), package["system_blocks"]) == ([], [])


def test_what_the_user_asserts_later_promotes_it_and_weaker_words_never_replace_it(cast):
    """Decision 10."""
    item = {"type": "preferences", "key": "pref:writing:tone", "statement": "concise", "confidence": 0.6}
    turn_id = a_turn(cast, "hello")
    commit(cast.agent, preferences=[pref("detailed")])
    with a_model(chat({"items": [item]})):
        answered = cast.agent.do("extract_turn", turn_id=turn_id)
    assert [line["reason_code"] for line in answered["retention"]] == ["weaker_than_current"]
    assert states("pref:writing:tone") == [("active", True, 1)]


def test_off_by_default(cast, django_capture_on_commit_callbacks):
    """No model is configured: nothing is queued, nothing goes out, and asking for it says what to set."""
    assert conf().model_url == ""
    with django_capture_on_commit_callbacks() as queued:
        turn_id = a_turn(cast)
    assert queued == []
    assert extractions(cast) == []
    with pytest.raises(UnavailableError, match="SMARTBRAIN_MODEL_URL"):
        cast.agent.do("extract_turn", turn_id=turn_id)
    assert extractions(cast) == []


def test_a_commit_queues_it_once_its_transaction_commits(cast, django_capture_on_commit_callbacks):
    with a_model(chat(GOOD)) as seen:
        with django_capture_on_commit_callbacks(execute=True) as queued:
            turn_id = a_turn(cast)
        assert len(queued) == 1
        assert OrmQ.objects.count() == 1
        assert seen == []  # no model call within the commit (field report F4)
        assert [(row["turn_id"], row["state"]) for row in extractions(cast)] == [(turn_id, "pending")]
        extract_turn(turn_id)
    assert len(seen) == 1
    assert [(row["turn_id"], row["state"], row["attempts"]) for row in extractions(cast)] == [(turn_id, "done", 1)]
    assert MemoryItem.objects.filter(lifecycle_status="candidate").count() == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"extract": False},
        {"scopes": context("session:s1", default=None)},
        {"say": "", "tasks": [{"key": "task:a:b", "title": "x"}]},
    ],
)
def test_a_commit_that_may_teach_nothing_queues_nothing(cast, fields, django_capture_on_commit_callbacks):
    with a_model(chat(GOOD)), django_capture_on_commit_callbacks() as queued:
        commit(cast.agent, **{"say": "hello", **fields})
    assert queued == []
    assert not ExtractionRun.objects.exists()


def test_the_policy_can_switch_it_off(cast, django_capture_on_commit_callbacks):
    document = {"retention": {"extract_with_model": False}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    with a_model(chat(GOOD)), django_capture_on_commit_callbacks() as queued:
        a_turn(cast)
    assert queued == []


def test_recalled_text_and_secrets_never_reach_the_model(cast):
    secret = "sk-" + "a1B2c3D4" * 6
    commit(cast.agent, preferences=[pref("zebra stripes")])
    block = compose(cast.agent, "hello")["system_blocks"][0]["text"]
    turn_id = commit(
        cast.agent,
        messages=[
            {"role": "user", "content": f"my key is {secret} ok"},
            {"role": "user", "content": block},
            {"role": "assistant", "content": "recalled words", "meta": {"origin": "recall"}},
        ],
    )["turn_id"]
    with a_model(chat({"items": []})) as seen:
        cast.agent.do("extract_turn", turn_id=turn_id)
    sent = seen[0][2]["messages"][1]["content"]
    assert secret not in sent
    assert "zebra stripes" not in sent
    assert "recalled words" not in sent
    assert sent.startswith("user: my key is")


def test_a_turn_of_recalled_text_alone_asks_nobody(cast):
    turn_id = commit(
        cast.agent, messages=[{"role": "user", "content": "recalled words", "meta": {"origin": "recall"}}]
    )["turn_id"]
    with a_model(chat(GOOD)) as seen:
        assert cast.agent.do("extract_turn", turn_id=turn_id)["memory_written"]["count"] == 0
    assert seen == []


def items(**fields: object) -> dict:
    return {"items": [GOOD["items"][0], {**GOOD["items"][1], **fields}]}


def many(count: int) -> dict:
    return {"items": [{**GOOD["items"][0], "key": f"fact:n:n{number}"} for number in range(count)]}


BAD: dict[str, str | dict | list] = {
    "not json": "I think you prefer Postgres.",
    "cut short": json.dumps(GOOD)[:-5],
    "chatty": f"Sure! Here it is:\n{json.dumps(GOOD)}\nAnything else?",
    "two objects": json.dumps(GOOD) * 2,
    "two fences": f"```json\n{json.dumps(GOOD)}\n```\n```json\n{json.dumps(GOOD)}\n```",
    "array": [GOOD],
    "empty": "",
    "null": "null",
    "no items": {"memories": []},
    "items is null": {"items": None},
    "unknown key": {**GOOD, "note": "x"},
    "unknown field": items(tier="dao_tian"),
    "claims to be trusted": items(lifecycle_status="promoted"),
    "unknown type": items(type="dreams"),
    "key of another type": items(key="task:a:b"),
    "key outside the grammar": items(key="pref:cooking:tone"),
    "key with a newline": items(key="pref:writing:a\nb"),
    "no key": items(key=None),
    "statement is a number": items(statement=7),
    "statement is blank": items(statement="  "),
    "statement is huge": items(statement="x" * 2001),
    "confidence is text": items(confidence="0.9"),
    "confidence is too high": items(confidence=1.5),
    "lone surrogate": '{"items": [{"type": "facts", "key": "fact:a:b", "statement": "half \\ud83d a zebra", "confidence": 1}]}',
    "NUL": '{"items": [{"type": "facts", "key": "fact:a:b", "statement": "nul \\u0000 zebra", "confidence": 1}]}',
    "raw control characters": '{"items": [{"type": "facts", "key": "fact:a:b", "statement": "a\nb", "confidence": 1}]}',
    "not a number": '{"items": [{"type": "facts", "key": "fact:a:b", "statement": "x", "confidence": NaN}]}',
    "repeated member": '{"items": [], "items": []}',
    "deep": "[" * 50_000,
    "too many": many(51),
}


def refused(cast, reply: Reply | bytes, timeout: float = 60.0) -> dict:
    """The failed extraction that is left: visible, nothing applied, the turn as it was."""
    turn_id = a_turn(cast, "hello")
    with a_model(reply, timeout), pytest.raises(UnavailableError) as caught:
        cast.agent.do("extract_turn", turn_id=turn_id)
    assert not MemoryItem.objects.exists()
    (row,) = extractions(cast, state="failed")
    assert (row["turn_id"], row["attempts"], row["model"]) == (turn_id, 1, "tiny")
    assert row["error"] == caught.value.message
    assert row["finished_at"]
    return row


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_a_visible_failure_that_applies_nothing(cast, name):
    """Field reports G1 and G2: the raw reply is kept."""
    row = refused(cast, chat(BAD[name]))
    text = BAD[name] if isinstance(BAD[name], str) else json.dumps(BAD[name], ensure_ascii=False)
    assert row["error"].startswith("The model's answer cannot be used: ")
    assert row["raw_reply"] == text[:20_000]


def test_what_a_database_cannot_keep_is_replaced_in_the_raw_reply(cast):
    """G2 and G3: a lone surrogate or NUL in the envelope itself."""
    row = refused(cast, b'{"choices": [{"message": {"content": ["\\ud800", "\x00"]}}]}')
    assert "\x00" not in row["raw_reply"]
    content = chr(0xD800) + "x" + chr(0)
    body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
    turn_id = a_turn(cast, "hi")
    with a_model(body), pytest.raises(UnavailableError):
        cast.agent.do("extract_turn", turn_id=turn_id)
    kept = extractions(cast, turn_id=turn_id)[0]["raw_reply"]
    assert kept == "\ufffdx\ufffd"


ENVELOPES: dict[str, bytes] = {
    "empty body": b"",
    "html": b"<html>busy</html>",
    "bytes": b"\xff\xfe\x00",
    "array": b"[]",
    "no choices": b'{"choices": []}',
    "no message": b'{"choices": [{"text": "x"}]}',
    "content is null": b'{"choices": [{"message": {"content": null}}]}',
    "content is a list": b'{"choices": [{"message": {"content": [{"text": "x"}]}}]}',
    "choices is text": b'{"choices": "x"}',
    "deep": b'{"choices": ' + b"[" * 100_000,
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_what_is_no_chat_completion_is_a_visible_failure(cast, name):
    row = refused(cast, ENVELOPES[name])
    assert row["error"].startswith("The model's answer ")


@pytest.mark.parametrize("status", [302, 400, 401, 404, 429, 500, 503])
def test_a_status_other_than_success_is_a_visible_failure(cast, status):
    row = refused(cast, answer(b'{"error": "model \x00 is busy"}', status, location="http://127.0.0.1:9/"))
    assert row["error"] == f"The model answered with status {status}."
    assert "is busy" in row["raw_reply"]


@pytest.mark.parametrize("reply", [silent, dripping])
def test_a_slow_model_is_left_behind(cast, reply):
    row = refused(cast, reply, timeout=0.3)
    assert row["error"] == "The model did not answer within 0.3 seconds."


def test_a_huge_answer_is_not_read_to_its_end(cast):
    sent = []

    def endless(handler: Any, _: bytes) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _number in range(400):
            handler.wfile.write(b"x" * 65_536)
            sent.append(65_536)

    row = refused(cast, endless)
    assert row["error"] == f"The model's answer is over {MAX_REPLY_BYTES} bytes."
    assert row["raw_reply"] == "x" * 20_000
    assert sum(sent) < 400 * 65_536


def test_nobody_listens(cast):
    turn_id = a_turn(cast, "hello")
    for url in ("http://127.0.0.1:9/v1", "not an address", "http://[bad", "ftp://127.0.0.1/v1"):
        given = replace(conf(), model_url=url, model_name="tiny")
        with override_settings(SMARTBRAIN=given), pytest.raises(UnavailableError, match="cannot be reached"):
            cast.agent.do("extract_turn", turn_id=turn_id)
    (row,) = extractions(cast)
    assert (row["state"], row["attempts"]) == ("failed", 4)


def test_a_failed_one_is_tried_again_and_twice_is_the_same_as_once(cast):
    """Field report F7."""
    turn_id = a_turn(cast, "hello")
    with a_model(chat("no")), pytest.raises(UnavailableError):
        cast.agent.do("extract_turn", turn_id=turn_id)
    with a_model(chat(GOOD)):
        first = cast.agent.do("extract_turn", turn_id=turn_id)
        (row,) = extractions(cast)
        assert (row["state"], row["attempts"], row["error"], row["raw_reply"]) == ("done", 2, "", "")
        before = list(MemoryItem.objects.order_by("id").values()), EvidenceLink.objects.count()
        again = cast.agent.do("extract_turn", turn_id=turn_id)
    assert again["memory_written"]["count"] == 0
    assert {written["id"] for written in again["memory_written"]["items"]} == {
        written["id"] for written in first["memory_written"]["items"]
    }
    assert before == (list(MemoryItem.objects.order_by("id").values()), EvidenceLink.objects.count())


def test_the_job_leaves_a_failure_for_its_person(cast):
    turn_id = a_turn(cast, "hello")
    with a_model(chat("no")), pytest.raises(UnavailableError):
        extract_turn(turn_id)
    (row,) = extractions(cast)
    assert (row["state"], row["raw_reply"]) == ("failed", "no")


@pytest.mark.parametrize("fence", ["```json\n%s\n```", "```\n%s\n```", "  \n```json\n%s```  "])
def test_a_fence_around_the_whole_answer_is_taken_off(cast, fence):
    """G2: fence stripping truncates nothing, not even a fence within a statement."""
    good = {"items": [{**GOOD["items"][0], "statement": "Use ```zebra``` fences"}]}
    turn_id = a_turn(cast, "hello")
    with a_model(chat(fence % json.dumps(good))):
        cast.agent.do("extract_turn", turn_id=turn_id)
    assert MemoryItem.objects.get().statement == "Use ```zebra``` fences"


def test_a_turn_without_default_write_teaches_nothing(cast):
    turn_id = a_turn(cast, "hello", scopes=context("session:s1", default=None))
    with a_model(chat(GOOD)) as seen, pytest.raises(ConflictError):
        cast.agent.do("extract_turn", turn_id=turn_id)
    assert seen == []


def test_who_may_not_write_there_may_not_ask(cast):
    turn_id = a_turn(cast, "hello")
    with a_model(chat(GOOD)) as seen:
        with pytest.raises((NotFoundError, ForbiddenError)):
            cast.stranger.do("extract_turn", turn_id=turn_id)
        with pytest.raises(ForbiddenError):
            cast.reader.do("extract_turn", turn_id=turn_id)
        with pytest.raises(InvalidInputError):
            cast.agent.do("extract_turn", turn_id="x")
    assert seen == []
    assert not ExtractionRun.objects.exists()
