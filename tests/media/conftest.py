"""Stores of bytes, and an import to run, for the tests of media."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from kernel.ids import new_id
from media.storage import LocalStore, S3Store, Store
from tests.media.jobbing import importing
from tests.media.s3_servers import Server, running_server

__all__ = ["importing"]


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def bucket(s3_server):
    """A part of the bucket of its own for each test."""
    return s3_server.bucket(f"{new_id().hex}/media")


@pytest.fixture(params=["local", "s3"])
def any_store(request, tmp_path) -> Store:
    """The two kinds of store, one after the other, each empty."""
    if request.param == "local":
        return LocalStore(tmp_path / "media")
    return S3Store(request.getfixturevalue("bucket"))


@pytest.fixture
def set_conf(settings):
    """Change the operator's settings for one test, on top of what another fixture of it changed."""

    def change(**fields: Any) -> None:
        settings.SMARTBRAIN = dataclasses.replace(settings.SMARTBRAIN, **fields)

    return change


@pytest.fixture
def media_folder(set_conf, tmp_path):
    """DATA_DIR of its own, so that stored bytes are those of this test."""
    set_conf(data_dir=tmp_path)
    return tmp_path / "media"
