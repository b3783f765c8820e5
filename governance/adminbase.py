"""The base of every admin page: a read-only window on what the signed-in person may see, fast on large tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from governance import gate
from kernel.context import Ctx, Door
from kernel.errors import DomainError, NotFoundError
from kernel.text import show_invisible
from scopes.selectors import identify_person

if TYPE_CHECKING:
    from django.contrib.auth.models import User

GROUPS = ("Conversations", "Memory", "Review", "Access", "System")
COUNT_TO = 1000
LAST_PAGE = 100_000


def ctx_of(request: HttpRequest) -> Ctx:
    """The signed-in person as the gate knows them; one request id for everything that a page does."""
    known: Ctx | None = request.META.get("smartbrain.ctx")
    if known is None:
        user: User = request.user  # type: ignore[assignment]
        identity = identify_person(user)
        known = Ctx(identity.actor, Door.ADMIN, identity.reach)
        request.META["smartbrain.ctx"] = known
    return known


def read(action: str, request: HttpRequest, **given: object) -> Any:
    """The result of a read action, through the gate so that the look is on record. Raises DomainError."""
    return gate.call(action, given, ctx=ctx_of(request)).result


def as_uuid(text: str) -> UUID | None:
    """The UUID that a search term is, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None


def bounded_count(rows: QuerySet[Any]) -> str:
    """How many rows there are, looking at a thousand at most."""
    found = rows.order_by().values("pk")[: COUNT_TO + 1].count()
    return f"at least {COUNT_TO}" if found > COUNT_TO else str(found)


def when(moment: datetime | None) -> str:
    """An instant in UTC, readable and with its exact value in the markup."""
    if moment is None:
        return "–"
    return format_html(
        '<time datetime="{}">{}<span class="sb-utc"> UTC</span></time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S}",
    )


def shown(text: object) -> str:
    """Stored text in a cell: escaped, hidden characters written out, cut by the style sheet and whole in the title."""
    clear = show_invisible(str(text))
    return format_html('<bdi class="sb-cell" title="{}">{}</bdi>', clear, clear or "–")


def badge(text: str, tone: str = "plain") -> str:
    """A small label; the text says it, the colour only repeats it."""
    return format_html('<span class="sb-badge sb-{}">{}</span>', tone, text)


@dataclass(frozen=True, slots=True)
class Cell:
    """One value on a page, with a page to go to or none. `kind` is text, word (never
    broken), code, json or time."""

    value: Any
    link: str = ""
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled value on the page of a row."""

    label: str
    cell: Cell


def fact(label: str, value: Any, link: str = "", kind: str = "text") -> Fact:
    """A labelled value."""
    return Fact(label, Cell(value, link, kind))


@dataclass(frozen=True, slots=True)
class Table:
    """A small table on the page of a row; `empty` is said where it has no rows."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    empty: str


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Pages of an autocompletion: it never counts past a thousand rows."""

    @cached_property
    def count(self) -> int:
        """How many rows there are, a thousand at most."""
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[:COUNT_TO].count())


class LookAheadList(ChangeList):  # type: ignore[misc]
    """A page of rows that reads one row more than it shows instead of counting the table; its order is fixed."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        """The one order of the page, whatever the address asks for."""
        return list(self.model_admin.ordering)

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """The rows that fit the address; one that no text column can hold is refused."""
        if any("\x00" in str(value) for value in self.params.values()) or not 1 <= self.page_num <= LAST_PAGE:
            raise IncorrectLookupParameters
        rows: QuerySet[Any] = super().get_queryset(request, exclude_parameters)
        return rows

    def get_results(self, request: HttpRequest) -> None:
        """Read the page's rows."""
        start = (self.page_num - 1) * self.list_per_page
        rows = list(self.queryset[start : start + self.list_per_page + 1])
        self.has_next = len(rows) > self.list_per_page
        self.result_list = rows[: self.list_per_page]
        self.result_count = start + len(self.result_list)
        self.full_result_count = None
        self.show_all = self.can_show_all = False
        self.multi_page = self.has_next or self.page_num > 1
        self.paginator = self.model_admin.get_paginator(request, rows, self.list_per_page)

    @property
    def first_number(self) -> int:
        """The place of the page's first row."""
        return (int(self.page_num) - 1) * int(self.list_per_page) + 1

    @property
    def at_least(self) -> int:
        """How many rows there are for sure."""
        return int(self.result_count) + int(self.has_next)

    @property
    def previous_number(self) -> int:
        """The page before."""
        return int(self.page_num) - 1

    @property
    def next_number(self) -> int:
        """The page after."""
        return int(self.page_num) + 1

    @property
    def narrowed(self) -> list[tuple[str, str, str]]:
        """What the address narrows the rows to: parameter, label and value."""
        found = []
        for name, value in self.params.items():
            column = name.removesuffix("__exact").removesuffix("__id")
            if column in self.model_admin.narrow_by:
                found.append((name, column.replace("_", " "), show_invisible(str(value))))
        return found


class Placed:
    """Where a page stands in the navigation."""

    group = "System"
    place = 0
    icon = "circle"


class ReadOnlyAdmin(Placed, ModelAdmin):  # type: ignore[misc]
    """Read-only pages of one table. Rules live in the gate, so nothing is changed here.

    A page gives `visible`, its columns and `facts`. `search_fields` are plain columns matched from their start.
    `narrow_by` are the columns by which a link may narrow the list. `front` is the count's label on the front page.
    """

    actions = None
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    ordering: Sequence[str] = ("-pk",)
    sortable_by: Sequence[str] = ()
    list_filter_sheet = False
    narrow_by: Sequence[str] = ()
    teach = ""
    teach_command = ""
    front = ""
    change_list_template = "smartbrain/list.html"
    detail_template = "smartbrain/detail.html"

    def visible(self, ctx: Ctx) -> QuerySet[Any]:
        """The rows that the person may see."""
        raise NotImplementedError

    def facts(self, row: Any, request: HttpRequest) -> list[Fact]:
        """The labelled values of a row's page."""
        raise NotImplementedError

    def tables(self, row: Any, request: HttpRequest) -> list[Table]:
        """The small tables of a row's page."""
        return []

    def detail(self, row: Any, request: HttpRequest) -> dict[str, Any]:
        """What else the row's template needs. May raise DomainError where the gate refuses."""
        return {}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Every list, page, search and completion starts here."""
        return self.visible(ctx_of(request)).order_by(*self.ordering)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """A visible row, or None."""
        return None if "\x00" in object_id else super().get_object(request, object_id, from_field)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list that never counts."""
        return LookAheadList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Only the page's own filters: any other column could be guessed by asking, such as the hash of a key."""
        filters = [each if isinstance(each, str) else each.parameter_name for each in self.list_filter]
        return lookup.removesuffix("__exact").removesuffix("__id") in (*self.narrow_by, *filters)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows of that id, or whose search columns start with the term."""
        term = term.replace("\x00", "").strip()
        return (queryset.filter(self.matches(term)) if term else queryset), False

    def matches(self, term: str) -> Q:
        """What the search box looks for."""
        row_id = as_uuid(term)
        found = Q(id=row_id) if row_id else Q(pk__in=[])
        for column in self.search_fields:
            found |= Q(**{f"{column}__istartswith": term})
        return found

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Every member of staff sees the page; its rows are limited instead."""
        return bool(request.user.is_active and request.user.is_staff)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Every member of staff sees the page; its rows are limited instead."""
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: actions add rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: actions change rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: actions take rows away."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list."""
        answer: HttpResponse = super().changelist_view(request, {"no_reach": not ctx_of(request).reach})
        return answer

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of the row: what happened to it stands in the audit log."""
        return HttpResponseRedirect(reverse(self.url_name("change"), args=[object_id]))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The page of one row; a row out of sight answers like one that does not exist."""
        if object_id is None or request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            return self._missing(request, object_id)
        try:
            further = self.detail(row, request)
        except NotFoundError:
            return self._missing(request, object_id)
        except DomainError as exc:
            messages.error(request, exc.message)
            return HttpResponseRedirect(reverse(self.url_name("changelist")))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{self.opts.verbose_name}: {show_invisible(str(row))}",
            "opts": self.opts,
            "page_title": show_invisible(str(row)),
            "facts": self.facts(row, request),
            "tables": self.tables(row, request),
            **further,
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, self.detail_template, context)

    def _missing(self, request: HttpRequest, object_id: str) -> HttpResponse:
        answer: HttpResponse = self._get_obj_does_not_exist_redirect(request, self.opts, unquote(object_id))
        return answer

    def url_name(self, page: str) -> str:
        """The name of one of this table's addresses."""
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}"


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
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])  # noqa: SLF001


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of the sidebar."""
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUPS}
    for page in pages(request):
        title = str(page.opts.verbose_name_plural).capitalize()
        groups[page.group].append({"title": title, "icon": page.icon, "link": list_url(page.opts)})
    home = {"title": "", "items": [{"title": "Overview", "icon": "home", "link": reverse("admin:index")}]}
    return [home, *({"title": name, "items": items} for name, items in groups.items() if items)]


def stylesheet(request: HttpRequest) -> str:
    """The address of our style sheet."""
    return static("smartbrain/admin.css")


def favicon(request: HttpRequest) -> str:
    """The address of our icon."""
    return static("smartbrain/icon.svg")
