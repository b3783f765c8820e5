"""The file of a document goes to who may see it, as an attachment that no browser runs."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client
from PIL import Image

from governance.models import AuditEntry
from kernel.ids import new_id
from media.models import MediaObject, MediaObjectReference, SourceDocument
from media.services.objects import keep
from media.storage import store
from tests.clients import sign_in
from tests.conftest import make_agent
from tests.guards.write_guard import unguarded
from tests.media.pictures_and_sound import picture
from tests.media.test_importing_media import add

pytestmark = pytest.mark.usefixtures("media_folder")
PICTURE = picture(size=(300, 200))
PROJECT = {"type": "project", "id": "shop"}


@pytest.fixture
def document(cast) -> str:
    made: str = add(cast.agent, "add_image", 'board "1" 白板.jpg', PICTURE)["document_id"]
    return made


def get(player, document_id: str, method: str = "get", **headers: str):
    headers = {
        "Authorization": f"Bearer {player.key}",
        **{name.replace("_", "-"): each for name, each in headers.items()},
    }
    return getattr(Client(), method)(f"/v1/documents/{document_id}/content", headers=headers)


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def test_it_works(cast, document):
    response = get(cast.agent, document)
    assert (response.status_code, body(response)) == (200, PICTURE)
    assert response["Content-Type"] == "image/jpeg"
    assert response["Content-Length"] == str(len(PICTURE))
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''board%20%221%22%20")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert "no-store" in response["Cache-Control"]
    assert response["ETag"] == f'"{MediaObject.objects.get().content_hash}"'


def test_each_download_leaves_its_entry(cast, document):
    get(cast.agent, document)
    entry = AuditEntry.objects.get(action="get_document_file")
    assert (entry.outcome, entry.actor_id, entry.door) == ("allowed", cast.agent.identity.actor.id, "http")


def test_the_action_tells_where_the_bytes_are(cast, document):
    told = cast.agent.do("get_document_file", document_id=document)
    assert (told["path"], told["byte_size"], told["mime"]) == (
        f"/v1/documents/{document}/content",
        len(PICTURE),
        "image/jpeg",
    )


@pytest.mark.parametrize("who", ["stranger", "reader"])
def test_who_may_not_see_the_document_gets_nothing(cast, document, who):
    response = get(getattr(cast, who), document)
    unknown = get(getattr(cast, who), str(new_id()))
    assert (response.status_code, unknown.status_code) == (404, 404)
    assert PICTURE[:20] not in response.content


def test_who_it_was_shared_with_gets_it(cast, document):
    peer = make_agent("peer")
    assert get(peer, document).status_code == 404
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    assert body(get(peer, document)) == PICTURE


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}])
def test_without_a_key_nothing_is_sent(document, headers):
    response = Client().get(f"/v1/documents/{document}/content", headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_only_reading_is_possible(cast, document, method):
    assert get(cast.agent, document, method).status_code == 405


SIZE = len(PICTURE)


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-9", 0, 10),
        ("bytes=5-", 5, SIZE),
        ("bytes=-7", SIZE - 7, SIZE),
        (f"bytes=10-{SIZE * 9}", 10, SIZE),
        ("bytes=3-3", 3, 4),
    ],
)
def test_a_part_is_sent(cast, document, asked, start, end):
    response = get(cast.agent, document, Range=asked)
    assert (response.status_code, body(response)) == (206, PICTURE[start:end])
    assert response["Content-Range"] == f"bytes {start}-{end - 1}/{SIZE}"


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "bytes=",
        "bytes=-",
        "lines=1-2",
        "bytes=9-5",
        "bytes=0-1,5-6",
        "bytes=x-y",
        "bytes=-99999999",
        "bytes=0-",
    ],
)
def test_what_is_no_part_is_all(cast, document, asked):
    response = get(cast.agent, document, Range=asked)
    assert (response.status_code, body(response)) == (200, PICTURE)


@pytest.mark.parametrize("asked", ["bytes=-0", f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 5}", "bytes=999999999999-"])
def test_a_part_that_is_not_there_is_told_how_long_the_file_is(cast, document, asked):
    response = get(cast.agent, document, Range=asked)
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{SIZE}")
    assert (response.json()["code"], response.json()["byte_size"]) == ("range_not_there", SIZE)
    assert get(cast.agent, document, Range=asked, If_Range='"another"').status_code == 200


def test_an_empty_file_has_no_part_but_its_end(cast, tmp_path):
    (tmp_path / "empty").touch()
    made = add(cast.agent, "add_document", "note.md", b"words")
    empty = keep(tmp_path / "empty", "text/markdown", cast.agent.ctx())  # as older systems kept them
    with unguarded():
        MediaObjectReference.objects.update(media_object=empty)
    assert get(cast.agent, made["document_id"], Range="bytes=0-")["Content-Range"] == "bytes */0"
    assert get(cast.agent, made["document_id"], Range="bytes=-5").status_code == 200


def test_a_part_of_other_bytes_is_not_continued(cast, document):
    assert get(cast.agent, document, Range="bytes=0-1", If_Range='"another"').status_code == 200
    same = f'"{MediaObject.objects.get().content_hash}"'
    assert get(cast.agent, document, Range="bytes=0-1", If_Range=same).status_code == 206


def test_the_head_alone(cast, document):
    response = get(cast.agent, document, "head")
    assert (response.status_code, response["Content-Length"], response.content) == (200, str(SIZE), b"")


@pytest.mark.parametrize(
    ("name", "content"),
    [("page.html", b"<html><script>alert(1)</script>"), ("data.json", b'{"a": 1}'), ("notes.md", b"# Notes")],
)
def test_what_a_browser_could_run_is_sent_as_bytes(cast, name, content):
    made = add(cast.agent, "add_document", name, content)
    response = get(cast.agent, made["document_id"])
    assert (response["Content-Type"], body(response)) == ("application/octet-stream", content)
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a\r\nSet-Cookie: x.txt", "a  Set-Cookie: x.txt"),
        ("../../etc/passwd", "etc passwd"),
        ("\u202egpj.exe", "gpj.exe"),
    ],
)
def test_a_name_ends_no_header(cast, document, name, expected):
    with unguarded():
        row = SourceDocument.objects.get()
        row.metadata["file_name"] = name
        row.save()
    assert get(cast.agent, document)["Content-Disposition"] == f'attachment; filename="{expected}"'


def test_bytes_that_are_missing_are_told(cast, document):
    store().delete(MediaObject.objects.get().content_hash)
    response = get(cast.agent, document)
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")


def test_a_document_without_a_file_has_none(cast, document):
    with unguarded():
        SourceDocument.objects.get().references.all().delete()
    assert get(cast.agent, document).status_code == 404


def test_people_download_from_the_admin(cast, document):
    client = sign_in("operator")
    assert client.get(f"/admin/documents/{document}/file").status_code == 404  # it is its owner's alone
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    response = client.get(f"/admin/documents/{document}/file")
    assert (response.status_code, body(response)) == (200, PICTURE)
    assert response["Content-Disposition"].startswith("attachment;")
    past = client.get(f"/admin/documents/{document}/file", headers={"Range": f"bytes={SIZE}-"})
    assert (past.status_code, past["Content-Range"]) == (416, f"bytes */{SIZE}")
    entry = AuditEntry.objects.filter(action="get_document_file").latest("id")
    assert (entry.outcome, entry.door) == ("allowed", "admin")


def test_the_page_of_a_document_leads_to_its_file(cast, document):
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    page = sign_in("operator").get(f"/admin/media/sourcedocument/{document}/change/", follow=True)
    assert f'href="/admin/documents/{document}/file"' in page.content.decode()


def test_a_picture_is_shown_on_its_page_to_who_may_see_it(cast, document):
    operator, where = sign_in("operator"), f"/admin/documents/{document}/picture"
    assert operator.get(where).status_code == 404  # it is its owner's alone
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    page = operator.get(f"/admin/media/sourcedocument/{document}/change/", follow=True)
    assert f'<img src="{where}"' in page.content.decode()
    shown = operator.get(where)
    assert (shown.status_code, shown["Content-Type"], shown["Content-Disposition"]) == (200, "image/jpeg", "inline")
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert "no-store" in shown["Cache-Control"]
    assert Image.open(io.BytesIO(shown.content)).size == (300, 200)
    assert shown.content != PICTURE  # made anew from its pixels: nothing else of the file is sent
    entry = AuditEntry.objects.filter(action="get_document_file").latest("id")
    assert (entry.outcome, entry.door, entry.actor_name) == ("allowed", "admin", "operator")
    assert Client().get(where).status_code == 302


def test_what_is_no_picture_is_not_shown(cast):
    page = b"<html><img src=x onerror=alert(1)></html>"
    document = add(cast.agent, "add_document", "picture.png", page)["document_id"]
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    operator = sign_in("operator")
    assert operator.get(f"/admin/documents/{document}/picture").status_code == 404
    assert b"<img" not in operator.get(f"/admin/media/sourcedocument/{document}/change/").content


def test_a_picture_whose_bytes_are_missing_is_told(cast, document):
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    store().delete(MediaObject.objects.get().content_hash)
    assert sign_in("operator").get(f"/admin/documents/{document}/picture").status_code == 503


def test_who_is_not_signed_in_is_sent_to_sign_in(cast, document):
    response = Client().get(f"/admin/documents/{document}/file")
    assert (response.status_code, response["Location"].partition("?")[0]) == (302, "/admin/login/")


def test_a_document_that_nobody_knows_is_not_found_in_the_admin(cast):
    assert sign_in("operator").get(f"/admin/documents/{new_id()}/file").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_server_that_does_not_wait_streams_it_too(cast, document):
    async def ask() -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {cast.agent.key}"}
        response: Any = await AsyncClient().get(f"/v1/documents/{document}/content", headers=headers)
        sent = b"".join([piece async for piece in response.streaming_content])
        await sync_to_async(connections.close_all)()  # those of the thread that answered
        return response.status_code, sent

    assert asyncio.run(ask()) == (200, PICTURE)
