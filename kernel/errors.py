"""Errors every door knows how to show. The docstring is the default message; the code never changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar


class DomainError(Exception):
    """The request could not be carried out."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Request failed"

    def __init__(
        self,
        message: str | None = None,
        *,
        errors: Sequence[dict[str, Any]] = (),
        retry_after: int | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """`errors` are `{loc, msg, type}` details; `retry_after` is in seconds; `extra` are further body members."""
        self.message = message or type(self).__doc__ or self.title
        self.errors = list(errors)
        self.retry_after = retry_after
        self.extra = extra or {}
        super().__init__(self.message)

    def problem(self, request_id: str) -> dict[str, Any]:
        """The RFC 9457 body; `error` repeats the text for older clients."""
        return {
            "type": f"urn:smartbrain:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.message,
            "error": self.message,
            "errors": self.errors,
            "request_id": request_id,
            **self.extra,
        }


class InvalidJsonError(DomainError):
    """The body is not valid JSON: send one UTF-8 JSON object."""

    code = "invalid_json"
    status = 400
    title = "Invalid JSON"


class InvalidInputError(DomainError):
    """The input does not fit the action's schema: see `errors` for each field."""

    code = "invalid_input"
    status = 422
    title = "Invalid input"


class UnauthenticatedError(DomainError):
    """No valid key: send `Authorization: Bearer <api key>`."""

    code = "unauthenticated"
    status = 401
    title = "Not signed in"


class ForbiddenError(DomainError):
    """You can see this but may not do it: ask for a grant with the right."""

    code = "forbidden"
    status = 403
    title = "Not permitted"


class NotFoundError(DomainError):
    """No such thing in any domain or scope that you can see."""

    code = "not_found"
    status = 404
    title = "Not found"


class MethodNotAllowedError(DomainError):
    """This address takes another method: see the `Allow` header."""

    code = "method_not_allowed"
    status = 405
    title = "Method not allowed"


class UnsupportedMediaTypeError(DomainError):
    """The body is not plain JSON: send `Content-Type: application/json`, in UTF-8."""

    code = "unsupported_media_type"
    status = 415
    title = "Unsupported media type"


class RangeNotThereError(DomainError):
    """The file has no such part: `byte_size` says how long it is."""

    code = "range_not_there"
    status = 416
    title = "No such part"

    @classmethod
    def of(cls, byte_size: int) -> RangeNotThereError:
        """For a file of that many bytes."""
        return cls(f"The file has no such part: it has {byte_size} bytes.", extra={"byte_size": byte_size})


class ConflictError(DomainError):
    """The request contradicts the present state: read it again, then decide."""

    code = "conflict"
    status = 409
    title = "Conflict"


class StaleError(DomainError):
    """What this would change has changed meanwhile: look at it again."""

    code = "stale"
    status = 409
    title = "Stale"


class IdempotencyConflictError(DomainError):
    """This idempotency key was used with another payload: use a new key for a new payload."""

    code = "idempotency_conflict"
    status = 409
    title = "Idempotency conflict"


class TransitionError(DomainError):
    """That state does not allow this step."""

    code = "transition_error"
    status = 409
    title = "Wrong state"


class ScopeNotWritableError(DomainError):
    """The scope is outside the `write` list of the scope context."""

    code = "scope_not_writable"
    status = 403
    title = "Scope not writable"


class TooLargeError(DomainError):
    """The input is over a stated limit: split it."""

    code = "too_large"
    status = 413
    title = "Too large"


class QuotaExceededError(DomainError):
    """Over quota: wait for the time in `retry_after` seconds."""

    code = "quota_exceeded"
    status = 429
    title = "Over quota"


class UnavailableError(DomainError):
    """Something this needs is not available now: try again later."""

    code = "unavailable"
    status = 503
    title = "Unavailable"


class InternalError(DomainError):
    """Something went wrong on our side: report the request id."""

    code = "internal"
    status = 500
    title = "Internal error"


def all_errors() -> Iterator[type[DomainError]]:
    """Every concrete error class, in the order of definition."""
    yield from DomainError.__subclasses__()
