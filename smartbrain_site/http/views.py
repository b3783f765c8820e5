"""The views of the HTTP door: they recognise the caller, hand the input to the gate and print its answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.views import SpectacularSwaggerView
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from governance import gate
from kernel import db
from kernel.actions import Action
from kernel.conf import conf
from kernel.context import Ctx, Door
from kernel.errors import (
    DomainError,
    InvalidInputError,
    NotFoundError,
    UnauthenticatedError,
    UnsupportedMediaTypeError,
)
from kernel.wire import read_object
from scopes.selectors import authenticate_key
from smartbrain_site.http import openapi, query
from smartbrain_site.http.problems import as_domain_error, problem_response, request_id

KEY_HEADER = "Idempotency-Key"


class OneForm(BaseContentNegotiation):
    """Answers are JSON whatever the client says it accepts."""

    def select_parser(self, request: Request, parsers: Any) -> None:
        """No parser: the gate reads the body."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The only one there is."""
        return renderers[0], renderers[0].media_type


class DoorView(APIView):
    """What every view of the door shares: JSON only, and problem+json for whatever goes wrong."""

    content_negotiation_class = OneForm
    http_method_names = ["get", "head"]

    def handle_exception(self, exc: Exception) -> Response:
        """The problem+json answer to anything that was raised."""
        return problem_response(as_domain_error(exc, self.request), self.request)


class GateView(DoorView):
    """A view that calls one action."""

    calls: Action[Any, Any, Any] | None = None

    @property
    def action_called(self) -> Action[Any, Any, Any]:
        """The action of this address."""
        if self.calls is None:
            raise TypeError("give as_view() the action that it calls")
        return self.calls

    def ctx(self, request: Request) -> Ctx:
        """Who calls. Raises UnauthenticatedError."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise UnauthenticatedError
        identity = authenticate_key(secret)
        return Ctx(identity.actor, Door.HTTP, identity.reach, request_id=request_id(request))


class ActionView(GateView):
    """`POST /v1/<action>`."""

    http_method_names = ["post"]
    schema = openapi.ActionSchema()

    def post(self, request: Request) -> Response:
        """Call the action with the body."""
        ctx = self.ctx(request)
        name = self.action_called.name
        try:
            check_headers(request)
            given = _with_key(request.read(conf().max_body_bytes + 1), request.headers.get(KEY_HEADER))
        except DomainError as exc:
            gate.refuse(name, exc, ctx=ctx)
        answer = gate.call(name, given, ctx=ctx)
        return Response(answer.body(), status=answer.status)


class ResourceView(GateView):
    """`GET /v1/<resource>`: a list action with its input as query parameters."""

    schema = openapi.ResourceSchema()

    def get(self, request: Request) -> Response:
        """Call the action with the query parameters."""
        ctx = self.ctx(request)
        action = self.action_called
        try:
            given = query.pairs(request.META.get("QUERY_STRING", ""))
        except InvalidInputError as exc:
            gate.refuse(action.name, exc, ctx=ctx)
        body = gate.call(action.name, query.tree(given, action.input), ctx=ctx).body()
        response = Response(body)
        if body.get("next_cursor"):
            again = [pair for pair in given if pair[0] != "cursor"]
            address = f"{request.path}?{urlencode([*again, ('cursor', body['next_cursor'])])}"
            response["Link"] = f'<{address}>; rel="next"'
        return response


class SchemaView(DoorView):
    """`GET /v1/schema/`: this door as an OpenAPI document."""

    schema = None

    def get(self, request: Request) -> Response:
        """The document."""
        return Response(openapi.document())


class DocsView(SpectacularSwaggerView):
    """`GET /v1/docs/`: the document as a page to try calls on; all of it comes from this server."""

    content_negotiation_class = OneForm
    template_name_js = "http/swagger_ui.js"


class HealthView(DoorView):
    """`GET /healthz`: whether the server answers, and nothing else."""

    schema = openapi.HealthSchema()

    def get(self, request: Request) -> Response:
        """200 while the database answers, else 503."""
        return Response({"status": "ok"}) if db.ping() else Response({"status": "degraded"}, status=503)


class UnknownView(DoorView):
    """Any other address under /v1/, whatever the method."""

    schema = None

    @property
    def default_response_headers(self) -> dict[str, str]:
        """None: no method is allowed here."""
        return {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises NotFoundError."""
        raise NotFoundError("Nothing lives at this address: see /v1/docs/ for those there are.")


def check_headers(request: Request) -> None:
    """Refuse a body that is not plain JSON in UTF-8, and query parameters, which no action takes."""
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    is_json = media_type in ("", "application/json") or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if not is_json or charset not in ("utf-8", "utf8"):
        raise UnsupportedMediaTypeError
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaTypeError("Compressed bodies are not read: send plain JSON without Content-Encoding.")
    if request.META.get("QUERY_STRING"):
        raise InvalidInputError("This address takes no query parameters: put them into the JSON body.")


def _with_key(raw: bytes, key: str | None) -> bytes | dict[str, Any]:
    """The input with the idempotency key of the header in it."""
    if key is None or len(raw) > conf().max_body_bytes:
        return raw
    tree = read_object(raw)
    if tree.setdefault("idempotency_key", key) != key:
        raise InvalidInputError(
            f"The {KEY_HEADER} header and the field idempotency_key differ: send one of them.",
            errors=[{"loc": ["idempotency_key"], "msg": f"differs from {KEY_HEADER}", "type": "conflict"}],
        )
    return tree
