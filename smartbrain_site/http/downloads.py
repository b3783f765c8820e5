"""The address at which the file of a document is downloaded with a key."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from drf_spectacular.openapi import AutoSchema
from rest_framework.request import Request

from media.actions.files import GET_DOCUMENT_FILE
from media.views import send_file
from smartbrain_site.http.views import GateView


class ContentSchema(AutoSchema):
    """Describes `GET /v1/documents/{document_id}/content`."""

    def get_operation(self, *args: Any) -> dict[str, Any]:
        """The operation object."""
        binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        place = {"name": "document_id", "in": "path", "required": True}
        part = {"name": "Range", "in": "header", "description": "One part, such as `bytes=0-1023`."}
        return {
            "operationId": "download_document_file",
            "summary": "Download the file that a document was made of.",
            "tags": ["documents"],
            "security": [{"apiKey": []}],
            "parameters": [
                {**place, "schema": {"type": "string", "format": "uuid"}},
                {**part, "schema": {"type": "string"}},
            ],
            "responses": {
                "200": {"description": "The bytes.", "content": binary},
                "206": {"description": "The part that was asked for.", "content": binary},
                **{str(status): {"$ref": f"#/components/responses/{name}"} for status, name in _REFUSALS},
            },
        }


_REFUSALS = (
    (401, "Unauthenticated"),
    (404, "NotFound"),
    (416, "RangeNotThere"),
    (429, "QuotaExceeded"),
    (503, "Unavailable"),
)


class ContentView(GateView):
    """`GET /v1/documents/<id>/content`."""

    calls = GET_DOCUMENT_FILE
    schema = ContentSchema()

    def get(self, request: Request, document_id: UUID) -> HttpResponseBase:
        """The bytes, or a part of them."""
        return send_file(document_id, request._request, self.ctx(request))  # noqa: SLF001  DRF documents it
