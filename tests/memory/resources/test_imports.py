"""Handing a store what to import: a file as a form, an address as JSON, and what goes wrong as an import that failed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kernel.conf import conf
from kernel.errors import InvalidInputError, TooLargeError
from memory.resources.client import NullClient
from memory.resources.http import HttpClient, HttpStore
from memory.resources.sources import inlined
from tests.memory.serving import answer, serving

DONE = {"document_id": "d", "media_type": "image", "status": "success", "section_count": 1, "warnings": []}
OPERATIONS = ("add_document", "add_image", "add_audio", "add_video", "add_media")


def store(address: str) -> HttpClient:
    return HttpClient(HttpStore(f"{address}/v1/retrieve", "k"))


def test_it_works():
    with serving(answer(json.dumps(DONE).encode())) as (address, seen):
        found = store(address).add_image("https://example.org/a.png", {"title": "斑马"})
    assert found == DONE
    ((path, headers, tree),) = seen
    assert (path, headers["authorization"]) == ("/v1/media", "Bearer k")
    assert tree == {"operation": "add_image", "source": "https://example.org/a.png", "options": {"title": "斑马"}}


def test_a_key_goes_as_a_header_too():
    with serving(answer(json.dumps(DONE).encode())) as (address, seen):
        store(address).add("add_media", "https://example.org/a.png", {}, idempotency_key="k1")
    ((_, headers, tree),) = seen
    assert (headers["idempotency-key"], tree["idempotency_key"]) == ("k1", "k1")


def test_a_local_file_goes_as_a_form(tmp_path):
    file = tmp_path / "zebra.txt"
    file.write_text("stripes 斑马")
    received = []

    def reply(handler, body: bytes) -> None:
        received.append((handler.headers["content-type"], body))
        answer(json.dumps(DONE).encode())(handler, body)

    with serving(reply) as (address, _):
        assert store(address).add_document(file, {"title": "T"}) == DONE
        assert store(address).add("add_media", str(file), {}, scopes=[{"type": "project", "id": "p"}]) == DONE
    (kind, body), (_, second) = received
    assert kind.startswith("multipart/form-data")
    assert b'name="operation"\r\n\r\nadd_document' in body
    assert b'name="options"\r\n\r\n{"title":"T"}' in body
    assert b'filename="zebra.txt"' in body
    assert "stripes 斑马".encode() in body
    assert b'name="scopes"\r\n\r\n[{"type":"project","id":"p"}]' in second


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (answer(b'{"error": "x"}', 409), "answered 409"),
        (answer(b"", 500), "answered 500"),
        (answer(b"", 302, location="http://127.0.0.1:9/"), "answered 302"),
        (answer(b"<html>"), "not JSON"),
        (answer(b"[]"), "no status"),
    ],
    ids=["conflict", "broken", "redirect", "html", "list"],
)
def test_what_the_store_refuses_has_failed(reply, word):
    with serving(reply) as (address, _):
        found = store(address).add_media("https://example.org/a", {})
    assert (found["status"], found["document_id"]) == ("failed", None)
    assert word in found["warnings"][0]


def test_a_store_that_is_not_there_has_failed():
    found = store("http://127.0.0.1:9").add_media("https://example.org/a")
    assert found["status"] == "failed"
    assert "not reachable" in found["warnings"][0]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_case_93_without_a_store_it_is_unsupported(operation):
    found = getattr(NullClient(), operation)("https://example.org/a.png", {})
    assert found["status"] == "unsupported"
    assert found["warnings"] == [f"no document store is configured: {operation} ignored"]


def test_a_file_is_read_by_the_program_itself(tmp_path):
    file = tmp_path / "zebra.txt"
    file.write_bytes(b"stripes")
    assert inlined(file, {"title": "T"}) == ("", {"name": "zebra.txt", "title": "T", "data": "c3RyaXBlcw=="})
    assert inlined(str(file), {"name": "z.md"})[1]["name"] == "z.md"
    assert inlined("upload:1", {}) == ("upload:1", {})
    assert inlined("", {"text": "a"}) == ("", {"text": "a"})


@pytest.mark.parametrize("source", [b"", b"bytes", None, 3, ["a"], {"text": "a"}])
def test_what_is_neither_text_nor_a_path_is_told_where_it_goes(source):
    with pytest.raises(InvalidInputError, match=r"bytes go in base64 to options\.data"):
        inlined(source, {})


def test_an_address_may_be_in_large_letters():
    assert inlined("HTTPS://Example.org/", {}) == ("HTTPS://Example.org/", {})


def test_what_is_no_file_is_refused(tmp_path, settings):
    for source in (
        tmp_path,
        tmp_path / "none",
        "file:///etc/passwd",
        "no such",
        "# A text " * 900,
        "~nobody-here/a",
        "a\0b",
    ):
        with pytest.raises(InvalidInputError, match="neither a file"):
            inlined(source, {})
    file = tmp_path / "big"
    file.write_bytes(b"12345")
    settings.SMARTBRAIN = replace(conf(), media_max_bytes=4)
    with pytest.raises(TooLargeError):
        inlined(file, {})
