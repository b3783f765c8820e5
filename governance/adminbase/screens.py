"""Pages of our own beside the read-only windows: each shows what actions answer and sends what a person decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from governance.adminbase.windows import Placed
from kernel.errors import DomainError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from governance.adminbase.windows import ReadOnlyAdmin


class Screen(Placed):
    """One page below a table's pages; list it in the `screens` of that table's ReadOnlyAdmin.

    A screen gives `name` (of its address: `admin:<name>`), `route` (its path, such as `queue/` or `<uuid:pk>/decide/`),
    `title`, `template` (extends `smartbrain/screen.html`), and `show`. One that changes something also gives `send`,
    which calls an action and answers with a redirect. Where an action refuses, the page is shown again with the
    reason, what was typed (`given`) and the refusal's own HTTP status. Only a screen with `placed` is in the
    navigation; its route names nothing then.
    """

    name = ""
    route = ""
    title = ""
    template = "smartbrain/screen.html"

    def __init__(self, owner: ReadOnlyAdmin) -> None:
        self.owner = owner
        self.site = owner.admin_site

    def allowed(self, request: HttpRequest) -> bool:
        """Who may open it: every member of staff, for the gate limits what is on it."""
        return self.owner.has_view_permission(request)

    def show(self, request: HttpRequest, **names: Any) -> Mapping[str, Any]:
        """What the template needs. May raise DomainError."""
        raise NotImplementedError

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Carry out what the form says, through the gate. May raise DomainError."""
        return HttpResponseNotAllowed(["GET", "HEAD"])

    @property
    def link(self) -> str:
        """The address of a page in the navigation."""
        return reverse(f"admin:{self.name}")

    @property
    def label(self) -> str:
        """Its name in the navigation."""
        return self.title

    def urls(self) -> list[URLPattern]:
        """Its address."""
        return [path(self.route, self.site.admin_view(self.view), name=self.name)]

    def view(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Answer a request."""
        if not self.allowed(request):
            raise PermissionDenied
        if request.method == "POST":
            try:
                return self.send(request, **names)
            except DomainError as exc:
                return self._refused(request, exc, names)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
        try:
            return self.page(request, self.template, 200, self.show(request, **names))
        except NotFoundError as exc:
            return self.absent(request, exc, **names)
        except DomainError as exc:
            return self.page(request, "smartbrain/refused.html", exc.status, {"problem": exc})

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """The answer where what the address names is not there or out of sight."""
        return self.page(request, "smartbrain/refused.html", error.status, {"problem": error})

    def _refused(self, request: HttpRequest, error: DomainError, names: Mapping[str, Any]) -> HttpResponse:
        try:
            context = self.show(request, **names)
        except DomainError:
            return self.page(request, "smartbrain/refused.html", error.status, {"problem": error})
        given = {**request.POST.dict()}
        return self.page(request, self.template, error.status, {**context, "problem": error, "given": given})

    def page(self, request: HttpRequest, template: str, status: int, context: Mapping[str, Any]) -> HttpResponse:
        """A page of this screen, with what every page of the admin needs."""
        request.current_app = self.site.name
        shown = {**self.site.each_context(request), "title": self.title, "screen": self, **context}
        return TemplateResponse(request, template, shown, status=status)


def sent_json(request: HttpRequest, name: str) -> Any:
    """What a text field of a form says as JSON; InvalidInputError tells where it is not JSON."""
    try:
        return json.loads(request.POST.get(name, ""))
    except (ValueError, RecursionError) as exc:
        message = f"{name} is not valid JSON: {exc}"
        raise InvalidInputError(message, errors=[{"loc": [name], "msg": message, "type": "json"}]) from exc


def whole(text: str) -> int | str:
    """The number that a field of a form says; other text as it is, for the action to refuse."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def toast(
    request: HttpRequest, text: str, *, undo: str = "", fields: Mapping[str, str] | None = None, done: bool = True
) -> None:
    """Say on the next page what was done. `undo` is an address that takes `fields` by POST and takes it back; it is
    offered as a button for 10 seconds, and as a plain form where there is no JavaScript."""
    level = messages.SUCCESS if done else messages.WARNING
    extra = json.dumps({"undo": undo, "fields": dict(fields or {})}) if undo else ""
    messages.add_message(request, level, text, extra_tags=extra)


def back_to(request: HttpRequest, fallback: str) -> HttpResponseRedirect:
    """To the address on this site that the form names in `next`, else to the fallback."""
    wanted = request.POST.get("next", "")
    safe = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return HttpResponseRedirect(wanted if safe else fallback)
