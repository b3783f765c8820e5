"""A PostgreSQL on which older systems' databases can be made, whatever the suite itself runs on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from kernel.db import is_postgres
from scopes.contracts import LEGACY_DOMAIN
from scripts.postgres import temporary_postgres
from tests.conftest import Player, make_agent
from tests.legacy.judging import OWNER


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of any database of it. On PostgreSQL it is the suite's own server; on SQLite one is started, or that of
    EQUAL_POSTGRES_URL taken. A machine that cannot start any fails here."""
    given = os.environ["DATABASE_URL"] if is_postgres() else os.environ.get("EQUAL_POSTGRES_URL")
    if given is not None:
        yield given
        return
    with temporary_postgres() as server:
        yield server.url


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    """Bytes, locks and reports of a test are its own; jobs may fetch from anywhere, though none is done."""
    settings.SMARTBRAIN = replace(django_settings.SMARTBRAIN, data_dir=tmp_path / "data", media_allowed_hosts="*")


@pytest.fixture
def older(db: None) -> Player:
    """The principal that the older application's sessions become: a key with a grant in `legacy`."""
    return make_agent(OWNER, LEGACY_DOMAIN)
