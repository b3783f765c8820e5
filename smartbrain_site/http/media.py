"""The addresses of media that the older protocol names: `/v1/media` and its jobs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from governance import gate
from kernel.conf import conf
from kernel.context import Ctx
from kernel.errors import DomainError, InvalidInputError, NotFoundError
from kernel.wire import read_object
from media.actions.jobs import CANCEL_MEDIA_JOB, GET_MEDIA_JOB, RETRY_MEDIA_JOB
from media.actions.submitting import ENQUEUE_MEDIA
from media.actions.uploads import UPLOAD_MEDIA
from media.contracts.jobs import Operation
from media.contracts.uploads import UploadMediaInput
from smartbrain_site.http import openapi
from smartbrain_site.http.multipart import Form, read_form
from smartbrain_site.http.views import KEY_HEADER, GateView, check_headers

Tree = dict[str, Any]


class UnknownOperationError(InvalidInputError):
    """There is no such operation: see the list."""

    status = 400


class MediaView(GateView):
    """`POST /v1/media`: import at once, or with `options.async` by a job; a form may bring the file along."""

    http_method_names = ["post"]
    schema = openapi.MediaSchema()
    calls = ENQUEUE_MEDIA

    def post(self, request: Request) -> Response:
        """Call the action that the operation names."""
        ctx = self.ctx(request)
        name = ENQUEUE_MEDIA.name
        try:
            if (request.content_type or "").lower().startswith("multipart/form-data"):
                with read_form(request) as form:
                    name, tree = _call_of(_tree_of_form(form), request)
                    if form.path is not None:
                        first, ctx = ctx, replace(ctx, counted=True)
                        tree["source"] = _uploaded(form, first)
                        tree["options"].setdefault("name", form.name)
            else:
                check_headers(request)
                name, tree = _call_of(read_object(_body(request)), request)
        except DomainError as exc:
            gate.refuse(name, exc, ctx=ctx)
        answer = gate.call(name, tree, ctx=ctx)
        later = name == ENQUEUE_MEDIA.name
        return Response(answer.body(), status=202 if later else answer.status)


def _body(request: Request) -> bytes:
    raw: bytes = request.read(conf().max_body_bytes + 1)
    return raw


def _call_of(tree: Tree, request: Request) -> tuple[str, Tree]:
    """The action that is meant and its input."""
    operation = tree.pop("operation", None)
    if operation is None:
        raise InvalidInputError("operation is missing.", errors=[_fault("operation", "missing", "missing")])
    if operation not in list(Operation):
        known = ", ".join(Operation)
        raise UnknownOperationError(f"There is no operation {str(operation)[:80]!r}: use one of {known}.")
    options = tree.setdefault("options", {})
    if not isinstance(options, dict):
        raise InvalidInputError("options must be an object.", errors=[_fault("options", "no object", "dict_type")])
    later = options.pop("async", False)
    if not isinstance(later, bool):
        raise InvalidInputError("options.async must be true or false.", errors=[_fault("options", "async", "bool")])
    key = _key(options.pop("idempotency_key", None), tree.get("idempotency_key"), request.headers.get(KEY_HEADER))
    if key is not None:
        tree["idempotency_key"] = key
    if later:
        return ENQUEUE_MEDIA.name, {"operation": operation, **tree}
    return str(operation), tree


def _key(*given: Any) -> Any:
    """The idempotency key, wherever it stands; a blank one is none. Two that differ are refused."""
    found = [key for key in given if key is not None and str(key).strip()]
    if any(key != found[0] for key in found):
        message = f"The {KEY_HEADER} header and the body name different keys: send one of them."
        raise InvalidInputError(message, errors=[_fault("idempotency_key", "differs", "conflict")])
    return found[0] if found else None


def _tree_of_form(form: Form) -> Tree:
    """The input that the text fields of a form say: all but these two are JSON."""
    tree: Tree = {}
    for name, text in form.fields.items():
        if name in ("operation", "domain_id", "source", "idempotency_key"):
            tree[name] = text
            continue
        try:
            tree[name] = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError) as exc:
            raise InvalidInputError(f"{name} is not valid JSON: {exc}", errors=[_fault(name, "json", "json")]) from exc
    if form.path is None:
        raise InvalidInputError("Send the file in the field `file`.", errors=[_fault("file", "missing", "missing")])
    if "source" in tree:
        raise InvalidInputError("Send a file or a source, not both.", errors=[_fault("source", "extra", "conflict")])
    return tree


def _uploaded(form: Form, ctx: Ctx) -> str:
    """The file of a form as a source that the caller may import."""
    if form.path is None:
        raise InvalidInputError("Send the file in the field `file`.")
    given = UploadMediaInput.of_file(form.path, form.name or "file", form.fields.get("domain_id"))
    answer = gate.perform(UPLOAD_MEDIA, given, ctx=ctx)
    if answer.result is None:
        raise TypeError("an upload never waits")
    return answer.result.source


def _fault(field: str, message: str, kind: str) -> Tree:
    return {"loc": [field], "msg": message, "type": kind}


class JobView(GateView):
    """`GET /v1/media/jobs/<id>`."""

    schema = openapi.JobSchema()
    calls = GET_MEDIA_JOB

    def get(self, request: Request, job_id: str) -> Response:
        """The job."""
        return self.answer(request, job_id)

    def answer(self, request: Request, job_id: str) -> Response:
        """Call the action on the job of the address; what is no id is no job."""
        ctx = self.ctx(request)
        try:
            UUID(job_id)
        except ValueError:
            gate.refuse(self.action_called.name, NotFoundError(f"No job {job_id[:64]!r} that you can see."), ctx=ctx)
        return Response(gate.call(self.action_called.name, {"id": job_id}, ctx=ctx).body())


class JobStepView(JobView):
    """`POST /v1/media/jobs/<id>/cancel` and `/retry`; the body is not read."""

    http_method_names = ["post"]

    def post(self, request: Request, job_id: str) -> Response:
        """The job after the step."""
        return self.answer(request, job_id)


STEPS = {"cancel": CANCEL_MEDIA_JOB, "retry": RETRY_MEDIA_JOB}
