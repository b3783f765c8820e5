"""A document store over real HTTP: what a good one brings, and that no bad one breaks anything."""

from __future__ import annotations

import json
import socket

import pytest

from memory.resources.http import HttpClient, HttpStore
from scopes.contracts import ScopeContext
from tests.memory.compose.made import NOW, REQUEST_ID, a_plan, a_request, an_evidence
from tests.memory.serving import PATIENCE, Reply, answer, dripping, serving, silent

PATH = "/v1/retrieve"
SCOPES = ScopeContext.parse({"read": [{"type": "project", "id": "p"}, {"type": "global", "id": "g"}]})


def pack(evidences=None, **fields) -> bytes:
    tree = {
        "version": "0.1",
        "plan_id": "p9",
        "request_id": str(REQUEST_ID),
        "generated_at": NOW.isoformat(),
        "evidences": [an_evidence(1)] if evidences is None else evidences,
        **fields,
    }
    return json.dumps(tree).encode()


def ask(reply: Reply | bytes, plan=None, scope_filter="closed", **store):
    given = answer(reply) if isinstance(reply, bytes) else reply
    with serving(given) as (address, _):
        within = {"timeout_seconds": PATIENCE, **store}
        return HttpClient(HttpStore(address + PATH, **within), scope_filter).retrieve(plan or a_plan())


def assert_empty(found, kind: str, *words: str) -> None:
    assert found.evidences == []
    assert found.plan_id == f"{kind}-{REQUEST_ID}"
    assert all(word in found.warnings[0] for word in words), found.warnings
    assert found.stats.returned == 0


def test_it_works():
    plan = a_plan("最近 which database?")
    with serving(answer(pack(unknown=1, supports_language_filter=True))) as (address, seen):
        found = HttpClient(HttpStore(address + PATH, token="s3cret", timeout_seconds=PATIENCE)).retrieve(plan)
    assert [item.id for item in found.evidences] == ["section:1"]
    assert found.evidences[0].document_id == "5"
    assert (found.plan_id, found.warnings, found.explain.ignored_fields) == ("p9", [], [])
    assert found.stats.returned == 1
    assert found.stats.took_ms > 0
    path, headers, sent = seen[0]
    assert (path, headers["authorization"]) == (PATH, "Bearer s3cret")
    assert sent == plan.model_dump(mode="json")


def test_case_38_a_slow_store_is_left_behind():
    found = ask(silent, timeout_seconds=0.2)
    assert_empty(found, "timeout", "timeout", "fallback to memory only")
    assert found.stats.took_ms >= 200


def test_case_38_a_dripping_store_is_left_behind_too():
    assert_empty(ask(dripping, timeout_seconds=0.3), "timeout", "timeout")


def test_case_37_a_refused_connection():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    found = HttpClient(HttpStore(f"http://127.0.0.1:{port}{PATH}", timeout_seconds=PATIENCE)).retrieve(a_plan())
    assert_empty(found, "error", "not reachable", "fallback to memory only")


@pytest.mark.parametrize("url", ["http://", "ftp://127.0.0.1/x", "no address", "http://[", "http://127.0.0.1:99999/"])
def test_an_address_that_is_none(url):
    assert_empty(
        HttpClient(HttpStore(url, timeout_seconds=PATIENCE)).retrieve(a_plan()), "error", "fallback to memory only"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b"\xff\xfe",
        b'{"version": "0.1"}',
        b"[" * 100_000,
        b'{"evidences": NaN}',
        b'{"evidences": "\\ud800"}',
        pack(evidences={}),
        pack(evidences="none"),
        pack(evidences=5),
        pack(version="7"),
        pack(plan_id=None),
        pack(generated_at="today"),
        pack(generated_at="2026-12-01T00:00:00"),
        pack(request_id="01938000-0000-7000-8000-00000000ffff"),
        pack(stats={"candidates": "many"}),
        pack(explain=5),
        pack(supports_scope_filter="yes"),
    ],
)
def test_a_reply_that_is_no_pack(body):
    assert_empty(ask(body), "error", "bad reply", "fallback to memory only")


@pytest.mark.parametrize("status", [201, 204, 400, 401, 404, 429, 500, 503])
def test_another_status(status):
    assert_empty(ask(answer(b"" if status == 204 else pack(), status)), "error", f"answered {status}")


def test_a_redirect_is_not_followed():
    with serving(answer(pack())) as (elsewhere, seen):
        found = ask(answer(b"", 307, location=elsewhere + PATH))
    assert_empty(found, "error", "answered 307")
    assert seen == []


def test_a_reply_that_is_too_large():
    assert_empty(ask(pack(filler="x" * 5000), max_bytes=4000), "error", "more than 4000 bytes")


def test_a_compressed_reply_is_refused():
    assert_empty(ask(answer(b"x", content_encoding="gzip")), "error", "compressed")


def test_a_connection_that_breaks_in_the_middle():
    assert_empty(ask(answer(b"{", Content_Length="500")), "error", "not reachable")


def test_bad_evidence_is_left_out_by_name_and_the_good_stays():
    wrong = [
        5,
        None,
        {},
        an_evidence(2, snippet=7),
        an_evidence(3, score="0.9"),
        an_evidence(4, provenance={"mode": "magic"}),
        an_evidence(6, document_id=True),
        an_evidence(7, signals=[]),
    ]
    found = ask(pack([an_evidence(1), *wrong, an_evidence(9)]))
    assert [item.id for item in found.evidences] == ["section:1", "section:9"]
    assert [warning.partition(" left out")[0] for warning in found.warnings] == [
        f"evidences[{n}]" for n in range(1, 9)
    ]
    many = ask(pack([None] * 50))
    assert len(many.warnings) == 11
    assert many.warnings[-1] == "40 more evidences left out as malformed"


def test_more_than_was_asked_for_is_cut():
    found = ask(pack([an_evidence(n) for n in range(40)]))
    assert len(found.evidences) == 30
    assert "10 evidences left out" in found.warnings[0]


def test_case_39_no_language_filter():
    plan = a_plan("请 summarize the design 文档")
    found = ask(pack(), plan)
    assert found.explain.ignored_fields == ["global_filters.language not supported"]
    assert len(found.evidences) == 1
    assert ask(pack(supports_language_filter=True), plan).explain.ignored_fields == []
    assert ask(pack(), a_plan("Which database?")).explain.ignored_fields == []


def scoped(**fields) -> bytes:
    return pack(
        **{
            "supports_scope_filter": True,
            "explain": {"filters_applied": {"scopes": ["project:p", {"type": "global", "id": "g"}]}},
            **fields,
        }
    )


SCOPED = a_plan(request=a_request(scope_context=SCOPES))


def test_a_store_that_filters_by_scope():
    found = ask(scoped(), SCOPED)
    assert len(found.evidences) == 1
    assert (found.warnings, found.explain.ignored_fields) == ([], [])


UNSAFE = [
    scoped(supports_scope_filter=False),
    pack(),
    scoped(explain={}),
    scoped(explain={"filters_applied": {"scopes": []}}),
    scoped(explain={"filters_applied": {"scopes": "project:p"}}),
    scoped(explain={"filters_applied": {"scopes": ["project:p", "project:other"]}}),
    scoped(explain={"filters_applied": {"scopes": [["project:p"]]}}),
    scoped(explain={"filters_applied": {"scopes": ["project:p"], "domain_id": "elsewhere"}}),
]


@pytest.mark.parametrize("body", UNSAFE)
def test_case_59_without_a_scope_filter_nothing_is_taken(body):
    found = ask(body, SCOPED)
    assert found.evidences == []
    assert found.plan_id == f"closed-{REQUEST_ID}"
    assert any("scope filter not applied" in warning for warning in found.warnings)
    assert "scope_context not supported" in found.explain.ignored_fields


@pytest.mark.parametrize("body", UNSAFE)
def test_case_59_policy_may_take_it_with_a_warning(body):
    found = ask(body, SCOPED, "warn")
    assert len(found.evidences) == 1
    assert any("scope filter not applied" in warning for warning in found.warnings)
    assert "scope_context not supported" in found.explain.ignored_fields


@pytest.mark.parametrize("scope_filter", ["closed", "warn"])
def test_evidence_that_names_another_scope_is_never_taken(scope_filter):
    mine, theirs = ({"type": "project", "id": name} for name in ("p", "other"))
    found = ask(scoped(evidences=[an_evidence(1, scope=mine), an_evidence(2, scope=theirs)]), SCOPED, scope_filter)
    assert [item.id for item in found.evidences] == ["section:1"]
    assert "1 evidences left out: they name a scope that is not read" in found.warnings


def test_the_key_is_not_shown():
    assert "s3cret" not in repr(HttpStore("http://store", token="s3cret"))
