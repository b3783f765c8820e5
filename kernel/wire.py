"""Reading JSON from strangers: one strict reader for every door."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from kernel.errors import InvalidInputError, InvalidJsonError

CUT = "smartbrain.cut"  # noted in the scope of an ASGI request whose body was cut short
MAX_DEPTH = 32
MAX_INTEGER = 2**63 - 1


def read_object(raw: bytes | str) -> dict[str, Any]:
    """One JSON object from UTF-8 text; an empty text is the empty object.

    Raises InvalidJsonError for text that is not JSON (repeated member names included), InvalidInputError for JSON that
    is not an object.
    """
    text = raw if isinstance(raw, str) else _decode(raw)
    if not text.strip():
        return {}
    try:
        tree = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except InvalidJsonError:
        raise
    except (ValueError, RecursionError) as exc:
        raise InvalidJsonError(f"The body is not valid JSON: {_reason(exc)}.") from exc
    if not isinstance(tree, dict):
        raise InvalidInputError("The body must be one JSON object.")
    return tree


def was_cut(request: Any) -> bool:
    """Whether more of a request's body arrived than it may have; only ever true where an ASGI server serves."""
    return bool(getattr(request, "scope", {}).get(CUT))


def check_tree(tree: Any) -> None:
    """Refuse what no database or reader can keep: NUL, lone surrogates, huge integers, not-a-number, deep nesting."""
    pending: list[tuple[Any, tuple[str, ...]]] = [(tree, ())]
    while pending:
        value, path = pending.pop()
        if len(path) > MAX_DEPTH:
            _refuse(path[:4], f"nested deeper than {MAX_DEPTH} levels", "too_deep")
        check = _CHECKS.get(type(value))
        if check is not None:
            check(value, path)
        elif isinstance(value, dict):
            for key, inner in value.items():
                _check_text(str(key), path)
                pending.append((inner, (*path, str(key))))
        elif isinstance(value, list | tuple):
            pending.extend((inner, (*path, str(index))) for index, inner in enumerate(value))


def _check_text(text: str, path: tuple[str, ...]) -> None:
    if "\x00" in text:
        _refuse(path, "holds a NUL character, which no database keeps", "nul_character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        _refuse(path, "holds half of a surrogate pair, which is not a character", "lone_surrogate")


def _check_int(value: int, path: tuple[str, ...]) -> None:
    if abs(value) > MAX_INTEGER:
        _refuse(path, "is an integer of more than 64 bits", "integer_too_large")


def _check_float(value: float, path: tuple[str, ...]) -> None:
    if not math.isfinite(value):
        _refuse(path, "is not a finite number", "not_finite")


_CHECKS: dict[type, Callable[[Any, tuple[str, ...]], None]] = {
    str: _check_text,
    int: _check_int,
    float: _check_float,
}


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InvalidJsonError("The body is not UTF-8 text.") from exc


def _reason(exc: Exception) -> str:
    if isinstance(exc, json.JSONDecodeError):
        return f"{exc.msg} at line {exc.lineno}, column {exc.colno}"
    return "nested too deeply" if isinstance(exc, RecursionError) else "a number is too long"


def _no_constant(name: str) -> NoReturn:
    raise InvalidJsonError(f"The body is not valid JSON: {name} is not a JSON number.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        raise InvalidJsonError("The body is not valid JSON: a member name appears twice in one object.")
    return tree


def _refuse(path: tuple[str, ...], message: str, kind: str) -> NoReturn:
    where = ".".join(path) or "input"
    raise InvalidInputError(f"{where} {message}", errors=[{"loc": list(path), "msg": message, "type": kind}])
