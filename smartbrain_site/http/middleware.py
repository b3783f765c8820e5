"""What holds for every answer under /v1/, wherever in the stack it was made: a request id, no caching, one error form."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from kernel.errors import DomainError, InternalError, InvalidInputError, MethodNotAllowedError
from kernel.ids import new_id
from smartbrain_site.http.problems import MEDIA_TYPE, REQUEST_ID, request_id, set_request_id

_PREFIX = "/v1/"
_OURS = (_PREFIX, "/healthz")


def api_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """First in the stack, so that it also sees what other middleware refuses."""

    def middleware(request: HttpRequest) -> HttpResponse:
        set_request_id(request, new_id())
        response = get_response(request)
        if request.path_info.startswith(_PREFIX) and _is_foreign_error(response):
            response = _problem(response, request)
        response[REQUEST_ID] = str(request_id(request))
        if request.path_info.startswith(_OURS):
            response["Cache-Control"] = "no-store"
        return response

    return middleware


def _is_foreign_error(response: HttpResponse) -> bool:
    return response.status_code >= 400 and response.get("Content-Type") != MEDIA_TYPE


def _problem(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    error: DomainError = InternalError()
    if response.status_code == 405:
        error = MethodNotAllowedError()
    elif response.status_code < 500:
        error = InvalidInputError("This address or a header (such as Host) is not acceptable to this server.")
    body = error.problem(str(request_id(request)))
    allow = {"Allow": response["Allow"]} if "Allow" in response else {}
    return JsonResponse(body, status=error.status, content_type=MEDIA_TYPE, headers=allow)
