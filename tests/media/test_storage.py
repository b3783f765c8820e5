"""Bytes are kept once, under their SHA-256, in a folder or in a bucket (case 102)."""

from __future__ import annotations

import hashlib
from functools import partial

import pytest

from kernel.errors import InvalidInputError, NotFoundError, UnavailableError
from media.storage import Bucket, LocalStore, S3Store, measure, store
from media.storage.contents import hash_of_place, place
from tests.threads import at_once

TEXT = "会议记录: the minutes\n".encode() * 40_000  # more than one piece
HASH = hashlib.sha256(TEXT).hexdigest()
ABSENT = hashlib.sha256(b"never stored").hexdigest()
NAMES = [
    *["", "..", "../../etc/passwd", "/etc/passwd", HASH[:63], HASH + "0", HASH.upper(), HASH + "\n", f"../{HASH[3:]}"],
    *[f"{HASH}/..", "aa/bb/" + HASH, f"s3://elsewhere/{HASH}", "\x00" * 64, "é" * 64],
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "upload"
    path.write_bytes(TEXT)
    return path


def read(kept, content_hash=HASH):
    with kept.open(content_hash) as opened:
        return opened.read()


def test_it_works(any_store, file):
    stored = any_store.put(file)
    assert (stored.content_hash, stored.byte_size) == (HASH, len(TEXT))
    assert stored.storage_uri == any_store.uri(HASH)
    assert stored.storage_uri.endswith(f"{HASH[:2]}/{HASH[2:4]}/{HASH}")
    assert read(any_store) == TEXT
    assert any_store.exists(HASH)
    assert any_store.size(HASH) == len(TEXT)


def test_what_a_disk_changed_is_mended_by_the_same_bytes(tmp_path, file):
    kept = LocalStore(tmp_path / "kept")
    kept.put(file)
    (inside,) = [each for each in kept.root.rglob("*") if each.name == HASH]
    for damaged in (TEXT[::-1], TEXT[:-1], b""):
        inside.chmod(0o640)
        inside.write_bytes(damaged)
        assert kept.put(file).content_hash == HASH
        assert read(kept) == TEXT
    before = inside.stat().st_ino
    kept.put(file)
    assert inside.stat().st_ino == before, "what is whole is left as it is"


def test_the_same_bytes_are_kept_once(any_store, file, tmp_path):
    other = tmp_path / "other name.txt"
    other.write_bytes(TEXT)
    assert any_store.put(file) == any_store.put(other)
    assert [found.content_hash for found in any_store.iterate()] == [HASH]


def test_a_parser_gets_a_path(any_store, file):
    any_store.put(file)
    with any_store.local_path(HASH) as path:
        assert path.read_bytes() == TEXT


@pytest.mark.parametrize(
    ("start", "length"), [(0, None), (0, 5), (5, 7), (700_000, None), (len(TEXT) - 1, 1), (3, 600_000), (0, 0)]
)
def test_a_part_of_the_bytes_is_read(any_store, file, start, length):
    any_store.put(file)
    end = None if length is None else start + length
    assert b"".join(any_store.stream(HASH, start, length)) == TEXT[start:end]


def test_deleting_removes_the_bytes(any_store, file):
    any_store.put(file)
    assert any_store.delete(HASH)
    assert not any_store.exists(HASH)
    assert list(any_store.iterate()) == []
    assert not any_store.delete(HASH)


def test_no_bytes_are_bytes_too(any_store, tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    stored = any_store.put(path)
    assert (stored.byte_size, read(any_store, stored.content_hash)) == (0, b"")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("call", ["uri", "exists", "size", "open", "stream", "delete"])
def test_no_other_name_is_taken(tmp_path, name, call):
    with pytest.raises(InvalidInputError):
        getattr(LocalStore(tmp_path), call)(name)


@pytest.mark.parametrize("name", NAMES)
def test_no_other_path_is_one_of_ours(name):
    assert hash_of_place(name) == ""
    assert hash_of_place(f"aa/bb/{name}") == ""


def test_a_place_tells_its_content():
    assert hash_of_place(place(HASH)) == HASH


@pytest.mark.parametrize("call", ["size", "open"])
def test_what_is_not_there_is_not_found(any_store, call):
    with pytest.raises(NotFoundError):
        getattr(any_store, call)(ABSENT)
    with pytest.raises(NotFoundError):
        list(any_store.stream(ABSENT))
    with pytest.raises(NotFoundError), any_store.local_path(ABSENT):
        pass


def test_two_clients_of_one_bucket_read_the_same_bytes(bucket, file):
    writer, reader = S3Store(bucket), S3Store(bucket)
    stored = writer.put(file)
    assert read(reader) == read(writer) == TEXT
    assert reader.uri(HASH) == stored.storage_uri == f"s3://{bucket.name}/{bucket.prefix}/{place(HASH)}"


def test_prefixes_of_one_bucket_do_not_see_each_other(bucket, file):
    mine = S3Store(bucket)
    other = S3Store(Bucket(bucket.name, f"{bucket.prefix}2", bucket.endpoint, bucket.region, *_keys(bucket)))
    mine.put(file)
    assert not other.exists(HASH)
    assert list(other.iterate()) == []


def test_a_bucket_that_refuses_the_key_is_unavailable(bucket, file):
    refused = S3Store(Bucket(bucket.name, bucket.prefix, bucket.endpoint, bucket.region, "tests", "wrong"))
    with pytest.raises(UnavailableError, match="refused"):
        refused.put(file)


def test_a_server_that_is_not_there_is_unavailable(file):
    nobody = S3Store(Bucket("b", "", "http://127.0.0.1:9", "r", "k", "s", timeout_seconds=1))
    with pytest.raises(UnavailableError):
        nobody.put(file)
    with pytest.raises(UnavailableError):
        nobody.exists(HASH)


def _keys(bucket: Bucket) -> tuple[str, str]:
    return bucket.access_key, bucket.secret_key


def test_secrets_are_not_shown():
    assert "s3cret" not in repr(Bucket("b", access_key="s3cret", secret_key="s3cret"))


def test_a_broken_write_leaves_nothing(tmp_path, file, monkeypatch):
    kept = LocalStore(tmp_path / "media")
    monkeypatch.setattr("os.fsync", _fail)
    with pytest.raises(UnavailableError):
        kept.put(file)
    assert list(kept.iterate()) == []


def _fail(handle):
    raise OSError(28, "No space left on device")


def test_a_torn_file_is_made_whole(tmp_path, file):
    kept = LocalStore(tmp_path / "media")
    kept.put(file)
    torn = tmp_path / "media" / place(HASH)
    torn.chmod(0o640)
    torn.write_bytes(TEXT[:100])
    kept.put(file)
    assert read(kept) == TEXT


def test_what_is_no_content_of_ours_is_listed_without_a_hash(tmp_path, file):
    kept = LocalStore(tmp_path / "media")
    kept.put(file)
    (tmp_path / "media" / "incoming" / "left").write_bytes(b"half")
    (tmp_path / "media" / "aa").mkdir(exist_ok=True)
    (tmp_path / "media" / "aa" / HASH).write_bytes(b"misplaced")
    assert {(found.name, found.content_hash) for found in kept.iterate()} == {
        (place(HASH), HASH),
        ("incoming/left", ""),
        (f"aa/{HASH}", ""),
    }


def test_a_folder_that_cannot_be_used_is_unavailable(tmp_path, file):
    (tmp_path / "media").write_text("a file where the folder should be")
    with pytest.raises(UnavailableError):
        LocalStore(tmp_path / "media").put(file)


def test_many_writers_of_the_same_bytes_leave_one_whole_file(tmp_path, file):
    kept = LocalStore(tmp_path / "media")
    stored = at_once([partial(kept.put, file)] * 8)
    assert len(set(stored)) == 1
    assert read(kept) == TEXT
    assert [found.content_hash for found in kept.iterate()] == [HASH]


def test_measuring_names_the_bytes(file):
    assert (measure(file).content_hash, measure(file).byte_size) == (HASH, len(TEXT))


def test_the_settings_choose_the_store(set_conf, tmp_path, bucket):
    set_conf(data_dir=tmp_path)
    assert store() == LocalStore(tmp_path / "media")
    set_conf(
        media_s3_bucket=bucket.name,
        media_s3_prefix="/x/",
        media_s3_endpoint=bucket.endpoint,
        media_s3_region=bucket.region,
        media_s3_access_key=bucket.access_key,
        media_s3_secret_key=bucket.secret_key,
    )
    assert store().uri(HASH) == f"s3://{bucket.name}/x/{place(HASH)}"
    assert store() is store()
