"""Random requests, good and bad, that follow the published document: no server error, every answer as documented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import Player, a_turn, make_agent

schema = schemathesis.openapi.from_wsgi("/v1/schema/", get_wsgi_application())

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def budget(examples: int) -> Callable[[Any], Any]:
    """The same requests each time."""
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """A request does not close the connection that holds the test's transaction, just as in Django's own client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def agent(db, _one_connection) -> Player:
    player = make_agent("agent", rights=["read", "write", "promote", "erase"])
    player.do("commit_turn", a_turn())
    return player


def _answers_as_documented(case: schemathesis.Case, agent: Player) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {agent.key}"}, checks=CHECKS)


@schema.parametrize()
@budget(5)
def test_every_operation_answers_as_documented(case, agent):
    _answers_as_documented(case, agent)


@pytest.mark.soak
@schema.parametrize()
@budget(400)
def test_every_operation_answers_as_documented_at_length(case, agent):
    _answers_as_documented(case, agent)
