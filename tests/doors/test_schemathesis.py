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
from schemathesis.core.result import Ok
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.schemas import APIOperation
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


def _operations() -> Iterator[Any]:
    """Every operation of the document; one that cannot be read ends the run."""
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found.err()
        yield pytest.param(found.ok(), id=found.ok().label)


pytestmark = pytest.mark.no_cover  # what the requests reach is covered by the tests of each action

every_operation = pytest.mark.parametrize("operation", list(_operations()))


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


def _answer_as_documented(operation: APIOperation, agent: Player, examples: int) -> None:
    """Make up the requests of one operation and send them. It is what `schema.parametrize()` does, but when the test
    runs and not when the tests are listed, which every worker does for all of them."""

    @budget(examples)
    def answers_as_documented(case: schemathesis.Case) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {agent.key}"}, checks=CHECKS)

    feedback = FeedbackSources(constants_value_source=make_constants_value_source(schema))
    build_operation_test(
        config=schema.config, operation=operation, test_func=answers_as_documented, given_kwargs={}, feedback=feedback
    )()


@every_operation
def test_every_operation_answers_as_documented(operation: APIOperation, agent: Player) -> None:
    _answer_as_documented(operation, agent, 3)


@pytest.mark.soak
@every_operation
def test_every_operation_answers_as_documented_at_length(operation: APIOperation, agent: Player) -> None:
    _answer_as_documented(operation, agent, 400)
