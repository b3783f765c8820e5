"""Turning any failure into one problem+json answer, and any request into its id."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from pydantic import ConfigDict, Field
from rest_framework import exceptions
from rest_framework.response import Response

from kernel.contracts import Contract
from kernel.errors import (
    DomainError,
    InternalError,
    MethodNotAllowedError,
    NotFoundError,
    RangeNotThereError,
    UnauthenticatedError,
    UnavailableError,
)

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "X-Request-Id"
_META = "smartbrain.request_id"

logger = logging.getLogger(__name__)


class Fault(Contract):
    """One fault of the input."""

    loc: list[str] = Field(description="Where in the input, from the outside in.")
    msg: str = Field(description="What is wrong.")
    type: str = Field(description="Kind of fault.")


class Problem(Contract):
    """Why a call was refused (RFC 9457)."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = Field(description="`urn:smartbrain:<code>`.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="HTTP status.")
    code: str = Field(description="Stable code to switch on.")
    detail: str = Field(description="What happened and what to do.")
    error: str = Field(description="The text of `detail` again, for older clients.")
    errors: list[Fault] = Field(description="Each fault of the input; empty for other problems.")
    request_id: UUID = Field(description="Names this call in the audit log and in the server's own log.")


def set_request_id(request: HttpRequest, value: UUID) -> None:
    """Keep the id of this request; an id that the client sent is never taken for ours."""
    request.META[_META] = value


def request_id(request: HttpRequest) -> UUID:
    """The id of this request."""
    value: UUID = request.META[_META]
    return value


def headers_of(error: DomainError) -> dict[str, str]:
    """The headers that belong to an error."""
    headers = {}
    if isinstance(error, UnauthenticatedError):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RangeNotThereError):
        headers["Content-Range"] = f"bytes */{error.extra['byte_size']}"
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return headers


def problem_response(error: DomainError, request: HttpRequest) -> Response:
    """The answer to a refused request."""
    body: dict[str, Any] = error.problem(str(request_id(request)))
    return Response(body, status=error.status, headers=headers_of(error), content_type=MEDIA_TYPE)


def as_domain_error(exc: Exception, request: HttpRequest) -> DomainError:
    """Our error for whatever went wrong; a bug is logged under its request id, and nothing of it is shown."""
    if isinstance(exc, DomainError):
        return exc
    if isinstance(exc, exceptions.MethodNotAllowed):
        return MethodNotAllowedError(f"{request.method} is not taken here: see the `Allow` header.")
    if isinstance(exc, exceptions.NotFound):
        return NotFoundError()
    if isinstance(exc, OperationalError | InterfaceError):
        logger.warning("database unavailable, request %s: %s", request_id(request), exc)
        return UnavailableError("The database is busy or cannot be reached: try again later.")
    logger.error("unhandled error, request %s", request_id(request), exc_info=exc)
    return InternalError()
