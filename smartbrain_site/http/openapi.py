"""The OpenAPI document of this door, made from the actions' own contracts."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Protocol, cast

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from governance.contracts import QueuedAnswer
from kernel.actions import Action, all_actions, get
from kernel.contracts import Contract, KeyedInput
from kernel.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    InternalError,
    InvalidInputError,
    InvalidJsonError,
    NotFoundError,
    QuotaExceededError,
    RangeNotThereError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from media.contracts.jobs import Operation
from smartbrain_site.http import query
from smartbrain_site.http.problems import MEDIA_TYPE, REQUEST_ID, Problem

Json = dict[str, Any]
Models = list[tuple[type[Contract], JsonSchemaMode]]
Errors = tuple[type[DomainError], ...]
_REF = "#/components/schemas/{model}"
_READ_ERRORS: Errors = (
    UnauthenticatedError,
    ForbiddenError,
    NotFoundError,
    InvalidInputError,
    QuotaExceededError,
    InternalError,
    UnavailableError,
)
_BODY_ERRORS: Errors = (InvalidJsonError, TooLargeError, UnsupportedMediaTypeError)
_SECURITY = [{"apiKey": list[str]()}]
_STATUS = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}


class _Calls(Protocol):
    @property
    def action_called(self) -> Action[Any, Any, Any]: ...


def document() -> Json:
    """The whole document as plain JSON; the same each time, since the actions do not change while the server runs."""
    tree: Json = json.loads(text())
    return tree


@lru_cache(maxsize=1)
def text() -> str:
    """The document as it is written to `schemas/openapi.json`."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    tree = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return json.dumps(tree, indent=2, ensure_ascii=False, sort_keys=False) + "\n"


class ActionSchema(AutoSchema):
    """Describes `POST /v1/<action>`."""

    def get_operation(self, *args: Any) -> Json:
        """The operation object."""
        action: Action[Any, Any, Any] = cast("_Calls", self.view).action_called
        keyed = issubclass(action.input, KeyedInput)
        conflicts: Errors = () if action.apply is None else (ConflictError,)
        answers = {"200": _answer("The answer.", _ref(action.output, "serialization"))}
        if action.apply is not None:
            answers["202"] = _answer("Waits for a person's decision.", _ref(QueuedAnswer, "serialization"))
        return {
            "operationId": action.name,
            "summary": action.summary,
            "tags": ["actions"],
            "security": _SECURITY,
            **({"parameters": [_key_parameter()]} if keyed else {}),
            "requestBody": {
                "required": _required(action.input),
                "content": {"application/json": {"schema": _ref(action.input, "validation")}},
            },
            "responses": {**answers, **_refusals(*_READ_ERRORS, *_BODY_ERRORS, *conflicts)},
        }


class ResourceSchema(AutoSchema):
    """Describes `GET /v1/<resource>`."""

    def get_operation(self, *args: Any) -> Json:
        """The operation object."""
        action: Action[Any, Any, Any] = cast("_Calls", self.view).action_called
        answer = _answer("The answer.", _ref(action.output, "serialization"))
        answer["headers"]["Link"] = {
            "description": 'Address of the next page, `rel="next"`; left out at the end.',
            "schema": {"type": "string"},
        }
        return {
            "operationId": f"get_{action.resource}".replace("/", "_"),
            "summary": action.summary,
            "tags": ["resources"],
            "security": _SECURITY,
            "parameters": [
                _query_parameter(name, schema, required=action.input.model_fields[name].is_required())
                for name, schema in query.field_schemas(action.input).items()
            ],
            "responses": {"200": answer, **_refusals(*_READ_ERRORS)},
        }


class MediaSchema(AutoSchema):
    """Describes `POST /v1/media`."""

    def get_operation(self, *args: Any) -> Json:
        """The operation object: the answer is that of the operation, or the job where it is done later."""
        action: Action[Any, Any, Any] = cast("_Calls", self.view).action_called
        done = get("add_media")
        text = {"type": "string"}
        form = {
            "type": "object",
            "properties": {
                "operation": {"enum": [each.value for each in Operation]},
                "options": {**text, "description": "The options as JSON."},
                "file": {**text, "format": "binary", "description": "The file; its name keeps its extension."},
                "domain_id": text,
                "scopes": {**text, "description": "The scopes as JSON."},
            },
            "required": ["operation", "file"],
        }
        later = _answer("A job does it, where `options.async` is true.", _ref(action.output, "serialization"))
        return {
            "operationId": "media",
            "summary": "Import a document or media file at once, or with `options.async` by a job.",
            "tags": ["resources"],
            "security": _SECURITY,
            "parameters": [_key_parameter()],
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {"schema": _ref(action.input, "validation")},
                    "multipart/form-data": {"schema": form},
                },
            },
            "responses": {
                "200": _answer("The answer of the operation.", _ref(done.output, "serialization")),
                "202": later,
                **_refusals(*_READ_ERRORS, *_BODY_ERRORS, ConflictError),
            },
        }


class JobSchema(AutoSchema):
    """Describes what is at a job's address."""

    def get_operation(self, *args: Any) -> Json:
        """The operation object."""
        action: Action[Any, Any, Any] = cast("_Calls", self.view).action_called
        conflicts: Errors = () if action.apply is None else (ConflictError,)
        place = {"name": "job_id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
        return {
            "operationId": f"at_address_{action.name}",
            "summary": action.summary,
            "tags": ["resources"],
            "security": _SECURITY,
            "parameters": [place],
            "responses": {
                "200": _answer("The job.", _ref(action.output, "serialization")),
                **_refusals(*_READ_ERRORS, *conflicts),
            },
        }


class HealthSchema(AutoSchema):
    """Describes `GET /healthz`."""

    def get_operation(self, *args: Any) -> Json:
        """The operation object."""
        return {
            "operationId": "healthz",
            "summary": "Say whether the server answers.",
            "tags": ["health"],
            "security": [],
            "responses": {
                "200": _answer("`ok`.", _STATUS),
                "503": _answer("`degraded`: the database does not answer.", _STATUS),
            },
        }


def add_components(result: Json, **_given: Any) -> Json:
    """The postprocessing hook: every contract, each refusal once, and the key.

    All contracts go through pydantic together, which keeps two of one name apart by their modules.
    """
    result["components"] = {
        "schemas": dict(sorted(_definitions()[1].items())),
        "responses": {
            _name(error): _refusal(error)
            for error in (*_READ_ERRORS, *_BODY_ERRORS, ConflictError, RangeNotThereError)
        },
        "securitySchemes": {
            "apiKey": {
                "type": "http",
                "scheme": "bearer",
                "description": "The key that `create_principal` shows once.",
            }
        },
    }
    return result


@lru_cache(maxsize=1)
def _definitions() -> tuple[dict[Any, Json], dict[str, Json]]:
    wanted: Models = [(QueuedAnswer, "serialization"), (Problem, "serialization")]
    for action in all_actions():
        wanted += [(action.input, "validation"), (action.output, "serialization")]
    refs, schema = models_json_schema(wanted, ref_template=_REF)
    return dict(refs), schema["$defs"]


def _ref(model: type[Contract], mode: JsonSchemaMode) -> Json:
    return _definitions()[0][(model, mode)]


def _required(model: type[Contract]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())


def _answer(description: str, schema: Json, media_type: str = "application/json") -> Json:
    header = {"description": "Names this call in the audit log.", "schema": {"type": "string", "format": "uuid"}}
    return {
        "description": description,
        "headers": {REQUEST_ID: header},
        "content": {media_type: {"schema": schema}},
    }


def _refusal(error: type[DomainError]) -> Json:
    answer = _answer(error.__doc__ or error.title, _ref(Problem, "serialization"), MEDIA_TYPE)
    if error is UnauthenticatedError:
        answer["headers"]["WWW-Authenticate"] = {"schema": {"type": "string"}}
    if error is QuotaExceededError:
        answer["headers"]["Retry-After"] = {"description": "Seconds to wait.", "schema": {"type": "string"}}
    if error is RangeNotThereError:
        answer["headers"]["Content-Range"] = {"description": "`bytes */<length>`.", "schema": {"type": "string"}}
    return answer


def _refusals(*errors: type[DomainError]) -> dict[str, Json]:
    by_status = sorted(errors, key=lambda error: error.status)
    return {str(error.status): {"$ref": f"#/components/responses/{_name(error)}"} for error in by_status}


def _name(error: type[DomainError]) -> str:
    return error.__name__.removesuffix("Error")


def _key_parameter() -> Json:
    description = "Fills the field `idempotency_key`: the same key with the same payload gives the first answer again."
    schema = {"type": "string", "minLength": 1, "maxLength": 128}
    return {"name": "Idempotency-Key", "in": "header", "required": False, "description": description, "schema": schema}


def _query_parameter(name: str, schema: Json, *, required: bool) -> Json:
    kept = {key: value for key, value in schema.items() if key not in ("description", "title")}
    return {
        "name": name,
        "in": "query",
        "required": required,
        "description": schema.get("description", ""),
        "schema": kept,
    }
