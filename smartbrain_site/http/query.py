"""Reading query parameters as the plain JSON that an action's input expects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from kernel.contracts import Contract
from kernel.errors import InvalidInputError

MAX_PARAMETERS = 200
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?")
_BOOLEANS = {"true": True, "false": False}


def pairs(query_string: str) -> list[tuple[str, str]]:
    """The parameters in order. Raises InvalidInputError for what is not UTF-8, and for too many."""
    try:
        return parse_qsl(query_string, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except UnicodeDecodeError as exc:
        raise InvalidInputError("The query string is not percent-encoded UTF-8.") from exc
    except ValueError as exc:
        raise InvalidInputError(f"The query string has more than {MAX_PARAMETERS} parameters.") from exc


def tree(given: Sequence[tuple[str, str]], model: type[Contract]) -> dict[str, Any]:
    """The parameters as JSON: converted where the field's type says so, else as they came, for the contract to refuse.

    A list is a repeated parameter or one with commas; any other parameter given twice stays a list, which no field
    that wants one value takes.
    """
    fields = field_schemas(model)
    found: dict[str, list[str]] = {}
    for name, value in given:
        found.setdefault(name, []).append(value)
    return {name: _value(values, fields.get(name, {})) for name, values in found.items()}


def field_schemas(model: type[Contract]) -> dict[str, dict[str, Any]]:
    """The JSON schema of each field of an input, without the null that a query parameter cannot say."""
    properties = model.model_json_schema(ref_template="#/components/schemas/{model}")["properties"]
    return {name: _without_null(schema) for name, schema in properties.items()}


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    some = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    inner = some[0] if len(some) == 1 else {}
    left_out = {"title", "anyOf"} if inner else {"title"}
    kept = {key: value for key, value in schema.items() if key not in left_out}
    if kept.get("default", "") is None:
        del kept["default"]
    return {**inner, **kept}


def _value(values: list[str], schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "array":
        parts = [part for value in values for part in value.split(",")]
        return [_scalar(part, schema.get("items", {})) for part in parts]
    return _scalar(values[0], schema) if len(values) == 1 else values


def _scalar(text: str, schema: Mapping[str, Any]) -> Any:
    match schema.get("type"):
        case "integer" if _INTEGER.fullmatch(text):
            return int(text)
        case "number" if _NUMBER.fullmatch(text):
            return float(text)
        case "boolean":
            return _BOOLEANS.get(text, text)
    return text
