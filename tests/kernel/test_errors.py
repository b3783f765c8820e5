"""Errors: one family, stable codes, one body."""

from __future__ import annotations

import pytest

from kernel.errors import DomainError, NotFoundError, all_errors

CODES = {
    "invalid_json": 400, "invalid_input": 422, "unauthenticated": 401, "forbidden": 403, "not_found": 404, "conflict": 409,
    "stale": 409, "idempotency_conflict": 409, "transition_error": 409, "scope_not_writable": 403, "too_large": 413,
    "quota_exceeded": 429, "unavailable": 503, "internal": 500,
}  # fmt: skip


def test_it_works():
    body = NotFoundError("No such scope.").problem("r-1")
    assert body == {
        "type": "urn:smartbrain:not_found",
        "title": "Not found",
        "status": 404,
        "code": "not_found",
        "detail": "No such scope.",
        "error": "No such scope.",
        "errors": [],
        "request_id": "r-1",
    }


OF_HTTP = {"method_not_allowed": 405, "unsupported_media_type": 415, "range_not_there": 416}  # the HTTP door's own


def test_the_codes_are_those_of_the_specification():
    assert {error.code: error.status for error in all_errors()} == {**CODES, **OF_HTTP}


@pytest.mark.parametrize("error", list(all_errors()), ids=lambda error: error.code)
def test_the_message_without_another_is_the_docstring(error: type[DomainError]):
    assert error().message == error.__doc__
    assert error.__doc__.endswith(".")


def test_an_error_cannot_overwrite_its_own_code():
    """`extra` members come beside the body's own."""
    body = NotFoundError(extra={"job": {"id": 1}}).problem("r")
    assert (body["job"], body["code"]) == ({"id": 1}, "not_found")
