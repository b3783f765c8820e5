"""The check of stored bytes tells every fault of books and store, and nothing that is well."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction

from media.models import MediaObject, MediaObjectReference
from media.storage import store
from tests.guards.write_guard import unguarded
from tests.media.keeping import attach, check, document, keep, root, upload

__all__ = ["document", "keep", "upload"]

pytestmark = pytest.mark.usefixtures("media_folder")


def test_a_store_that_is_well_has_no_faults(keep, document):
    attach(document(), keep())
    keep(b"nobody's yet")
    assert check(deep=True) == []


def spoil_bytes(row):
    path = root() / store().uri(row.content_hash).removeprefix("local:")
    path.chmod(0o640)
    path.write_bytes(b"x" * row.byte_size)


def spoil_count(row):
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(reference_count=7)


def spoil_size(row):
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(byte_size=7)


def leave_file(row):
    (root() / "aa").mkdir(exist_ok=True)
    (root() / "aa" / "note.txt").touch()


def forget_row(row):
    with unguarded(), transaction.atomic():
        MediaObjectReference.objects.all().delete()
        MediaObject.objects.all().delete()


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda row: store().delete(row.content_hash), "missing_bytes"),
        (spoil_size, "wrong_size"),
        (spoil_count, "wrong_count"),
        (spoil_bytes, "wrong_content"),
        (forget_row, "unknown_file"),
        (lambda row: (root() / "note.txt").write_text("mine"), None),
        (leave_file, "stray_file"),
    ],
)
def test_what_is_wrong_is_told(keep, document, spoil, kind):
    row = keep()
    attach(document(), row)
    spoil(row)
    assert [fault["kind"] for fault in check(deep=True)] == ([kind] if kind else [])


def test_bytes_are_read_only_when_asked_for(keep, document):
    row = keep()
    attach(document(), row)
    spoil_bytes(row)
    assert check() == []


def test_a_broken_write_is_told_once_it_is_old(keep, monkeypatch):
    keep()
    (root() / "incoming" / "half").write_bytes(b"half")
    assert check() == []
    monkeypatch.setattr("media.storage.local._WRITING_SECONDS", -1)
    assert [(fault["kind"], fault["name"]) for fault in check()] == [("stray_file", "incoming/half")]


def test_a_missing_upload_that_nobody_needs_is_no_fault(keep):
    store().delete(keep().content_hash)
    assert check() == []


def run_check(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("check_media", *options, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_the_command_says_that_all_is_well(keep):
    keep()
    assert run_check("--deep") == (0, "1 objects and 1 files checked. All is well.\n")


def test_the_command_fails_where_something_is_wrong(keep, document):
    row = keep()
    attach(document(), row)
    spoil_bytes(row)
    code, said = run_check("--deep")
    assert code == 1
    assert f"wrong_content {row.content_hash}: Its bytes are not" in said
    assert "WRONG: 1 faults." in said
