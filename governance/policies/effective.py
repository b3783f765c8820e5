"""The policy in force: defaults, then `brain.yml`, then the newest stored versions of the installation and the domain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast
from uuid import UUID

import yaml
from django.db.models import Q, QuerySet
from pydantic import ValidationError

from governance.hooks import PolicySection, policy_sections
from governance.models import PolicyVersion
from kernel.canonical import canonical_json, digest
from kernel.compiled import Given, compiled
from kernel.conf import conf
from kernel.context import Ctx
from kernel.contracts import invalid
from kernel.errors import InvalidInputError, UnavailableError
from kernel.wire import check_tree

Section = TypeVar("Section", bound=PolicySection)
FILE_NAME = "brain.yml"
# A value that is none of its type, such as the month 13, leaves the YAML reader as whatever Python makes of it.
_UNREADABLE = (yaml.YAMLError, ValueError, OverflowError, LookupError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Policies:
    """Every section, typed, and the name of the version that they make up together. `stored` are all the versions that
    were there when it was put together."""

    version: str
    sections: Mapping[str, PolicySection]
    unregistered_file: dict[str, Any] | None = None
    stored: Sequence[_Version] = field(default=(), repr=False, compare=False)

    def section(self, model: type[Section]) -> Section:
        """One typed section."""
        return cast("Section", self.sections[model.section])

    def document(self) -> dict[str, Any]:
        """Every section with every field, as plain JSON."""
        return {name: section.model_dump(mode="json") for name, section in self.sections.items()}


@dataclass(frozen=True, slots=True)
class Draft:
    """A policy document that would take the place of the newest one of a domain, or of the installation."""

    domain_id: str | None
    document: Mapping[str, Any]


class _Version(NamedTuple):
    id: UUID
    domain_id: str | None
    number: int
    source: str
    digest: str


@compiled(_Version)
def _versions(domain: Given) -> QuerySet[PolicyVersion, Any]:
    """The stored versions of the installation and of one domain, the newest first; the domain "" is none."""
    rows = PolicyVersion.objects.filter(Q(domain_id=None) | Q(domain_id=domain)).order_by("-number", "-id")
    return rows.values_list("id", "domain_id", "number", "source", "digest")


# A stored version never changes, so what was read of it once stays right.
@lru_cache(maxsize=256)
def _document(version_id: UUID) -> Mapping[str, Any]:
    document: Mapping[str, Any] = PolicyVersion.objects.values_list("document", flat=True).get(pk=version_id)
    return document


@lru_cache(maxsize=256)
def _merged(stored: str, version_ids: tuple[UUID, ...]) -> Mapping[str, PolicySection]:
    """The sections that the document of the file, as canonical JSON, and stored versions make up together."""
    return _merge([json.loads(stored), *(_document(version_id) for version_id in version_ids)])


def effective(domain_id: str | None, draft: Draft | None = None) -> Policies:
    """The policy of a domain, or of the installation; with `draft` as it would then be.

    Raises UnavailableError where `brain.yml` cannot be used.
    """
    stored = read_file()
    rows = list(_versions(domain=domain_id or ""))
    in_file = next((row for row in rows if row.source == "file"), None)
    overall = next((row for row in rows if row.source == "action" and row.domain_id is None), None)
    own = next((row for row in rows if row.source == "action" and row.domain_id is not None), None)
    unregistered = stored if stored and (in_file is None or in_file.digest != digest(stored)) else None
    names = [
        *([f"file:{digest(stored)[:8]}"] if stored else []),
        *([f"v{overall.number}"] if overall else []),
        *([f"{own.domain_id}/v{own.number}"] if own else []),
    ]
    try:
        if draft is not None and draft.domain_id in (None, domain_id):
            names.append("draft")
            merged: Mapping[str, PolicySection] = _merge(_drafted(stored, overall, own, draft))
        else:
            merged = _merged(canonical_json(stored), tuple(row.id for row in (overall, own) if row))
    except InvalidInputError as exc:
        raise UnavailableError(f"A stored policy version cannot be used: {exc.message}") from exc
    return Policies("+".join(names) or "defaults", merged, unregistered, rows)


def _drafted(
    stored: Mapping[str, Any], overall: _Version | None, own: _Version | None, draft: Draft
) -> list[Mapping[str, Any]]:
    """The layers with the draft in the place of the version that it would replace."""
    if draft.domain_id is not None:
        return [stored, *([_document(overall.id)] if overall else []), draft.document]
    return [stored, draft.document, *([_document(own.id)] if own else [])]


def at_version(name: str, domain_id: str | None, now: Policies | None = None) -> Policies | None:
    """The policy that a recorded version names, put together again; None where a part of it is not stored. `now` is the
    policy in force, where it is known: what is stored is not looked up again then."""
    stored = now.stored if now is not None else list(_versions(domain=domain_id or ""))
    layers: list[Mapping[str, Any]] = []
    for part in name.split("+") if name not in ("", "defaults") else []:
        row = next((row for row in stored if _is_named(row, part)), None)
        if row is None:
            return None
        layers.append(_document(row.id))
    try:
        return Policies(name, _merge(layers))
    except InvalidInputError:
        return None  # a section or a field of that time is none any more


def _is_named(row: _Version, part: str) -> bool:
    """Whether a part of a version's name means this stored version."""
    if row.source == "file":
        return part.startswith("file:") and row.digest.startswith(part.removeprefix("file:"))
    return part == (f"v{row.number}" if row.domain_id is None else f"{row.domain_id}/v{row.number}")


def in_force(domain_id: str | None, ctx: Ctx) -> Policies:
    """The policy of a domain, read at most once in a call."""
    return ctx.once(("policies", domain_id), lambda: effective(domain_id))


def effective_or_defaults(domain_id: str | None) -> Policies:
    """The policy in force, or the product's defaults while `brain.yml` cannot be used (for recording refusals)."""
    try:
        return effective(domain_id)
    except UnavailableError:
        return Policies("unusable", _merge([]))


def read_file() -> dict[str, Any]:
    """The `policies:` document of `DATA_DIR/brain.yml`; empty where there is none.

    Raises UnavailableError with the fault, so that a broken file stops work instead of silently loosening a rule.
    """
    path = conf().data_dir / FILE_NAME
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise UnavailableError(f"{FILE_NAME} cannot be read: {exc}.") from exc
    tree = _load(text) or {}
    document = tree.get("policies") if isinstance(tree, dict) and set(tree) <= {"policies"} else tree
    if document is None:
        return {}
    if not isinstance(document, dict) or (document and document is tree):
        raise UnavailableError(f"{FILE_NAME} must hold one mapping `policies:` and nothing beside it.")
    try:
        validate_document(document)
        check_tree(document)
        canonical_json(document)
    except InvalidInputError as exc:
        raise UnavailableError(f"{FILE_NAME} is not a valid policy: {exc.message}") from exc
    except TypeError as exc:
        raise UnavailableError(f"{FILE_NAME} must hold plain values only: {exc}") from exc
    return document


def _load(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except _UNREADABLE as exc:
        raise UnavailableError(f"{FILE_NAME} is not valid YAML: {str(exc) or type(exc).__name__}") from exc


def validate_document(document: Mapping[str, Any]) -> None:
    """Refuse unknown sections, unknown fields and wrong values, naming the place."""
    known = policy_sections()
    for name, fields in document.items():
        if name not in known:
            raise InvalidInputError(f"Unknown policy section {name!r}: use one of {', '.join(known)}.")
        if not isinstance(fields, dict):
            raise InvalidInputError(f"Policy section {name!r} must be a mapping of fields.")
    _merge([document])


def _merge(layers: list[Mapping[str, Any]]) -> dict[str, PolicySection]:
    merged = {}
    for name, model in policy_sections().items():
        fields: dict[str, Any] = {}
        for layer in layers:
            fields.update(layer.get(name, {}))
        try:
            merged[name] = model.model_validate(fields)
        except ValidationError as exc:
            fault = invalid(exc)
            raise InvalidInputError(f"policies.{name}.{fault.message}", errors=fault.errors) from exc
    return merged
