"""The base of every value that crosses a door, and the small types those values share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticSerializationError, to_json

from kernel.errors import InvalidInputError


class Contract(BaseModel):
    """A closed, immutable value: unknown fields are refused and types are not guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def parse(cls, tree: Mapping[str, Any]) -> Self:
        """Validate a plain JSON tree strictly, as if it had arrived as JSON text.

        Raises InvalidInputError, with one `{loc, msg, type}` for each fault.
        """
        try:
            text = to_json(tree)
        except (PydanticSerializationError, ValueError) as exc:
            raise InvalidInputError("The input holds a value that JSON cannot say.") from exc
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as exc:
            raise invalid(exc) from exc


class KeyedInput(Contract):
    """Input of an action that can safely be sent again."""

    idempotency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=128,
        description="Send the same key with the same payload to get the first answer again; 128 characters at most.",
    )


class KeyedResult(Contract):
    """Answer of an action that can safely be sent again."""

    deduplicated: bool = Field(
        default=False, description="True when this is the stored answer of an earlier call with the same key."
    )


class PageInput(Contract):
    """Input of every list: how many rows, and where to go on."""

    limit: int = Field(default=20, ge=1, le=100, description="Rows a page, 1 to 100.")
    cursor: str | None = Field(
        default=None, max_length=2000, description="`next_cursor` of the page before, with the same filters."
    )


class PageResult(Contract):
    """What every list answers beside its rows."""

    next_cursor: str | None = Field(
        default=None, description="Send it as `cursor` for the next page; null at the end."
    )


def invalid(exc: ValidationError) -> InvalidInputError:
    """Our error for a pydantic one; the input itself is never repeated."""
    faults = [
        {"loc": [str(part) for part in fault["loc"]], "msg": _in_words(fault["msg"]), "type": fault["type"]}
        for fault in exc.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = faults[0]
    where = ".".join(first["loc"]) or "input"
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    return InvalidInputError(f"{where}: {first['msg']}{more}", errors=faults[:50])


def _in_words(message: str) -> str:
    """The validator's message without words of its own trade."""
    if message == "String should have at least 1 character":
        return "must not be empty"
    return message.removeprefix("Value error, ")


def _to_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as exc:
        raise ValueError("the instant is out of range") from exc


Instant = Annotated[
    AwareDatetime,
    AfterValidator(_to_utc),
    Field(description="RFC 3339 date and time with its offset, such as 2026-12-01T09:30:00+08:00; stored in UTC."),
]

_INSTANT: TypeAdapter[Any] = TypeAdapter(Instant)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _moment(value: Any, *, after_day: bool) -> Any:
    """The instant that a text names; a plain date is its beginning in UTC, or the one after it."""
    if not isinstance(value, str):
        return value
    if not _DAY.fullmatch(value):
        # What a "before" validator has touched is no longer JSON to pydantic, whose strict mode then refuses text.
        return _INSTANT.validate_json(to_json(value), strict=True)
    start = datetime.combine(date.fromisoformat(value), time(), UTC)
    try:
        return start + timedelta(days=after_day)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


Since = Annotated[Instant, BeforeValidator(partial(_moment, after_day=False))]
"""The beginning of a span: an instant, or a date for the beginning of that day in UTC."""

Until = Annotated[Instant, BeforeValidator(partial(_moment, after_day=True))]
"""The end of a span, which is not within it: an instant, or a date for the end of that day in UTC."""

Identifier = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S(.*\S)?$")]
