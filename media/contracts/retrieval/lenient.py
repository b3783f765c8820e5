"""Reading a protocol that tells us to ignore what we do not know, without hiding that we did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BeforeValidator, ConfigDict, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from kernel.contracts import Contract, Instant

_INSTANT: TypeAdapter[Any] = TypeAdapter(Instant)


class Lenient(Contract):
    """A part of the protocol whose unknown fields are ignored, as 0.x demands; `survey` names them."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, serialize_by_alias=True, validate_by_name=True, validate_by_alias=True
    )


def survey(
    model: type[Lenient], tree: Mapping[str, Any], path: str = ""
) -> tuple[dict[str, Any], list[str], list[str]]:
    """The tree with its numbers brought into their bounds, the paths that nobody reads, and each number changed."""
    by_name = {name: info for field, info in model.model_fields.items() for name in (field, info.alias) if name}
    kept: dict[str, Any] = {}
    ignored: list[str] = []
    clamped: list[str] = []
    for name, value in tree.items():
        info, where = by_name.get(name), f"{path}{name}"
        if info is None:
            ignored.append(where)
            continue
        if value is None:  # older clients write what they leave out
            continue
        kept[name], note = _into_bounds(value, info)
        clamped += [f"{where}: {value} -> {kept[name]}"] if note else []
        for nested, item, index in _nested(info, value):
            part, more_ignored, more_clamped = survey(nested, item, f"{where}{index}.")
            ignored += more_ignored
            clamped += more_clamped
            kept[name] = _put(kept[name], index, part)
    return kept, ignored, clamped


def _nested(info: FieldInfo, value: Any) -> Iterator[tuple[type[Lenient], Mapping[str, Any], str]]:
    model = _model_of(info.annotation)
    if model is None:
        return
    if isinstance(value, Mapping):
        yield model, value, ""
    elif isinstance(value, list):
        yield from ((model, item, f"[{place}]") for place, item in enumerate(value) if isinstance(item, Mapping))


def _put(whole: Any, index: str, part: dict[str, Any]) -> Any:
    if not index:
        return part
    place = int(index.strip("[]"))
    return [*whole[:place], part, *whole[place + 1 :]]


def _model_of(annotation: Any) -> type[Lenient] | None:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation if issubclass(annotation, Lenient) else None
    return next((model for arg in get_args(annotation) if (model := _model_of(arg))), None)


def _into_bounds(value: Any, info: FieldInfo) -> tuple[Any, bool]:
    """A number outside its bounds becomes the nearest bound; one that must be above a bound and is not, the default."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value, False
    kind = float if info.annotation is float else int
    for bound in info.metadata:
        if isinstance(bound, Gt) and value <= kind(str(bound.gt)):
            return info.default, True
        if isinstance(bound, Ge) and value < kind(str(bound.ge)):
            return kind(str(bound.ge)), True
        if isinstance(bound, Le) and value > kind(str(bound.le)):
            return kind(str(bound.le)), True
    return value, False


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _many(value: Any) -> Any:
    return [value] if isinstance(value, (str, int)) and not isinstance(value, bool) else value


def _instant(value: Any) -> Any:
    # A tree that a "before" validator has touched is no longer JSON to pydantic, whose strict mode then refuses text.
    return _INSTANT.validate_json(to_json(value), strict=True) if isinstance(value, str) else value


Moment = Annotated[Instant, BeforeValidator(_instant)]
"""An instant as text, inside a tree that was surveyed."""

Id = Annotated[str, BeforeValidator(_text)]
"""An id of another system: text, or an integer taken as text."""

Many = Annotated[list[Id], BeforeValidator(_many)]
"""A list that may be given as its only entry."""
