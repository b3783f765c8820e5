"""The navigation: which pages there are, where they stand, and their addresses."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from governance.adminbase.cells import Cell
from governance.adminbase.windows import Placed

GROUPS = ("Conversations", "Memory", "Review", "Access", "System")


def pages(request: HttpRequest) -> list[Any]:
    """The registered pages that the person may open, in the order of the navigation."""
    registered = (model for model in apps.get_models() if admin.site.is_registered(model))
    found: list[Any] = [page for page in map(admin.site.get_model_admin, registered) if isinstance(page, Placed)]
    allowed = [page for page in found if page.has_view_permission(request)]
    return sorted(allowed, key=lambda page: (GROUPS.index(page.group), page.place))


def narrowed_links(request: HttpRequest, column: str, value: object) -> list[Cell]:
    """Links to every list that can be narrowed to this value of the column."""
    return [
        Cell(str(page.opts.verbose_name_plural), list_url(page.opts, **{column: value}))
        for page in pages(request)
        if column in getattr(page, "narrow_by", ())
    ]


def list_url(opts: Any, **narrow: object) -> str:
    """The address of a list, narrowed to the given column values."""
    return reverse(
        f"admin:{opts.app_label}_{opts.model_name}_changelist", query={k: str(v) for k, v in narrow.items()}
    )


def page_url(row: Model) -> str:
    """The address of a row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def places(request: HttpRequest) -> list[Placed]:
    """Everything in the navigation that the person may open, in its order."""
    found: list[Any] = []
    for page in pages(request):
        screens = [screen for screen in getattr(page, "open_screens", ()) if screen.placed and screen.allowed(request)]
        found += [*([page] if page.placed else []), *screens]
    return sorted(found, key=lambda each: (GROUPS.index(each.group), each.place))


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of the sidebar. At most one entry is current: that of the page, or the nearest above its address."""
    home, open_places = reverse("admin:index"), places(request)
    above = [home] if request.path == home else [e.link for e in open_places if request.path.startswith(e.link)]
    current = max(above, key=len, default="")
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUPS}
    for each in open_places:
        groups[each.group].append(_entry(each.label, each.icon, each.link, current))
    first = {"title": "", "items": [_entry("Overview", "home", home, current)]}
    return [first, *({"title": name, "items": items} for name, items in groups.items() if items)]


def _entry(title: str, icon: str, link: str, current: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": link, "active": link == current}


def stylesheet(request: HttpRequest) -> str:
    """The address of our style sheet."""
    return static("smartbrain/admin.css")


def script(request: HttpRequest) -> str:
    """The address of our script: shortcuts and comforts, nothing that a page needs."""
    return static("smartbrain/review.js")


def favicon(request: HttpRequest) -> str:
    """The address of our icon."""
    return static("smartbrain/icon.svg")
